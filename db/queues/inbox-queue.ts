/**
 * The inbox as a queue of the relay: take rows, hold one while it is judged, and store the result. A taken row belongs
 * to one relay until its lease ends; `tries`, which counts how often it was taken, is the token of that lease.
 */
import { and, eq, inArray, sql } from 'drizzle-orm';
import { DATABASE_EPOCH } from '#db/connection/database-epoch.ts';
import type { Executor } from '#db/connection/database.ts';
import { fromNow, PRESENT } from '#db/connection/from-now.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { inbox } from '#db/schema.ts';
import type { ObservationDecision } from '#domain/relay/observation.ts';
import type { StoredInboxRow } from '#domain/relay/relay-decision.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/** A taken row, with the token of its lease. */
export type TakenRow = Pick<InboxRow, 'id' | 'tries'>;

/**
 * Takes pending rows under a lease: no other relay gets them until it ends, and unsettled rows come again.
 *
 * @param options.leaseMs by PostgreSQL's clock.
 * @returns the rows, oldest first.
 */
export async function takePending(
  db: Executor,
  options: { readonly batch: number; readonly leaseMs: number },
): Promise<InboxRow[]> {
  // As a CTE it runs once. A plain subquery with LIMIT and SKIP LOCKED may run once for each row, and take them all.
  const due = db.$with('due').as(
    db
      .select({ id: inbox.id })
      .from(inbox)
      .where(and(eq(inbox.state, 'pending'), sql`${inbox.availableAt} <= ${PRESENT}`))
      .orderBy(inbox.availableAt, inbox.id)
      .limit(options.batch)
      .for('update', { skipLocked: true }),
  );
  const rows = await db
    .with(due)
    .update(inbox)
    .set({ availableAt: fromNow(options.leaseMs), tries: sql`${inbox.tries} + 1` })
    .where(and(inArray(inbox.id, db.select({ id: due.id }).from(due)), eq(inbox.state, 'pending')))
    .returning();
  return rows.toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

/**
 * Locks a taken row and reads it again. The caller holds the lock of the work: work is locked before inbox rows.
 *
 * @returns the stored row, and the epoch of the database.
 * @throws Error when the row does not exist.
 */
export async function holdRow(tx: Executor, row: TakenRow): Promise<StoredInboxRow & { readonly epoch: string }> {
  const { state, decision, tries } = inbox;
  const [stored] = await tx
    .select({ state, decision, tries, epoch: DATABASE_EPOCH })
    .from(inbox)
    .where(eq(inbox.id, row.id))
    .for('update');
  if (stored === undefined) throw new Error(`inbox row ${row.id} does not exist`);
  return { state: stored.state, decision: stored.decision, epoch: stored.epoch, isOurs: stored.tries === row.tries };
}

/** What a report was found to mean. */
export interface RowJudgement {
  readonly attemptId: string;
  readonly work: WorkRef;
  readonly decision: ObservationDecision;
  /**
   * `applied` with a note ends the row. `leaseMs` renews its lease, so that the call that follows has a whole one; a
   * new workflow run finds the attempt and the decision.
   */
  readonly end: { readonly note: string; readonly appliedAt: Date } | { readonly leaseMs: number };
}

/** Stores the judgement of a row that {@link holdRow} has locked. */
export async function storeJudgement(
  tx: Executor,
  { id }: TakenRow,
  { attemptId, work, decision, end }: RowJudgement,
): Promise<void> {
  const outcome = 'note' in end ? { ...end, state: 'applied' as const } : { availableAt: fromNow(end.leaseMs) };
  await tx
    .update(inbox)
    .set({ attemptId, subjectKind: work.kind, subjectId: work.id, decision, ...outcome })
    .where(eq(inbox.id, id));
}

/** The row matches nothing of ours: it stays, and comes again when an id or reference that it names is stored. */
export async function markUnmatched(db: Executor, row: TakenRow): Promise<void> {
  await db.update(inbox).set({ state: 'unmatched' }).where(inHand(row));
}

/** Settles a row that is about the eSIM of an order and about no attempt. */
export async function applyToEsim(
  db: Executor,
  row: TakenRow,
  { order, note }: { readonly order: WorkRef; readonly note: string },
  appliedAt: Date,
): Promise<void> {
  const applied = { state: 'applied', decision: 'known', note, appliedAt } as const;
  await db
    .update(inbox)
    .set({ ...applied, subjectKind: order.kind, subjectId: order.id })
    .where(inHand(row));
}

/** Why and for how long a row is postponed. */
export interface Postponement {
  /** Without personal data. */
  readonly error: string;
  /** Milliseconds until it is tried again. */
  readonly delayMs: number;
  /** True for a lasting error; too many of these quarantine the row. */
  readonly isLasting: boolean;
}

/** Postpones a row that could not be handed over. */
export async function postpone(
  db: Executor,
  row: TakenRow,
  { error, delayMs, isLasting }: Postponement,
): Promise<void> {
  const counted = isLasting ? { lastingErrors: sql`${inbox.lastingErrors} + 1` } : {};
  await db
    .update(inbox)
    .set({ lastError: error, availableAt: fromNow(delayMs), ...counted })
    .where(inHand(row));
}

/** Releases taken rows that were not begun, for another relay. */
export async function releaseRows(db: Executor, rows: readonly TakenRow[]): Promise<void> {
  if (rows.length === 0) return;
  const taken = sql.join(
    rows.map(({ id, tries }) => sql`(${id}::bigint, ${tries}::integer)`),
    sql`, `,
  );
  await db
    .update(inbox)
    .set({ availableAt: fromNow(0) })
    .where(and(eq(inbox.state, 'pending'), sql`(${inbox.id}, ${inbox.tries}) in (${taken})`));
}

/**
 * Quarantines a row that cannot be processed: it is kept and shown.
 *
 * @param work its work, when known.
 * @returns false when the row belongs to another relay by now.
 */
export async function quarantine(
  tx: Executor,
  row: TakenRow,
  note: string,
  work: WorkRef | undefined,
): Promise<boolean> {
  const about = work === undefined ? {} : { subjectKind: work.kind, subjectId: work.id };
  const rows = await tx
    .update(inbox)
    .set({ state: 'quarantined', note, ...about })
    .where(inHand(row))
    .returning({ id: inbox.id });
  return rows.length > 0;
}

/** Rows that another relay has taken or settled are not changed. */
function inHand({ id, tries }: TakenRow) {
  return and(eq(inbox.id, id), eq(inbox.tries, tries), eq(inbox.state, 'pending'));
}
