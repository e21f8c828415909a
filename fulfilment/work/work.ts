/** Work of every kind as its workflow sees it: load, lock, move on. */
import { and, eq, inArray } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { markApplied, returnUnanswered } from '#db/queues/inbox.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { attempts, orders, topups, vpnSubscriptions } from '#db/schema.ts';
import { closeCase, closeCases, hasOpenCase, openCase } from '#db/work/cases.ts';
import { addTimelineEntry, type TimelineEntry } from '#db/work/timeline.ts';
import { workTable, type WorkRow } from '#db/work/work-tables.ts';
import type { Money } from '#domain/money/money.ts';
import type { BuyingBarrier } from '#domain/purchase/purchase-decision.ts';
import { isAsOrdered, type AttemptState } from '#domain/relay/observation.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import { ENDS_WITHOUT_EFFECT, isFinal, mayFollow, type WorkStatus } from '#domain/work/lifecycle.ts';
import type { RetryRule } from '#domain/work/retry-rules.ts';
import { KINDS, type WorkRef } from '#domain/work/work.ts';
import { buyingBarrier } from '#fulfilment/attempts/buying-barrier.ts';
import { leaveGate } from '#fulfilment/gate/waits.ts';
import { announceWork } from '#fulfilment/work/work-events.ts';

/** The work has ended; nothing may change it any more. */
export class WorkFinishedError extends Error {
  readonly work: WorkRef;
  readonly status: WorkStatus;

  constructor(work: WorkRef, status: WorkStatus) {
    super(`${KINDS[work.kind].noun} ${work.id} has ended as ${status}`);
    this.name = 'WorkFinishedError';
    this.work = work;
    this.status = status;
  }
}

/** A row that was stored before is not in the database: this is another database, or PostgreSQL has lost commits. */
export class RowMissingError extends Error {}

/** The work is not in the database: it was never accepted, or its row is lost. */
export class WorkMissingError extends RowMissingError {
  constructor({ kind, id }: WorkRef) {
    super(`${KINDS[kind].noun} ${id} does not exist in this database`);
    this.name = 'WorkMissingError';
  }
}

/** @throws WorkMissingError */
export async function readWork(db: Executor, work: WorkRef): Promise<WorkRow> {
  const table = workTable(work.kind);
  const [row] = await db.select().from(table).where(eq(table.id, work.id));
  if (row === undefined) throw new WorkMissingError(work);
  return row;
}

/** True when work has reached its end. @throws WorkMissingError */
export async function hasEnded(db: Executor, work: WorkRef): Promise<boolean> {
  return isFinal((await readWork(db, work)).status);
}

/**
 * Holds what the service has sold against what was ordered.
 *
 * @param sold id of the package or of the VPN plan; undefined where the service does not say it.
 * @returns what was ordered instead; undefined when it may be the same.
 */
export async function orderedInstead(
  db: Executor,
  work: WorkRef,
  sold: number | undefined,
): Promise<number | undefined> {
  if (sold === undefined) return undefined;
  const ordered = await orderedProduct(db, work);
  return isAsOrdered(ordered, sold) ? undefined : ordered;
}

/** What was ordered: the id of the package or of the VPN plan; undefined of a cancellation, which orders nothing. */
async function orderedProduct(db: Executor, { kind, id }: WorkRef): Promise<number | undefined> {
  switch (kind) {
    case 'order':
      return (await db.select({ is: orders.packageId }).from(orders).where(eq(orders.id, id)))[0]?.is;
    case 'topup':
      return (await db.select({ is: topups.packageId }).from(topups).where(eq(topups.id, id)))[0]?.is;
    case 'vpn_subscription':
      return (
        await db.select({ is: vpnSubscriptions.vpnPlanId }).from(vpnSubscriptions).where(eq(vpnSubscriptions.id, id))
      )[0]?.is;
    case 'cancellation':
      return undefined;
  }
}

/** Reads and locks work. Whoever changes work and an attempt of it locks the work first. @throws WorkMissingError */
export async function lockWork(tx: Executor, work: WorkRef): Promise<WorkRow> {
  const table = workTable(work.kind);
  const [row] = await tx.select().from(table).where(eq(table.id, work.id)).for('update');
  if (row === undefined) throw new WorkMissingError(work);
  return row;
}

/** Reads and locks work that has not ended. @throws WorkMissingError, WorkFinishedError */
export async function lockUnfinishedWork(tx: Executor, work: WorkRef): Promise<WorkRow> {
  const row = await lockWork(tx, work);
  if (isFinal(row.status)) throw new WorkFinishedError(work, row.status);
  return row;
}

/** A change of columns that all kinds share; one of the status says when it was. */
export type WorkChange =
  | (Partial<WorkRow> & { status?: never })
  | (Partial<WorkRow> & Pick<WorkRow, 'status' | 'updatedAt'>);

/** Changes columns that all kinds share, and announces another status. The caller holds the lock of the work. */
export async function updateWork(tx: Executor, work: WorkRef, change: WorkChange): Promise<void> {
  const table = workTable(work.kind);
  await tx.update(table).set(change).where(eq(table.id, work.id));
  if (change.status === undefined) return;
  await announceWork(tx, work, change.updatedAt);
  // Whoever is neither held nor about to be sent again waits for nothing at the gate.
  if (change.status !== 'held' && change.status !== 'submitting') await leaveGate(tx, work);
}

/**
 * Shows that a purchase is under way; what the work was held or parked for is over. The caller holds its lock.
 *
 * @param retryRule by which it is tried again, should it fail; undefined: as it is stored.
 */
export async function markInProgress(
  tx: Executor,
  work: WorkRef,
  status: 'submitting' | 'processing',
  now: Date,
  retryRule?: RetryRule,
): Promise<void> {
  const nothingInTheWay = { failureClass: null, failureDetail: null, attentionReason: null, nextStepAt: null };
  await updateWork(tx, work, {
    status,
    ...nothingInTheWay,
    ...(retryRule !== undefined && { retryRule }),
    updatedAt: now,
  });
  await closeCases(tx, work, `The ${KINDS[work.kind].noun} went on.`, now);
}

/** A step of work: where it stands from now on, and why. */
export interface WorkStep {
  readonly status: WorkStatus;
  readonly entry: TimelineEntry;
  readonly failure?: FailureDetail | undefined;
  readonly attention?: { readonly reason: AttentionReason; readonly detail: string } | undefined;
  /** The attempt and its state by which a person is to be told; undefined: whatever it is. */
  readonly judged?: { readonly number: number; readonly state: AttemptState } | undefined;
  readonly nextStepAt?: Date | undefined;
  /** By which it is tried again; undefined: as it is stored. */
  readonly retryRule?: RetryRule | undefined;
  /** Rows of the inbox that this step answers, by their keys. */
  readonly applied?: readonly string[] | undefined;
}

/**
 * Moves work on: status, timeline, case and inbox in one transaction.
 *
 * @returns `may_be_bought`, with nothing changed, when the work was to fail although an attempt may have bought: a send
 *   that everybody had given up may have begun after all; or what bars its failing. `judged` when it was to be parked
 *   for a contradiction whose case, opened by whoever found it, a person has closed meanwhile. `changed` when it was to
 *   be parked for an attempt that is in another state by now: a send that its workflow had given up has stored its
 *   answer.
 * @throws WorkFinishedError when it has ended; RangeError when the status may not follow the present one.
 */
export async function recordStep(
  tx: Executor,
  work: WorkRef,
  step: WorkStep,
  now: Date,
): Promise<'recorded' | 'may_be_bought' | 'judged' | 'changed' | BuyingBarrier> {
  const row = await lockUnfinishedWork(tx, work);
  if (step.attention?.reason === 'contradiction' && !(await hasOpenCase(tx, work, 'contradiction'))) {
    // The judgement is the answer to what the service said: left open, it would bar every further send.
    await markApplied(tx, step.applied ?? [], 'A person has judged it.', now);
    return 'judged';
  }
  if (step.attention !== undefined && step.judged !== undefined && !(await isInState(tx, work, step.judged)))
    return 'changed';
  if (step.status === ENDS_WITHOUT_EFFECT[work.kind]) {
    const barrier = await buyingBarrier(tx, work, step.applied);
    if (barrier !== undefined) return barrier;
    if (await mayBeBought(tx, work)) return 'may_be_bought';
  }
  if (!mayFollow(work.kind, row.status, step.status)) {
    throw new RangeError(`${KINDS[work.kind].noun} ${work.id} cannot go from ${row.status} to ${step.status}`);
  }
  await updateWork(tx, work, {
    status: step.status,
    failureClass: step.failure?.class ?? null,
    failureDetail: step.failure?.detail ?? null,
    attentionReason: step.attention?.reason ?? null,
    nextStepAt: step.nextStepAt ?? null,
    ...(step.retryRule !== undefined && { retryRule: step.retryRule }),
    updatedAt: now,
  });
  await addTimelineEntry(tx, work, step.entry);
  if (step.attention !== undefined) {
    await closePassed(tx, work, row, step, now);
    await openCase(tx, work, step.attention.reason, step.attention.detail);
  } else if (row.status === 'needs_attention') {
    await closeCases(tx, work, step.entry.message, now);
  }
  await markApplied(tx, step.applied ?? [], step.entry.message, now);
  if (isFinal(step.status)) {
    await returnUnanswered(tx, work);
    if (row.esimId !== null) await wakeThoseWaitingForEsim(tx, row.esimId);
  }
  return 'recorded';
}

/** What passed by itself does not stay open beside what a person is asked for now. */
async function closePassed(
  tx: Executor,
  work: WorkRef,
  { attentionReason }: WorkRow,
  { attention, entry }: WorkStep,
  now: Date,
): Promise<void> {
  const isPassed = attentionReason === 'not_answered' || attentionReason === 'stalled';
  if (isPassed && attention?.reason !== attentionReason) await closeCase(tx, work, attentionReason, entry.message, now);
}

/** Work of an eSIM may be held because other work of it was under way. */
async function wakeThoseWaitingForEsim(tx: Executor, esimId: string): Promise<void> {
  for (const kind of ['topup', 'cancellation'] as const) {
    const table = workTable(kind);
    const waiting = await tx
      .select({ id: table.id })
      .from(table)
      .where(and(eq(table.esimId, esimId), eq(table.status, 'held'), eq(table.failureClass, 'esim_busy')));
    for (const { id } of waiting) await requestWake(tx, { kind, id });
  }
}

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

/** True when the attempt of this number is in this state; false also where it has no row. */
async function isInState(
  tx: Executor,
  work: WorkRef,
  { number, state }: Required<WorkStep>['judged'] & object,
): Promise<boolean> {
  const isThat = and(eq(attempts.subjectKind, work.kind), eq(attempts.subjectId, work.id), eq(attempts.number, number));
  const [row] = await tx.select({ state: attempts.state }).from(attempts).where(isThat);
  return row?.state === state;
}

async function mayBeBought(tx: Executor, { kind, id }: WorkRef): Promise<boolean> {
  const open = await tx
    .select({ id: attempts.id })
    .from(attempts)
    .where(
      and(
        eq(attempts.subjectKind, kind),
        eq(attempts.subjectId, id),
        inArray(attempts.state, ['sending', 'unknown', 'processing', 'completed']),
      ),
    )
    .limit(1);
  return open.length > 0;
}
