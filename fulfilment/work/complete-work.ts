import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import type { TimelineEntry } from '#db/work/timeline.ts';
import { lockUnfinishedWork } from '#db/work/work-rows.ts';
import type { Money } from '#domain/money/money.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { updateWork } from '#fulfilment/work/update-work.ts';

/** What work came to whose purchase ended well. */
export interface Completion {
  readonly attemptId: string;
  /** `active` for what lives on. */
  readonly status?: 'completed' | 'active';
  /** Absent where it is about none. */
  readonly esimId?: string;
  readonly charged: Money | undefined;
  readonly entry: Omit<TimelineEntry, 'event' | 'dedupKey'>;
  /** Rows of the inbox that this answers, by their keys. */
  readonly applied: readonly string[];
}

/**
 * Ends a purchase well: attempt, work, timeline and inbox in one transaction. @throws WorkFinishedError when it has
 * ended.
 */
export async function completeWork(tx: Executor, work: WorkRef, completion: Completion, now: Date): Promise<void> {
  const { attemptId, status = 'completed', esimId, charged, entry, applied } = completion;
  await lockUnfinishedWork(tx, work);
  // Wherever it stands: what is delivered comes to the same from every state.
  const state = attemptStateAfter('completed', 'delivered');
  await tx.update(attempts).set({ state, busyEsimId: null, lastHeardAt: now }).where(eq(attempts.id, attemptId));
  await updateWork(tx, work, {
    ...(esimId !== undefined && { esimId }),
    completedAt: now,
    chargedAmount: charged?.amount ?? null,
    chargedCurrency: charged?.currency ?? null,
  });
  const event = `${work.kind}.${status}`;
  await recordStep(tx, work, { status, entry: { ...entry, event, dedupKey: event }, applied }, now);
}
