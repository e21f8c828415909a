/** Steps and actions after PostgreSQL was restored. The workflow must first compare the row with its own state. */
import { eq } from 'drizzle-orm';
import { describe, expect, it, vi } from 'vitest';
import { isWaking } from '#db/queues/outbox.ts';
import { attempts, orders } from '#db/schema.ts';
import { findAttempt } from '#db/work/attempts.ts';
import type { Witness } from '#domain/purchase/recovery.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { step } from '#test/support/work/activities/steps.ts';
import { WORK_MISSING } from '#workflows/messages.ts';

const bench = disposedAtEnd(await ActivityBench.start());

const SENT: Witness = { number: 1, state: 'processing', sends: 1, firstSentAt: 0, anyUnknown: true };
const SENT_ONCE: Witness = { ...SENT, state: 'unknown', firstSentAt: Date.now() };
const EPOCH_BEFORE = '00000001/1.5';

const abandon = (ref: AttemptRef) => bench.act(ref, { action: 'abandon' });
const isWoken = ({ work }: AttemptRef) => bench.database.run((db) => isWaking(db, work));
const TASK = { runId: 'a', historyLength: 4, at: 0 };
const fail = ({ work }: AttemptRef) => {
  const failure = { class: 'deadline_passed', detail: 'The deadline passed.' } as const;
  return bench.activities.recordStep(step(work, { status: 'failed', failure, task: TASK }));
};

const restore = ({ work }: AttemptRef) =>
  bench.database.run((db) => db.update(orders).set({ comparedEpoch: EPOCH_BEFORE }).where(eq(orders.id, work.id)));

/** An order whose row was restored to the state before its send. */
async function restored(): Promise<AttemptRef> {
  const ref = await bench.begin();
  await bench.hold(ref);
  await restore(ref);
  return ref;
}

describe('an order restored to the state before its send', () => {
  it('is not abandoned before its workflow has compared the row, and the refusal wakes the workflow', async () => {
    const ref = await restored();
    await expect(abandon(ref)).rejects.toThrow(/restarted or restored.*again in a moment/);
    expect([(await bench.row(ref)).status, await isWoken(ref)]).toEqual(['held', true]);
  });

  it('is not abandoned after the comparison when the workflow knows of a send', async () => {
    const ref = await restored();
    await bench.activities.beginWork({ work: ref.work, witness: SENT });
    await expect(abandon(ref)).rejects.toThrow(/may have bought/);
    expect(await bench.attempt(ref)).toMatchObject({ state: 'unknown', sends: 1 });
  });

  it('is abandoned as soon as its workflow, which is woken, has compared it and knows of no send', async () => {
    const ref = await restored();
    const abandoning = abandon(ref);
    await vi.waitUntil(() => isWoken(ref));
    const witness = { number: 1, state: 'prepared', sends: 0, anyUnknown: false } as const;
    await bench.activities.beginWork({ work: ref.work, witness });
    expect(await abandoning).toBe('applied');
  });

  it('keeps a retry that comes first apart from the comparison', async () => {
    const ref = await bench.begin();
    await bench.activities.recordStep(step(ref.work, { status: 'needs_attention' }));
    await restore(ref);
    await bench.act(ref, { action: 'retry' });
    const begun = { isFirstSinceRestart: true, nextStepAt: expect.any(Number) };
    expect(await bench.activities.beginWork({ work: ref.work })).toMatchObject(begun);
  });

  it('is not compared by a workflow whose own send has no result yet', async () => {
    const ref = await restored();
    await bench.activities.beginWork({ work: ref.work, sentIn: EPOCH_BEFORE });
    await expect(abandon(ref)).rejects.toThrow(/again in a moment/);
  });

  it('does not fail at its deadline before its workflow has compared the row', async () => {
    const ref = await restored();
    expect(await fail(ref)).toBe('not_compared');
    await bench.activities.beginWork({ work: ref.work });
    expect(await fail(ref)).toBe('recorded');
  });

  it('gets no further attempt until its workflow has compared the row', async () => {
    const ref = await restored();
    const openNext = () => bench.activities.openNextAttempt({ work: ref.work, number: 2 });
    expect(await openNext()).toEqual({ kind: 'not_compared' });
    expect(await bench.database.run((db) => findAttempt(db, ref.work, 2))).toBeUndefined();
    await bench.activities.beginWork({ work: ref.work });
    await bench.settle(ref);
    expect(await openNext()).toMatchObject({ kind: 'opened', attempt: { number: 2 } });
  });

  it('does not get a step of an attempt that is lost, until its workflow has restored the attempt', async () => {
    const ref = await restored();
    const before = await bench.row(ref);
    const processing = step(ref.work, { status: 'processing', attemptNumber: 2, task: TASK });
    expect(await bench.activities.recordStep(processing)).toBe('not_compared');
    expect(await bench.row(ref)).toEqual(before);
    await bench.activities.beginWork({ work: ref.work, witness: { ...SENT, number: 2 } });
    expect(await bench.activities.recordStep(processing)).toBe('recorded');
    const second = { state: 'unknown', sends: 1 };
    expect(await bench.database.run((db) => findAttempt(db, ref.work, 2))).toMatchObject(second);
  });
});

describe('an order with a lost attempt row', () => {
  it('is restored as unknown, with the same key and the number of sends of its workflow', async () => {
    const { work, attemptId } = await bench.begin();
    const before = await bench.attempt({ attemptId });
    await bench.database.run((db) => db.delete(attempts).where(eq(attempts.id, attemptId)));
    const { attempt, isRestored } = await bench.activities.beginWork({ work, witness: SENT_ONCE });
    const known = [true, 'unknown', 1, true];
    expect([isRestored, attempt.state, attempt.history.sends, attempt.history.anyUnknown]).toEqual(known);
    const after = await bench.attempt({ attemptId: attempt.id });
    expect([after.idempotencyKey, after.reference]).toEqual([before.idempotencyKey, before.reference]);
    const { outcome } = await bench.activities.sendPurchase({ work, attemptId: attempt.id });
    expect(outcome).toMatchObject({ kind: 'lease_held' });
  });

  it('is restored once, and reports the database epoch of its read', async () => {
    const { work } = await bench.begin();
    const first = await bench.activities.beginWork({ work, witness: SENT_ONCE });
    const second = await bench.activities.beginWork({ work, witness: SENT_ONCE });
    expect([first.attempt.state, first.isRestored, second.isRestored]).toEqual(['unknown', true, undefined]);
    expect(first.epoch).toMatch(/^[0-9A-F]{8}\/\d+/);
    expect(second.epoch).toBe(first.epoch);
  });

  it.each(['readDebitEvidence', 'lookUpPurchase', 'completePurchase', 'sendPurchase'] as const)(
    'makes %s fail with work_missing, so that its workflow starts again instead of retrying forever',
    async (name) => {
      const { work, attemptId } = await bench.begin();
      await bench.database.run((db) => db.delete(attempts).where(eq(attempts.id, attemptId)));
      const missing = { type: WORK_MISSING, nonRetryable: true };
      await expect(bench.activities[name]({ work, attemptId, applied: [] })).rejects.toMatchObject(missing);
    },
  );
});
