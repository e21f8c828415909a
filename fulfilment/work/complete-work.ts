import { eq } from 'drizzle-orm';
import type { Write } from '#db/connection/alongside.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import type { WorkRow } from '#db/work/kinds.ts';
import type { TimelineEntry } from '#db/work/timeline.ts';
import { lockUnfinishedWork } from '#db/work/work-rows.ts';
import type { Money } from '#domain/money/money.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { storeStep } from '#fulfilment/work/record-step.ts';

/** The result of a successful purchase. */
export interface Completion {
  readonly attemptId: string;
  /** `active` for subscriptions. */
  readonly status?: 'completed' | 'active';
  /** Absent when it is about no eSIM. */
  readonly esimId?: string;
  readonly charged: Money | undefined;
  readonly entry: Omit<TimelineEntry, 'event' | 'dedupKey'>;
  /** Keys of the inbox rows that this completion handles. */
  readonly applied: readonly string[];
}

/**
 * Completes a purchase: attempt, work, timeline and inbox in one transaction.
 * @throws WorkFinishedError when it has ended.
 */
export async function completeWork(tx: Executor, work: WorkRef, completion: Completion, now: Date): Promise<void> {
  await completeLocked(tx, work, await lockUnfinishedWork(tx, work), completion, now);
}

/**
 * As {@link completeWork}, for work that is locked and has not ended.
 * @param writes are run in the same statement.
 */
export async function completeLocked(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  { attemptId, status = 'completed', esimId, charged, entry, applied }: Completion,
  now: Date,
  writes: readonly Write[] = [],
): Promise<void> {
  // A delivery leads to the same state from every state.
  const state = attemptStateAfter('completed', 'delivered');
  const delivered = tx
    .update(attempts)
    .set({ state, busyEsimId: null, lastReportAt: now })
    .where(eq(attempts.id, attemptId));
  const event = `${work.kind}.${status}`;
  await storeStep(tx, work, row, { status, entry: { ...entry, event, dedupKey: event }, applied }, now, {
    change: {
      ...(esimId !== undefined && { esimId }),
      completedAt: now,
      chargedAmount: charged?.amount ?? null,
      chargedCurrency: charged?.currency ?? null,
    },
    writes: [{ statement: delivered }, ...writes],
  });
}
