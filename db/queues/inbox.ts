/**
 * What the inbox holds for work: store what a look-up showed, note what a row is about, bring rows back. Webhooks are
 * stored by `fulfilment/reports/inbox-writer.ts`. The relay takes rows by `inbox-queue.ts`.
 */
import { and, eq, inArray, isNull, ne, or, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { isAnsweredBy } from '#db/queues/inbox-keys.ts';
import { attempts, inbox } from '#db/schema.ts';
import type { ObservationDecision, ObservedOutcome } from '#domain/relay/observation.ts';
import { KINDS, WORK_KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';

export type InboxRow = typeof inbox.$inferSelect;

/** Notes what a row speaks of and what it meant, so that a workflow that starts anew finds it. */
export async function assignToAttempt(
  tx: Executor,
  rowId: bigint,
  match: { readonly attempt: { readonly id: string }; readonly work: WorkRef },
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

/** Kinds of work that the service has no id of its own for. */
const NAMED_BY_ESIM = WORK_KINDS.filter((kind) => KINDS[kind].reportsName === 'esim');

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
            inArray(inbox.subjectKind, NAMED_BY_ESIM),
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
  const { serviceEsimId } = KINDS[kind].reportsName === 'esim' ? stored : {};
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
