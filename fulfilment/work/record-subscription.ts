/** Storing what the service reports of a VPN subscription. */
import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { vpnSubscriptions } from '#db/schema.ts';
import type { VpnSubscriptionRow } from '#db/work/rows.ts';
import { addTimelineEntry, hasTimelineEntry } from '#db/work/timeline.ts';
import { readVpnSubscription } from '#db/work/vpn-subscription-queries.ts';
import type { SubscriptionEnd } from '#domain/relay/observation.ts';
import { isFinal } from '#domain/work/lifecycle.ts';

/** A report of the service about a sold subscription. */
export interface SubscriptionReport {
  readonly startedAt?: Date | undefined;
  readonly expiresAt?: Date | undefined;
  readonly endedAs?: SubscriptionEnd | undefined;
  /** Encrypted for {@link accessAad}. */
  readonly encryptedAccess?: Buffer | undefined;
}

/**
 * Stores a report; parts that it does not contain stay, and an end is never undone. A later end of the paid period is a
 * renewal, and announced as such. The caller holds the lock of the work.
 */
export async function storeSubscriptionReport(
  tx: Executor,
  id: string,
  report: SubscriptionReport,
  now: Date,
): Promise<void> {
  const { startedAt, expiresAt, endedAs, encryptedAccess } = report;
  const known = await readVpnSubscription(tx, id);
  const renewedUntil = newEndOf(known, report);
  if (renewedUntil !== undefined) await announceRenewal(tx, known, renewedUntil, now);
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

/** The end of the paid period by a report that renews a subscription; undefined when it does not. */
export function newEndOf(
  { status, completedAt, endedAs, expiresAt: known }: VpnSubscriptionRow,
  report: Pick<SubscriptionReport, 'expiresAt' | 'endedAs'>,
): Date | undefined {
  const { expiresAt } = report;
  const goesOn = completedAt !== null && endedAs === null && !isFinal(status) && report.endedAs === undefined;
  return goesOn && known !== null && expiresAt !== undefined && expiresAt > known ? expiresAt : undefined;
}

async function announceRenewal(tx: Executor, known: VpnSubscriptionRow, expiresAt: Date, now: Date): Promise<void> {
  const { id, apiKeyId, externalSubscriptionId, traceparent } = known;
  const subject = { kind: 'vpn_subscription', id } as const;
  const times = { expires_at: expiresAt.toISOString(), previous_expires_at: known.expiresAt?.toISOString() ?? null };
  const event = 'vpn_subscription.renewed';
  const dedupKey = `${event}:${times.expires_at}`;
  // A read that lags behind may have shown the former end in between.
  if (await hasTimelineEntry(tx, subject, dedupKey)) return;
  await addTimelineEntry(tx, subject, {
    event,
    message: `It was renewed: its paid period ends at ${times.expires_at}, and before at ${times.previous_expires_at}.`,
    detail: times,
    dedupKey,
    at: now,
  });
  const data = { external_subscription_id: externalSubscriptionId, ...times };
  await recordEvent(tx, { type: event, subject, apiKeyId, data, traceparent }, now);
}
