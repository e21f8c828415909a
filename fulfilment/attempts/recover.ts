/** After PostgreSQL has lost commits: how the loss is noticed, and attempts whose rows know too little. */
import { and, eq, inArray, ne, sql } from 'drizzle-orm';
import { readDatabaseEpoch } from '#db/connection/database-epoch.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import { findAttemptById, workOf, findAttempt } from '#db/work/attempts.ts';
import { workTable, type WorkRow, type AttemptRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { type Witness, restoration } from '#domain/purchase/recovery.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import { type WorkRef, KINDS } from '#domain/work/kinds.ts';

/** In the present epoch of the database. */
export async function isCompared(db: Executor, { comparedEpoch }: Pick<WorkRow, 'comparedEpoch'>): Promise<boolean> {
  return comparedEpoch !== null && comparedEpoch === (await readDatabaseEpoch(db));
}

/**
 * The caller holds the lock of the work. `sentIn` is the epoch of a send whose result the workflow did not receive.
 * When it is not the present epoch, the workflow first accounts for that send, and nothing is stored.
 * @returns true when it was compared in an earlier epoch but not yet in this one.
 */
export async function noteCompared(
  tx: Executor,
  work: WorkRef,
  { comparedEpoch }: Pick<WorkRow, 'comparedEpoch'>,
  { epoch, sentIn }: { readonly epoch: string; readonly sentIn: string | undefined },
): Promise<boolean> {
  if (comparedEpoch === epoch || (sentIn !== undefined && sentIn !== epoch)) return false;
  const table = workTable(work.kind);
  await tx.update(table).set({ comparedEpoch: epoch }).where(eq(table.id, work.id));
  return comparedEpoch !== null;
}

/**
 * The row knows less than its workflow, so the rules for attempts that may have bought apply. Nothing is sent for
 * `leaseMs`: a send that the row does not know may be under way. Only one attempt of `busyEsimId` may be under way.
 */
export async function doubtAttempt(
  tx: Executor,
  attempt: AttemptRow,
  witness: Witness,
  { leaseMs, busyEsimId }: { readonly leaseMs: number; readonly busyEsimId: string | null },
): Promise<AttemptRow> {
  const { firstSentAt, firstUnrefusedSendAt = firstSentAt } = witness;
  const isFree = busyEsimId !== null && (await isFreeFor(tx, busyEsimId, attempt.id));
  await tx
    .update(attempts)
    .set({
      state: attemptStateAfter(attempt.state, 'records_lost'),
      sends: Math.max(attempt.sends, witness.sends),
      anyUnknown: true,
      settled: false,
      // The earlier time: the resend window must not restart.
      firstSentAt: earlier(attempt.firstSentAt, firstSentAt),
      firstUnrefusedSendAt: earlier(attempt.firstUnrefusedSendAt, firstUnrefusedSendAt),
      // The time of a lost send is not known: a reading of the wallet must be newer than this.
      lastSentAt: sql`clock_timestamp()`,
      serviceId: attempt.serviceId ?? witness.serviceId ?? null,
      failureClass: 'worker_lost',
      serviceMessage: null,
      failureDetail: 'PostgreSQL has lost what was recorded of this attempt.',
      leaseToken: null,
      leaseUntil: sql`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`,
      ...(isFree && { busyEsimId }),
    })
    .where(eq(attempts.id, attempt.id));
  await addTimelineEntry(tx, workOf(attempt), {
    event: 'attempt.records_lost',
    message:
      `PostgreSQL has lost what was recorded of attempt ${attempt.number}: its row says ${attempt.state} after ` +
      `${attempt.sends} sends, and ` +
      `its workflow knows of ${witness.sends} (${witness.state}). It counts as unknown.`,
    detail: { attempt: attempt.number, sends: witness.sends, row_sends: attempt.sends, row_state: attempt.state },
    dedupKey: `attempt.records_lost:${attempt.number}:${attempt.state}:${attempt.sends}`,
  });
  return findAttemptById(tx, attempt.id);
}

/** A lost row that a later attempt followed cost nothing: a later attempt is only made after that. */
async function markFollowed(tx: Executor, attemptId: string): Promise<void> {
  await tx
    .update(attempts)
    .set({
      state: 'failed',
      settled: true,
      failureClass: 'supplier_failed',
      serviceMessage: null,
      failureDetail: 'Another attempt followed; the record of this one is lost.',
    })
    .where(eq(attempts.id, attemptId));
}

/** `known` in epoch milliseconds. */
function earlier(stored: Date | null, known: number | undefined): Date | null {
  if (known === undefined) return stored;
  return stored === null || stored.getTime() > known ? new Date(known) : stored;
}

async function isFreeFor(tx: Executor, esimId: string, attemptId: string): Promise<boolean> {
  const holders = await tx
    .select({ id: attempts.id })
    .from(attempts)
    .where(and(eq(attempts.busyEsimId, esimId), ne(attempts.id, attemptId)));
  return holders.length === 0;
}

/**
 * The caller holds the lock of the work. `attempt` is as it was before the service was read: the evidence says nothing
 * about a later send. @returns false, without a change, when its result is known, it was sent since, or a send may be
 * under way. A `sending` attempt whose lease has ended counts as unknown.
 */
export async function restartResendWindow(tx: Executor, attempt: Pick<AttemptRow, 'id' | 'sends'>): Promise<boolean> {
  const { id, sends } = attempt;
  const isOver = sql`coalesce(${attempts.leaseUntil} <= clock_timestamp(), true)`;
  const changed = await tx
    .update(attempts)
    .set({ firstUnrefusedSendAt: sql`clock_timestamp()` })
    .where(and(eq(attempts.id, id), inArray(attempts.state, ['unknown', 'sending']), eq(attempts.sends, sends), isOver))
    .returning({ id: attempts.id });
  return changed.length > 0;
}

interface RestorationTools {
  readonly open: (tx: Executor, number: number) => Promise<AttemptRow>;
  /** How long an unrecorded send may be under way. */
  readonly leaseMs: number;
}

/** Idempotent. The caller holds the lock of the work. @returns true when a row knew less than the witness. */
export async function restoreAttempts(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  witness: Witness,
  tools: RestorationTools,
): Promise<boolean> {
  const known = await findAttempt(tx, work, witness.number);
  if (restoration(witness, known) === 'none') return false;
  for (let number = 1; number < witness.number; number += 1) {
    if ((await findAttempt(tx, work, number)) === undefined) await markFollowed(tx, (await tools.open(tx, number)).id);
  }
  const attempt = known ?? (await tools.open(tx, witness.number));
  await doubtAttempt(tx, attempt, witness, {
    leaseMs: tools.leaseMs,
    busyEsimId: KINDS[work.kind].esim === 'existing' ? row.esimId : null,
  });
  return true;
}
