import { count, isNull, min, notInArray, sql } from 'drizzle-orm';
import { FINAL_ORDER_STATUSES, isFinal, ORDER_STATUSES } from '#domain/order-lifecycle.ts';
import type { Database } from '#db/database.ts';
import { cases, inbox, orders, outbox } from '#db/schema.ts';
import type { Metrics } from '#telemetry/metrics.ts';

/** Sets the gauges that PostgreSQL knows the values of; run before each rendering of the metrics. */
export function databaseGauges(database: Database, metrics: Metrics, now: () => number): () => Promise<void> {
  const seconds = (oldest: Date | null | undefined) => (oldest == null ? 0 : Math.max(0, now() - oldest.getTime()) / 1_000);
  return () =>
    database.run(async (db) => {
      // Finished orders are the many; counting them all at every scrape would be costly.
      const byStatus = await db
        .select({ status: orders.status, orders: count() })
        .from(orders)
        .where(notInArray(orders.status, [...FINAL_ORDER_STATUSES]))
        .groupBy(orders.status);
      const found = new Map(byStatus.map((row) => [row.status, row.orders]));
      for (const status of ORDER_STATUSES) {
        if (!isFinal(status)) metrics.orders.set({ status }, found.get(status) ?? 0);
      }
      const openCases = await db
        .select({ reason: cases.reason, cases: count() })
        .from(cases)
        .where(isNull(cases.closedAt))
        .groupBy(cases.reason);
      metrics.casesOpen.reset();
      for (const row of openCases) metrics.casesOpen.set({ reason: row.reason }, row.cases);

      const [oldestOutbox] = await db.select({ at: min(outbox.createdAt) }).from(outbox);
      metrics.relayLag.set({ queue: 'outbox' }, seconds(oldestOutbox?.at));
      const [oldestInbox] = await db.select({ at: min(inbox.receivedAt) }).from(inbox).where(sql`${inbox.state} = 'pending'`);
      metrics.relayLag.set({ queue: 'inbox' }, seconds(oldestInbox?.at));
    });
}
