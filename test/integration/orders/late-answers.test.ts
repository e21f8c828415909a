/** Answers that come when nobody waits for them any more, and sends of rows that PostgreSQL has set back meanwhile. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkActivities } from '#activities/work/work-activities.ts';
import type { AttemptRef, StepRecord } from '#activities/work/work-types.ts';
import { findAttemptById } from '#db/attempts/attempts.ts';
import { isWaking } from '#db/queues/outbox.ts';
import { attempts } from '#db/schema.ts';
import { openReasons } from '#db/work/cases.ts';
import { readWork } from '#db/work/work-rows.ts';
import type { Witness } from '#domain/purchase/restored-records.ts';
import { recordReport } from '#fulfilment/attempts/record-report.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(() => bench[Symbol.asyncDispose]());

const WINDOW = 600_000;
type Answer = Awaited<ReturnType<ActivityBench['service']['createOrder']>>;
const LOST: Answer = { ok: false, kind: 'failure', failure: 'timeout', detail: 'No answer.' };
const REFUSED: Answer = {
  ok: false,
  kind: 'failure',
  failure: 'insufficient_balance',
  detail: 'Too little money.',
  status: 402,
};
const attemptOf = ({ attemptId }: AttemptRef) => bench.database.run((db) => findAttemptById(db, attemptId));
const standing = async ({ work }: AttemptRef) => {
  const { status, attentionReason } = await bench.database.run((db) => readWork(db, work));
  const cases = await bench.database.run((db) => openReasons(db, work));
  return { status, attentionReason, cases, isWoken: await bench.database.run((db) => isWaking(db, work)) };
};

/** Sends by a worker to which something happens between its request and the moment at which it stores the answer. */
async function sendMeanwhile(ref: AttemptRef, happens: (answer: Answer) => Promise<Answer | void>) {
  const service = { ...bench.service };
  service.createOrder = async (order) => {
    const answer = await bench.service.createOrder(order);
    return (await happens(answer)) ?? answer;
  };
  return createWorkActivities({ ...bench.dependencies, service }).sendPurchase({ ...ref, resendWindowMs: WINDOW });
}

async function park(
  { work }: AttemptRef,
  reason: 'outcome_unknown' | 'failed_but_charged',
  more: Partial<StepRecord> = {},
) {
  const attention = { reason, detail: 'A person is to look.' };
  const step = {
    work,
    stepKey: randomUUID(),
    status: 'needs_attention',
    event: 'order.needs_attention',
    message: 'Waits for a person.',
  } as const;
  return bench.activities.recordStep({ ...step, attemptNumber: 1, attention, applied: [], ...more });
}

/** PostgreSQL loses what was recorded of the sends. */
async function setBack({ attemptId }: AttemptRef) {
  const unsent = {
    state: 'prepared',
    sends: 0,
    anyUnknown: false,
    leaseToken: null,
    leaseUntil: null,
    firstSentAt: null,
    firstUnrefusedSendAt: null,
  } as const;
  await bench.database.run((db) => db.update(attempts).set(unsent).where(eq(attempts.id, attemptId)));
}

describe('the answer of a send that was given up', () => {
  it('wakes the workflow that waits for a person meanwhile: the report that follows is known already', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async () => void (await park(ref, 'outcome_unknown')));
    expect((await attemptOf(ref)).state).not.toBe('unknown');
    expect(await standing(ref)).toEqual({ status: 'processing', attentionReason: null, cases: [], isWoken: true });
  });

  it('wakes the workflow that waits for the service, where a newer send has answered less', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async (answer) => {
      if (!answer.ok) throw new Error(answer.detail);
      const serviceId = answer.value.id;
      await bench.database.transaction((tx) =>
        recordReport(tx, ref.attemptId, { outcome: 'processing', serviceId }, new Date(bench.clock.now)),
      );
      return { ...answer, value: { ...answer.value, status: 'completed' } };
    });
    expect(await attemptOf(ref)).toMatchObject({ state: 'completed' });
    expect(await standing(ref)).toMatchObject({ isWoken: true });
  });

  it('is found by a workflow that is about to ask a person without knowing of it', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async () => undefined);
    expect(await park(ref, 'outcome_unknown', { attemptState: 'sending' })).toBe('changed');
    expect(await standing(ref)).toMatchObject({ attentionReason: null, cases: [] });
    expect(await park(ref, 'outcome_unknown', { attemptState: (await attemptOf(ref)).state })).toBe('recorded');
  });

  it('leaves the case of a parked order open where it tells nothing new', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async (answer) => {
      await bench.database.run((db) =>
        db
          .update(attempts)
          .set({ state: 'failed', leaseToken: null, leaseUntil: null })
          .where(eq(attempts.id, ref.attemptId)),
      );
      await park(ref, 'failed_but_charged');
      return answer.ok ? { ...answer, value: { ...answer.value, status: 'processing' } } : answer;
    });
    expect((await attemptOf(ref)).state).toBe('failed');
    const expected = {
      status: 'needs_attention',
      attentionReason: 'failed_but_charged',
      cases: ['failed_but_charged'],
      isWoken: false,
    };
    expect(await standing(ref)).toEqual(expected);
  });

  it('of an ordinary send wakes nobody', async () => {
    const ref = await bench.begin();
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({ outcome: { kind: 'accepted' } });
    expect(await standing(ref)).toMatchObject({ status: 'processing', isWoken: false });
  });
});

describe('a send while PostgreSQL is set back', () => {
  it('is not claimed where the row knows less than the workflow', async () => {
    const ref = await bench.begin();
    const witness: Witness = { number: 1, state: 'unknown', sends: 1, firstSentAt: bench.clock.now, anyUnknown: true };
    const result = await bench.activities.sendPurchase({ ...ref, resendWindowMs: WINDOW, witness });
    expect(result).toMatchObject({
      outcome: { kind: 'records_lost' },
      attempt: { state: 'prepared', history: { sends: 0 } },
    });
    expect(await bench.admin.requests('createOrder')).toEqual([]);
    expect(await attemptOf(ref)).toMatchObject({ state: 'prepared', sends: 0 });
  });

  it('counts as a send that may have bought, where its outcome is unknown and the row has forgotten it', async () => {
    const ref = await bench.begin();
    const result = await sendMeanwhile(ref, async () => {
      await setBack(ref);
      return LOST;
    });
    expect(result).toMatchObject({
      outcome: { kind: 'failure', failure: 'timeout' },
      attempt: { state: 'unknown', history: { sends: 1, anyUnknown: true } },
    });
    const again = await bench.activities.sendPurchase({ ...ref, resendWindowMs: WINDOW });
    expect(again).toMatchObject({ outcome: { kind: 'lease_held' } });
  });

  it('that was another one by now makes the refusal of that one prove nothing', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async () => {
      await setBack(ref);
      // Another worker claims what looks unsent.
      await sendMeanwhile(ref, () => Promise.resolve(REFUSED));
      return LOST;
    });
    expect(await attemptOf(ref)).toMatchObject({ state: 'unknown', anyUnknown: true });
  });

  it('leaves the row as it is where the service refused it for certain', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async () => {
      await setBack(ref);
      return REFUSED;
    });
    expect(await attemptOf(ref)).toMatchObject({ state: 'prepared', anyUnknown: false });
  });
});
