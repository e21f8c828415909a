/** Answers to abandoned sends, and sends while PostgreSQL has lost records of the attempt. */
import { eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { createWorkActivities } from '#activities/work/work-activities.ts';
import { isWaking } from '#db/queues/outbox.ts';
import { attempts, orders } from '#db/schema.ts';
import { openReasons } from '#db/work/cases.ts';
import type { Witness } from '#domain/purchase/recovery.ts';
import type { AttemptRef, StepRecord } from '#domain/purchase/results.ts';
import { recordReport } from '#fulfilment/attempts/report.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { step } from '#test/support/work/activities/steps.ts';

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
  return () => bench[Symbol.asyncDispose]();
});

const WINDOW = 600_000;
type Answer = Awaited<ReturnType<ActivityBench['service']['createOrder']>>;
const FAILURE = { ok: false, kind: 'failure' } as const;
const LOST: Answer = { ...FAILURE, failure: 'timeout', detail: 'No answer.' };
const REFUSED: Answer = { ...FAILURE, failure: 'insufficient_balance', detail: 'Too little money.', status: 402 };
const NO_LEASE = { leaseToken: null, leaseUntil: null };
const stateOf = async ({ work }: AttemptRef) => {
  const { status, attentionReason } = await bench.row({ work });
  const cases = await bench.database.run((db) => openReasons(db, work));
  return { status, attentionReason, cases, isWoken: await bench.database.run((db) => isWaking(db, work)) };
};

/** Sends, and runs `happens` between the request and the storing of its answer. */
async function sendMeanwhile(ref: AttemptRef, happens: (answer: Answer) => Promise<Answer | void>) {
  const service = { ...bench.service };
  service.createOrder = async (order) => {
    const answer = await bench.service.createOrder(order);
    return (await happens(answer)) ?? answer;
  };
  return createWorkActivities({ ...bench.dependencies, service }).sendPurchase({ ...ref, resendWindowMs: WINDOW });
}

async function requireAttention(
  { work }: AttemptRef,
  reason: 'outcome_unknown' | 'failed_but_charged',
  more: Partial<StepRecord> = {},
) {
  const attention = { reason, detail: 'A person is to look.' };
  return bench.activities.recordStep(step(work, { status: 'needs_attention', attention, ...more }));
}

const change = ({ attemptId }: AttemptRef, values: Partial<typeof attempts.$inferInsert>) =>
  bench.database.run((db) => db.update(attempts).set(values).where(eq(attempts.id, attemptId)));

/** Simulates that PostgreSQL loses the records of the sends. */
async function setBack(ref: AttemptRef) {
  const never = { firstSentAt: null, firstUnrefusedSendAt: null };
  await change(ref, { state: 'prepared', sends: 0, anyUnknown: false, ...NO_LEASE, ...never });
}

describe('an answer whose order is locked by another transaction', () => {
  it('is stored when the lock is free, also after the end of a wait for it', async () => {
    const ref = await bench.begin();
    const isHeld = Promise.withResolvers<void>();
    let holder: Promise<void> | undefined;
    const { outcome } = await sendMeanwhile(ref, async () => {
      holder = bench.database.transaction(async (tx) => {
        await tx.select().from(orders).where(eq(orders.id, ref.work.id)).for('update');
        isHeld.resolve();
        const waits = new Set<string>();
        // A wait that has ended is followed by another one.
        await waitFor('the second wait for the lock', async () => {
          // On another connection: a transaction sees the first list that it reads.
          const { rows } = await bench.database.run((db) =>
            db.execute<{ begun: string }>(sql`SELECT query_start::text AS begun FROM pg_stat_activity
              WHERE datname = current_database() AND wait_event_type = 'Lock'`),
          );
          for (const { begun } of rows) waits.add(begun);
          return waits.size > 1;
        });
      });
      await isHeld.promise;
    });
    await holder;
    expect(outcome).toEqual({ kind: 'accepted', outcome: 'completed' });
    expect(await bench.attempt(ref)).toMatchObject({ state: 'completed', sends: 1 });
  });
});

describe('the late answer of an abandoned send', () => {
  it('wakes a workflow that waits for an operator, because the later webhook contains nothing new', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async () => void (await requireAttention(ref, 'outcome_unknown')));
    expect((await bench.attempt(ref)).state).not.toBe('unknown');
    expect(await stateOf(ref)).toEqual({ status: 'processing', attentionReason: null, cases: [], isWoken: true });
  });

  it('wakes a workflow that waits for the service, when a newer send got a less final answer', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async (answer) => {
      if (!answer.ok) throw new Error(answer.detail);
      const serviceId = answer.value.id;
      await bench.database.transaction((tx) =>
        recordReport(tx, ref.attemptId, { outcome: 'processing', serviceId }, new Date(bench.clock.now)),
      );
      return { ...answer, value: { ...answer.value, status: 'completed' } };
    });
    expect(await bench.attempt(ref)).toMatchObject({ state: 'completed' });
    expect(await stateOf(ref)).toMatchObject({ isWoken: true });
  });

  it('prevents a case that the workflow opens without knowledge of the answer', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async () => undefined);
    expect(await requireAttention(ref, 'outcome_unknown', { attemptState: 'sending' })).toBe('changed');
    expect(await stateOf(ref)).toMatchObject({ attentionReason: null, cases: [] });
    const { state: attemptState } = await bench.attempt(ref);
    expect(await requireAttention(ref, 'outcome_unknown', { attemptState })).toBe('recorded');
  });

  it('leaves the case of the order open when the answer contains nothing new', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async (answer) => {
      await change(ref, { state: 'failed', ...NO_LEASE });
      await requireAttention(ref, 'failed_but_charged');
      return answer.ok ? { ...answer, value: { ...answer.value, status: 'processing' } } : answer;
    });
    expect((await bench.attempt(ref)).state).toBe('failed');
    const reason = 'failed_but_charged';
    const expected = { status: 'needs_attention', attentionReason: reason, cases: [reason], isWoken: false };
    expect(await stateOf(ref)).toEqual(expected);
  });
});

describe('a send after PostgreSQL has lost its records', () => {
  it('is not claimed when the row records fewer sends than the workflow', async () => {
    const ref = await bench.begin();
    const witness: Witness = { number: 1, state: 'unknown', sends: 1, firstSentAt: bench.clock.now, anyUnknown: true };
    const lost = { outcome: { kind: 'records_lost' }, attempt: { state: 'prepared', history: { sends: 0 } } };
    expect(await bench.activities.sendPurchase({ ...ref, resendWindowMs: WINDOW, witness })).toMatchObject(lost);
    expect(await bench.admin.requests('createOrder')).toEqual([]);
    expect(await bench.attempt(ref)).toMatchObject({ state: 'prepared', sends: 0 });
  });

  it('stays a possible purchase when its outcome is unknown and the row has lost it', async () => {
    const ref = await bench.begin();
    const result = await sendMeanwhile(ref, () => setBack(ref).then(() => LOST));
    expect(result).toMatchObject({
      outcome: { kind: 'failure', failure: 'timeout' },
      attempt: { state: 'unknown', history: { sends: 1, anyUnknown: true } },
    });
    const { outcome } = await bench.activities.sendPurchase({ ...ref, resendWindowMs: WINDOW });
    expect(outcome).toMatchObject({ kind: 'lease_held' });
  });

  it('makes the refusal of a second send no proof', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, async () => {
      await setBack(ref);
      // Another worker claims the row, which looks unsent.
      await sendMeanwhile(ref, () => Promise.resolve(REFUSED));
      return LOST;
    });
    expect(await bench.attempt(ref)).toMatchObject({ state: 'unknown', anyUnknown: true });
  });

  it('leaves the row unchanged when the service clearly refused it', async () => {
    const ref = await bench.begin();
    await sendMeanwhile(ref, () => setBack(ref).then(() => REFUSED));
    expect(await bench.attempt(ref)).toMatchObject({ state: 'prepared', anyUnknown: false });
  });
});
