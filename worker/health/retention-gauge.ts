import type { Database } from '#db/connection/database.ts';
import { overdueRows, SWEPT_TABLES, type KeptTimes } from '#db/queues/retention.ts';
import type { Metrics } from '#telemetry/metrics.ts';

/** Returns a function that sets the gauge of rows that are due for deletion; it runs before each render. */
export function retentionGauge(
  database: Database,
  { rowsOverdue }: Metrics,
  kept: KeptTimes,
  now: () => number,
): () => Promise<void> {
  return async () => {
    const overdue = await database.run((db) => overdueRows(db, kept, now()));
    for (const table of SWEPT_TABLES) rowsOverdue.set({ table }, overdue[table] / 1_000);
  };
}
