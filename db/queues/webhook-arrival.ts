/** Detects that webhooks of the service do not arrive. */
import { and, desc, eq, notLike, or } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
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
  // The newest rows alone decide. A search for the last webhook would read the whole table if none has ever arrived.
  const newest = await db
    .select({ source: inbox.source, at: inbox.receivedAt })
    .from(inbox)
    .where(or(eq(inbox.source, 'read'), notLike(inbox.deliveryId, `${OWN_PING}%`)))
    .orderBy(desc(inbox.id))
    .limit(reports);
  const lastWebhook = newest.findIndex(({ source }) => source === 'webhook');
  const since = lastWebhook === -1 ? newest : newest.slice(0, lastWebhook);
  return since.filter(({ at }) => at.getTime() > now.getTime() - windowMs).length;
}

/** Time of the service's last valid delivery; undefined before the first. Our own pings do not count. */
export async function lastWebhookAt(db: Executor): Promise<Date | undefined> {
  const [last] = await db
    .select({ at: inbox.receivedAt })
    .from(inbox)
    .where(and(eq(inbox.source, 'webhook'), notLike(inbox.deliveryId, `${OWN_PING}%`)))
    .orderBy(desc(inbox.id))
    .limit(1);
  return last?.at;
}
