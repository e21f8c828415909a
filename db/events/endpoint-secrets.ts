/** Secrets of webhook endpoints, encrypted. */
import { and, desc, eq, gt, isNull, or, sql } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Executor } from '#db/connection/database.ts';
import { webhookEndpointSecrets } from '#db/schema.ts';

/**
 * Ends the secrets of an endpoint that sign now: all sign until this time at most. Those that sign no more are deleted.
 */
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

/**
 * All secrets that sign, newest first.
 * @throws DecryptionError when the key of one is not in the ring.
 */
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

/** Adds a secret that signs until it is ended. */
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

/** The additional authenticated data of a secret; it cannot contain the row's number, which is assigned on insert. */
function secretAad({ endpointId, createdAt }: { readonly endpointId: string; readonly createdAt: Date }): string {
  return `webhook_endpoint_secrets.encrypted_secret/${endpointId}/${createdAt.toISOString()}`;
}
