/** Which readings of the wallet are judged, and which of their rows may be the debit of an attempt. */
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WalletReadings } from '#activities/evidence/wallet-readings.ts';
import type { AttemptRef } from '#activities/work/work-types.ts';
import { findAttemptById } from '#db/attempts/attempts.ts';
import { walletMovements, walletReadings } from '#db/schema.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
});

const HOUR_MS = 3_600_000;
const FAILS = { outcome: 'failed_at_once' } as const;
const send = (ref: AttemptRef) => bench.activities.sendPurchase(ref);
const judge = async (ref: AttemptRef) => bench.activities.readDebitEvidence(ref);
const readings = async () => (await bench.database.run((db) => db.select().from(walletReadings))).length;

it('judged again, an attempt gets a newer reading, which names itself', async () => {
  await bench.admin.nextPurchases({ ...FAILS, credit_after_ms: 2 * HOUR_MS });
  const order = await bench.begin();
  await send(order);
  await bench.pass(HOUR_MS);
  expect(await judge(order)).toMatchObject({
    evidence: 'debited',
    detail: expect.stringMatching(/no credit for it, in the reading \d+ of 20.*Z\.$/) as string,
  });
  await bench.pass(2 * HOUR_MS);
  expect(await judge(order)).toMatchObject({
    evidence: 'credited',
    detail: expect.stringMatching(/and its credit, in the reading \d+ of 20.*Z\.$/) as string,
  });
});

it('after the verdict of an operator, only a later reading counts', async () => {
  await bench.admin.nextPurchases({ outcome: 'processing_then_completed', delay_ms: 24 * HOUR_MS });
  const order = await bench.begin();
  await send(order);
  await bench.pass(HOUR_MS);
  const before = await readings();
  await bench.activities.actOnWork({
    work: order.work,
    action: { action: 'resolve', verdict: 'not_bought', reason: 'outcome_unknown' },
    operator: { actor: 'test', reason: 'The service will not finish it.', actionId: 'action-1' },
  });
  const { state, settled, failedAt } = await bench.database.run((db) => findAttemptById(db, order.attemptId));
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
  await new WalletReadings(bench.dependencies).read();
  const [order] = await bench.database.run((db) =>
    db.select().from(walletMovements).where(eq(walletMovements.direction, 'debit')),
  );
  const { orderId = null, orderReference = null } = order ?? {};
  await bench.database.run((db) =>
    db
      .update(walletMovements)
      .set({ orderId, orderReference, ...names })
      .where(eq(walletMovements.reason, 'topup')),
  );
  expect(await judge(topup)).toMatchObject({ evidence: 'awaited', reason: 'suspect' });
});
