import { sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';

/**
 * Makes those who reserve money, or count what is spent, do so one after the other, until their transaction ends. Taken
 * last, after the locks of work and attempts, so that nobody who holds it waits for one of those.
 */
export async function lockAccount(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('purchase_gate.account', 0))`);
}
