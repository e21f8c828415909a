/** What a person does with an order, stored together with who did it and why. The rules are in `domain/operator-actions.ts`. */
import { and, eq, sql } from 'drizzle-orm';
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
import { isFinal } from '#domain/order-lifecycle.ts';
import { latestAttempt, type AttemptRow } from '#db/attempts.ts';
import { addAuditEntry } from '#db/audit-log.ts';
import { buyingBarrier } from '#db/buying-barrier.ts';
import { closeCase, hasOpenCase } from '#db/cases.ts';
import type { Executor } from '#db/database.ts';
import { requeueUnmatched } from '#db/inbox.ts';
import { lockOrder, recordStep, type OrderRow } from '#db/orders.ts';
import { attempts, orders, timeline } from '#db/schema.ts';
import { addTimelineEntry } from '#db/timeline.ts';

export type ActionResult =
  | { readonly kind: 'applied' | 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * Does what an operator asks, or says why not, in one transaction. The order's workflow is woken by whoever calls this.
 *
 * @throws OrderMissingError
 */
export async function actOnOrder(
  tx: Executor,
  orderId: string,
  action: OperatorAction,
  operator: Operator,
  now: Date,
): Promise<ActionResult> {
  const order = await lockOrder(tx, orderId);
  if (await isDone(tx, orderId, operator)) return { kind: 'unchanged' };
  const attempt = await latestAttempt(tx, orderId);
  const judged = await judge(tx, order, attempt, action);
  if (judged === 'unchanged') return { kind: 'unchanged' };
  if (judged !== 'allowed') return { kind: 'refused', refusal: judged };

  const refusal = await apply(tx, order, attempt, action, operator, now);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  await addTimelineEntry(tx, { kind: 'order', id: orderId }, {
    event: `operator.${action.action}`,
    message: `${sentence(action)} Reason given: ${operator.why}`,
    detail: { actor: operator.actor, ...detailOf(action) },
    dedupKey: actKey(operator),
    at: now,
  });
  const subject = { kind: 'order', id: orderId } as const;
  await addAuditEntry(tx, { actor: operator.actor, action: `order.${action.action}`, subject, reason: operator.why }, now);
  return { kind: 'applied' };
}

const actKey = ({ actId }: Operator): string => `operator:${actId}`;

async function isDone(tx: Executor, orderId: string, operator: Operator): Promise<boolean> {
  const rows = await tx
    .select({ id: timeline.id })
    .from(timeline)
    .where(and(eq(timeline.subjectKind, 'order'), eq(timeline.subjectId, orderId), eq(timeline.dedupKey, actKey(operator))));
  return rows.length > 0;
}

async function judge(tx: Executor, order: OrderRow, attempt: AttemptRow | undefined, action: OperatorAction): Promise<ActionJudgement> {
  const subject = { kind: 'order', id: order.id } as const;
  const work: OperatedWork = {
    status: order.status,
    attempt,
    openContradiction: await hasOpenCase(tx, subject, 'contradiction'),
  };
  switch (action.action) {
    case 'retry':
      return judgeRetry(work);
    case 'abandon':
      return judgeAbandon(work);
    case 'change_limit':
      return sameLimit(order, action.maxPrice) ? 'unchanged' : judgeLimitChange(work);
    case 'resolve':
      return (await hasOpenCase(tx, subject, action.reason)) ? judgeResolve(work, action.reason, action.verdict) : 'case_not_open';
  }
}

async function apply(
  tx: Executor,
  order: OrderRow,
  attempt: AttemptRow | undefined,
  action: OperatorAction,
  operator: Operator,
  now: Date,
): Promise<Refusal | undefined> {
  switch (action.action) {
    case 'retry':
      // Its attempts are used up, so to try again is to grant one more.
      if (order.attentionReason === 'attempts_used_up') {
        await tx.update(orders).set({ extraAttempts: sql`${orders.extraAttempts} + 1` }).where(eq(orders.id, order.id));
      }
      return undefined;
    case 'abandon':
      return abandon(tx, order.id, now);
    case 'change_limit': {
      const { maxPrice } = action;
      await tx
        .update(orders)
        .set({ maxPriceAmount: maxPrice?.amount ?? null, maxPriceCurrency: maxPrice?.currency ?? null, updatedAt: now })
        .where(eq(orders.id, order.id));
      return undefined;
    }
    case 'resolve': {
      const subject = { kind: 'order', id: order.id } as const;
      await closeCase(tx, subject, action.reason, `${action.verdict}: ${operator.why}`, now);
      if (isFinal(order.status)) return undefined;
      if (attempt !== undefined) await correctAttempt(tx, attempt, action);
      if (action.verdict === 'not_bought' && action.next === 'abandon') return abandon(tx, order.id, now);
      if (order.attentionReason === action.reason) {
        await tx
          .update(orders)
          .set({ status: 'held', attentionReason: null, nextStepAt: now, updatedAt: now })
          .where(eq(orders.id, order.id));
      }
      return undefined;
    }
  }
}

async function abandon(tx: Executor, orderId: string, now: Date): Promise<Refusal | undefined> {
  const barrier = await buyingBarrier(tx, orderId);
  // A word of the service that nobody has judged yet may say that it was bought.
  if (barrier !== undefined) return barrier === 'contradiction' ? 'contradiction_open' : 'may_be_bought';
  const entry = { event: 'order.abandoned', message: 'Given up by an operator; nothing was bought.', dedupKey: 'order.abandoned', at: now };
  await recordStep(tx, orderId, { status: 'abandoned', entry }, now);
  return undefined;
}

/** Makes the attempt what the person says it is; who knows better than we do is written down beside it. */
async function correctAttempt(
  tx: Executor,
  attempt: AttemptRow,
  { verdict, serviceOrderId, serviceEsimId }: Extract<OperatorAction, { action: 'resolve' }>,
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
          serviceOrderId: serviceOrderId ?? attempt.serviceOrderId,
          serviceEsimId: serviceEsimId ?? attempt.serviceEsimId,
          failureClass: null,
          failureDetail: null,
          // So that the reconciler asks for it in its next run.
          lastHeardAt: attempt.firstSentAt ?? attempt.createdAt,
          lastAskedAt: null,
        })
        .where(eq(attempts.id, attempt.id));
      if (serviceOrderId !== undefined) await requeueUnmatched(tx, { serviceOrderId });
  }
}

function sameLimit(order: OrderRow, maxPrice: Money | null): boolean {
  const { maxPriceAmount: amount, maxPriceCurrency: currency } = order;
  if (amount === null || currency === null) return maxPrice === null;
  return maxPrice !== null && equalMoney(maxPrice, { amount, currency });
}

function sentence(action: OperatorAction): string {
  switch (action.action) {
    case 'retry':
      return 'An operator asked to try again now.';
    case 'abandon':
      return 'An operator gave the order up.';
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
  const { reason, verdict, serviceOrderId, serviceEsimId } = action;
  return {
    case: reason,
    verdict,
    ...(serviceOrderId !== undefined && { service_order_id: serviceOrderId }),
    ...(serviceEsimId !== undefined && { service_esim_id: serviceEsimId }),
  };
}
