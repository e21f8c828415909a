import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { attempts } from '#db/schema.ts';
import type { StepRecord } from '#domain/purchase/results.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

/** A step that holds work, with changes. */
export const step = (work: WorkRef, more: Partial<StepRecord>): StepRecord => ({
  work,
  stepKey: randomUUID(),
  status: 'held',
  event: `${work.kind}.${more.status ?? 'held'}`,
  message: 'A test.',
  attemptNumber: 1,
  applied: [],
  ...more,
});

/** The sends of an order's purchase, as the service received them. */
export async function sendsOf(bench: ActivityBench, orderId: string) {
  const [attempt] = await bench.database.run((db) => db.select().from(attempts).where(eq(attempts.subjectId, orderId)));
  return bench.admin.requests('createOrder', attempt!.idempotencyKey);
}
