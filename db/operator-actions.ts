/** What a person does with work, stored together with who did it and why. The rules are in `domain/operator-actions.ts`. */
import { and, eq } from 'drizzle-orm';
import { isFinal } from '#domain/lifecycle.ts';
import { equalMoney, type Money } from '#domain/money.ts';
import {
  judgeAbandon,
  judgeLimitChange,
  judgeResolve,
  judgeRetry,
  type ActionJudgement,
  type OperatedWork,
  type Operator,
  type OperatorAction,
  type Refusal,
} from '#domain/operator-actions.ts';
import { WORK_NOUNS, type WorkRef } from '#domain/work.ts';
import { latestAttempt, type AttemptRow } from '#db/attempts.ts';
import { addAuditEntry } from '#db/audit-log.ts';
import { buyingBarrier } from '#db/buying-barrier.ts';
import { closeCase, hasOpenCase } from '#db/cases.ts';
import type { Executor } from '#db/database.ts';
import { requeueUnmatched } from '#db/inbox.ts';
import { attempts, timeline } from '#db/schema.ts';
import { addTimelineEntry } from '#db/timeline.ts';
import { lockWork, recordStep, updateWork } from '#db/work.ts';
import type { WorkRow } from '#db/work-tables.ts';

export type ActionResult =
  | { readonly kind: 'applied' | 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * Does what an operator asks, or says why not, in one transaction. The workflow is woken by whoever calls this.
 *
 * @throws WorkMissingError
 */
export async function actOnWork(
  tx: Executor,
  work: WorkRef,
  action: OperatorAction,
  operator: Operator,
  now: Date,
): Promise<ActionResult> {
  const row = await lockWork(tx, work);
  if (await isDone(tx, work, operator)) return { kind: 'unchanged' };
  const attempt = await latestAttempt(tx, work);
  const judged = await judge(tx, work, row, attempt, action);
  if (judged === 'unchanged') return { kind: 'unchanged' };
  if (judged !== 'allowed') return { kind: 'refused', refusal: judged };

  const refusal = await apply(tx, work, row, attempt, action, operator, now);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  await addTimelineEntry(tx, work, {
    event: `operator.${action.action}`,
    message: `${sentence(work, action)} Reason given: ${operator.why}`,
    detail: { actor: operator.actor, ...detailOf(action) },
    dedupKey: actKey(operator),
    at: now,
  });
  const audited = { actor: operator.actor, action: `${work.kind}.${action.action}`, subject: work, reason: operator.why };
  await addAuditEntry(tx, audited, now);
  return { kind: 'applied' };
}

const actKey = ({ actId }: Operator): string => `operator:${actId}`;

async function isDone(tx: Executor, { kind, id }: WorkRef, operator: Operator): Promise<boolean> {
  const rows = await tx
    .select({ id: timeline.id })
    .from(timeline)
    .where(and(eq(timeline.subjectKind, kind), eq(timeline.subjectId, id), eq(timeline.dedupKey, actKey(operator))));
  return rows.length > 0;
}

async function judge(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  attempt: AttemptRow | undefined,
  action: OperatorAction,
): Promise<ActionJudgement> {
  const operated: OperatedWork = {
    status: row.status,
    attempt,
    openContradiction: await hasOpenCase(tx, work, 'contradiction'),
  };
  switch (action.action) {
    case 'retry':
      return judgeRetry(operated);
    case 'abandon':
      return judgeAbandon(operated);
    case 'change_limit':
      return sameLimit(row, action.maxPrice) ? 'unchanged' : judgeLimitChange(operated);
    case 'resolve':
      if (!(await hasOpenCase(tx, work, action.reason))) return 'case_not_open';
      if (await isTaken(tx, work, attempt, action.serviceId)) return 'service_id_taken';
      return judgeResolve(operated, action.reason, action.verdict);
  }
}

/** True when the service's id stands for another attempt: one purchase of the service is one attempt of ours. */
async function isTaken(tx: Executor, { kind }: WorkRef, attempt: AttemptRow | undefined, serviceId: string | undefined): Promise<boolean> {
  if (serviceId === undefined) return false;
  const rows = await tx
    .select({ id: attempts.id })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, kind), eq(attempts.serviceId, serviceId)));
  return rows.some(({ id }) => id !== attempt?.id);
}

async function apply(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  attempt: AttemptRow | undefined,
  action: OperatorAction,
  operator: Operator,
  now: Date,
): Promise<Refusal | undefined> {
  switch (action.action) {
    case 'retry':
      // Its attempts are used up, so to try again is to grant one more.
      if (row.attentionReason === 'attempts_used_up') await updateWork(tx, work, { extraAttempts: row.extraAttempts + 1 });
      return undefined;
    case 'abandon':
      return abandon(tx, work, now);
    case 'change_limit': {
      const { maxPrice } = action;
      const limit = { maxPriceAmount: maxPrice?.amount ?? null, maxPriceCurrency: maxPrice?.currency ?? null };
      await updateWork(tx, work, { ...limit, updatedAt: now });
      return undefined;
    }
    case 'resolve': {
      await closeCase(tx, work, action.reason, `${action.verdict}: ${operator.why}`, now);
      if (isFinal(row.status)) return undefined;
      if (attempt !== undefined) await correctAttempt(tx, attempt, action);
      if (action.verdict === 'not_bought' && action.next === 'abandon') return abandon(tx, work, now);
      if (row.attentionReason === action.reason) {
        await updateWork(tx, work, { status: 'held', attentionReason: null, nextStepAt: now, updatedAt: now });
      }
      return undefined;
    }
  }
}

async function abandon(tx: Executor, work: WorkRef, now: Date): Promise<Refusal | undefined> {
  const barrier = await buyingBarrier(tx, work);
  // A word of the service that nobody has judged yet may say that it was bought.
  if (barrier !== undefined) return barrier === 'contradiction' ? 'contradiction_open' : 'may_be_bought';
  const event = `${work.kind}.abandoned`;
  const entry = { event, message: 'Given up by an operator; nothing was bought.', dedupKey: event, at: now };
  await recordStep(tx, work, { status: 'abandoned', entry }, now);
  return undefined;
}

/** Makes the attempt what the person says it is; who knows better than we do is written down beside it. */
async function correctAttempt(
  tx: Executor,
  attempt: AttemptRow,
  { verdict, serviceId, serviceEsimId }: Extract<OperatorAction, { action: 'resolve' }>,
): Promise<void> {
  const noLease = { leaseToken: null, leaseUntil: null };
  switch (verdict) {
    case 'dismissed':
      return;
    case 'not_bought':
      await tx
        .update(attempts)
        .set({
          ...noLease,
          state: 'failed',
          settled: true,
          failureClass: 'supplier_failed',
          failureDetail: 'An operator found that the service sold nothing for it and keeps no money.',
        })
        .where(eq(attempts.id, attempt.id));
      return;
    case 'bought':
      await tx
        .update(attempts)
        .set({
          ...noLease,
          state: serviceEsimId === undefined ? 'processing' : 'completed',
          serviceId: serviceId ?? attempt.serviceId,
          serviceEsimId: serviceEsimId ?? attempt.serviceEsimId,
          failureClass: null,
          failureDetail: null,
          // So that the reconciler asks for it in its next run.
          lastHeardAt: attempt.firstSentAt ?? attempt.createdAt,
          lastAskedAt: null,
        })
        .where(eq(attempts.id, attempt.id));
      if (serviceId !== undefined) await requeueUnmatched(tx, attempt.subjectKind, { serviceId });
  }
}

function sameLimit(row: WorkRow, maxPrice: Money | null): boolean {
  const { maxPriceAmount: amount, maxPriceCurrency: currency } = row;
  if (amount === null || currency === null) return maxPrice === null;
  return maxPrice !== null && equalMoney(maxPrice, { amount, currency });
}

function sentence({ kind }: WorkRef, action: OperatorAction): string {
  switch (action.action) {
    case 'retry':
      return 'An operator asked to try again now.';
    case 'abandon':
      return `An operator gave the ${WORK_NOUNS[kind]} up.`;
    case 'change_limit': {
      const { maxPrice } = action;
      return maxPrice === null
        ? 'An operator took the price limit away.'
        : `An operator set the price limit to ${maxPrice.amount} ${maxPrice.currency}.`;
    }
    case 'resolve':
      return `An operator judged the case ${action.reason}: ${action.verdict}.`;
  }
}

function detailOf(action: OperatorAction): Record<string, string> {
  if (action.action !== 'resolve') return {};
  const { reason, verdict, serviceId, serviceEsimId } = action;
  return {
    case: reason,
    verdict,
    ...(serviceId !== undefined && { service_id: serviceId }),
    ...(serviceEsimId !== undefined && { service_esim_id: serviceEsimId }),
  };
}
