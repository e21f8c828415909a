import { and, eq, sql } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { timeline, vpnSubscriptions } from '#db/schema.ts';
import { lockWork, type VpnSubscriptionRow, vpnSubscriptionRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { readVpnSubscription, SUBSCRIPTION_ENTRIES } from '#db/work/vpn-subscriptions.ts';
import { HOUR } from '#domain/policy/settings.ts';
import type { Report, SubscriptionEnd } from '#domain/relay/observation.ts';
import { isFinal } from '#domain/work/lifecycle.ts';

/**
 * Missing parts stay, and an end is never undone. A later end of the paid period is a renewal, and announced as such.
 * The caller holds the lock of the work.
 */
export async function storeSubscriptionReport(
  tx: Executor,
  id: string,
  report: Omit<Report, 'outcome'>,
  now: Date,
): Promise<void> {
  const { startedAt, expiresAt, endedAs, encryptedAccess } = report;
  const known = await readVpnSubscription(tx, id);
  const renewedUntil = newEndOf(known, report);
  if (renewedUntil !== undefined) await announceRenewal(tx, known, renewedUntil, now);
  await tx
    .update(vpnSubscriptions)
    .set({
      startedAt: startedAt === undefined ? known.startedAt : new Date(startedAt),
      expiresAt: expiresAt === undefined ? known.expiresAt : new Date(expiresAt),
      endedAs: known.endedAs ?? endedAs ?? null,
      encryptedAccess: encryptedAccess ?? known.encryptedAccess,
    })
    .where(eq(vpnSubscriptions.id, id));
}

/** A time without a zone is up to 14 hours off. No plan is shorter than a day, which may have 23 hours. */
const SHORTEST_RENEWAL_MS = 18 * HOUR;

/** Undefined when the report does not renew it: a slightly later end is the same end, stated more exactly. */
export function newEndOf(
  { status, completedAt, endedAs, expiresAt: known }: VpnSubscriptionRow,
  report: Pick<Report, 'expiresAt' | 'endedAs'>,
): Date | undefined {
  const expiresAt = report.expiresAt === undefined ? undefined : new Date(report.expiresAt);
  const goesOn = completedAt !== null && endedAs === null && !isFinal(status) && report.endedAs === undefined;
  const isRenewed = known !== null && Number(expiresAt) - known.getTime() >= SHORTEST_RENEWAL_MS;
  return goesOn && isRenewed ? expiresAt : undefined;
}

async function announceRenewal(tx: Executor, known: VpnSubscriptionRow, expiresAt: Date, now: Date): Promise<void> {
  const { id, apiKeyId, externalSubscriptionId, traceparent } = known;
  const subject = { kind: 'vpn_subscription', id } as const;
  const times = { expires_at: expiresAt.toISOString(), previous_expires_at: known.expiresAt?.toISOString() ?? null };
  const event = SUBSCRIPTION_ENTRIES.renewed;
  const dedupKey = `${event}:${times.expires_at}`;
  // A read that lags behind may have shown the former end in between.
  if (await isAnnounced(tx, id, expiresAt)) return;
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

async function isAnnounced(tx: Executor, id: string, expiresAt: Date): Promise<boolean> {
  const end = sql`(${timeline.detail} ->> 'expires_at')::timestamptz`;
  const isSame = sql`abs(extract(epoch from ${end} - ${expiresAt.toISOString()}::timestamptz)) * 1000
    < ${SHORTEST_RENEWAL_MS}`;
  const isRenewal = eq(timeline.event, SUBSCRIPTION_ENTRIES.renewed);
  const ofIt = and(eq(timeline.subjectKind, 'vpn_subscription'), eq(timeline.subjectId, id));
  return (await tx.$count(timeline, and(ofIt, isRenewal, isSame))) > 0;
}

/** Its workflow is woken, and cancels it at the service. A repetition changes nothing. @throws WorkMissingError */
export async function cancelVpnSubscription(
  tx: Executor,
  id: string,
  { actor, reason }: { readonly actor: string; readonly reason: string | undefined },
  now: Date,
): Promise<'requested' | 'unchanged' | 'not_active' | 'already_ended'> {
  const work = { kind: 'vpn_subscription', id } as const;
  const { status, completedAt, cancelRequestedAt } = vpnSubscriptionRow(await lockWork(tx, work));
  if (status === 'cancelled') return 'unchanged';
  if (isFinal(status)) return 'already_ended';
  if (completedAt === null) return 'not_active';
  if (cancelRequestedAt !== null) return 'unchanged';
  await tx.update(vpnSubscriptions).set({ cancelRequestedAt: now, updatedAt: now }).where(eq(vpnSubscriptions.id, id));
  const message = 'The customer ends the subscription';
  await addTimelineEntry(tx, work, {
    event: 'vpn_subscription.cancel_requested',
    message: reason === undefined ? `${message}.` : `${message}: ${reason}`,
    dedupKey: `vpn_subscription.cancel_requested:${now.getTime()}`,
    at: now,
  });
  await requestWake(tx, work);
  const given = reason === undefined ? {} : { reason };
  await addAuditEntry(tx, { actor, action: 'vpn_subscription.cancel', subject: work, ...given }, now);
  return 'requested';
}

/**
 * Clears the former failure. `known` is locked in this transaction. `endedAs` is set when the service reports that the
 * subscription has ended.
 */
export async function noteCancelAccepted(
  tx: Executor,
  known: VpnSubscriptionRow,
  endedAs: SubscriptionEnd | undefined,
  now: Date,
): Promise<void> {
  await tx
    .update(vpnSubscriptions)
    .set({
      cancelAcceptedAt: known.cancelAcceptedAt ?? now,
      endedAs: known.endedAs ?? endedAs ?? null,
      failureClass: null,
      failureDetail: null,
      nextStepAt: null,
    })
    .where(eq(vpnSubscriptions.id, known.id));
}

/** No end followed: the cancellation is requested again. */
export async function forgetCancelAccepted(tx: Executor, id: string): Promise<void> {
  await tx.update(vpnSubscriptions).set({ cancelAcceptedAt: null }).where(eq(vpnSubscriptions.id, id));
}

export async function withdrawCancel(tx: Executor, id: string): Promise<void> {
  await tx
    .update(vpnSubscriptions)
    .set({ cancelRequestedAt: null, cancelAcceptedAt: null })
    .where(eq(vpnSubscriptions.id, id));
}
