/** The evidence in listed purchases before our first purchase, over HTTP at the simulator. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { startLookedAt, type LookedAt } from '#test/simulator/shapes/first-purchase-check-support.ts';
import { PACKAGE } from '#test/simulator/support.ts';
import { TRANSACTION } from '#test/support/service-records.ts';

let service: LookedAt;
beforeEach(async () => {
  service = await startLookedAt();
  await service.hideDocument();
});
afterEach(async () => await service[Symbol.asyncDispose]());

const ORDER = { id: 'o-1', status: 'completed', external_order_id: 'ours', esim_id: 'e-1' };
const PRICE = { price_for_reseller: '3.20', currency: 'EUR' };
const ESIM = {
  id: 'e-1',
  order_id: 'o-1',
  iccid: '8988303000000000001',
  activation_code: 'LPA:1$smdp.example$A-1',
  status: 'new',
  installed_at: null,
  activated_at: null,
};
const DEBIT = { ...TRANSACTION, id: 'm-1', amount: '3.20', order_id: 'o-1', created_at: '2026-01-01T00:00:00Z' };

/** What the service lists, by its differences. */
type Listed = Partial<Record<'order' | 'newer' | 'esim' | 'debit', object>> & { movements?: readonly object[] };

async function sightingOf({ order, newer, esim, debit, movements = [{ ...DEBIT, ...debit }] }: Listed) {
  const orders = [...(newer === undefined ? [] : [{ ...ORDER, ...newer }]), { ...ORDER, ...order }];
  await service.answers('listOrders', 200, { data: orders, next_cursor: null });
  await service.answers('getEsim', 200, { ...ESIM, ...esim });
  await service.answers('listWalletTransactions', 200, { data: movements, next_cursor: 'c-2' });
  return (await service.look({ kinds: ['order'] })).order;
}

const UNPAID =
  'GET /wallet/transactions: no debit names the completed purchase in data[].order_id or data[].external_order_id';

describe('a listed completed order, without the document', () => {
  const unitUnknown = 'whether the wallet has the unit of the prices is not known yet';
  const topup = { ...DEBIT, id: 'm-2', topup_id: 't-1', amount: '32.00' };
  it.each<[string, Listed, string]>([
    ['names its eSIM, and a debit names it', {}, unitUnknown],
    ['has an eSIM that names no order', { esim: { order_id: null } }, unitUnknown],
    ['is named by its debit with our reference only', { debit: { order_id: null, external_order_id: 'ours' } }, ''],
    ['has a debit of its price', { order: PRICE }, 'its debit is its price'],
    [
      'has a debit with a fee',
      { order: PRICE, debit: { amount: '3.30' } },
      'its debit is 3.30 EUR, its price 3.20 EUR',
    ],
    ['has a debit of a top-up beside its own', { order: PRICE, movements: [topup, DEBIT] }, 'its debit is its price'],
    ['has the price of today', { order: { package_id: PACKAGE }, debit: { amount: '2.40', currency: 'USD' } }, ''],
    ['is older than one without a debit', { newer: { id: 'o-9', esim_id: 'e-9', external_order_id: 'ours-9' } }, ''],
  ])('is evidence when it %s', async (_name, listed, text) => {
    const { problems, evidence } = await sightingOf(listed);
    expect({ problems, count: evidence.length }).toEqual({ problems: [], count: 1 });
    expect(evidence[0]).toMatch(/^GET \/orders shows a completed purchase/);
    expect(evidence[0]).toContain(text);
  });

  const differs = (field: string, shown: string, price = '3.20 EUR') =>
    `GET /wallet/transactions: data[].${field} of a debit differs: ${shown} for a purchase of ${price}`;
  it.each<[string, Listed, string]>([
    [
      'activation code is no LPA string',
      { esim: { activation_code: 'https://qr.example/abc.png' } },
      'activation_code',
    ],
    ['eSIM lacks installed_at', { esim: { installed_at: undefined } }, 'installed_at'],
    ['eSIM lacks activated_at', { esim: { activated_at: undefined } }, 'activated_at'],
    ['eSIM is of another order', { esim: { order_id: 'o-2' } }, 'order_id'],
    ['debit is in cents', { order: PRICE, debit: { amount: '320' } }, differs('amount', '320.00 EUR')],
    ['debit is in another currency', { order: PRICE, debit: { currency: 'USD' } }, differs('currency', '3.20 USD')],
    ['debit is a tenth', { order: PRICE, debit: { amount: '0.32' } }, differs('amount', '0.32 EUR')],
    [
      'debit is in cents of the price of today',
      { order: { package_id: PACKAGE }, debit: { amount: '240', currency: 'USD' } },
      differs('amount', '240.00 USD', '2.40 USD'),
    ],
    ['debit, like every other, names no purchase', { debit: { order_id: null } }, UNPAID],
  ])('differs when its %s, and the field is named', async (_name, listed, problem) => {
    const { evidence, problems } = await sightingOf(listed);
    expect({ evidence, count: problems.length }).toEqual({ evidence: [], count: 1 });
    expect(problems[0]).toContain(problem.startsWith('GET') ? problem : `GET /esims/{id}: ${problem}`);
  });

  it.each<[string, Listed]>([
    ['the wallet is empty', { movements: [] }],
    ['the only debit is of another order', { debit: { order_id: 'o-7' } }],
    ['only a credit names it', { debit: { type: 'credit' } }],
  ])('is neither when %s', async (_name, listed) => {
    const sighting = await sightingOf(listed);
    expect(sighting).toMatchObject({ evidence: [], problems: [] });
    expect(sighting.missing.at(-1)).toBe(UNPAID);
  });

  it('is no evidence with an empty reference', async () => {
    const { missing } = await sightingOf({ order: { external_order_id: '' } });
    expect(missing.at(-1)).toBe('GET /orders: completed purchases lack data[].external_order_id');
  });
});

const others = ['topup', 'vpn_subscription'] as const;
it.each(others)('of the kind %s, a purchase without debit is no evidence', async (kind) => {
  await service.buyOne(kind);
  await service.answers('listWalletTransactions', 200, { data: [], next_cursor: null });
  const sighting = (await service.look())[kind];
  expect(sighting).toMatchObject({ evidence: [], problems: [] });
  expect(sighting.missing.at(-1)).toMatch(/^GET \/wallet\/transactions: no debit names the completed purchase in /);
});

it('a purchase without its debit counts when the wallet list is switched off', async () => {
  await using without = await startLookedAt({ ...ALL_CAPABILITIES, wallet_transactions: false });
  await without.hideDocument();
  await without.buyOne('order');
  expect((await without.look()).order).toMatchObject({ problems: [], evidence: [expect.any(String)] });
});
