/** Nothing here needs the workflow runtime: the API, the relay and tests import it. */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ReconciliationStatus } from '#domain/money/books.ts';
import type { Money } from '#domain/money/money.ts';
import type { CaseVerdict } from '#domain/operator/operator-actions.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { Witness } from '#domain/purchase/recovery.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import type { Resubmission } from '#domain/retry/resubmission.ts';
import type { RetryChangeRequest } from '#domain/retry/retry-change.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';
import type { WorkEnd, WorkStatus } from '#domain/work/lifecycle.ts';
import type { Remembered, RunState } from '#workflows/run/state.ts';

/** The name and form of Temporal's own tracing packages: `{ traceparent }` as plain JSON. */
export const TRACE_HEADER = '_tracer-data';

export const TASK_QUEUE = 'reseller';

/** Its own slots: reads do not delay purchases. Its limit holds for all workers together. */
export const PURCHASE_TASK_QUEUE = 'reseller-purchases';

/** Limited like the queue of purchases. */
export const READ_TASK_QUEUE = 'reseller-reads';

export const UPKEEP_TASK_QUEUE = 'reseller-upkeep';

/** Its own slots: slow receivers must not take those of purchases. */
export const WEBHOOK_TASK_QUEUE = 'reseller-webhooks';

export const WEBHOOK_ENDPOINT_WORKFLOW = 'webhookEndpointWorkflow';

export function webhookEndpointWorkflowId(endpointId: string): string {
  return `webhook_endpoint/${endpointId}`;
}

export interface WebhookEndpointInput {
  readonly endpointId: string;
}

/** `idle`: everything was delivered or given up. */
export interface WebhookEndpointResult {
  readonly ended: 'idle' | 'deleted' | 'disabled';
}

/** `urgent`: a person waits, so it is tried even while the endpoint fails. */
export const deliveriesWaitSignal = defineSignal<[{ readonly urgent: boolean }]>('deliveriesWait');

export const WORK_WORKFLOWS = {
  order: 'orderWorkflow',
  topup: 'topupWorkflow',
  vpn_subscription: 'vpnSubscriptionWorkflow',
  cancellation: 'cancellationWorkflow',
} as const satisfies Record<WorkKind, string>;

export const MAINTENANCE_WORKFLOWS = {
  reconcile: 'reconcileWorkflow',
  sweep: 'sweepWorkflow',
  books: 'booksWorkflow',
  watch: 'watchWorkflow',
  catalogue: 'catalogueWorkflow',
} as const;

/** Three tries of the longest activity. A run pinned to a version without workers would otherwise stop its schedule. */
export const MAINTENANCE_RUN_TIMEOUT_MS = 35 * 60_000;

export const BOOKS_BY_HAND = 'books-by-hand';

/** The report is stored under `id`. */
export interface BooksResult {
  readonly id: string;
  readonly status: ReconciliationStatus;
  readonly findings: number;
}

/** Its first detail is a `WorkEnd`. */
export const WORK_FINISHED = 'WorkFinished';

export const WORK_MISSING = 'WorkMissingError';

/** The request has not left. */
export const SEND_NOT_BEGUN = 'SendNotBegun';

/** Such as `order/ord_…`. */
export function workflowId({ kind, id }: WorkRef): string {
  return `${kind}/${id}`;
}

/** Nothing personal. Workflows read no configuration: the input has the policy. */
export interface PurchaseWorkflowInput {
  readonly work: WorkRef;
  readonly policy: PurchasePolicy;
  /** Inputs of earlier versions lack some of it. */
  readonly carried?: Partial<RunState>;
  /**
   * Epoch of the database in which acceptance has started the run: its first task may send (ADR 0020). The start event
   * is the durable trace of that send.
   */
  readonly firstSendIn?: string;
}

/** A business failure is a result, not an error. */
export interface PurchaseWorkflowResult extends WorkEnd {
  /** A following run needs it if PostgreSQL loses this end. */
  readonly witness?: Witness;
}

/** What a run knows before its first read. `startedAt` in epoch milliseconds. */
export function knownAtStart({ carried, firstSendIn }: PurchaseWorkflowInput, startedAt: number): Partial<RunState> {
  if (firstSendIn === undefined) return carried ?? {};
  return { ...carried, pendingSend: { since: startedAt, number: 1, sends: 0, epoch: firstSendIn } };
}

export const serviceObservedSignal = defineSignal<[ServiceObservation]>('serviceObserved');

export interface Explanation {
  readonly status: WorkStatus;
  readonly now: string;
  readonly next: string;
  readonly failure?: FailureClass | undefined;
  readonly attention?: AttentionReason | undefined;
  /** Epoch milliseconds; absent where it does not depend on time. */
  readonly nextStepAt?: number | undefined;
  readonly retry?: string | undefined;
  /** `ask_api`: it was safe at the end of the workflow; later reports are known to the API only. */
  readonly resubmission: Omit<Resubmission, 'verdict'> & {
    readonly verdict: Exclude<Resubmission['verdict'], 'yes'> | 'ask_api';
  };
}

export const explainQuery = defineQuery<Explanation>('explain');

export type { Remembered };

/** The run that follows a terminated or failed one is given the answer. */
export const memoryQuery = defineQuery<Remembered>('memory');

/** Its message gives the reason. */
export const ACTION_REFUSED = 'ActionRefused';

export const UNENCRYPTED_INPUT = 'UnencryptedInput';

export const operatorActedSignal = defineSignal('operatorActed');

/** Stored with the action. */
export interface ActionBy {
  readonly by: string;
  readonly reason: string;
}

export const retryUpdate = defineUpdate<Explanation, [ActionBy]>('retry');

/** Releases held work past pauses and open circuits. */
export const releaseUpdate = defineUpdate<Explanation, [ActionBy]>('release');

/** Ends work that provably bought nothing. */
export const abandonUpdate = defineUpdate<Explanation, [ActionBy]>('abandon');

/** `null` removes the limit. */
export const changeLimitUpdate = defineUpdate<Explanation, [ActionBy & { readonly max_price: Money | null }]>(
  'changeLimit',
);

export const changeRetryPolicyUpdate = defineUpdate<Explanation, [ActionBy & RetryChangeRequest]>('changeRetryPolicy');

export interface ResolveRequest extends ActionBy {
  readonly case: AttentionReason;
  readonly verdict: CaseVerdict;
  readonly service_id?: string;
  readonly service_esim_id?: string;
  readonly next?: 'continue' | 'abandon';
}

export const resolveUpdate = defineUpdate<Explanation, [ResolveRequest]>('resolve');
