import { sql } from 'drizzle-orm';
import type { Database, Executor } from '#db/connection/database.ts';

/** Rows of these tables that `work` reads, counted by PostgreSQL for its own transaction. */
export async function rowsRead(
  database: Database,
  tables: readonly string[],
  work: (tx: Executor) => Promise<unknown>,
): Promise<number> {
  return database.transaction(async (tx) => {
    const count = async () => {
      const { rows } = await tx.execute<{ read: string }>(
        sql`select sum(seq_tup_read + idx_tup_fetch) as read from pg_stat_xact_user_tables where relname in ${tables}`,
      );
      return Number(rows[0]?.read);
    };
    const before = await count();
    await work(tx);
    return (await count()) - before;
  });
}
