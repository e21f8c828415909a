/** After PostgreSQL has lost commits: how the loss is noticed, and attempts whose rows know too little. */
import { and, eq, ne, sql } from 'drizzle-orm';
import { readDatabaseEpoch } from '#db/connection/database-epoch.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import { findAttemptById, workOf, findAttempt } from '#db/work/attempts.ts';
import { workTable, type WorkRow, type AttemptRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { type Witness, hasLostRecords } from '#domain/purchase/recovery.ts';
import { attemptStateAfter, isKnownToService } from '#domain/work/attempt-lifecycle.ts';
import { isDefinite, type FailureClass } from '#domain/work/failure.ts';
import { type WorkRef, KINDS } from '#domain/work/kinds.ts';

/** The workflow has compared what it knows with the row, in the present epoch of the database. */
export async function isCompared(db: Executor, { comparedEpoch }: Pick<WorkRow, 'comparedEpoch'>): Promise<boolean> {
  return comparedEpoch !== null && comparedEpoch === (await readDatabaseEpoch(db));
}

/** What the workflow of the work knows, and the present epoch. */
interface Comparison {
  readonly epoch: string;
  readonly witness: Witness | undefined;
  /** Epoch of a send whose result the workflow did not receive. */
  readonly sentIn: string | undefined;
  /** How long an unrecorded send may be under way. */
  readonly leaseMs: number;
  readonly open: (number: number) => Promise<AttemptRow>;
}

interface Recovery {
  /** A row knew less than the witness. */
  readonly isRestored: boolean;
  /** Compared in an earlier epoch but not yet in this one. */
  readonly isFirstSinceRestart: boolean;
}

/** Where a run begins. Idempotent. The caller holds the lock of the work. */
export async function recover(tx: Executor, work: WorkRef, row: WorkRow, compared: Comparison): Promise<Recovery> {
  const { epoch, witness, sentIn } = compared;
  const isRestored = witness !== undefined && (await restoreAttempts(tx, work, row, witness, compared));
  // In another epoch than that of its send, the workflow first accounts for the send.
  if (row.comparedEpoch === epoch || (sentIn !== undefined && sentIn !== epoch))
    return { isRestored, isFirstSinceRestart: false };
  const table = workTable(work.kind);
  await tx.update(table).set({ comparedEpoch: epoch }).where(eq(table.id, work.id));
  return { isRestored, isFirstSinceRestart: row.comparedEpoch !== null };
}

async function restoreAttempts(
  tx: Executor,
  work: WorkRef,
  { esimId }: WorkRow,
  witness: Witness,
  { open, leaseMs }: Pick<Comparison, 'open' | 'leaseMs'>,
): Promise<boolean> {
  const known = await findAttempt(tx, work, witness.number);
  if (!hasLostRecords(witness, known)) return false;
  for (let number = 1; number < witness.number; number += 1) {
    if ((await findAttempt(tx, work, number)) === undefined) await markFollowed(tx, (await open(number)).id);
  }
  await markUnknown(tx, known ?? (await open(witness.number)), witness, { leaseMs, esimId });
  return true;
}

/**
 * When PostgreSQL has lost the claim during the send, the attempt becomes unknown, with the sends that this worker
 * knows of. `claimed` is the attempt at the claim, `after` the attempt now.
 */
export async function restoreLostClaim(
  tx: Executor,
  claimed: AttemptRow,
  after: AttemptRow,
  failure: FailureClass,
  lease: { readonly leaseMs: number; readonly esimId: string | null },
): Promise<AttemptRow> {
  if (isDefinite(failure) && !claimed.anyUnknown) return after;
  if (isKnownToService(after.state) || (after.anyUnknown && after.sends >= claimed.sends)) return after;
  const { number, sends, firstSentAt, firstUnrefusedSendAt } = claimed;
  const witness: Witness = {
    number,
    state: 'unknown',
    sends,
    anyUnknown: true,
    ...(firstSentAt !== null && { firstSentAt: firstSentAt.getTime() }),
    ...(firstUnrefusedSendAt !== null && { firstUnrefusedSendAt: firstUnrefusedSendAt.getTime() }),
  };
  return markUnknown(tx, after, witness, lease);
}

/**
 * The row knows less than its workflow, so the rules for attempts that may have bought apply. Nothing is sent for
 * `leaseMs`: a send that the row does not know may be under way. Only one attempt of `esimId` may be under way.
 */
export async function markUnknown(
  tx: Executor,
  attempt: AttemptRow,
  witness: Witness,
  { leaseMs, esimId }: { readonly leaseMs: number; readonly esimId: string | null },
): Promise<AttemptRow> {
  const { firstSentAt, firstUnrefusedSendAt = firstSentAt } = witness;
  const isForEsim = KINDS[attempt.subjectKind].esim === 'existing' && esimId !== null;
  const isFree = isForEsim && (await isFreeFor(tx, esimId, attempt.id));
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
      ...(isFree && { busyEsimId: esimId }),
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

/** `known` in Unix milliseconds. */
function earlier(stored: Date | null, known: number | undefined): Date | null {
  if (known === undefined) return stored;
  return stored === null || stored.getTime() > known ? new Date(known) : stored;
}

async function isFreeFor(tx: Executor, esimId: string, attemptId: string): Promise<boolean> {
  const isOfAnother = and(eq(attempts.busyEsimId, esimId), ne(attempts.id, attemptId));
  return (await tx.$count(attempts, isOfAnother)) === 0;
}
