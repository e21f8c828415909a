import type { EncryptionKey, ServiceConfig } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { newestCapabilityProfile, type StoredCapabilityProfile } from '#db/capability-profiles.ts';
import type { Database } from '#db/database.ts';
import { countHeldWork } from '#db/held-work.ts';
import { readWebhookSecrets, type StoredWebhookSecrets } from '#db/webhook-secrets.ts';

/** What our own database knows of the service. */
export interface Records {
  /** Purchases that are held because the service said that we are not approved. */
  readonly heldUnapproved: number;
  /** Undefined when there are no keys to open them with. */
  readonly webhookSecrets: StoredWebhookSecrets | undefined;
  /** What the service's sandbox was found able to do; undefined when nothing was measured. */
  readonly capabilityProfile: StoredCapabilityProfile | undefined;
}

export async function readRecords(
  database: Database,
  { mode: environment }: ServiceConfig,
  encryptionKeys: readonly EncryptionKey[] | undefined,
  now: () => number,
): Promise<Records> {
  return await database.run(async (db) => ({
    heldUnapproved: (await countHeldWork(db, ['not_approved'])).get('not_approved') ?? 0,
    webhookSecrets:
      encryptionKeys &&
      (await readWebhookSecrets(db, new KeyRing(encryptionKeys), { environment, now: new Date(now()) })),
    capabilityProfile: await newestCapabilityProfile(db, 'sandbox'),
  }));
}
