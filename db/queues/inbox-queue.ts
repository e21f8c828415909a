/**
 * The inbox as a queue of the relay: take rows, hold one while it is judged, and note what became of it. A row that was
 * taken belongs to one relay until its lease ends; `tries`, which counts each taking, is the token of that lease.
 */
import { and, eq, inArray, sql } from 'drizzle-orm';
import { DATABASE_EPOCH } from '#db/connection/database-epoch.ts';
import type { Executor } from '#db/connection/database.ts';
import { fromNow, PRESENT } from '#db/connection/from-now.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { inbox } from '#db/schema.ts';
import type { StoredInboxRow } from '#domain/relay/inbox-decision.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

/** What names a row in hand, and the taking that it came from. */
export type TakenRow = Pick<InboxRow, 'id' | 'tries'>;

/**
 * Takes pending rows for a while: until the lease ends no other relay gets them, and what is not settled by then comes
 * again.
 *
 * @param options.leaseMs by the clock of PostgreSQL.
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
 * Locks a row that is in hand, reads it again, and renews its lease where it is still ours, so that the call that
 * follows has a whole lease of its own. The caller holds the lock of the work: work is locked before rows of the inbox.
 *
 * @returns what is stored, and the epoch of the database in which it was read.
 * @throws Error when the row does not exist.
 */
export async function holdRow(
  tx: Executor,
  row: TakenRow,
  leaseMs: number,
): Promise<StoredInboxRow & { readonly epoch: string }> {
  const { state, decision, tries } = inbox;
  const [stored] = await tx
    .select({ state, decision, tries, epoch: DATABASE_EPOCH })
    .from(inbox)
    .where(eq(inbox.id, row.id))
    .for('update');
  if (stored === undefined) throw new Error(`inbox row ${row.id} does not exist`);
  const isOurs = stored.tries === row.tries;
  if (isOurs && stored.state === 'pending')
    await tx
      .update(inbox)
      .set({ availableAt: fromNow(leaseMs) })
      .where(eq(inbox.id, row.id));
  return { state: stored.state, decision: stored.decision, epoch: stored.epoch, isOurs };
}

/** The row names nothing of ours: it stays, and comes again when an id or reference that it names is stored. */
export async function markUnmatched(db: Executor, row: TakenRow): Promise<void> {
  await db.update(inbox).set({ state: 'unmatched' }).where(inHand(row));
}

/** Why and for how long a row waits that could not be handed over now. */
export interface Postponement {
  /** Without personal data. */
  readonly error: string;
  /** Milliseconds until it is tried again. */
  readonly delayMs: number;
  /** True when the error does not pass by itself; too many of these end in quarantine. */
  readonly isLasting: boolean;
}

/** The row could not be handed over now. */
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

/** Gives rows back that were taken and not begun: another relay may take them at once. */
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
 * The row cannot be acted upon, however often it is tried: it is kept and shown.
 *
 * @param work that it names, where that is known.
 * @returns false when the row is another relay's by now.
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

/** Rows that another relay took or settled meanwhile are not this one's to change. */
function inHand({ id, tries }: TakenRow) {
  return and(eq(inbox.id, id), eq(inbox.tries, tries), eq(inbox.state, 'pending'));
}
