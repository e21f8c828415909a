/** Steps and actions after PostgreSQL was restored. The workflow must first compare the row with its own state. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it, vi } from 'vitest';
import { isWaking } from '#db/queues/outbox.ts';
import { orders } from '#db/schema.ts';
import { findAttempt, findAttemptById } from '#db/work/attempts.ts';
import { readWork } from '#db/work/rows.ts';
import type { Witness } from '#domain/purchase/recovery.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { step } from '#test/support/work/activities/steps.ts';

const bench = disposedAtEnd(await ActivityBench.start());

const SENT: Witness = { number: 1, state: 'processing', sends: 1, firstSentAt: 0, anyUnknown: true };
const EPOCH_BEFORE = '00000001/1.5';

const abandon = ({ work }: AttemptRef) =>
  bench.activities.actOnWork({
    work,
    action: { action: 'abandon' },
    operator: { actor: 'Ada', reason: 'No longer wanted.', actionId: randomUUID() },
  });
const isWoken = ({ work }: AttemptRef) => bench.database.run((db) => isWaking(db, work));
const rowOf = ({ work }: AttemptRef) => bench.database.run((db) => readWork(db, work));
const TASK = { runId: 'a', historyLength: 4, at: 0 };
const fail = ({ work }: AttemptRef) => {
  const failure = { class: 'deadline_passed', detail: 'The deadline passed.' } as const;
  const event = 'order.failed';
  return bench.activities.recordStep(
    step(work, { stepKey: randomUUID(), status: 'failed', event, failure, task: TASK }),
  );
};

/** An order whose row was restored to the state before its send. */
async function restored(): Promise<AttemptRef> {
  const ref = await bench.begin();
  await bench.hold(ref);
  await bench.database.run((db) =>
    db.update(orders).set({ comparedEpoch: EPOCH_BEFORE }).where(eq(orders.id, ref.work.id)),
  );
  return ref;
}

describe('an order restored to the state before its send', () => {
  it('is not abandoned before its workflow has compared the row, and the refusal wakes the workflow', async () => {
    const ref = await restored();
    await expect(abandon(ref)).rejects.toThrow(/restarted or restored.*again in a moment/);
    expect([(await rowOf(ref)).status, await isWoken(ref)]).toEqual(['held', true]);
  });

  it('is not abandoned after the comparison when the workflow knows of a send', async () => {
    const ref = await restored();
    await bench.activities.beginWork({ work: ref.work, witness: SENT });
    await expect(abandon(ref)).rejects.toThrow(/may have bought/);
    expect(await bench.database.run((db) => findAttemptById(db, ref.attemptId))).toMatchObject({
      state: 'unknown',
      sends: 1,
    });
  });

  it('is abandoned as soon as its workflow, which is woken, has compared it and knows of no send', async () => {
    const ref = await restored();
    const abandoning = abandon(ref);
    await vi.waitUntil(() => isWoken(ref));
    await bench.activities.beginWork({
      work: ref.work,
      witness: { number: 1, state: 'prepared', sends: 0, anyUnknown: false },
    });
    expect(await abandoning).toBe('applied');
  });

  it('keeps a retry that comes first apart from the comparison', async () => {
    const ref = await bench.begin();
    await bench.activities.recordStep(
      step(ref.work, { stepKey: 'a:1', status: 'needs_attention', event: 'order.needs_attention' }),
    );
    const operator = { actor: 'Ada', reason: 'Again.', actionId: randomUUID() };
    await bench.database.run((db) =>
      db.update(orders).set({ comparedEpoch: EPOCH_BEFORE }).where(eq(orders.id, ref.work.id)),
    );
    await bench.activities.actOnWork({ work: ref.work, action: { action: 'retry' }, operator });
    expect(await bench.activities.beginWork({ work: ref.work })).toMatchObject({
      isFirstSinceRestart: true,
      nextStepAt: expect.any(Number),
    });
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
    const before = await rowOf(ref);
    const event = 'order.processing';
    const processing = step(ref.work, { stepKey: 'a:9', status: 'processing', event, attemptNumber: 2, task: TASK });
    expect(await bench.activities.recordStep(processing)).toBe('not_compared');
    expect(await rowOf(ref)).toEqual(before);
    await bench.activities.beginWork({ work: ref.work, witness: { ...SENT, number: 2 } });
    expect(await bench.activities.recordStep(processing)).toBe('recorded');
    expect(await bench.database.run((db) => findAttempt(db, ref.work, 2))).toMatchObject({
      state: 'unknown',
      sends: 1,
    });
  });
});
