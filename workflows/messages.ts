/**
 * What a workflow and whoever talks to it share: names, ids, inputs, signals, queries and updates. Nothing in here
 * needs the workflow runtime of either side, so the API, the relay and tests import it freely.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AttentionReason } from '#domain/attention.ts';
import type { FailureClass } from '#domain/failure.ts';
import type { Money } from '#domain/money.ts';
import type { ObservationDecision, ObservedOutcome } from '#domain/observation.ts';
import type { CaseVerdict } from '#domain/operator-actions.ts';
import type { OrderStatus } from '#domain/order-lifecycle.ts';
import type { PurchasePolicy } from '#domain/policy.ts';

/** The one task queue of the product; a second one would be for work with other needs, not for another lifecycle. */
export const TASK_QUEUE = 'reseller';

export const WORKFLOW_TYPES = {
  order: 'orderWorkflow',
  reconcile: 'reconcileWorkflow',
  sweep: 'sweepWorkflow',
} as const;

/** Type of the non-retryable failure by which an activity says that the order has ended; its first detail says how. */
export const ORDER_FINISHED = 'OrderFinished';

/** Workflow id of an order; shown in the Temporal UI. @param orderId `ord_…`. */
export function orderWorkflowId(orderId: string): string {
  return `order/${orderId}`;
}

/** Input of the order workflow: nothing personal, and a copy of the policy, since workflows read no configuration. */
export interface OrderWorkflowInput {
  readonly orderId: string;
  readonly policy: PurchasePolicy;
  /** What a run that continues as new must remember. */
  readonly carried?: { readonly holds: number };
}

/** How an order workflow ends; a business failure is a result, not an error. */
export interface OrderWorkflowResult {
  readonly status: Extract<OrderStatus, 'completed' | 'failed' | 'abandoned'>;
  readonly esimId?: string;
  readonly failure?: FailureClass;
}

/**
 * Something the service said of an order, by webhook or in answer to a read. The row of the inbox stays the record;
 * a workflow that starts anew reads what it has not applied from there.
 */
export interface ServiceObservation {
  /** Row of the inbox; the same one twice has no second effect. */
  readonly inboxId: string;
  readonly source: 'webhook' | 'read';
  /** Which attempt it speaks of. */
  readonly attemptNumber: number;
  readonly outcome: ObservedOutcome;
  /** What it meant when the relay judged it; what is `known` already is not handed over. */
  readonly decision: Exclude<ObservationDecision, 'known'>;
}

export const serviceObservedSignal = defineSignal<[ServiceObservation]>('serviceObserved');

/** Where an order stands, in plain words; answered by the workflow's `explain` query. */
export interface Explanation {
  readonly status: OrderStatus;
  /** Where it stands and why. */
  readonly now: string;
  /** What happens next, and when. */
  readonly next: string;
  readonly failure?: FailureClass;
  readonly attention?: AttentionReason;
  /** Epoch milliseconds of the next step that time brings; absent when something else is awaited. */
  readonly nextStepAt?: number;
}

export const explainQuery = defineQuery<Explanation>('explain');

/** Type of the failure by which an action of an operator is refused; its message says why. */
export const ACTION_REFUSED = 'ActionRefused';

/** A person acted on the order in PostgreSQL: its workflow looks at once. */
export const operatorActedSignal = defineSignal('operatorActed');

/** Who acts from the Temporal UI or its command line, and why. Both are written down with the order. */
export interface ActedBy {
  readonly by: string;
  readonly why: string;
}

/** Tries again now what is held or parked. */
export const retryUpdate = defineUpdate<Explanation, [ActedBy]>('retry');

/** Ends an order that provably bought nothing. */
export const abandonUpdate = defineUpdate<Explanation, [ActedBy]>('abandon');

/** Sets the most that the service may charge; `null` takes the limit away. */
export const changeLimitUpdate = defineUpdate<Explanation, [ActedBy & { readonly max_price: Money | null }]>('changeLimit');

/** Judges an open case of the order. */
export interface ResolveRequest extends ActedBy {
  readonly case: AttentionReason;
  readonly verdict: CaseVerdict;
  readonly service_order_id?: string;
  readonly service_esim_id?: string;
  readonly next?: 'continue' | 'abandon';
}

export const resolveUpdate = defineUpdate<Explanation, [ResolveRequest]>('resolve');
