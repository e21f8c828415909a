/** The send of a first task: read, claim and request in the activity that reads the work (docs/adr/0020). */
import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { createWorkActivities, MAX_FIRST_SENDS } from '#activities/work/work-activities.ts';
import { readDatabaseEpoch } from '#db/connection/database-epoch.ts';
import { enqueue, findWait } from '#db/gate/waits.ts';
import { gateReserved, orders } from '#db/schema.ts';
import { attemptsOf } from '#db/work/attempts.ts';
import { addPause, releasePause } from '#fulfilment/gate/pauses.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { PACKAGE } from '#test/support/work/order-desk.ts';
import { orderWork } from '#test/support/work/order-rows.ts';
import { WORK_FINISHED } from '#workflows/messages.ts';

const bench = disposedAtEnd(await ActivityBench.start());
afterEach(() => bench.admin.calm());

const present = () => bench.database.run(readDatabaseEpoch);

/** @param sentIn epoch in which acceptance has started the run. */
async function first(packageId: number, sentIn?: string) {
  const work = orderWork(await bench.accept(packageId));
  return { work, sentIn: sentIn ?? (await present()), firstSend: { delivers: true } } as const;
}

const sends = async () => (await bench.admin.requests('createOrder')).length;

describe('beginWork of a run that acceptance has started', () => {
  it('sends, and delivers what the service calls completed', async () => {
    const { sent, attempt } = await bench.activities.beginWork(await first(PACKAGE.completedAtOnce));
    expect(attempt.state).toBe('prepared');
    expect(sent).toMatchObject({ outcome: { kind: 'accepted', outcome: 'completed' }, delivered: {} });
  });

  it('sends once when it runs twice, one after the other or at the same time', async () => {
    const before = await sends();
    const input = await first(PACKAGE.staysProcessing);
    const [one, two] = await Promise.all([bench.activities.beginWork(input), bench.activities.beginWork(input)]);
    expect([one, two].map(({ sent }) => sent?.outcome.kind)).toContain('accepted');
    const again = await bench.activities.beginWork(input);
    expect([again.sent, again.attempt.state]).toEqual([undefined, 'processing']);
    expect(await sends()).toBe(before + 1);
  });

  it('tells a run that is replayed after the delivery that the work has ended', async () => {
    const input = await first(PACKAGE.completedAtOnce);
    await bench.activities.beginWork(input);
    await expect(bench.activities.beginWork(input)).rejects.toMatchObject({ type: WORK_FINISHED });
  });

  it('sends nothing once PostgreSQL is in another epoch, and says in which', async () => {
    const before = await sends();
    const { sent, attempt, epoch } = await bench.activities.beginWork(await first(PACKAGE.completedAtOnce, 'earlier'));
    expect([sent, attempt.state, epoch]).toEqual([undefined, 'prepared', await present()]);
    expect(await sends()).toBe(before);
  });

  it('returns the failure of a send, which the row then knows', async () => {
    const before = await sends();
    const input = await first(PACKAGE.unavailable);
    await bench.admin.onRequest('createOrder', { kind: 'server_error' });
    const { sent } = await bench.activities.beginWork(input);
    expect(sent?.outcome.kind).toBe('failure');
    const { attempt } = await bench.activities.beginWork({ work: input.work });
    expect([attempt.state, attempt.history.sends]).toEqual(['unknown', 1]);
    expect(await sends()).toBe(before + 1);
  });

  it('stores attempt and comparison, and returns what stops the claim', async () => {
    const before = await sends();
    const input = await first(PACKAGE.completedAtOnce);
    await bench.database.run((db) => db.update(orders).set({ maxPriceAmount: '0.01', maxPriceCurrency: 'USD' }));
    const { sent } = await bench.activities.beginWork(input);
    expect(sent?.outcome).toMatchObject({ kind: 'failure', failure: 'price_above_limit' });
    expect(await sends()).toBe(before);
  });

  it('takes no lease when the account stops the claim; its step holds the work', async () => {
    const before = await sends();
    const input = await first(PACKAGE.completedAtOnce);
    const { work } = input;
    bench.gate.spendLimit = { amount: '0.01', currency: 'USD' };
    const { sent, attempt } = await bench.activities.beginWork(input);
    expect([sent, attempt.state, attempt.history.sends]).toEqual([undefined, 'prepared', 0]);
    const { outcome } = await bench.activities.sendPurchase({ work, attemptId: attempt.id });
    expect(outcome).toMatchObject({ kind: 'gated', failure: 'spend_limit_reached' });
    expect(await bench.row({ work })).toMatchObject({ status: 'accepted' });
    expect(await bench.database.run((db) => findWait(db, work))).toMatchObject({ barrier: 'spend_limit' });
    bench.gate.spendLimit = undefined;
    expect(await sends()).toBe(before);
    expect((await bench.activities.sendPurchase({ work, attemptId: attempt.id })).outcome.kind).toBe('accepted');
  });

  it('reserves its price once, which counts until the debit is in a reading of the wallet', async () => {
    const reserved = async () => {
      const [row] = await bench.database.run((db) => db.select().from(gateReserved));
      return Number(row?.amount ?? 0);
    };
    const before = await reserved();
    const input = await first(PACKAGE.staysProcessing);
    await bench.activities.beginWork(input);
    const [attempt] = await bench.database.run((db) => attemptsOf(db, input.work));
    expect(attempt).toMatchObject({ state: 'processing', sends: 1 });
    expect(await reserved()).toBeCloseTo(before + Number(attempt?.priceAmount), 6);
  });

  it('leaves the send to its step while the gate is not clear', async () => {
    const before = await sends();
    const input = await first(PACKAGE.completedAtOnce);
    const asked = { origin: 'operator', kind: null, failureClass: null, reason: 'A test.', actor: 'Ada' } as const;
    const now = new Date(bench.clock.now);
    const { pause } = await bench.database.transaction((tx) => addPause(tx, asked, now));
    const { sent, attempt } = await bench.activities.beginWork(input);
    await bench.database.transaction((tx) => releasePause(tx, pause.id, asked, now));
    expect([sent, attempt.state, await sends()]).toEqual([undefined, 'prepared', before]);
  });

  it('sends nothing after the deadline of the retry rule, which its step then judges', async () => {
    const before = await sends();
    const input = await first(PACKAGE.completedAtOnce);
    const retryRule = { attempts: 1, firstDelayMs: 1, maxDelayMs: 1, totalMs: 1_000 };
    bench.clock.now += 2_000;
    const { sent } = await bench.activities.beginWork({ ...input, firstSend: { delivers: true, retryRule } });
    expect([sent, await sends()]).toEqual([undefined, before]);
  });

  it('leaves an error before the send to its step, where a repeated activity would hide it', async () => {
    const input = await first(PACKAGE.completedAtOnce);
    const later = { runId: 'run', historyLength: 20, at: bench.clock.now };
    await bench.database.run((db) => db.update(orders).set({ recordedIn: later }).where(eq(orders.id, input.work.id)));
    const task = { ...later, historyLength: 3 };
    const begun = await bench.activities.beginWork({ ...input, firstSend: { delivers: true, task } });
    expect([begun.sent, begun.attempt.state]).toEqual([undefined, 'prepared']);
  });

  it('leaves the send to its step when an earlier try has left a place at the gate, which the step takes away', async () => {
    const input = await first(PACKAGE.completedAtOnce);
    const { work } = input;
    const waiting = { work, barrier: 'wallet', failureClass: 'insufficient_balance', apiKeyId: 'key_test' } as const;
    const now = new Date(bench.clock.now);
    await bench.database.transaction((tx) => enqueue(tx, { ...waiting, acceptedAt: now, mayHaveBought: false }, now));
    const { sent, attempt } = await bench.activities.beginWork(input);
    const { outcome } = await bench.activities.sendPurchase({ work, attemptId: attempt.id });
    expect([sent, outcome.kind]).toEqual([undefined, 'accepted']);
    expect(await bench.database.run((db) => findWait(db, work))).toBeUndefined();
  });

  it(`leaves the send to its step beside ${MAX_FIRST_SENDS} others, and where a rate limits the sends`, async () => {
    const { service } = bench.dependencies;
    const held = Promise.withResolvers<void>();
    let waiting = 0;
    const createOrder: typeof service.createOrder = async (order) => {
      waiting += 1;
      await held.promise;
      return service.createOrder(order);
    };
    const worker = createWorkActivities({ ...bench.dependencies, service: { ...service, createOrder } });
    const inputs = await Promise.all(Array.from({ length: MAX_FIRST_SENDS }, () => first(PACKAGE.staysProcessing)));
    const begun = inputs.map((input) => worker.beginWork(input));
    await waitFor('all slots are taken', () => waiting === MAX_FIRST_SENDS);
    const { sent, attempt } = await worker.beginWork(await first(PACKAGE.staysProcessing));
    expect([sent, attempt.state]).toEqual([undefined, 'prepared']);
    held.resolve();
    const limited = createWorkActivities(bench.dependencies, 0);
    expect((await limited.beginWork(await first(PACKAGE.completedAtOnce))).sent).toBeUndefined();
    expect((await Promise.all(begun)).filter((each) => each.sent === undefined)).toEqual([]);
  });
});
