/** Storing what the service reports of a VPN subscription. */
import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { vpnSubscriptions } from '#db/schema.ts';
import { readVpnSubscription } from '#db/work/vpn-subscription-queries.ts';
import type { SubscriptionEnd } from '#domain/relay/observation.ts';

/** A report of the service about a sold subscription. */
export interface SubscriptionReport {
  readonly startedAt?: Date | undefined;
  readonly expiresAt?: Date | undefined;
  readonly endedAs?: SubscriptionEnd | undefined;
  /** Encrypted for {@link accessAad}. */
  readonly encryptedAccess?: Buffer | undefined;
}

/**
 * Stores a report; parts that it does not contain stay, and an end is never undone. The caller holds the lock of the
 * work.
 */
export async function storeSubscriptionReport(tx: Executor, id: string, facts: SubscriptionReport): Promise<void> {
  const { startedAt, expiresAt, endedAs, encryptedAccess } = facts;
  const known = await readVpnSubscription(tx, id);
  await tx
    .update(vpnSubscriptions)
    .set({
      startedAt: startedAt ?? known.startedAt,
      expiresAt: expiresAt ?? known.expiresAt,
      endedAs: known.endedAs ?? endedAs ?? null,
      encryptedAccess: encryptedAccess ?? known.encryptedAccess,
    })
    .where(eq(vpnSubscriptions.id, id));
}
