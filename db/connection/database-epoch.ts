import { sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';

/**
 * Changes whenever PostgreSQL may have lost commits: WAL timeline (a failover or restore) and start time of the server.
 * A crash of one backend loses none of ours (`synchronous_commit` is on). On a standby the query fails, like every
 * write.
 */
export const DATABASE_EPOCH = sql<string>`left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' ||
  extract(epoch from pg_postmaster_start_time())::text`;

export async function readDatabaseEpoch(db: Executor): Promise<string> {
  const { rows } = await db.execute<{ epoch: string }>(sql`select ${DATABASE_EPOCH} as epoch`);
  return rows[0]?.epoch ?? '';
}
