import { and, count, eq } from 'drizzle-orm';
import type { Executor } from '#db/database.ts';
import { attempts, esims, topups } from '#db/schema.ts';

export type EsimRow = typeof esims.$inferSelect;

export async function findEsim(db: Executor, id: string): Promise<EsimRow | undefined> {
  const [row] = await db.select().from(esims).where(eq(esims.id, id));
  return row;
}

/** What our own rows know for the conditions of a refund: the purchase that the eSIM came from, and its top-ups. */
export async function readOwnRefundFacts(db: Executor, esim: EsimRow) {
  const [bought] = await db
    .select()
    .from(attempts)
    .where(
      and(eq(attempts.subjectKind, 'order'), eq(attempts.subjectId, esim.orderId), eq(attempts.serviceEsimId, esim.serviceEsimId)),
    );
  const [recharged] = await db
    .select({ completed: count() })
    .from(topups)
    .where(and(eq(topups.esimId, esim.id), eq(topups.status, 'completed')));
  return {
    serviceEsimId: esim.serviceEsimId,
    serviceOrderId: bought?.serviceId ?? null,
    reference: bought?.reference ?? null,
    orderedAt: (bought?.firstSentAt ?? esim.createdAt).getTime(),
    completedTopups: recharged?.completed ?? 0,
  };
}
