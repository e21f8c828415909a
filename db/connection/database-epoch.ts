/** Detects lost commits. */
import { sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';

/**
 * A text that changes whenever PostgreSQL may have lost commits: the WAL timeline, which a failover or a restore
 * changes, and the start time of the server. Every role may read both. A crash of one backend changes neither: it only
 * loses commits that did not wait for the disk, and ours wait (`synchronous_commit` is on). On a standby the query
 * fails, like every write.
 */
export const DATABASE_EPOCH = sql<string>`left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' ||
  extract(epoch from pg_postmaster_start_time())::text`;

/** Reads {@link DATABASE_EPOCH}. */
export async function readDatabaseEpoch(db: Executor): Promise<string> {
  const { rows } = await db.execute<{ epoch: string }>(sql`select ${DATABASE_EPOCH} as epoch`);
  return rows[0]?.epoch ?? '';
}
