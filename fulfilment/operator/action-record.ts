import { and, desc, eq, like, sql } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { isWaking } from '#db/queues/outbox.ts';
import { timeline } from '#db/schema.ts';
import { addTimelineEntry, hasTimelineEntry } from '#db/work/timeline.ts';
import type { Operator, OperatorAction } from '#domain/operator/operator-actions.ts';
import { durationText, type RetryChange } from '#domain/retry/retry-rules.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';

export type ActionOf<Name extends OperatorAction['action']> = Extract<OperatorAction, { action: Name }>;
export type Resolution = ActionOf<'resolve'>;

export interface ActedOn {
  readonly tx: Executor;
  readonly work: WorkRef;
  readonly operator: Operator;
  readonly now: Date;
}

const actionKey = ({ actionId }: Operator): string => `operator:${actionId}`;

/** In the timeline, where {@link isDone} finds it, and in the audit log. */
export async function noteAction({ tx, work, operator, now }: ActedOn, action: OperatorAction): Promise<void> {
  const { actor, reason } = operator;
  await addTimelineEntry(tx, work, {
    event: `operator.${action.action}`,
    message: `${sentence(work, action)} Reason given: ${reason}`,
    detail: { actor, ...detailOf(action) },
    dedupKey: actionKey(operator),
    at: now,
  });
  await addAuditEntry(tx, { actor, action: `${work.kind}.${action.action}`, subject: work, reason }, now);
}

/** The same request came twice. */
export async function isDone(tx: Executor, work: WorkRef, operator: Operator): Promise<boolean> {
  return hasTimelineEntry(tx, work, actionKey(operator));
}

/** True when a retry was the last action and its workflow has not been woken yet. */
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

/** A case that is opened again can be judged again. */
export async function wasJudgedSo(tx: Executor, { kind, id }: WorkRef, action: Resolution): Promise<boolean> {
  const [last] = await tx
    .select({ isSame: sql<boolean>`${timeline.detail} - 'actor' = ${JSON.stringify(detailOf(action))}::jsonb` })
    .from(timeline)
    .where(and(eq(timeline.subjectKind, kind), eq(timeline.subjectId, id), eq(timeline.event, 'operator.resolve')))
    .orderBy(desc(timeline.id))
    .limit(1);
  return last?.isSame ?? false;
}

function sentence({ kind }: WorkRef, action: OperatorAction): string {
  switch (action.action) {
    case 'retry':
      return 'An operator requested a retry.';
    case 'release':
      return 'An operator released it through the purchase gate, past pauses and open circuits.';
    case 'abandon':
      return `An operator abandoned the ${KINDS[kind].noun}.`;
    case 'change_limit': {
      const { maxPrice } = action;
      return maxPrice === null
        ? 'An operator removed the price limit.'
        : `An operator set the price limit to ${maxPrice.amount} ${maxPrice.currency}.`;
    }
    case 'change_retry':
      return `An operator changed how it is tried again: ${changeText(action.change)}.`;
    case 'resolve':
      return `An operator resolved the case ${action.reason} with the verdict ${action.verdict}.`;
  }
}

function changeText({ attempts, firstDelayMs, maxDelayMs, deadlineAt }: RetryChange): string {
  const asConfigured = 'as configured';
  const delay = (ms: number | null) => (ms === null ? asConfigured : durationText(ms));
  return [
    ...(attempts === undefined ? [] : [`attempts ${attempts ?? asConfigured}`]),
    ...(firstDelayMs === undefined ? [] : [`first wait ${delay(firstDelayMs)}`]),
    ...(maxDelayMs === undefined ? [] : [`longest wait ${delay(maxDelayMs)}`]),
    ...(deadlineAt === undefined
      ? []
      : [`deadline ${deadlineAt === null ? asConfigured : new Date(deadlineAt).toISOString()}`]),
  ].join(', ');
}

function detailOf(action: OperatorAction): Record<string, string> {
  if (action.action !== 'resolve') return {};
  const { reason, verdict, serviceId, serviceEsimId, next } = action;
  return {
    case: reason,
    verdict,
    ...(serviceId !== undefined && { service_id: serviceId }),
    ...(serviceEsimId !== undefined && { service_esim_id: serviceEsimId }),
    ...(next !== undefined && { next }),
  };
}
