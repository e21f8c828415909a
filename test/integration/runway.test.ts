import { afterEach, describe, expect, it } from 'vitest';
import { noteRunway, readRunway } from '#db/runway.ts';
import { events, gateWallet, journal, walletRunway } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/api.ts';
import { databaseGauges } from '#worker/gauges.ts';

const DAY = 86_400_000;
const policy = DEFAULT_POLICY.runway;
let api: TestApi | undefined;

afterEach(async () => {
  await api?.[Symbol.asyncDispose]();
  api = undefined;
});

/** Ten days of sales of 20.00 each, with what is none beside them. */
async function sold(to: TestApi): Promise<void> {
  const rows: (typeof journal.$inferInsert)[] = [];
  const row = (causeId: string, age: number, some: Partial<typeof journal.$inferInsert> = {}) =>
    rows.push({ direction: 'debit', amount: '10.00', currency: 'EUR', causeKind: 'attempt', causeId, recordedAt: new Date(TEST_NOW - age * DAY), ...some });
  for (let day = 0; day < 10; day += 1) {
    row(`att_${day}`, day + 0.2);
    row(`vpn_${day}/2`, day + 0.7, { causeKind: 'subscription_period' });
  }
  // Where everything began.
  row('att_first', 60);
  // Given back, moved by hand, another currency.
  row('att_back', 1.5, { amount: '500.00' });
  row('att_back', 1.4, { amount: '500.00', direction: 'credit' });
  row('mov_1', 1.5, { amount: '700.00', causeKind: 'adjustment' });
  row('att_usd', 1.5, { amount: '900.00', currency: 'USD' });
  await to.database.run((db) => db.insert(journal).values(rows));
}

async function holds(to: TestApi, balance: string, readAt = TEST_NOW): Promise<void> {
  await to.database.run(async (db) => {
    const read = { readsStarted: 1, reading: 1, balanceAmount: balance, balanceCurrency: 'EUR', readAt: new Date(readAt) };
    await db.insert(gateWallet).values(read).onConflictDoUpdate({ target: gateWallet.singleton, set: read });
  });
}

describe('GET /v1/wallet/runway', () => {
  it('reckons with sales that stayed, of whole days, in the currency of the wallet', async () => {
    api = await startTestApi();
    const caller = await api.caller(['wallet:read']);
    await sold(api);
    await holds(api, '100.00', TEST_NOW - 60_000);
    expect((await caller.get('/v1/wallet/runway')).body).toMatchObject({
      status: 'known',
      reason: null,
      // Two hundred in fourteen days.
      days: 7,
      daily_sales: { mean: { amount: '14.285714', currency: 'EUR' }, days: 14 },
      wallet: { balance: { amount: '100.00' }, reserved: { amount: '0.00' }, held: { amount: '0.00' }, available: { amount: '100.00' }, age_seconds: 60 },
      held_without_price: 0,
      threshold_days: 3,
      low_since: null,
    });
  });

  it('says what is unknown instead of making a figure up', async () => {
    api = await startTestApi();
    const caller = await api.caller();
    const reason = async () => (await caller.get('/v1/wallet/runway')).at('reason');
    expect((await caller.get('/v1/wallet/runway')).body).toMatchObject({ status: 'unknown', reason: 'no_wallet_reading', days: null, daily_sales: null, wallet: null });
    await holds(api, '100.00');
    expect(await reason()).toBe('no_sales');
    await sold(api);
    expect(await reason()).toBeNull();
    await holds(api, '100.00', TEST_NOW - 2 * 3_600_000);
    expect((await caller.get('/v1/wallet/runway')).body).toMatchObject({ reason: 'wallet_reading_old', days: null, wallet: { balance: { amount: '100.00' } } });
  });
});

describe('a runway below the threshold', () => {
  it('is announced once, again only after it was well, and shown by the metrics', async () => {
    api = await startTestApi();
    const { database } = api;
    await sold(api);
    const look = async (balance: string) => {
      await holds(api as TestApi, balance);
      return (await database.transaction((tx) => noteRunway(tx, policy, TEST_NOW))).change;
    };
    // Of 14.29 a day: 2.8, 2.8, 3.5, 3.6, 2 days.
    expect([await look('40.00'), await look('40.00'), await look('50.00'), await look('51.50'), await look('28.60')]).toEqual(['low', undefined, undefined, 'restored', 'low']);
    const announced = await database.run((db) => db.select().from(events).orderBy(events.sequence));
    expect(announced.map(({ type }) => type)).toEqual(['wallet.runway_low', 'wallet.runway_restored', 'wallet.runway_low']);
    expect(announced[0]).toMatchObject({
      subjectKind: 'wallet',
      apiKeyId: null,
      data: { days: 2.8, threshold_days: 3, available: { amount: '40.00', currency: 'EUR' }, daily_sales: { amount: '14.285714', currency: 'EUR' } },
    });

    const metrics = createMetrics({ processMetrics: false });
    metrics.refreshWith(databaseGauges(database, metrics, { webhookSilence: DEFAULT_POLICY.webhookSilence, now: () => TEST_NOW }));
    const low = (await metrics.render()).body;
    expect(low).toContain('reseller_wallet_runway_low 1\n');
    expect(low).toMatch(/^reseller_wallet_runway_days 2$/m);

    // What is not known any more changes nothing, and has no value.
    await holds(api, '28.60', TEST_NOW - DAY);
    expect((await database.transaction((tx) => noteRunway(tx, policy, TEST_NOW))).change).toBeUndefined();
    const [row] = await database.run((db) => db.select().from(walletRunway));
    expect([row?.days, row?.lowSince]).toEqual([null, new Date(TEST_NOW)]);
    const unknown = (await metrics.render()).body;
    expect(unknown).toContain('reseller_wallet_runway_low 1\n');
    expect(unknown).not.toMatch(/^reseller_wallet_runway_days /m);
    expect((await database.run((db) => readRunway(db, policy, TEST_NOW))).runway).toMatchObject({ kind: 'unknown', reason: 'wallet_reading_old' });
  });
});
