import { eq } from 'drizzle-orm';
import type { Executor } from '#db/database.ts';
import { esims } from '#db/schema.ts';

export type EsimRow = typeof esims.$inferSelect;

export async function findEsim(db: Executor, id: string): Promise<EsimRow | undefined> {
  const [row] = await db.select().from(esims).where(eq(esims.id, id));
  return row;
}
