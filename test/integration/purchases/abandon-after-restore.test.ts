/**
 * What may be given up after PostgreSQL was set back: nothing by a row that its workflow has not compared with what it
 * knows.
 */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptRef } from '#activities/work/work-types.ts';
import { findAttemptById } from '#db/attempts/attempts.ts';
import { isWaking } from '#db/queues/outbox.ts';
import { orders } from '#db/schema.ts';
import { readWork } from '#db/work/work-rows.ts';
import type { Witness } from '#domain/purchase/restored-records.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

let bench: ActivityBench;
beforeAll(async () => {
  bench = await ActivityBench.start();
});
afterAll(() => bench[Symbol.asyncDispose]());

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
const fail = ({ work }: AttemptRef) => {
  const failure = { class: 'deadline_passed', detail: 'The deadline passed.' } as const;
  return bench.activities.recordStep({
    work,
    stepKey: randomUUID(),
    status: 'failed',
    event: 'order.failed',
    message: 'Failed.',
    attemptNumber: 1,
    failure,
    applied: [],
  });
};

/** An order whose row says that nothing was sent, as it was before PostgreSQL was restored. */
async function restored(): Promise<AttemptRef> {
  const ref = await bench.begin();
  await bench.hold(ref);
  await bench.database.run((db) =>
    db.update(orders).set({ comparedEpoch: EPOCH_BEFORE }).where(eq(orders.id, ref.work.id)),
  );
  return ref;
}

describe('an order whose row says that nothing was sent, after PostgreSQL was restored', () => {
  it('is not abandoned before its workflow has compared; the refusal wakes it', async () => {
    const ref = await restored();
    await expect(abandon(ref)).rejects.toThrow(/restarted or restored.*again in a moment/);
    expect([(await rowOf(ref)).status, await isWoken(ref)]).toEqual(['held', true]);
  });

  it('is not abandoned after that either, where the workflow knows of a send', async () => {
    const ref = await restored();
    await bench.activities.beginWork({ work: ref.work, witness: SENT });
    await expect(abandon(ref)).rejects.toThrow(/may have bought/);
    expect(await bench.database.run((db) => findAttemptById(db, ref.attemptId))).toMatchObject({
      state: 'unknown',
      sends: 1,
    });
  });

  it('is abandoned after that where the workflow knows of none: a plain restart bars nothing', async () => {
    const ref = await restored();
    await bench.activities.beginWork({
      work: ref.work,
      witness: { number: 1, state: 'prepared', sends: 0, anyUnknown: false },
    });
    expect(await abandon(ref)).toBe('applied');
  });

  it('is not compared by a workflow that has yet to reckon with a send of which it heard nothing', async () => {
    const ref = await restored();
    await bench.activities.beginWork({ work: ref.work, sentIn: EPOCH_BEFORE });
    await expect(abandon(ref)).rejects.toThrow(/again in a moment/);
  });

  it('does not fail at its deadline by that row: the workflow compares first', async () => {
    const ref = await restored();
    expect(await fail(ref)).toBe('may_be_bought');
    await bench.activities.beginWork({ work: ref.work });
    expect(await fail(ref)).toBe('recorded');
  });
});
