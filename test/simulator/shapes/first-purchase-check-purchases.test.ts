/** The evidence in listed purchases before our first purchase, over HTTP at the simulator. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { LookedAt } from '#test/simulator/shapes/first-purchase-check-support.ts';
import { PACKAGE } from '#test/simulator/support.ts';

let service: LookedAt;
beforeEach(async () => {
  service = await LookedAt.start();
  order = UNPRICED;
});
afterEach(async () => {
  await service[Symbol.asyncDispose]();
});

const UNPRICED = { id: 'o-1', status: 'completed', external_order_id: 'ours', esim_id: 'e-1' };
let order: object = UNPRICED;
const listed = (item: object) => ({ data: [item], next_cursor: null });

describe('a listed completed order, without the document', () => {
  const esim = {
    id: 'e-1',
    order_id: 'o-1',
    iccid: '8988303000000000001',
    activation_code: 'LPA:1$smdp.example$A-1',
    status: 'new',
    installed_at: null,
    activated_at: null,
  };
  const { installed_at: _, ...withoutInstallation } = esim;
  const { activated_at: __, ...withoutActivation } = esim;
  const debit = { id: 'm-1', type: 'debit', amount: '3.20', currency: 'EUR', reason: 'order' };
  const movement = { ...debit, order_id: 'o-1', created_at: '2026-01-01T00:00:00Z' };
  const shows = async (delivered: object, movements: readonly object[], others: readonly object[] = []) => {
    await service.hideDocument();
    await service.answers('listOrders', 200, { data: [...others, order], next_cursor: null });
    await service.answers('getEsim', 200, delivered);
    await service.answers('listWalletTransactions', 200, { data: movements, next_cursor: 'c-2' });
    return (await service.look({ kinds: ['order'] })).order;
  };

  it.each([
    ['names its eSIM and a debit names it', esim, movement],
    ['the eSIM names no order', { ...esim, order_id: null }, movement],
    ['the debit names our reference only', esim, { ...movement, order_id: null, external_order_id: 'ours' }],
  ])('%s is evidence', async (_name, delivered, paid) => {
    const sighting = await shows(delivered, [paid]);
    expect(sighting.evidence).toEqual([expect.stringMatching(/^GET \/orders shows a completed purchase/)]);
    expect(sighting.problems).toEqual([]);
  });

  it.each([
    [
      'the activation code is no LPA string',
      { ...esim, activation_code: 'https://qr.example/abc.png' },
      'activation_code',
    ],
    ['the eSIM lacks installed_at', withoutInstallation, 'installed_at'],
    ['the eSIM lacks activated_at', withoutActivation, 'activated_at'],
    ['the eSIM is of another order', { ...esim, order_id: 'o-2' }, 'order_id'],
  ])('%s differs', async (_name, delivered, field) => {
    const sighting = await shows(delivered, [movement]);
    expect(sighting.evidence).toEqual([]);
    expect(sighting.problems).toEqual([expect.stringMatching(`^GET /esims/\\{id\\}: ${field}`)]);
  });

  const unpaid =
    'GET /wallet/transactions: no debit names the completed purchase in data[].order_id or data[].external_order_id';
  it.each([
    ['the wallet is empty', []],
    ['the only debit is of another order', [{ ...movement, order_id: 'o-7' }]],
    ['only a credit names it', [{ ...movement, type: 'credit' }]],
  ])('%s is no evidence', async (_name, movements) => {
    const sighting = await shows(esim, movements);
    expect(sighting).toMatchObject({ evidence: [], problems: [] });
    expect(sighting.missing.at(-1)).toBe(unpaid);
  });

  it('without any debit of a purchase differs', async () => {
    const sighting = await shows(esim, [{ ...movement, order_id: null }]);
    expect(sighting).toMatchObject({ evidence: [], problems: [unpaid] });
  });

  it.each([
    ['the debit is in cents', { amount: '320' }, 'amount', '320.00 EUR'],
    ['the debit is in another currency', { currency: 'USD' }, 'currency', '3.20 USD'],
    ['the debit is a tenth', { amount: '0.32' }, 'amount', '0.32 EUR'],
  ])('%s: it differs, and the field is named', async (_name, change, field, shown) => {
    order = { ...UNPRICED, price_for_reseller: '3.20', currency: 'EUR' };
    const sighting = await shows(esim, [{ ...movement, ...change }]);
    expect(sighting).toMatchObject({
      evidence: [],
      problems: [`GET /wallet/transactions: data[].${field} of a debit differs: ${shown} for a purchase of 3.20 EUR`],
    });
  });

  it.each([
    ['is its price', { amount: '3.20' }, 'its debit is its price'],
    ['has a fee', { amount: '3.30' }, 'its debit is 3.30 EUR, its price 3.20 EUR'],
  ])('whose debit %s is evidence, which says so', async (_name, change, text) => {
    order = { ...UNPRICED, price_for_reseller: '3.20', currency: 'EUR' };
    const sighting = await shows(esim, [{ ...movement, ...change }]);
    expect(sighting).toMatchObject({ problems: [], evidence: [expect.stringContaining(text)] });
  });

  it.each([
    ['2.40', 0],
    ['240', 1],
  ])('without a price of its own, its debit of %s is compared with the price of today', async (amount, problems) => {
    order = { ...UNPRICED, package_id: PACKAGE };
    const sighting = await shows(esim, [{ ...movement, amount, currency: 'USD' }]);
    expect(sighting.problems).toHaveLength(problems);
  });

  it('with the debit of its top-up beside its own is compared with its own', async () => {
    order = { ...UNPRICED, price_for_reseller: '3.20', currency: 'EUR' };
    const topup = { ...movement, id: 'm-2', topup_id: 't-1', amount: '32.00' };
    expect((await shows(esim, [topup, movement])).problems).toEqual([]);
  });

  it('without any price says that the unit of the wallet is not known', async () => {
    const [evidence] = (await shows(esim, [movement])).evidence;
    expect(evidence).toContain('whether the wallet has the unit of the prices is not known yet');
  });

  it('with the debit of an older order counts as evidence by that order', async () => {
    const newer = { ...order, id: 'o-9', esim_id: 'e-9', external_order_id: 'ours-9' };
    expect((await shows(esim, [movement], [newer])).evidence).toHaveLength(1);
  });

  it('with empty references is no evidence', async () => {
    await service.hideDocument();
    await service.answers('listOrders', 200, listed({ ...order, external_order_id: '' }));
    const { order: sighting } = await service.look();
    expect(sighting.missing.at(-1)).toBe('GET /orders: completed purchases lack data[].external_order_id');
  });
});

it.each(['topup', 'vpn_subscription'] as const)(
  'of the kind %s, a purchase without debit is no evidence',
  async (kind) => {
    await service.hideDocument();
    await service.buyOne(kind);
    await service.answers('listWalletTransactions', 200, { data: [], next_cursor: null });
    const sighting = (await service.look())[kind];
    expect(sighting).toMatchObject({ evidence: [], problems: [] });
    expect(sighting.missing.at(-1)).toMatch(/^GET \/wallet\/transactions: no debit names the completed purchase in /);
  },
);

it('a purchase without its debit counts when the wallet list is switched off', async () => {
  await using without = await LookedAt.start({ ...ALL_CAPABILITIES, wallet_transactions: false });
  await without.hideDocument();
  await without.buyOne('order');
  expect((await without.look()).order).toMatchObject({ problems: [], evidence: [expect.any(String)] });
});
