import type { Executor } from '#db/connection/database.ts';
import { requestWake } from '#db/queues/outbox.ts';
import type { WorkRow } from '#db/work/kinds.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { timelineEntry, type TimelineEntry } from '#db/work/timeline.ts';
import { afterAnswer } from '#domain/purchase/late-answer.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { mayFollow } from '#domain/work/lifecycle.ts';
import { applyReport, type AttemptReport } from '#fulfilment/attempts/record-report.ts';
import { markInProgress } from '#fulfilment/work/update-work.ts';

/** The attempt that an answer is about. */
interface Answered {
  readonly work: WorkRef;
  /** The work as it is now, locked. */
  readonly current: WorkRow;
  /** Locked. */
  readonly attempt: AttemptRow;
  /** Of the send that was answered; undefined for a look-up. */
  readonly leaseToken?: string;
}

/**
 * Stores the facts of a service record, from the answer to a send or from a look-up. Wakes the workflow when the answer
 * came too late for the step that waited for it.
 *
 * @param entry for the timeline.
 * @returns the attempt as it is now.
 */
export async function recordAnswer(
  tx: Executor,
  { work, current, attempt: before, leaseToken }: Answered,
  facts: AttemptReport,
  now: Date,
  entry: TimelineEntry,
): Promise<AttemptRow> {
  const after = await applyReport(tx, before, facts, now, [timelineEntry(work, entry)]);
  const holdsLease = leaseToken === undefined || before.leaseToken === leaseToken;
  const { isInProgress, wakes } = afterAnswer({
    before: before.state,
    after: after.state,
    work: current.status,
    holdsLease,
  });
  // A subscription that has become active meanwhile does not go back to `processing`.
  if (isInProgress && mayFollow(work.kind, current.status, 'processing')) await markInProgress(tx, work, current, now);
  if (wakes) await requestWake(tx, work);
  return after;
}
