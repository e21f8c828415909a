import { sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';

/**
 * Serialises transactions that reserve money or count spending. Taken last, after the locks of work and attempts, so
 * that its holder never waits for those.
 */
export async function lockAccount(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('purchase_gate.account', 0))`);
}
