/**
 * What the inbox says of work: match a row to an attempt, note what became of it, bring rows back. Webhooks are put in
 * by `inbox-intake.ts`, findings of the reconciler by {@link addReadObservation}; the relay takes rows by
 * `inbox-queue.ts`.
 */
import { and, desc, eq, gt, inArray, isNotNull, isNull, lte, ne, notLike, or, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { isAnsweredBy } from '#db/queues/inbox-keys.ts';
import { attempts, inbox, topups } from '#db/schema.ts';
import { workTable, type WorkRow } from '#db/work/work-tables.ts';
import type { CancellationReport } from '#domain/cancellation/refund.ts';
import type { WebhookSilencePolicy } from '#domain/policy/webhook-policy.ts';
import type { ObservationDecision, ObservedOutcome } from '#domain/relay/observation.ts';
import type { WorkKind, WorkRef } from '#domain/work/work.ts';

export type InboxRow = typeof inbox.$inferSelect;

/** The additional authenticated data of the body of a delivery. */
export function inboxBodyAad(deliveryId: string): string {
  return `inbox.encrypted_body/${deliveryId}`;
}

/** The attempt that a row of the inbox speaks of, with its work. */
export interface InboxMatch {
  readonly attempt: typeof attempts.$inferSelect;
  readonly work: WorkRef;
  /** The row of the work. */
  readonly row: WorkRow;
}

/** What an event names, to find the attempt by. */
export interface NamedPurchase {
  readonly kind: WorkKind;
  readonly outcome: ObservedOutcome;
  /** Undefined where an event names none: the eSIM alone says which cancellation is meant. */
  readonly serviceId?: string;
  /** As we gave it. */
  readonly reference?: string;
  readonly serviceEsimId?: string;
  /** Of the package or the VPN plan. */
  readonly productId?: number;
  /** Of a cancellation, what is said of it. */
  readonly cancellation?: CancellationReport;
  readonly receivedAt: Date;
}

/**
 * Finds the attempt that is spoken of: by the service's id, else by the reference we gave, else, where the interface
 * takes none, by the eSIM that only one attempt may be busy with. Locks the work, then the attempt.
 */
export async function lockMatch(tx: Executor, named: NamedPurchase): Promise<InboxMatch | undefined> {
  const attemptId = await findAttemptId(tx, named);
  if (attemptId === undefined) return undefined;
  const [work] = await tx
    .select({ kind: attempts.subjectKind, id: attempts.subjectId })
    .from(attempts)
    .where(eq(attempts.id, attemptId));
  if (work === undefined) return undefined;
  const table = workTable(work.kind);
  const [found] = await tx.select().from(table).where(eq(table.id, work.id)).for('update');
  const [attempt] = await tx.select().from(attempts).where(eq(attempts.id, attemptId)).for('update');
  return found === undefined || attempt === undefined ? undefined : { work, row: found, attempt };
}

async function findAttemptId(db: Executor, named: NamedPurchase): Promise<string | undefined> {
  const { kind, serviceId, reference } = named;
  const by = async (name: SQL) => {
    const [found] = await db
      .select({ id: attempts.id })
      .from(attempts)
      .where(and(eq(attempts.subjectKind, kind), name));
    return found?.id;
  };
  const found =
    (serviceId && (await by(eq(attempts.serviceId, serviceId)))) ??
    (reference && (await by(eq(attempts.reference, reference))));
  if (found !== undefined && found !== '') return found;
  switch (kind) {
    case 'topup':
      return findUnsettledTopup(db, named);
    case 'cancellation':
      return findNewestCancellation(db, named);
    default:
      return undefined;
  }
}

/** Between the clocks of a worker and of PostgreSQL. */
const CLOCKS_DIFFER_MS = 10_000;

/** The attempt that was made last to cancel an eSIM; only one can be under way. */
async function findNewestCancellation(
  db: Executor,
  { serviceEsimId, cancellation, receivedAt }: NamedPurchase,
): Promise<string | undefined> {
  if (serviceEsimId === undefined) return undefined;
  // That a refund failed may be said of an earlier one; it can only be ours when ours was sent before.
  const isOfSent = cancellation?.esim === undefined && cancellation?.refund?.state === 'failed';
  const [found] = await db
    .select({ id: attempts.id })
    .from(attempts)
    .where(
      and(
        eq(attempts.subjectKind, 'cancellation'),
        eq(attempts.serviceEsimId, serviceEsimId),
        isOfSent ? lte(attempts.firstSentAt, new Date(receivedAt.getTime() + CLOCKS_DIFFER_MS)) : undefined,
      ),
    )
    .orderBy(desc(attempts.createdAt), desc(attempts.number))
    .limit(1);
  return found?.id;
}

/**
 * The one top-up that may be under way for an eSIM and has no id of the service yet. That one failed is not taken for
 * ours: somebody may have tried the same by hand, and upon the failure of that we would buy a second time. Ours is
 * asked about by its id, or a person looks.
 */
async function findUnsettledTopup(
  db: Executor,
  { serviceEsimId, productId, outcome }: NamedPurchase,
): Promise<string | undefined> {
  if (serviceEsimId === undefined || outcome === 'failed') return undefined;
  const [found] = await db
    .select({ id: attempts.id })
    .from(attempts)
    .innerJoin(topups, eq(topups.id, attempts.subjectId))
    .where(
      and(
        eq(attempts.subjectKind, 'topup'),
        eq(attempts.serviceEsimId, serviceEsimId),
        isNotNull(attempts.busyEsimId),
        isNull(attempts.serviceId),
        productId === undefined ? undefined : eq(topups.packageId, productId),
      ),
    );
  return found?.id;
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
    .set({ attemptId: match.attempt.id, subjectKind: match.work.kind, subjectId: match.work.id, decision })
    .where(eq(inbox.id, rowId));
}

/** Rows that a workflow was given and ended without answering come again, to be judged against the end. */
export async function returnUnanswered(tx: Executor, { kind, id }: WorkRef): Promise<void> {
  await tx
    .update(inbox)
    .set({ state: 'pending', decision: null, availableAt: sql`now()` })
    .where(and(eq(inbox.subjectKind, kind), eq(inbox.subjectId, id), eq(inbox.state, 'relayed')));
}

/**
 * Notes what the state machine made of rows. Rows that are applied already stay as they are. @param keys of {@link
 * inboxKey}.
 */
export async function markApplied(tx: Executor, keys: readonly string[], note: string, now: Date): Promise<void> {
  if (keys.length === 0) return;
  await tx
    .update(inbox)
    .set({ state: 'applied', note, appliedAt: now })
    .where(and(isAnsweredBy(keys), isNull(inbox.appliedAt)));
}

/**
 * Unmatched rows whose attempt is known by now come again. What stores an id brings its rows back by itself; this finds
 * those that were being put aside at that very moment.
 */
export async function requeueMatchable(db: Executor, batch: number): Promise<number> {
  const matchable = db
    .select({ id: inbox.id })
    .from(inbox)
    .innerJoin(
      attempts,
      and(
        eq(attempts.subjectKind, inbox.subjectKind),
        or(
          eq(attempts.reference, inbox.reference),
          eq(attempts.serviceId, inbox.serviceId),
          and(
            eq(inbox.subjectKind, 'cancellation'),
            eq(attempts.serviceEsimId, inbox.serviceEsimId),
            // As in `findNewestCancellation`: what would stay unmatched must not come again for ever.
            or(ne(inbox.event, 'refund.failed'), sql`${attempts.firstSentAt} <= ${inbox.receivedAt}`),
          ),
        ),
      ),
    )
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
export async function unappliedFor(db: Executor, { kind, id }: WorkRef): Promise<InboxRow[]> {
  return db
    .select()
    .from(inbox)
    .where(and(eq(inbox.subjectKind, kind), eq(inbox.subjectId, id), inArray(inbox.state, ['pending', 'relayed'])))
    .orderBy(inbox.id);
}

/** Rows that named nothing of ours come again, now that we store what they name. */
export async function requeueUnmatched(
  tx: Executor,
  kind: WorkKind,
  stored: { reference?: string | undefined; serviceId?: string | undefined; serviceEsimId?: string | undefined },
): Promise<void> {
  const { serviceEsimId } = kind === 'cancellation' ? stored : {};
  const names = [
    stored.reference === undefined ? undefined : eq(inbox.reference, stored.reference),
    stored.serviceId === undefined ? undefined : eq(inbox.serviceId, stored.serviceId),
    serviceEsimId === undefined ? undefined : eq(inbox.serviceEsimId, serviceEsimId),
  ].filter((condition) => condition !== undefined);
  if (names.length === 0) return;
  await tx
    .update(inbox)
    .set({ state: 'pending', availableAt: sql`now()` })
    .where(and(eq(inbox.state, 'unmatched'), eq(inbox.subjectKind, kind), or(...names)));
}

/** What a read of the reconciler showed, as a row of the inbox. */
export interface ReadObservation {
  readonly kind: WorkKind;
  readonly event: string;
  readonly attemptId: string;
  readonly outcome: ObservedOutcome;
  readonly reference: string | null;
  readonly serviceId: string | null;
  /** The service's id of the eSIM, where that says what is meant. */
  readonly serviceEsimId: string | null;
  readonly encryptedBody: Buffer;
  readonly bodyHash: Buffer;
  readonly signedHash: Buffer;
}

/**
 * Puts what a read showed into the inbox; the same outcome for the same attempt is put in once. @returns true when new.
 */
export async function addReadObservation(db: Executor, observation: ReadObservation): Promise<boolean> {
  const rows = await db
    .insert(inbox)
    .values({
      source: 'read',
      deliveryId: readDeliveryId(observation.attemptId, observation.outcome),
      bodyHash: observation.bodyHash,
      signedHash: observation.signedHash,
      encryptedBody: observation.encryptedBody,
      event: observation.event,
      state: 'pending',
      subjectKind: observation.kind,
      reference: observation.reference,
      serviceId: observation.serviceId,
      serviceEsimId: observation.serviceEsimId,
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

/** How the delivery ids begin of webhooks that `reseller doctor` sends us itself: they say nothing of the service's. */
export const OWN_PING = 'doctor-';

/**
 * Did webhooks stop to arrive? They did when asking has brought so many pieces of news since the last webhook, within
 * the window, that a webhook should have brought.
 *
 * @returns how many pieces of news were found since the last webhook, up to `policy.news`; 0 while none is missed.
 */
export async function missedWebhooks(
  db: Executor,
  { windowMs, news }: WebhookSilencePolicy,
  now: Date,
): Promise<number> {
  // Both run from the end of the table: while webhooks come the first row is one, while they do not the others are few.
  const last = await lastWebhook(db);
  const found = await db
    .select({ at: inbox.receivedAt })
    .from(inbox)
    .where(and(eq(inbox.source, 'read'), last === undefined ? undefined : gt(inbox.id, last.id)))
    .orderBy(desc(inbox.id))
    .limit(news);
  return found.filter(({ at }) => at.getTime() > now.getTime() - windowMs).length;
}

/** When the service's last valid delivery was stored; undefined before the first. Our own pings do not count. */
export async function lastWebhookAt(db: Executor): Promise<Date | undefined> {
  return (await lastWebhook(db))?.receivedAt;
}

async function lastWebhook(db: Executor): Promise<Pick<InboxRow, 'id' | 'receivedAt'> | undefined> {
  const [last] = await db
    .select({ id: inbox.id, receivedAt: inbox.receivedAt })
    .from(inbox)
    .where(and(eq(inbox.source, 'webhook'), notLike(inbox.deliveryId, `${OWN_PING}%`)))
    .orderBy(desc(inbox.id))
    .limit(1);
  return last;
}
