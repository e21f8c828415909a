/** The service shows each secret once. Former ones verify until their overlap ends. */
import { and, desc, eq, gte, isNull, lt, or, sql } from 'drizzle-orm';
import * as z from 'zod';
import { DecryptionError, type KeyRing } from '#crypto/key-ring.ts';
import type { AcceptedSecret } from '#crypto/webhook-signatures.ts';
import type { Executor } from '#db/connection/database.ts';
import { lastWebhookAt } from '#db/queues/inbox.ts';
import { refusedHeaderPrefixes, webhookSecrets } from '#db/schema.ts';
import type { RefusedHeaderPrefix } from '#domain/service/service-address.ts';

export interface StoredWebhookSecrets {
  readonly secrets: readonly (AcceptedSecret & { readonly storedAt: Date })[];
  readonly undecryptable: number;
}

/** A secret that cannot be decrypted does not affect the others. */
export async function readWebhookSecrets(
  db: Executor,
  keyRing: KeyRing,
  { environment, now }: { readonly environment: string; readonly now: Date },
): Promise<StoredWebhookSecrets> {
  const rows = await db
    .select()
    .from(webhookSecrets)
    .where(
      and(
        eq(webhookSecrets.environment, environment),
        or(isNull(webhookSecrets.verifiesUntil), gte(webhookSecrets.verifiesUntil, now)),
      ),
    )
    .orderBy(desc(webhookSecrets.id));
  const secrets = rows.flatMap((row) => {
    const secret = decrypt(keyRing, row);
    if (secret === undefined) return [];
    const until = row.verifiesUntil === null ? {} : { acceptedUntil: row.verifiesUntil.getTime() };
    return [{ secret, storedAt: row.storedAt, ...until }];
  });
  return { secrets, undecryptable: rows.length - secrets.length };
}

export interface ReplacedWebhookSecret {
  readonly storedAt: Date;
  readonly formerVerifiesUntil: Date | undefined;
}

interface WebhookSecretStoreOptions {
  readonly keyRing: KeyRing;
  readonly environment: string;
  /** Milliseconds. */
  readonly overlapMs: number;
  readonly now: () => number;
}

/** Longer than all calls to the service in one change. */
const LOCK_IDLE_TIMEOUT = '180s';
const lockAnswer = z.object({ rows: z.tuple([z.object({ locked: z.boolean() })]) });

export class WebhookSecretStore {
  readonly #tx: Executor;
  readonly #options: WebhookSecretStoreOptions;

  /** @param tx nothing is stored before it is committed. */
  constructor(tx: Executor, options: WebhookSecretStoreOptions) {
    this.#tx = tx;
    this.#options = options;
  }

  /**
   * Locks for the rest of the transaction, with the call to the service. Of two concurrent rotations the later must be
   * stored last; otherwise the secret that the service signs with would end.
   * @returns false when another process holds it.
   */
  async lock(): Promise<boolean> {
    const name = `webhook-secret/${this.#options.environment}`;
    const answer = await this.#tx.execute(
      sql`select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked,
            set_config('idle_in_transaction_session_timeout', ${LOCK_IDLE_TIMEOUT}, true)`,
    );
    return lockAnswer.parse(answer).rows[0].locked;
  }

  /** Secrets whose end has come are deleted, because only a thief could use them. */
  async replace(secret: string): Promise<ReplacedWebhookSecret> {
    const { keyRing, environment, overlapMs, now } = this.#options;
    const storedAt = new Date(now());
    const until = new Date(storedAt.getTime() + overlapMs);
    const ofEnvironment = eq(webhookSecrets.environment, environment);
    const closed = await this.#tx
      .update(webhookSecrets)
      .set({ verifiesUntil: until })
      .where(and(ofEnvironment, isNull(webhookSecrets.verifiesUntil)))
      .returning({ id: webhookSecrets.id });
    // A shorter overlap, because a secret leaked, also applies to earlier secrets.
    await this.#tx
      .update(webhookSecrets)
      .set({ verifiesUntil: until })
      .where(and(ofEnvironment, sql`${webhookSecrets.verifiesUntil} > ${until}`));
    await this.#tx.delete(webhookSecrets).where(and(ofEnvironment, lt(webhookSecrets.verifiesUntil, storedAt)));
    const encryptedSecret = keyRing.encrypt(secret, secretAad({ environment, storedAt }));
    await this.#tx.insert(webhookSecrets).values({ environment, encryptedSecret, storedAt });
    return { storedAt, formerVerifiesUntil: closed.length === 0 ? undefined : until };
  }
}

function decrypt(keyRing: KeyRing, row: typeof webhookSecrets.$inferSelect): string | undefined {
  try {
    return keyRing.decryptText(row.encryptedSecret, secretAad(row));
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}

/** The AAD lacks the row's number, which is assigned on insert. */
function secretAad({ environment, storedAt }: { readonly environment: string; readonly storedAt: Date }): string {
  return `webhook_secrets.encrypted_secret/${environment}/${storedAt.toISOString()}`;
}

export async function addRefusedDeliveries(
  db: Executor,
  { prefix, verified, deliveries }: Pick<RefusedHeaderPrefix, 'prefix' | 'verified' | 'deliveries'>,
): Promise<void> {
  const { prefix: known, deliveries: counted } = refusedHeaderPrefixes;
  await db
    .insert(refusedHeaderPrefixes)
    .values({ prefix, verified, deliveries })
    .onConflictDoUpdate({
      target: refusedHeaderPrefixes.verified,
      set: {
        prefix,
        deliveries: sql`case when ${known} = ${prefix} then ${counted} else 0 end + ${deliveries}`,
        lastAt: sql`now()`,
      },
    });
}

export async function forgetRefusedPrefix(db: Executor, prefix: string): Promise<void> {
  await db.delete(refusedHeaderPrefixes).where(sql`lower(${refusedHeaderPrefixes.prefix}) = lower(${prefix})`);
}

/** A verified one first. Undefined also when a valid delivery came later: our prefix is then right. */
export async function readRefusedPrefix(db: Executor): Promise<RefusedHeaderPrefix | undefined> {
  const refused = await db.select().from(refusedHeaderPrefixes).orderBy(desc(refusedHeaderPrefixes.verified));
  if (refused.length === 0) return undefined;
  const valid = await lastWebhookAt(db);
  return refused.find(({ lastAt }) => valid === undefined || lastAt > valid);
}
