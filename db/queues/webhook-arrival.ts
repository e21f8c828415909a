/** Whether webhooks of the service arrive. */
import { and, desc, eq, gt, notLike } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { inbox } from '#db/schema.ts';
import type { WebhookSilencePolicy } from '#domain/policy/webhook-policy.ts';

/** How the delivery ids begin of webhooks that `reseller doctor` sends us itself: they say nothing of the service's. */
export const OWN_PING = 'doctor-';

/**
 * Did webhooks stop to arrive? They did when asking has brought so many pieces of news since the last webhook, within
 * the window, that a webhook should have brought.
 *
 * @returns how many pieces of news were found since the last webhook, up to `policy.news`; 0 while none is missed.
 */
export async function missedWebhooks(
  db: Executor,
  { windowMs, news }: WebhookSilencePolicy,
  now: Date,
): Promise<number> {
  // Both run from the end of the table: while webhooks come the first row is one, while they do not the others are few.
  const last = await lastWebhook(db);
  const found = await db
    .select({ at: inbox.receivedAt })
    .from(inbox)
    .where(and(eq(inbox.source, 'read'), last === undefined ? undefined : gt(inbox.id, last.id)))
    .orderBy(desc(inbox.id))
    .limit(news);
  return found.filter(({ at }) => at.getTime() > now.getTime() - windowMs).length;
}

/** When the service's last valid delivery was stored; undefined before the first. Our own pings do not count. */
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
