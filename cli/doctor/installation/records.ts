import type { EncryptionKey, ServiceConfig } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import { missedWebhooks } from '#db/queues/inbox.ts';
import { newestCapabilityProfile, type StoredCapabilityProfile } from '#db/service/capability-profiles.ts';
import { readRefusedPrefix, readWebhookSecrets, type StoredWebhookSecrets } from '#db/service/webhook-secrets.ts';
import { countHeldWork } from '#db/work/held-work.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { RefusedHeaderPrefix } from '#domain/service/service-address.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import { readFirstPurchaseCheck, type FirstPurchaseCheckState } from '#fulfilment/gate/pauses.ts';
import { driftStopTexts } from '#fulfilment/readiness/conditions.ts';

/** The default: the policy of the worker only decides when the worker raises its alert. */
export const WEBHOOK_SILENCE = DEFAULT_POLICY.webhookSilence;

/** What our own database has recorded about the service. */
export interface Records {
  /** Number of purchases held because the service has not approved us. */
  readonly heldUnapproved: number;
  /** Undefined when there are no keys to decrypt them with. */
  readonly webhookSecrets: StoredWebhookSecrets | undefined;
  /** Number of reports that look-ups found since the last webhook arrived; a few are usual. */
  readonly webhooksMissed: number;
  /** Header prefix of deliveries refused since the last valid one; undefined when there was none. */
  readonly refusedPrefix: RefusedHeaderPrefix | undefined;
  /** Measured capabilities of the service's sandbox; undefined when nothing was measured. */
  readonly capabilityProfile: StoredCapabilityProfile | undefined;
  /** For each kind of purchase, whether the shapes of the service's answers were seen. */
  readonly firstPurchaseCheck: ReadonlyMap<PurchaseKind, FirstPurchaseCheckState>;
  /** Stops because paid deliveries could not be used, and kinds whose first purchase must be delivered first. */
  readonly driftStops: Awaited<ReturnType<typeof driftStopTexts>>;
}

/** Reads everything in the database that the checks need. @param now returns epoch milliseconds. */
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
    firstPurchaseCheck: await readFirstPurchaseCheck(db),
    driftStops: await driftStopTexts(db),
  }));
}
