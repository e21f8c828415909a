/** `fulfilment/reports/inbox-writer.ts` stores webhooks; the relay takes rows by `relay-queues.ts`. */
import {
  and,
  desc,
  eq,
  inArray,
  isNotNull,
  isNull,
  ne,
  notLike,
  or,
  sql,
  type Placeholder,
  type SQL,
} from 'drizzle-orm';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts, inbox } from '#db/schema.ts';
import type { WebhookSilencePolicy } from '#domain/policy/webhook-policy.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { KINDS, WORK_KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';

export type InboxRow = typeof inbox.$inferSelect;

/** The workflow received them and ended without applying them: they are judged against its end. */
export async function returnUnapplied(tx: Executor, { kind, id }: WorkRef): Promise<void> {
  const returned = await tx
    .update(inbox)
    .set({ state: 'pending', decision: null, availableAt: sql`now()` })
    .where(and(eq(inbox.subjectKind, kind), eq(inbox.subjectId, id), eq(inbox.state, 'relayed')))
    .returning({ id: inbox.id });
  if (returned.length > 0) noteRowsAdded(tx, 'inbox');
}

/** Applied rows are not changed. @param keys of {@link inboxKey}. */
export async function markApplied(tx: Executor, keys: readonly string[], note: string, now: Date): Promise<void> {
  if (keys.length === 0) return;
  await tx
    .update(inbox)
    .set({ state: 'applied', note, appliedAt: now })
    .where(and(isAppliedBy(keys), isNull(inbox.appliedAt)));
}

const NAMED_BY_ESIM = WORK_KINDS.filter((kind) => KINDS[kind].reportsName === 'esim');

/** A constant, so that the partial indexes are used. */
const isUnmatched = sql`${inbox.state} = 'unmatched'`;

/** Storing an id does the same; this finds rows that were set aside at that moment. */
export async function requeueMatchable(db: Executor, batch: number): Promise<void> {
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
            // As in `findNewestCancellation`: a row that would stay unmatched must not come again for ever.
            or(ne(inbox.event, 'refund.failed'), sql`${attempts.firstSentAt} <= ${inbox.receivedAt}`),
          ),
        ),
      ),
    )
    .where(isUnmatched)
    .limit(batch);
  const rows = await db
    .update(inbox)
    .set({ state: 'pending', availableAt: sql`now()` })
    // An array is read once. PostgreSQL may read a sub-select again for each row.
    .where(and(isUnmatched, sql`${inbox.id} = any(array(${matchable}))`))
    .returning({ id: inbox.id });
  if (rows.length > 0) noteRowsAdded(db, 'inbox');
}

export function isUnapplied({ kind, id }: { readonly kind: WorkKind; readonly id: string | Placeholder }) {
  return and(eq(inbox.subjectKind, kind), eq(inbox.subjectId, id), sql`${inbox.state} in ('pending', 'relayed')`);
}

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
  const requeued = await tx
    .update(inbox)
    .set({ state: 'pending', availableAt: sql`now()` })
    .where(and(isUnmatched, eq(inbox.subjectKind, kind), or(...names)))
    .returning({ id: inbox.id });
  if (requeued.length > 0) noteRowsAdded(tx, 'inbox');
}

export async function addReadObservation(
  db: Executor,
  observation: Omit<typeof inbox.$inferInsert, 'source' | 'state'>,
): Promise<boolean> {
  const rows = await db
    .insert(inbox)
    .values({ ...observation, source: 'read', state: 'pending' })
    .onConflictDoNothing()
    .returning({ id: inbox.id });
  if (rows.length > 0) noteRowsAdded(db, 'inbox');
  return rows.length > 0;
}

/** Webhooks with an id that begins with `read:` are refused. */
export function readDeliveryId(attemptId: string, outcome: ObservedOutcome): string {
  return `read:${attemptId}:${outcome}`;
}

/** With the id, 64 bits distinguish two bodies. */
const HASH_DIGITS = 16;

/** PostgreSQL may assign ids again after a loss of commits: the hash of the body tells the reports apart. */
export function inboxKey({ id, bodyHash }: { readonly id: bigint; readonly bodyHash: Buffer }): string {
  return `${id}.${bodyHash.toString('hex').slice(0, HASH_DIGITS)}`;
}

/** A row that is not judged does not match: no workflow has applied it. @throws SyntaxError for an invalid key. */
export function isAppliedBy(keys: readonly string[]): SQL | undefined {
  const named = keys.map((key) => {
    const [id = '', hash = ''] = key.split('.');
    return { id: BigInt(id), hash };
  });
  const pairs = sql.join(
    named.map(({ id, hash }) => sql`(${id}::bigint, ${hash}::text)`),
    sql`, `,
  );
  return and(
    inArray(
      inbox.id,
      named.map(({ id }) => id),
    ),
    sql`(${inbox.id}, left(encode(${inbox.bodyHash}, 'hex'), ${sql.raw(String(HASH_DIGITS))})) in (${pairs})`,
    isNotNull(inbox.decision),
  );
}

/** Delivery ids of `reseller doctor`: such webhooks prove nothing about the service's. */
export const OWN_PING = 'doctor-';

/** Counts reports that a webhook should have brought. @returns up to `policy.reports`; 0 while webhooks arrive. */
export async function missedWebhooks(
  db: Executor,
  { windowMs, reports }: WebhookSilencePolicy,
  now: Date,
): Promise<number> {
  // A search for the last webhook would read the whole table if none has ever arrived.
  const newest = await db
    .select({ source: inbox.source, at: inbox.receivedAt })
    .from(inbox)
    .where(or(eq(inbox.source, 'read'), notLike(inbox.deliveryId, `${OWN_PING}%`)))
    .orderBy(desc(inbox.id))
    .limit(reports);
  const lastWebhook = newest.findIndex(({ source }) => source === 'webhook');
  const since = lastWebhook === -1 ? newest : newest.slice(0, lastWebhook);
  return since.filter(({ at }) => at.getTime() > now.getTime() - windowMs).length;
}

/** Our own pings do not count; undefined before the first. */
export async function lastWebhookAt(db: Executor): Promise<Date | undefined> {
  const [last] = await db
    .select({ at: inbox.receivedAt })
    .from(inbox)
    .where(and(eq(inbox.source, 'webhook'), notLike(inbox.deliveryId, `${OWN_PING}%`)))
    .orderBy(desc(inbox.id))
    .limit(1);
  return last?.at;
}
