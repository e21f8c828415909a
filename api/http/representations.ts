import type { CancellationOutput, RefundOutput } from '#api/cancellations/cancellation-schemas.ts';
import type { TopupOutput } from '#api/esims/topup-schemas.ts';
import type { OrderOutput } from '#api/orders/order-schemas.ts';
import type { VpnSubscriptionOutput } from '#api/vpn/vpn-schemas.ts';
import type { ShownWork } from '#api/work/work-resource.ts';
import type { CancellationView } from '#db/work/cancellation-queries.ts';
import type { OrderView } from '#db/work/order-queries.ts';
import type { RefundRow } from '#db/work/rows.ts';
import type { TopupView } from '#db/work/topup-queries.ts';
import type { VpnSubscriptionView } from '#db/work/vpn-subscription-queries.ts';
import type { AttemptFacts, TimelineRow } from '#db/work/work-queries.ts';
import type { WorkRow } from '#db/work/work-tables.ts';
import type { RefundCondition } from '#domain/cancellation/refund-conditions.ts';
import { plainAmount, plainMoney } from '#domain/money/money.ts';
/** From rows to the JSON of our answers. */
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { resubmission } from '#domain/work/resubmission.ts';
import { givesUpAt, RETRY_OVERRIDES, ruleOfWork } from '#domain/work/retry-rules.ts';
import { standingOf } from '#domain/work/standing.ts';
import type { WorkKind } from '#domain/work/work.ts';

export function orderJson({ order, serviceId, ...facts }: OrderView): OrderOutput {
  return {
    id: order.id,
    status: order.status,
    package_id: order.packageId,
    external_order_id: order.externalOrderId,
    esim_id: order.esimId,
    service_order_id: serviceId,
    ...workJson('order', order, facts),
  };
}

/** @throws Error when it has no eSIM, which the database rules out. */
export function topupJson({ topup, serviceId, ...facts }: TopupView): TopupOutput {
  if (topup.esimId === null) throw new Error(`top-up ${topup.id} has no eSIM`);
  return {
    id: topup.id,
    status: topup.status,
    esim_id: topup.esimId,
    package_id: topup.packageId,
    external_topup_id: topup.externalTopupId,
    service_topup_id: serviceId,
    ...workJson('topup', topup, facts),
  };
}

export function vpnSubscriptionJson({ subscription, serviceId, ...facts }: VpnSubscriptionView): VpnSubscriptionOutput {
  return {
    id: subscription.id,
    status: subscription.status,
    vpn_plan_id: subscription.vpnPlanId,
    external_subscription_id: subscription.externalSubscriptionId,
    service_subscription_id: serviceId,
    customer_price: plainAmount(subscription.customerPrice),
    has_access_data: subscription.encryptedAccess !== null,
    started_at: instantJson(subscription.startedAt),
    expires_at: instantJson(subscription.expiresAt),
    cancel_requested_at: instantJson(subscription.cancelRequestedAt),
    ...workJson('vpn_subscription', subscription, facts),
  };
}

/**
 * @param now epoch milliseconds, for the age of the evidence. @throws Error when it has no eSIM, which the database
 *   rules out.
 */
export function cancellationJson(
  { cancellation, refund, ...facts }: CancellationView,
  now: number,
): CancellationOutput {
  if (cancellation.esimId === null) throw new Error(`cancellation ${cancellation.id} has no eSIM`);
  const { max_price: _limit, charged: _charged, ...work } = workJson('cancellation', cancellation, facts);
  return {
    id: cancellation.id,
    status: cancellation.status,
    esim_id: cancellation.esimId,
    reason: cancellation.reason,
    accept_without_refund: cancellation.acceptWithoutRefund,
    cancelled_at: instantJson(cancellation.cancelledAt),
    preflight:
      cancellation.preflight === null
        ? null
        : cancellation.preflight.map((condition) => refundConditionJson(condition, now)),
    refund: refund === null ? null : refundJson(refund),
    ...work,
  };
}

export function refundJson(refund: RefundRow): RefundOutput {
  return {
    id: refund.id,
    cancellation_id: refund.cancellationId,
    esim_id: refund.esimId,
    order_id: refund.orderId,
    service_refund_id: refund.serviceRefundId,
    status: refund.status,
    review: refund.review,
    amount: plainMoney(refund.amount, refund.currency),
    created_at: refund.createdAt.toISOString(),
    updated_at: refund.updatedAt.toISOString(),
    completed_at: instantJson(refund.completedAt),
  };
}

/** @param now epoch milliseconds. */
export function refundConditionJson({ name, result, evidence, asOf }: RefundCondition, now: number) {
  return {
    name,
    result,
    evidence,
    as_of: asOf === undefined ? null : new Date(asOf).toISOString(),
    age_seconds: asOf === undefined ? null : Math.max(0, now - asOf) / 1_000,
  };
}

/** What is the same for work of every kind. */
function workJson(kind: WorkKind, row: WorkRow, { attempts, attemptStates, inDoubt }: Omit<AttemptFacts, 'serviceId'>) {
  return {
    max_price: plainMoney(row.maxPriceAmount, row.maxPriceCurrency),
    charged: plainMoney(row.chargedAmount, row.chargedCurrency),
    failure: failureJson(row),
    attention: attentionJson(row),
    submit_again: resubmission({ kind, status: row.status, attempts: attemptStates, inDoubt }),
    next_step_at: instantJson(row.nextStepAt),
    deadline: instantJson(row.deadlineAt),
    retry_policy: retryPolicyJson(row),
    metadata: row.metadata,
    attempts,
    created_by: row.apiKeyId,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    completed_at: instantJson(row.completedAt),
  };
}

/** @param work as the API shows it to whoever asks. */
export function standingJson(
  kind: WorkKind,
  { status, failure, attention, next_step_at: nextAt, submit_again: again }: ShownWork,
) {
  // Of what has ended, "no" is said for an open case alone.
  const isInDoubt = again.verdict === 'no';
  const { now, why, next } = standingOf({
    kind,
    status,
    isTimed: nextAt !== null,
    failure: failure ?? undefined,
    attention: attention?.reason,
    isInDoubt,
  });
  return { now, why: why ?? null, next, next_at: nextAt, submit_again: again };
}

const OVERRIDE_NAMES = {
  attempts: 'attempts',
  firstDelayMs: 'first_wait',
  maxDelayMs: 'longest_wait',
  deadlineAt: 'deadline',
} as const satisfies Record<(typeof RETRY_OVERRIDES)[number], string>;

/** What was set counts; the rest its workflow has stored, as it was configured. */
function retryPolicyJson({ retryRule, retryOverrides, extraAttempts, createdAt, deadlineAt }: WorkRow) {
  const overrides = retryOverrides ?? {};
  const rule = retryRule === null ? undefined : ruleOfWork(retryRule, overrides, extraAttempts);
  const { attempts, firstDelayMs, maxDelayMs } = rule ?? overrides;
  const givesUp =
    rule === undefined
      ? overrides.deadlineAt
      : givesUpAt({ acceptedAt: createdAt.getTime(), deadlineAt: deadlineAt?.getTime() }, rule, overrides);
  return {
    attempts: attempts ?? null,
    first_wait_seconds: secondsJson(firstDelayMs),
    longest_wait_seconds: secondsJson(maxDelayMs),
    gives_up_at: givesUp === undefined ? null : new Date(givesUp).toISOString(),
    changed: RETRY_OVERRIDES.filter((name) => overrides[name] !== undefined).map((name) => OVERRIDE_NAMES[name]),
  };
}

function secondsJson(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1_000;
}

export function timelineJson({ at, event, message, detail }: TimelineRow) {
  return { at: at.toISOString(), event, message, detail };
}

export function instantJson(instant: Date | null): string | null {
  return instant === null ? null : instant.toISOString();
}

export { plainAmount };

function failureJson({ failureClass, failureDetail }: Pick<WorkRow, 'failureClass' | 'failureDetail'>) {
  if (failureClass === null) return null;
  const { meaning, advice } = FAILURE_CLASSES[failureClass];
  return { class: failureClass, detail: failureDetail, meaning, advice };
}

function attentionJson({ attentionReason }: Pick<WorkRow, 'attentionReason'>) {
  if (attentionReason === null) return null;
  const { meaning, advice } = ATTENTION_REASONS[attentionReason];
  return { reason: attentionReason, meaning, advice };
}
