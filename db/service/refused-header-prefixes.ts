/** Webhook deliveries with an unexpected header prefix, for probes and `reseller doctor`. */
import { desc, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { lastWebhookAt } from '#db/queues/webhook-arrival.ts';
import { refusedHeaderPrefixes } from '#db/schema.ts';
import type { RefusedHeaderPrefix } from '#domain/service/header-prefix.ts';

/** Counts deliveries in the row of their kind; another prefix replaces the former one. */
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

/** Deletes the record of a prefix that is accepted from now on. */
export async function forgetRefusedPrefix(db: Executor, prefix: string): Promise<void> {
  await db.delete(refusedHeaderPrefixes).where(sql`lower(${refusedHeaderPrefixes.prefix}) = lower(${prefix})`);
}

/**
 * The prefix to report, a verified one first.
 *
 * @returns undefined when there is none, or a valid delivery came later: our prefix is then right.
 */
export async function readRefusedPrefix(db: Executor): Promise<RefusedHeaderPrefix | undefined> {
  const refused = await db.select().from(refusedHeaderPrefixes).orderBy(desc(refusedHeaderPrefixes.verified));
  if (refused.length === 0) return undefined;
  const valid = await lastWebhookAt(db);
  return refused.find(({ lastAt }) => valid === undefined || lastAt > valid);
}
