/** Detects that webhooks of the service do not arrive. */
import { and, desc, eq, gt, notLike } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { inbox } from '#db/schema.ts';
import type { WebhookSilencePolicy } from '#domain/policy/webhook-policy.ts';

/** Prefix of delivery ids of `reseller doctor`: such webhooks prove nothing about the service's. */
export const OWN_PING = 'doctor-';

/**
 * Counts reports that look-ups found within the window since the last webhook, and that a webhook should have brought.
 *
 * @returns the count, up to `policy.reports`; 0 while webhooks arrive.
 */
export async function missedWebhooks(
  db: Executor,
  { windowMs, reports }: WebhookSilencePolicy,
  now: Date,
): Promise<number> {
  // Both read from the end of the table: with webhooks the first row is one, without them the other rows are few.
  const last = await lastWebhook(db);
  const found = await db
    .select({ at: inbox.receivedAt })
    .from(inbox)
    .where(and(eq(inbox.source, 'read'), last === undefined ? undefined : gt(inbox.id, last.id)))
    .orderBy(desc(inbox.id))
    .limit(reports);
  return found.filter(({ at }) => at.getTime() > now.getTime() - windowMs).length;
}

/** Time of the service's last valid delivery; undefined before the first. Our own pings do not count. */
export async function lastWebhookAt(db: Executor): Promise<Date | undefined> {
  return (await lastWebhook(db))?.receivedAt;
}

async function lastWebhook(db: Executor): Promise<Pick<InboxRow, 'id' | 'receivedAt'> | undefined> {
  const [last] = await db
    .select({ id: inbox.id, receivedAt: inbox.receivedAt })
    .from(inbox)
    .where(and(eq(inbox.source, 'webhook'), notLike(inbox.deliveryId, `${OWN_PING}%`)))
    .orderBy(desc(inbox.id))
    .limit(1);
  return last;
}
