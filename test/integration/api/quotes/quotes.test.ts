import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QUOTE_VALID_MS, quoteOutput } from '#api/quotes/quotes.ts';
import { gateCircuits, gateLines, gateReservations, gateSpending, gateWallet, orders } from '#db/schema.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { beginBalanceRead, storeBalance } from '#fulfilment/gate/account.ts';
import { newKey, postOnce } from '#test/support/api/keys.ts';
import { orderInput, problemOf } from '#test/support/api/order-calls.ts';
import { startTestApi, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

let gate: GatePolicy;
let api: TestApi;
let caller: HttpClient;

beforeEach(async () => {
  gate = { ...DEFAULT_POLICY.gate, spendLimit: { amount: '100', currency: 'EUR' } };
  api = await startTestApi({ gate });
  caller = await api.caller();
});
afterEach(() => api[Symbol.asyncDispose]());

const quote = (body: unknown, by = caller) => by.post('/v1/quotes', body);
const quoted = async (body: unknown, by = caller) => (await quote(body, by)).read(quoteOutput);
const order = (more: Record<string, unknown>, by = caller) => postOnce(by, '/v1/orders', orderInput(more));
const holdsOf = async (body: unknown, by = caller) =>
  (await quoted(body, by)).holds.map(({ failure_class: failure }) => failure);

async function walletHas(amount: string): Promise<void> {
  await api.database.transaction(async (tx) => {
    await beginBalanceRead(tx, { debitKnownBefore: new Date(api.clock.now) });
    const [wallet] = await tx.select({ begun: gateWallet.readsStarted }).from(gateWallet);
    await storeBalance(tx, wallet?.begun ?? 0, { amount, currency: 'EUR' }, undefined, new Date(api.clock.now));
  });
}

describe('a quote', () => {
  it('shows the price of a package, and stores and reserves nothing', async () => {
    expect(await quoted({ package_id: 101 })).toEqual({
      id: expect.stringMatching(/^quo_[\w-]+$/) as string,
      kind: 'order',
      package_id: 101,
      esim_id: null,
      vpn_plan_id: null,
      name: 'Europe 5 GB',
      available: true,
      price: { amount: '9.80', currency: 'EUR' },
      suggested_price: null,
      objections: [],
      holds: [],
      expires_at: new Date(api.clock.now + QUOTE_VALID_MS).toISOString(),
      read_at: new Date(api.clock.now).toISOString(),
      age_seconds: 0,
    });
    for (const table of [orders, gateReservations]) expect(await api.database.run((db) => db.$count(table))).toBe(0);
  });

  it('is possible for a VPN plan, and for a top-up of an own eSIM', async () => {
    const vpn = { kind: 'vpn_subscription', package_id: null, vpn_plan_id: 7, name: 'VPN, one month' };
    expect(await quoted({ vpn_plan_id: 7 })).toMatchObject(vpn);
    const { esim } = (await makeOwnWork(api, caller)).ids;
    const topup = { kind: 'topup', package_id: 102, esim_id: esim, name: 'Japan 1 GB' };
    expect(await quoted({ package_id: 102, esim_id: esim })).toMatchObject(topup);
    const limited = await api.caller(undefined, { ownWorkOnly: true });
    const refused = problemOf(await quote({ package_id: 102, esim_id: esim }, limited));
    expect(refused.detail).toBe('The field `esim_id` is not the id of an existing eSIM.');
  });

  it('has all objections at once, and no id', async () => {
    const inDollar = { amount: '1', currency: 'USD' };
    expect(await quoted({ package_id: 103, max_price: inDollar })).toMatchObject({
      id: null,
      available: false,
      expires_at: null,
      objections: [
        { field: 'package_id', message: 'names a package that is not sold now' },
        { field: 'max_price.currency' },
      ],
    });
    expect(await quoted({ package_id: 77_777 })).toMatchObject({
      id: null,
      name: null,
      price: null,
      objections: [{ field: 'package_id', message: expect.stringContaining('GET /v1/packages') as string }],
    });
  });

  it('names each hold that the purchase gate would make now', async () => {
    await walletHas('9.79');
    expect(await holdsOf({ package_id: 101 })).toEqual(['insufficient_balance']);
    await walletHas('9.80');
    expect(await holdsOf({ package_id: 101 })).toEqual([]);
    const above = await quoted({ package_id: 101, max_price: { amount: '9.79', currency: 'EUR' } });
    expect(above).toMatchObject({ id: null, holds: [{ failure_class: 'price_above_limit' }] });
    const poor = await newKey(api, { spendLimit: { amount: '9.79', currency: 'EUR' } });
    const expectSpent = async (by: HttpClient, detail: unknown) => {
      const { holds } = await quoted({ package_id: 101 }, by);
      expect(holds).toMatchObject([{ failure_class: 'spend_limit_reached', detail }]);
    };
    await expectSpent(poor.client, expect.stringContaining('the limit must be raised'));
    // What all keys together may spend, and have spent, is not for a key that sees only its own work.
    const own = await api.caller(undefined, { ownWorkOnly: true });
    await walletHas('500');
    const spending = { day: '2030-01-31', currency: 'EUR', apiKeyId: '', amount: '95' };
    await api.database.run((db) => db.insert(gateSpending).values(spending));
    await expectSpent(caller, expect.stringMatching(/ 95\S* EUR are spent/));
    await expectSpent(own, null);
    await api.database.run((db) => db.delete(gateSpending));
    await postOnce(caller, '/v1/purchase-gate/pauses', { kind: 'order', reason: 'Stock-taking.' });
    expect(await holdsOf({ package_id: 101 })).toEqual(['purchases_paused']);
    expect(await holdsOf({ vpn_plan_id: 7 })).toEqual([]);
  });
});

describe('the holds of a quote', () => {
  const circuit = (state: 'open' | 'probing' | 'releasing', probeAt: Date | null) =>
    api.database.run((db) => {
      const row = { name: 'service_down' as const, state, failures: 3, probeAt };
      return db.insert(gateCircuits).values(row).onConflictDoUpdate({ target: gateCircuits.name, set: row });
    });

  it('contain a circuit only while the gate would hold a new purchase there', async () => {
    await circuit('open', new Date(api.clock.now + 1_000));
    expect(await holdsOf({ package_id: 101 })).toEqual(['service_down']);
    // The purchase would be the canary.
    await circuit('open', new Date(api.clock.now));
    expect(await holdsOf({ package_id: 101 })).toEqual([]);
    await circuit('probing', null);
    expect(await holdsOf({ package_id: 101 })).toEqual(['service_down']);
    await circuit('releasing', null);
    expect(await holdsOf({ package_id: 101 })).toEqual([]);
  });

  it('contain the stop of a product whose paid deliveries could not be used', async () => {
    const since = new Date(api.clock.now);
    const line = { kind: 'order', state: 'proving', drifts: 1, stoppedProducts: [101], stoppedAt: since } as const;
    await api.database.run((db) => db.insert(gateLines).values({ ...line, since }));
    expect((await quoted({ package_id: 101 })).holds).toMatchObject([
      { failure_class: 'purchases_paused', detail: expect.stringContaining('The package 101 is stopped') as string },
    ]);
    // The purchase would be the one that goes first.
    expect(await holdsOf({ package_id: 103 })).toEqual([]);
    expect(await holdsOf({ vpn_plan_id: 7 })).toEqual([]);
  });

  it('contain no wallet that was read more than a minute ago', async () => {
    await walletHas('1');
    expect(await holdsOf({ package_id: 101 })).toEqual(['insufficient_balance']);
    api.clock.now += 60_001;
    expect(await holdsOf({ package_id: 101 })).toEqual([]);
  });

  it('use a wallet for as long as the policy says', async () => {
    Object.assign(gate, { balanceAgeMs: 600_000 });
    await walletHas('1');
    api.clock.now += 600_000;
    expect(await holdsOf({ package_id: 101 })).toEqual(['insufficient_balance']);
  });

  it('are not shown to a key that may not buy, and an eSIM needs the scope to read eSIMs', async () => {
    await walletHas('1');
    const { esim } = (await makeOwnWork(api, caller)).ids;
    const reader = await api.caller(['packages:read']);
    expect(await holdsOf({ package_id: 101 }, reader)).toEqual([]);
    expect(problemOf(await quote({ package_id: 102, esim_id: esim }, reader)).code).toBe('missing_scope');
  });
});

describe('the id of a quote', () => {
  it('sets the price limit of the order', async () => {
    const { id } = await quoted({ package_id: 101 });
    const made = await order({ quote_id: id });
    expect([made.status, made.at('max_price')]).toEqual([202, { amount: '9.80', currency: 'EUR' }]);
    const [row] = await api.database.run((db) => db.select().from(orders));
    expect(row).toMatchObject({ maxPriceAmount: '9.800000', maxPriceCurrency: 'EUR' });
  });

  const REFUSED = 'The field `quote_id` is not the id of a quote for this purchase by this API key.';

  it('is refused for another package, by another key, altered, and after a quarter of an hour', async () => {
    const { id } = await quoted({ package_id: 101 });
    const refused = async (more: Record<string, unknown>, by = caller) =>
      problemOf(await order({ quote_id: id, ...more }, by)).detail;
    expect(await refused({ package_id: 102 })).toBe(REFUSED);
    expect(await refused({}, await api.caller())).toBe(REFUSED);
    expect(await refused({ quote_id: `${String(id).slice(0, -3)}AAA` })).toBe(REFUSED);
    expect(await refused({ quote_id: 'quo_' })).toBe(REFUSED);
    expect(await refused({ max_price: { amount: '1', currency: 'EUR' } })).toBe(
      'The field `quote_id` must not be given together with `max_price`.',
    );
    api.clock.now += QUOTE_VALID_MS;
    const expired = await order({ quote_id: id });
    expect([expired.status, expired.at('code')]).toEqual([422, 'quote_expired']);
    expect(await api.database.run((db) => db.$count(orders))).toBe(0);
  });

  it('does not prevent the answer to a repeated request after it has expired', async () => {
    const { id } = await quoted({ package_id: 101 });
    const body = orderInput({ quote_id: id });
    const first = await postOnce(caller, '/v1/orders', body, 'once');
    api.clock.now += QUOTE_VALID_MS;
    expect((await postOnce(caller, '/v1/orders', body, 'once')).body).toEqual(first.body);
    expect((await postOnce(caller, '/v1/orders', body)).at('code')).toBe('external_order_id_taken');
  });
});
