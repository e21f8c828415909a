/** Which readings of the wallet are judged, and which of their rows may be the debit of an attempt. */
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { storeReading } from '#db/money/wallet-readings.ts';
import { attempts, walletMovements, walletReadings } from '#db/schema.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { WalletReadings } from '#fulfilment/purchase/wallet-readings.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { NAMELESS } from '#test/support/work/books/reconciliation.ts';

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(() => bench[Symbol.asyncDispose]());

const HOUR_MS = 3_600_000;
const FAILS = { outcome: 'failed_at_once' } as const;
const send = (ref: AttemptRef) => bench.activities.sendPurchase(ref);
const judge = async (ref: AttemptRef) => bench.activities.readDebitEvidence(ref);
const readWallet = () => new WalletReadings(bench.dependencies).read();
const readings = async () => (await bench.database.run((db) => db.select().from(walletReadings))).length;

it('judged again, an attempt gets a newer reading, which names itself', async () => {
  await bench.admin.nextPurchases({ ...FAILS, credit_after_ms: 2 * HOUR_MS });
  const order = await bench.begin();
  await send(order);
  await bench.pass(HOUR_MS);
  const debited = await judge(order);
  expect(debited.evidence).toBe('debited');
  expect(debited.detail).toMatch(/no credit for it, in the reading \d+ of 20.*Z\.$/);
  await bench.pass(2 * HOUR_MS);
  const credited = await judge(order);
  expect(credited.evidence).toBe('credited');
  expect(credited.detail).toMatch(/and its credit, in the reading \d+ of 20.*Z\.$/);
});

it('when a refused purchase is reported as failed, the reading before its first send counts', async () => {
  const first = await bench.begin();
  await send(first);
  await bench.pass(HOUR_MS);
  await readWallet();
  await bench.pass(HOUR_MS);
  await bench.admin.setPackage(1001, { available: false });
  const order = await bench.begin(1001);
  for (let n = 0; n < 2; n += 1) {
    expect((await send(order)).outcome).toMatchObject({ kind: 'failure' });
    await bench.pass(HOUR_MS);
    await readWallet();
  }
  const set = (values: Partial<typeof attempts.$inferInsert>) =>
    bench.database.run((db) => db.update(attempts).set(values).where(eq(attempts.id, order.attemptId)));
  await set({ state: 'failed', serviceId: 'so-1', failedAt: new Date(bench.clock.now) });
  await bench.pass(HOUR_MS);
  expect(await judge(order)).toMatchObject({ evidence: 'no_debit' });
  // Without a reading before the first send, there is nothing to compare.
  await set({ settled: false, firstSentAt: new Date(0) });
  expect(await judge(order)).toMatchObject({ evidence: 'awaited', reason: 'no_reading_before' });
});

it('a row of our purchase is booked although its time is older than our books, after a restore lost the first reading', async () => {
  const order = await bench.begin();
  await send(order);
  const { reference } = await bench.attempt(order);
  await bench.database.run((db) => db.delete(walletReadings));
  await bench.database.run((db) => db.delete(walletMovements));
  const read = { beganAt: new Date(bench.clock.now), balance: undefined, isWhole: true, hasNoGap: true };
  const row = (id: string, orderReference: string | null) => ({
    id,
    direction: 'debit' as const,
    money: { amount: '2.40', currency: 'USD' },
    reason: 'order',
    occurredAt: -1,
    names: { ...NAMELESS, orderReference },
    refundId: null,
  });
  const movements = [row('txn-ours', reference), row('txn-before', 'of-another-system')];
  await bench.database.transaction((tx) => storeReading(tx, { ...read, movements }, 0));
  const stored = await bench.database.run((db) => db.select({ id: walletMovements.serviceId }).from(walletMovements));
  expect(stored).toEqual([{ id: 'txn-ours' }]);
});

it('after the verdict of an operator, only a later reading counts', async () => {
  await bench.admin.nextPurchases({ outcome: 'processing_then_completed', delay_ms: 24 * HOUR_MS });
  const order = await bench.begin();
  await send(order);
  await bench.pass(HOUR_MS);
  const before = await readings();
  await bench.act(order, { action: 'resolve', verdict: 'not_bought', reason: 'outcome_unknown' });
  const { state, settled, failedAt } = await bench.attempt(order);
  expect({ state, settled, at: failedAt?.getTime() }).toEqual({ state: 'failed', settled: false, at: bench.clock.now });
  expect(await judge(order)).toMatchObject({ evidence: 'awaited', reason: 'too_early' });
  await bench.pass(HOUR_MS);
  expect(await judge(order)).toMatchObject({ evidence: 'debited' });
  expect(await readings()).toBe(before + 1);
});

it('a reading from before the send proves nothing, although its time is later', async () => {
  const first = await bench.begin();
  await send(first);
  await bench.pass(HOUR_MS);
  await bench.admin.nextPurchases({ ...FAILS, debited: false });
  await judge(first);
  // The clock of the database was an hour fast.
  bench.clock.now -= HOUR_MS;
  const order = await bench.begin();
  await send(order);
  const before = await readings();
  bench.clock.now += HOUR_MS / 2;
  await judge(order);
  expect(await readings()).toBe(before + 1);
});

it.each([
  ['the eSIM', { topupId: null, orderId: null, orderReference: null }],
  ['the order of the eSIM', { topupId: null, esimId: null }],
] as const)('a further debit that names only %s may be for a top-up', async (_name, names) => {
  const esim = await bench.deliveredEsim();
  await bench.admin.nextPurchases({ ...FAILS, credit_after_ms: null });
  const topup = await bench.beginTopup(1002, esim);
  await send(topup);
  await bench.pass(HOUR_MS);
  await readWallet();
  const isDebit = eq(walletMovements.direction, 'debit');
  const [order] = await bench.database.run((db) => db.select().from(walletMovements).where(isDebit));
  const { orderId = null, orderReference = null } = order ?? {};
  const row = { orderId, orderReference, ...names };
  await bench.database.run((db) => db.update(walletMovements).set(row).where(eq(walletMovements.reason, 'topup')));
  expect(await judge(topup)).toMatchObject({ evidence: 'awaited', reason: 'suspect' });
});
