import { and, eq, sql } from 'drizzle-orm';
import { noteFact } from '#db/connection/after-commit.ts';
import { type Executor, sendTogether } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { leaveGate } from '#db/gate/waits.ts';
import { markApplied, returnUnapplied } from '#db/queues/inbox.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { orderBatches } from '#db/schema.ts';
import { closeCase, closeCases, openCase } from '#db/work/cases.ts';
import { workTable, type SharedColumns, type WorkRow } from '#db/work/rows.ts';
import { addUnrepeatedEntry, type TimelineEntry } from '#db/work/timeline.ts';
import type { RetryRule } from '#domain/retry/retry-rules.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { BATCH_ENDS, type BatchEnd } from '#domain/work/identifiers.ts';
import { KINDS, WORK_KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal, mayFollow, type WorkStatus } from '#domain/work/lifecycle.ts';
import { announceStatus } from '#fulfilment/work/events.ts';

interface WorkChange {
  readonly set?: Partial<Omit<SharedColumns, 'status' | 'updatedAt'>>;
  readonly status?: WorkStatus;
  readonly entry?: TimelineEntry | undefined;
  /** The case that opens. */
  readonly attention?: { readonly reason: AttentionReason; readonly detail: string } | undefined;
  /** A sentence. Closes the cases that no person has to judge, as the end of `needs_attention` does. */
  readonly goesOn?: string | undefined;
  /** Reports that this change applies, with a note. */
  readonly applied?: { readonly keys: readonly string[]; readonly note: string };
}

/**
 * Row, timeline, event and cases of work change here, except the start of a send ({@link startSend}). `row` is locked
 * in this transaction. @throws RangeError when the status may not follow the present one.
 */
export async function changeWork(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  { set, status, entry, attention, goesOn, applied }: WorkChange,
  now: Date,
): Promise<void> {
  if (status !== undefined && !mayFollow(work.kind, row.status, status)) {
    throw new RangeError(`${KINDS[work.kind].noun} ${work.id} cannot go from ${row.status} to ${status}`);
  }
  // Before the reports that are not applied are returned.
  if (applied !== undefined) await markApplied(tx, applied.keys, applied.note, now);
  const table = workTable(work.kind);
  const changed = { ...set, ...(status !== undefined && { status }), updatedAt: now };
  const after = { ...row, ...changed, status: status ?? row.status };
  const needsNoMore = row.status === 'needs_attention' && after.status !== 'needs_attention';
  const resolution = goesOn ?? (needsNoMore ? (entry?.message ?? continued(work)) : undefined);
  await sendTogether([
    () => tx.update(table).set(changed).where(eq(table.id, work.id)),
    entry && (() => addUnrepeatedEntry(tx, work, entry)),
    resolution === undefined ? undefined : () => closeCases(tx, work, resolution, now),
    status && (() => announceStatus(tx, work, row, after, now)),
    // Work that is neither held nor about to be sent waits at no barrier.
    status === undefined || status === 'held' || status === 'submitting' ? undefined : () => leaveGate(tx, work),
  ]);
  if (attention !== undefined) {
    await closeTemporary(tx, work, row, attention.reason, entry, now);
    await openCase(tx, work, attention.reason, attention.detail);
  }
  if (status === undefined) return;
  noteStatus(tx, work, row, after);
  if (status !== row.status) await countEnded(tx, row, status, now);
  if (!isFinal(status)) return;
  await returnUnapplied(tx, work);
  // Nothing waits yet for an eSIM that this change delivers.
  if (row.esimId !== null) {
    for (const kind of WORK_KINDS.filter((each) => KINDS[each].esim === 'existing'))
      await wakeHeldOfEsim(tx, kind, row.esimId, 'esim_busy');
  }
}

/** A case that passed by itself, when another case opens. */
async function closeTemporary(
  tx: Executor,
  work: WorkRef,
  { attentionReason }: WorkRow,
  reason: AttentionReason,
  entry: TimelineEntry | undefined,
  now: Date,
): Promise<void> {
  const isPassed = attentionReason === 'service_not_answering' || attentionReason === 'stalled';
  if (isPassed && reason !== attentionReason) await closeCase(tx, work, attentionReason, entry?.message ?? '', now);
}

/** Work that is held again for the same reason was held all the time. */
function noteStatus(tx: Executor, { kind, id }: WorkRef, before: WorkRow, after: SharedColumns): void {
  const { status, failureClass, attentionReason, requestId, traceparent, createdAt: acceptedAt } = after;
  const isSame = before.status === status && before.failureClass === failureClass;
  if (isSame && before.attentionReason === attentionReason) return;
  noteFact(tx, {
    fact: 'status',
    kind,
    id,
    requestId,
    traceparent,
    status,
    previous: before.status,
    failureClass,
    attentionReason,
    acceptedAt,
    isCompletion: before.completedAt === null && after.completedAt !== null,
  });
}

export const NOTHING_IN_THE_WAY = {
  failureClass: null,
  failureDetail: null,
  serviceMessage: null,
  failureEnd: null,
  attentionReason: null,
  nextStepAt: null,
};

/** Ends the hold or case of the work. `row` as in {@link changeWork}. */
export async function markInProgress(tx: Executor, work: WorkRef, row: WorkRow, now: Date): Promise<void> {
  await changeWork(tx, work, row, { set: NOTHING_IN_THE_WAY, status: 'processing', goesOn: continued(work) }, now);
}

/**
 * Ends its hold or case, and takes it from the gate. No event announces this status. The caller holds the lock of the
 * work. `isNew`: nothing was recorded of it, and it has no place at the gate. `retryRule` undefined: unchanged.
 */
export async function startSend(
  tx: Executor,
  work: WorkRef,
  { isNew, retryRule }: { readonly isNew: boolean; readonly retryRule: RetryRule | undefined },
  now: Date,
): Promise<void> {
  const table = workTable(work.kind);
  const rule = retryRule === undefined ? {} : { retryRule };
  await tx
    .update(table)
    .set({ status: 'submitting', ...NOTHING_IN_THE_WAY, ...rule, updatedAt: now })
    .where(eq(table.id, work.id));
  if (isNew) return;
  await closeCases(tx, work, continued(work), now);
  await leaveGate(tx, work);
}

const continued = ({ kind }: WorkRef): string => `The ${KINDS[kind].noun} continued.`;

/**
 * Announces the end of the batch with its last order: the lock of the batch's row lets two last orders count one after
 * the other.
 */
async function countEnded(tx: Executor, row: WorkRow, status: WorkStatus, now: Date): Promise<void> {
  if (!('batchId' in row) || row.batchId === null || !isBatchEnd(status)) return;
  const { batchId } = row;
  const { size, completed, failed, abandoned } = orderBatches;
  const isLast = sql`${completed} + ${failed} + ${abandoned} + 1 = ${size}`;
  const [batch] = await tx
    .update(orderBatches)
    .set({
      [status]: sql`${orderBatches[status]} + 1`,
      completedAt: sql`case when ${isLast} then ${now.toISOString()}::timestamptz end`,
    })
    .where(eq(orderBatches.id, batchId))
    .returning();
  if (batch === undefined) throw new Error(`batch ${batchId} does not exist`);
  if (batch.completedAt === null) return;
  noteFact(tx, { fact: 'batch', id: batchId, status: 'completed', size: batch.size });
  const data = {
    external_batch_id: batch.externalBatchId,
    size: batch.size,
    completed: batch.completed,
    failed: batch.failed,
    abandoned: batch.abandoned,
  };
  const subject = { kind: 'order_batch', id: batchId } as const;
  await recordEvent(tx, { type: 'order_batch.completed', subject, apiKeyId: batch.apiKeyId, data }, now);
}

function isBatchEnd(status: WorkStatus): status is BatchEnd {
  return (BATCH_ENDS as readonly WorkStatus[]).includes(status);
}

/** `heldFor` undefined: for any reason. */
export async function wakeHeldOfEsim(
  tx: Executor,
  kind: WorkKind,
  esimId: string,
  heldFor?: FailureClass,
): Promise<void> {
  const table = workTable(kind);
  const isHeld = and(eq(table.esimId, esimId), eq(table.status, 'held'));
  const isFor = heldFor === undefined ? undefined : eq(table.failureClass, heldFor);
  for (const { id } of await tx.select({ id: table.id }).from(table).where(and(isHeld, isFor)))
    await requestWake(tx, { kind, id });
}
