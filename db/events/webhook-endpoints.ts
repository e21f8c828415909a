import { and, asc, desc, eq, gt, inArray, isNull, lt, or, sql } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import { matches, type PageOptions } from '#db/lists/pages.ts';
import { webhookEndpoints, webhookEndpointSecrets } from '#db/schema.ts';

export type WebhookEndpointRow = typeof webhookEndpoints.$inferSelect;

export interface NewWebhookEndpoint {
  readonly apiKeyId: string;
  readonly ownerId: Owner;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: readonly string[];
}

export async function findWebhookEndpoint(
  db: Executor,
  id: string,
  owner: Owner,
  { lock = false } = {},
): Promise<WebhookEndpointRow | undefined> {
  const query = db
    .select()
    .from(webhookEndpoints)
    .where(
      and(eq(webhookEndpoints.id, id), isNull(webhookEndpoints.deletedAt), matches(webhookEndpoints.ownerId, owner)),
    );
  const [row] = await (lock ? query.for('no key update') : query);
  return row;
}

export async function listWebhookEndpoints(
  db: Executor,
  owner: Owner,
  { createdBy }: { readonly createdBy?: string | undefined },
  { limit, after }: PageOptions<string>,
): Promise<WebhookEndpointRow[]> {
  return db
    .select()
    .from(webhookEndpoints)
    .where(
      and(
        isNull(webhookEndpoints.deletedAt),
        matches(webhookEndpoints.ownerId, owner),
        matches(webhookEndpoints.apiKeyId, createdBy),
        after === undefined ? undefined : lt(webhookEndpoints.id, after),
      ),
    )
    .orderBy(desc(webhookEndpoints.id))
    .limit(limit);
}

/** Locks until the transaction ends, so that concurrent creations are counted one after the other. */
export async function countWebhookEndpoints(tx: Executor, owner: Owner): Promise<number> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('webhook_endpoints.number', 0))`);
  const { deletedAt, ownerId } = webhookEndpoints;
  return tx.$count(
    webhookEndpoints,
    and(isNull(deletedAt), owner === undefined ? isNull(ownerId) : eq(ownerId, owner)),
  );
}

export type EndpointTerms = Pick<WebhookEndpointRow, 'url' | 'description' | 'eventTypes'>;

export async function changeWebhookEndpoint(
  tx: Executor,
  id: string,
  change: Partial<EndpointTerms>,
  now: Date,
): Promise<void> {
  await tx
    .update(webhookEndpoints)
    .set({ ...change, updatedAt: now })
    .where(eq(webhookEndpoints.id, id));
}

/** Runs in the caller's transaction. @param urgent wakes it even while it waits for the end of an outage. */
export async function requestEndpointWake(
  tx: Executor,
  ids: readonly string[],
  { urgent }: { readonly urgent: boolean },
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .update(webhookEndpoints)
    .set({ wakesRequested: sql`${webhookEndpoints.wakesRequested} + 1`, ...(urgent && { wakeIsUrgent: true }) })
    .where(inArray(webhookEndpoints.id, ids));
  noteRowsAdded(tx, 'endpoints');
}

export const isReceiving = and(isNull(webhookEndpoints.disabledAt), isNull(webhookEndpoints.deletedAt));

export const unsentWake = gt(webhookEndpoints.wakesRequested, webhookEndpoints.wakesSent);

export type EndpointToWake = Pick<WebhookEndpointRow, 'id' | 'wakesRequested' | 'wakeIsUrgent'>;

export async function endpointsToWake(db: Executor, batch: number): Promise<EndpointToWake[]> {
  const { id, wakesRequested, wakeIsUrgent } = webhookEndpoints;
  return db
    .select({ id, wakesRequested, wakeIsUrgent })
    .from(webhookEndpoints)
    .where(unsentWake)
    .orderBy(asc(id))
    .limit(batch);
}

/** Later requests need a further wake. */
export async function noteEndpointWoken(db: Executor, { id, wakesRequested }: EndpointToWake): Promise<void> {
  await db
    .update(webhookEndpoints)
    .set({
      wakesSent: wakesRequested,
      wakeIsUrgent: sql`${webhookEndpoints.wakeIsUrgent} and ${webhookEndpoints.wakesRequested} > ${wakesRequested}`,
    })
    .where(and(eq(webhookEndpoints.id, id), lt(webhookEndpoints.wakesSent, wakesRequested)));
}

/** All that sign now sign until this time at most. Those that sign no more are deleted. */
export async function endEndpointSecrets(
  tx: Executor,
  endpointId: string,
  { until, now }: { readonly until: Date; readonly now: Date },
): Promise<void> {
  const former = eq(webhookEndpointSecrets.endpointId, endpointId);
  const { signsUntil } = webhookEndpointSecrets;
  await tx
    .update(webhookEndpointSecrets)
    .set({ signsUntil: until })
    .where(and(former, or(isNull(signsUntil), gt(signsUntil, until))));
  await tx.delete(webhookEndpointSecrets).where(and(former, sql`${signsUntil} <= ${now}`));
}

/** Newest first. @throws DecryptionError when the key of one is not in the ring. */
export async function readEndpointSecrets(
  db: Executor,
  keyRing: KeyRing,
  endpointId: string,
  now: Date,
): Promise<string[]> {
  const { signsUntil } = webhookEndpointSecrets;
  const rows = await db
    .select()
    .from(webhookEndpointSecrets)
    .where(and(eq(webhookEndpointSecrets.endpointId, endpointId), or(isNull(signsUntil), gt(signsUntil, now))))
    .orderBy(desc(webhookEndpointSecrets.id));
  return rows.map((row) => keyRing.decryptText(row.encryptedSecret, secretAad(row)));
}

export async function addEndpointSecret(
  tx: Executor,
  keyRing: KeyRing,
  endpointId: string,
  secret: string,
  createdAt: Date,
): Promise<void> {
  await tx
    .insert(webhookEndpointSecrets)
    .values({ endpointId, createdAt, encryptedSecret: keyRing.encrypt(secret, secretAad({ endpointId, createdAt })) });
}

/** The AAD lacks the row's number, which is assigned on insert. */
function secretAad({ endpointId, createdAt }: { readonly endpointId: string; readonly createdAt: Date }): string {
  return `webhook_endpoint_secrets.encrypted_secret/${endpointId}/${createdAt.toISOString()}`;
}
