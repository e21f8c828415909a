import { count, isNull, min, notInArray, sql } from 'drizzle-orm';
import { FINAL_STATUSES, isFinal, statusesOf } from '#domain/lifecycle.ts';
import { WORK_KINDS } from '#domain/work.ts';
import type { Database } from '#db/database.ts';
import { cases, inbox, outbox } from '#db/schema.ts';
import { workTable } from '#db/work-tables.ts';
import type { Metrics } from '#telemetry/metrics.ts';

/** Sets the gauges that PostgreSQL knows the values of; run before each rendering of the metrics. */
export function databaseGauges(database: Database, metrics: Metrics, now: () => number): () => Promise<void> {
  const seconds = (oldest: Date | null | undefined) => (oldest == null ? 0 : Math.max(0, now() - oldest.getTime()) / 1_000);
  return () =>
    database.run(async (db) => {
      for (const kind of WORK_KINDS) {
        const table = workTable(kind);
        // What has ended is the many; counting all of it at every scrape would be costly.
        const byStatus = await db
          .select({ status: table.status, rows: count() })
          .from(table)
          .where(notInArray(table.status, [...FINAL_STATUSES]))
          .groupBy(table.status);
        const found = new Map(byStatus.map(({ status, rows }) => [status, rows]));
        for (const status of statusesOf(kind)) {
          if (!isFinal(status)) metrics.work.set({ kind, status }, found.get(status) ?? 0);
        }
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
