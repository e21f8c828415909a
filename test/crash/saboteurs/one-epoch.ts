/** In place of `db/connection/database-epoch.ts`: an epoch that never changes. */
import { sql } from 'drizzle-orm';

export const DATABASE_EPOCH = sql<string>`'00000001/1'::text`;

export async function readDatabaseEpoch(): Promise<string> {
  return Promise.resolve('00000001/1');
}
