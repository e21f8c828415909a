import { afterEach, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { enqueue, leaveQueue } from '#db/gate/waits.ts';
import { attempts, events, gateReservations, gateWallet, journal, walletRunway } from '#db/schema.ts';
import type { Money } from '#domain/money/money.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { noteRunway, readRunway } from '#fulfilment/upkeep/runway.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import { databaseGauges } from '#worker/gauges.ts';

const DAY = 86_400_000;
const policy = DEFAULT_POLICY.runway;
const EUR = (amount: string): Money => ({ amount, currency: 'EUR' });
let api: TestApi | undefined;

afterEach(async () => {
  await api?.[Symbol.asyncDispose]();
  api = undefined;
});

/** Ten days with sales of 20.00 each, and rows that are no sales. */
async function sold(to: TestApi): Promise<void> {
  const rows: (typeof journal.$inferInsert)[] = [];
  const row = (causeId: string, age: number, some: Partial<typeof journal.$inferInsert> = {}) =>
    rows.push({
      direction: 'debit',
      amount: '10.00',
      currency: 'EUR',
      causeKind: 'attempt',
      causeId,
      recordedAt: new Date(TEST_NOW - age * DAY),
      ...some,
    });
  for (let day = 0; day < 10; day += 1) {
    row(`att_${day}`, day + 0.2);
    row(`vpn_${day}/2`, day + 0.7, { causeKind: 'subscription_period' });
  }
  // The first row of the journal.
  row('att_first', 60);
  // Refunded, adjusted, and in another currency.
  row('att_back', 1.5, { amount: '500.00' });
  row('att_back', 1.4, { amount: '500.00', direction: 'credit' });
  row('mov_1', 1.5, { amount: '700.00', causeKind: 'adjustment' });
  row('att_usd', 1.5, { amount: '900.00', currency: 'USD' });
  await to.database.run((db) => db.insert(journal).values(rows));
}

async function holds(to: TestApi, balance: string, readAt = TEST_NOW): Promise<void> {
  const amount = { balanceAmount: balance, balanceCurrency: 'EUR' };
  const set = { readsStarted: 1, reading: 1, ...amount, readAt: new Date(readAt) };
  const replace = { target: gateWallet.singleton, set };
  await to.database.run((db) => db.insert(gateWallet).values(set).onConflictDoUpdate(replace));
}

/** Holds an order at the gate. @param price its price; undefined: unknown. @returns the order. */
async function heldAt(to: TestApi, price: Money | undefined, mayHaveBought = false): Promise<WorkRef> {
  const work: WorkRef = { kind: 'order', id: newId('order') };
  const at = new Date(TEST_NOW);
  const waiting = { work, barrier: 'wallet', failureClass: 'insufficient_balance', acceptedAt: at } as const;
  await to.database.transaction((tx) => enqueue(tx, { ...waiting, apiKeyId: 'key_test', mayHaveBought, price }, at));
  return work;
}

/** Reserves the price of an attempt. `gate-totals.test.ts` tests what counts. */
async function reserved(to: TestApi, amount: string, currency = 'EUR'): Promise<void> {
  const id = newId('attempt');
  await to.database.transaction(async (tx) => {
    const work = { subjectKind: 'order', subjectId: newId('order') } as const;
    const sent = { number: 1, idempotencyKey: id, encryptedRequestBody: Buffer.alloc(1), state: 'sending' } as const;
    await tx.insert(attempts).values({ id, ...work, ...sent });
    const made = { attemptId: id, apiKeyId: 'key_test', day: '2030-01-31', madeAt: new Date(TEST_NOW) };
    await tx.insert(gateReservations).values({ ...made, amount, currency });
  });
}

describe('GET /v1/wallet/runway', () => {
  it('counts unreturned sales of whole days, in the currency of the wallet', async () => {
    api = await startTestApi();
    const caller = await api.caller(['wallet:read']);
    await sold(api);
    await holds(api, '100.00', TEST_NOW - 60_000);
    expect((await caller.get('/v1/wallet/runway')).body).toMatchObject({
      status: 'known',
      reason: null,
      // Two hundred in fourteen days.
      days: 7,
      daily_sales: { mean: EUR('14.285714'), days: 14 },
      wallet: {
        balance: { amount: '100.00' },
        reserved: { amount: '0.00' },
        held: { amount: '0.00' },
        available: { amount: '100.00' },
        age_seconds: 60,
      },
      held_without_price: 0,
      threshold_days: 3,
      low_since: null,
    });
  });

  it('subtracts reservations, and held work with a known price in the currency of the wallet', async () => {
    api = await startTestApi();
    const caller = await api.caller(['wallet:read']);
    await sold(api);
    await holds(api, '100.00');
    const shown = async () => (await caller.get('/v1/wallet/runway')).body;
    expect(await shown()).toMatchObject({ days: 7, held_without_price: 0 });

    const held = await heldAt(api, EUR('12.50'));
    await heldAt(api, EUR('7.50'));
    await heldAt(api, { amount: '900.00', currency: 'USD' });
    await heldAt(api, undefined);
    // The money of possible purchases is reserved.
    await heldAt(api, EUR('33.00'), true);
    await heldAt(api, undefined, true);
    const wallet = { balance: EUR('100.00'), reserved: EUR('0.00') };
    expect(await shown()).toMatchObject({
      days: 5.6,
      held_without_price: 1,
      wallet: { ...wallet, held: EUR('20.00'), available: EUR('80.00') },
    });

    await reserved(api, '20.00');
    await reserved(api, '600.00', 'USD');
    expect(await shown()).toMatchObject({
      status: 'known',
      days: 4.2,
      held_without_price: 1,
      wallet: {
        balance: { amount: '100.00' },
        reserved: EUR('20.00'),
        held: { amount: '20.00' },
        available: EUR('60.00'),
      },
    });

    await api.database.transaction((tx) => leaveQueue(tx, held));
    // More is reserved than the balance, so no day remains, and the missing amount is shown.
    await reserved(api, '80.00');
    expect(await shown()).toMatchObject({
      days: 0,
      earliest_days: 0,
      latest_days: 0,
      wallet: { reserved: { amount: '100.00' }, available: { amount: '-7.50' } },
    });
  });

  it('reports an unknown value with its reason', async () => {
    api = await startTestApi();
    const caller = await api.caller();
    const reason = async () => (await caller.get('/v1/wallet/runway')).at('reason');
    expect((await caller.get('/v1/wallet/runway')).body).toMatchObject({
      status: 'unknown',
      reason: 'no_wallet_reading',
      days: null,
      daily_sales: null,
      wallet: null,
    });
    await holds(api, '100.00');
    expect(await reason()).toBe('no_sales');
    await sold(api);
    expect(await reason()).toBeNull();
    await holds(api, '100.00', TEST_NOW - 2 * 3_600_000);
    expect((await caller.get('/v1/wallet/runway')).body).toMatchObject({
      reason: 'wallet_reading_old',
      days: null,
      wallet: { balance: { amount: '100.00' } },
    });
  });
});

describe('a runway below the threshold', () => {
  it('is announced once, again only after a recovery, and appears in the metrics', async () => {
    api = await startTestApi();
    const { database } = api;
    await sold(api);
    const look = async (balance: string) => {
      await holds(api as TestApi, balance);
      return (await database.transaction((tx) => noteRunway(tx, policy, TEST_NOW))).change;
    };
    // With 14.29 a day: 2.8, 2.8, 3.5, 3.6, 2 days.
    const changes: unknown[] = [];
    for (const balance of ['40.00', '40.00', '50.00', '51.50', '28.60']) changes.push(await look(balance));
    expect(changes).toEqual(['low', undefined, undefined, 'restored', 'low']);
    const announced = await database.run((db) => db.select().from(events).orderBy(events.sequence));
    const [low, restored] = ['wallet.runway_low', 'wallet.runway_restored'];
    expect(announced.map(({ type }) => type)).toEqual([low, restored, low]);
    expect(announced[0]).toMatchObject({
      subjectKind: 'wallet',
      apiKeyId: null,
      data: {
        days: 2.8,
        threshold_days: 3,
        available: EUR('40.00'),
        daily_sales: EUR('14.285714'),
      },
    });

    const metrics = createMetrics({ processMetrics: false });
    const { webhookSilence } = DEFAULT_POLICY;
    metrics.refreshWith(databaseGauges(database, metrics, { webhookSilence, now: () => TEST_NOW }));
    const known = (await metrics.render()).body;
    expect(known).toContain('reseller_wallet_runway_low 1\n');
    expect(known).toMatch(/^reseller_wallet_runway_seconds 172800$/m);

    // An unknown runway changes nothing and has no value.
    await holds(api, '28.60', TEST_NOW - DAY);
    expect((await database.transaction((tx) => noteRunway(tx, policy, TEST_NOW))).change).toBeUndefined();
    const [row] = await database.run((db) => db.select().from(walletRunway));
    expect([row?.days, row?.lowSince]).toEqual([null, new Date(TEST_NOW)]);
    const unknown = (await metrics.render()).body;
    expect(unknown).toContain('reseller_wallet_runway_low 1\n');
    expect(unknown).not.toMatch(/^reseller_wallet_runway_seconds /m);
    const { runway } = await database.run((db) => readRunway(db, policy, TEST_NOW));
    expect(runway).toMatchObject({ kind: 'unknown', reason: 'wallet_reading_old' });
  });
});
