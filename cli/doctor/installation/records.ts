import { WEBHOOK_SILENCE } from '#cli/doctor/service/webhook-arrival.ts';
import type { EncryptionKey, ServiceConfig } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import { missedWebhooks } from '#db/queues/webhook-arrival.ts';
import { newestCapabilityProfile, type StoredCapabilityProfile } from '#db/service/capability-profiles.ts';
import { readRefusedPrefix } from '#db/service/refused-header-prefixes.ts';
import { readWebhookSecrets, type StoredWebhookSecrets } from '#db/service/webhook-secrets.ts';
import { countHeldWork } from '#db/work/held-work.ts';
import type { RefusedHeaderPrefix } from '#domain/service/header-prefix.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import { readFirstContact, type FirstContactState } from '#fulfilment/gate/first-contact.ts';

/** What our own database knows of the service. */
export interface Records {
  /** Purchases that are held because the service said that we are not approved. */
  readonly heldUnapproved: number;
  /** Undefined when there are no keys to open them with. */
  readonly webhookSecrets: StoredWebhookSecrets | undefined;
  /** News found by asking since webhooks stopped to arrive; a few are usual. */
  readonly webhooksMissed: number;
  /** Another brand that deliveries were refused under since the last valid one; undefined when there was none. */
  readonly refusedPrefix: RefusedHeaderPrefix | undefined;
  /** What the service's sandbox was found able to do; undefined when nothing was measured. */
  readonly capabilityProfile: StoredCapabilityProfile | undefined;
  /** By kind of purchase, whether the shapes of the service's answers were seen. */
  readonly firstContact: ReadonlyMap<PurchaseKind, FirstContactState>;
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
    webhooksMissed: await missedWebhooks(db, WEBHOOK_SILENCE, new Date(now())),
    refusedPrefix: await readRefusedPrefix(db),
    capabilityProfile: await newestCapabilityProfile(db, 'sandbox'),
    firstContact: await readFirstContact(db),
  }));
}
