/**
 * The inbox as the relay and the workflows use it: take what is pending, match it to an attempt, note what became of
 * it. Webhooks are put in by `inbox-intake.ts`, findings of the reconciler by {@link addReadObservation}.
 */
import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import type { ObservationDecision, ObservedOutcome } from '#domain/observation.ts';
import { isFinal } from '#domain/order-lifecycle.ts';
import type { Executor } from '#db/database.ts';
import { attempts, inbox, orders } from '#db/schema.ts';

export type InboxRow = typeof inbox.$inferSelect;

/** Where the sealed body of a delivery stands. */
export function inboxBodyPlace(deliveryId: string): string {
  return `inbox.sealed_body/${deliveryId}`;
}

/**
 * Takes pending rows for a while: until the lease ends nobody else gets them, and what is not settled by then comes
 * again. Oldest first.
 */
export async function takePending(db: Executor, options: { batch: number; leaseMs: number; now: Date }): Promise<InboxRow[]> {
  // As a CTE it runs once. A plain subquery with LIMIT and SKIP LOCKED may run once for each row, and take them all.
  const due = db.$with('due').as(
    db
      .select({ id: inbox.id })
      .from(inbox)
      .where(and(eq(inbox.state, 'pending'), sql`${inbox.availableAt} <= ${options.now}`))
      .orderBy(inbox.availableAt, inbox.id)
      .limit(options.batch)
      .for('update', { skipLocked: true }),
  );
  const rows = await db
    .with(due)
    .update(inbox)
    .set({ availableAt: new Date(options.now.getTime() + options.leaseMs), tries: sql`${inbox.tries} + 1` })
    .where(and(inArray(inbox.id, db.select({ id: due.id }).from(due)), eq(inbox.state, 'pending')))
    .returning();
  return rows.toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

/** The attempt that a row of the inbox speaks of, with its order. */
export interface InboxMatch {
  readonly attempt: typeof attempts.$inferSelect;
  readonly order: typeof orders.$inferSelect;
}

/** Finds what a row speaks of: by the service's order id, else by the reference we gave. Locks the order, then the attempt. */
export async function lockMatch(tx: Executor, row: InboxRow): Promise<InboxMatch | undefined> {
  const attemptId = await findAttemptId(tx, row);
  if (attemptId === undefined) return undefined;
  const [subject] = await tx.select({ orderId: attempts.subjectId }).from(attempts).where(eq(attempts.id, attemptId));
  if (subject === undefined) return undefined;
  const [order] = await tx.select().from(orders).where(eq(orders.id, subject.orderId)).for('update');
  const [attempt] = await tx.select().from(attempts).where(eq(attempts.id, attemptId)).for('update');
  return order === undefined || attempt === undefined ? undefined : { order, attempt };
}

async function findAttemptId(db: Executor, row: InboxRow): Promise<string | undefined> {
  if (row.serviceOrderId !== null) {
    const [byId] = await db.select({ id: attempts.id }).from(attempts).where(eq(attempts.serviceOrderId, row.serviceOrderId));
    if (byId !== undefined) return byId.id;
  }
  if (row.reference === null) return undefined;
  const [byReference] = await db.select({ id: attempts.id }).from(attempts).where(eq(attempts.reference, row.reference));
  return byReference?.id;
}

/** Notes what a row speaks of and what it meant, so that a workflow that starts anew finds it. */
export async function assignToAttempt(
  tx: Executor,
  rowId: bigint,
  match: InboxMatch,
  decision: ObservationDecision,
): Promise<void> {
  await tx
    .update(inbox)
    .set({ attemptId: match.attempt.id, subjectKind: 'order', subjectId: match.order.id, decision })
    .where(eq(inbox.id, rowId));
}

/**
 * The row was handed to a workflow, which applies it. Should the order have ended meanwhile, the row stays pending and
 * is judged against the end, at once: the share lock waits for a step that is just ending it.
 */
export async function markRelayed(tx: Executor, rowId: bigint, orderId: string): Promise<void> {
  const [order] = await tx.select({ status: orders.status }).from(orders).where(eq(orders.id, orderId)).for('share');
  const ended = order === undefined || isFinal(order.status);
  await tx
    .update(inbox)
    .set(ended ? { availableAt: sql`now()` } : { state: 'relayed', lastError: null })
    .where(and(eq(inbox.id, rowId), eq(inbox.state, 'pending')));
}

/** Rows that a workflow was given and ended without answering come again, to be judged against the end. */
export async function returnUnanswered(tx: Executor, orderId: string): Promise<void> {
  await tx
    .update(inbox)
    .set({ state: 'pending', decision: null, availableAt: sql`now()` })
    .where(and(eq(inbox.subjectKind, 'order'), eq(inbox.subjectId, orderId), eq(inbox.state, 'relayed')));
}

/** The row names nothing of ours: it stays, and comes again when an id or reference that it names is stored. */
export async function markUnmatched(db: Executor, rowId: bigint): Promise<void> {
  await db.update(inbox).set({ state: 'unmatched' }).where(and(eq(inbox.id, rowId), eq(inbox.state, 'pending')));
}

/** The row could not be handed over now. @param retryAt when it is tried again. */
export async function postpone(db: Executor, rowId: bigint, error: string, retryAt: Date): Promise<void> {
  await db.update(inbox).set({ lastError: error, availableAt: retryAt }).where(eq(inbox.id, rowId));
}

/** Notes what the state machine made of rows. Rows that are applied already stay as they are. */
export async function markApplied(tx: Executor, rowIds: readonly bigint[], note: string, now: Date): Promise<void> {
  if (rowIds.length === 0) return;
  await tx
    .update(inbox)
    .set({ state: 'applied', note, appliedAt: now })
    .where(and(inArray(inbox.id, [...rowIds]), isNull(inbox.appliedAt)));
}

/** The row cannot be acted upon, however often it is tried: it is kept and shown. */
export async function quarantine(db: Executor, rowId: bigint, note: string): Promise<void> {
  await db.update(inbox).set({ state: 'quarantined', note }).where(and(eq(inbox.id, rowId), eq(inbox.state, 'pending')));
}

/**
 * Unmatched rows whose attempt is known by now come again. What stores an id brings its rows back by itself; this finds
 * those that were being put aside at that very moment.
 */
export async function requeueMatchable(db: Executor, batch: number): Promise<number> {
  const matchable = db
    .select({ id: inbox.id })
    .from(inbox)
    .innerJoin(attempts, or(eq(attempts.reference, inbox.reference), eq(attempts.serviceOrderId, inbox.serviceOrderId)))
    .where(eq(inbox.state, 'unmatched'))
    .limit(batch);
  const rows = await db
    .update(inbox)
    .set({ state: 'pending', availableAt: sql`now()` })
    .where(and(eq(inbox.state, 'unmatched'), inArray(inbox.id, matchable)))
    .returning({ id: inbox.id });
  return rows.length;
}

/** What a workflow has not applied yet, oldest first. */
export async function unappliedFor(db: Executor, orderId: string): Promise<InboxRow[]> {
  return db
    .select()
    .from(inbox)
    .where(and(eq(inbox.subjectKind, 'order'), eq(inbox.subjectId, orderId), inArray(inbox.state, ['pending', 'relayed'])))
    .orderBy(inbox.id);
}

/** Rows that named nothing of ours come again, now that we store what they name. */
export async function requeueUnmatched(tx: Executor, stored: { reference?: string; serviceOrderId?: string }): Promise<void> {
  const names = [
    stored.reference === undefined ? undefined : eq(inbox.reference, stored.reference),
    stored.serviceOrderId === undefined ? undefined : eq(inbox.serviceOrderId, stored.serviceOrderId),
  ].filter((condition) => condition !== undefined);
  if (names.length === 0) return;
  await tx
    .update(inbox)
    .set({ state: 'pending', availableAt: sql`now()` })
    .where(and(eq(inbox.state, 'unmatched'), or(...names)));
}

/** What a read of the reconciler showed, as a row of the inbox. */
export interface ReadObservation {
  readonly attemptId: string;
  readonly outcome: ObservedOutcome;
  readonly reference: string;
  readonly serviceOrderId: string;
  readonly sealedBody: Buffer;
  readonly bodyHash: Buffer;
  readonly signedHash: Buffer;
}

/** Puts what a read showed into the inbox; the same outcome for the same attempt is put in once. @returns true when new. */
export async function addReadObservation(db: Executor, observation: ReadObservation): Promise<boolean> {
  const rows = await db
    .insert(inbox)
    .values({
      source: 'read',
      deliveryId: readDeliveryId(observation.attemptId, observation.outcome),
      bodyHash: observation.bodyHash,
      signedHash: observation.signedHash,
      sealedBody: observation.sealedBody,
      event: `order.${observation.outcome}`,
      state: 'pending',
      reference: observation.reference,
      serviceOrderId: observation.serviceOrderId,
      outcome: observation.outcome,
    })
    .onConflictDoNothing()
    .returning({ id: inbox.id });
  return rows.length > 0;
}

/** The delivery id that a read stands under; no webhook's can begin with `read:` (the intake refuses it). */
export function readDeliveryId(attemptId: string, outcome: ObservedOutcome): string {
  return `read:${attemptId}:${outcome}`;
}
