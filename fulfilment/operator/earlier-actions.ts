/** Earlier operator actions on the work, from its timeline. */
import { and, desc, eq, like, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { isWaking } from '#db/queues/outbox.ts';
import { timeline } from '#db/schema.ts';
import type { Operator } from '#domain/operator/operator-actions.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { Resolution } from '#fulfilment/operator/correct-cancellation.ts';
import { detailOf } from '#fulfilment/operator/operator-action-texts.ts';

/** The deduplication key of the timeline entry of an action. */
export const actionKey = ({ actionId }: Operator): string => `operator:${actionId}`;

/** True when this action was carried out before: the same request came twice. */
export async function isDone(tx: Executor, { kind, id }: WorkRef, operator: Operator): Promise<boolean> {
  const rows = await tx
    .select({ id: timeline.id })
    .from(timeline)
    .where(and(eq(timeline.subjectKind, kind), eq(timeline.subjectId, id), eq(timeline.dedupKey, actionKey(operator))));
  return rows.length > 0;
}

/** True when a retry was the last action on the work and its workflow has not been woken yet. */
export async function isRetryUnderWay(tx: Executor, work: WorkRef): Promise<boolean> {
  if (!(await isWaking(tx, work))) return false;
  const [last] = await tx
    .select({ event: timeline.event })
    .from(timeline)
    .where(
      and(eq(timeline.subjectKind, work.kind), eq(timeline.subjectId, work.id), like(timeline.event, 'operator.%')),
    )
    .orderBy(desc(timeline.id))
    .limit(1);
  return last?.event === 'operator.retry';
}

/** True when the last verdict on the work was the same. A case that is opened again can be judged again. */
export async function wasJudgedSo(tx: Executor, { kind, id }: WorkRef, action: Resolution): Promise<boolean> {
  const [last] = await tx
    .select({ isSame: sql<boolean>`${timeline.detail} - 'actor' = ${JSON.stringify(detailOf(action))}::jsonb` })
    .from(timeline)
    .where(and(eq(timeline.subjectKind, kind), eq(timeline.subjectId, id), eq(timeline.event, 'operator.resolve')))
    .orderBy(desc(timeline.id))
    .limit(1);
  return last?.isSame ?? false;
}
