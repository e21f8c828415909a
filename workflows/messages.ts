/**
 * What workflows share with their callers: names, ids, inputs, signals, queries and updates. Nothing here needs the
 * workflow runtime, so that the API, the relay and tests can import it.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ReconciliationStatus } from '#domain/money/books.ts';
import type { Money } from '#domain/money/money.ts';
import type { CaseVerdict } from '#domain/operator/operator-actions.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { Witness } from '#domain/purchase/recovery.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import type { Resubmission } from '#domain/retry/resubmission.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { byKind, type WorkRef } from '#domain/work/kinds.ts';
import type { FinalStatus, WorkStatus } from '#domain/work/lifecycle.ts';
import type { CarriedState, Remembered } from '#workflows/work/run-state.ts';

/**
 * Header of workflows and activities with the trace that they belong to, `{ traceparent }` as plain JSON: the name and
 * form of Temporal's own tracing packages.
 */
export const TRACE_HEADER = '_tracer-data';

/** The task queue of all workflows, and of the activity that applies an operator's action. */
export const TASK_QUEUE = 'reseller';

/**
 * Task queue of the activity that sends purchases and cancellations to the service. It has its own slots, so that reads
 * do not delay purchases, and its own limit for all workers together.
 */
export const PURCHASE_TASK_QUEUE = 'reseller-purchases';

/** Task queue of the activities of work that ask the service and may be repeated; limited like that of purchases. */
export const READ_TASK_QUEUE = 'reseller-reads';

/** Task queue of what the schedules run: long activities, one of each at a time. */
export const UPKEEP_TASK_QUEUE = 'reseller-upkeep';

/**
 * Task queue of the activity that sends event webhooks. It has its own slots: slow receivers must not take those of
 * purchases.
 */
export const WEBHOOK_TASK_QUEUE = 'reseller-webhooks';

/** The workflow that delivers to one webhook endpoint. It runs while deliveries are queued. */
export const WEBHOOK_ENDPOINT_WORKFLOW = 'webhookEndpointWorkflow';

/** Workflow id of the deliveries to an endpoint. */
export function webhookEndpointWorkflowId(endpointId: string): string {
  return `webhook_endpoint/${endpointId}`;
}

export interface WebhookEndpointInput {
  readonly endpointId: string;
}

/** How the workflow of an endpoint ends. `idle`: everything was delivered or given up. */
export interface WebhookEndpointResult {
  readonly ended: 'idle' | 'deleted' | 'disabled';
}

/** Deliveries are queued for the endpoint. `urgent`: a person waits, so it is tried even while the endpoint fails. */
export const deliveriesWaitSignal = defineSignal<[{ readonly urgent: boolean }]>('deliveriesWait');

/** The workflow type of each kind of work. */
export const WORK_WORKFLOWS = byKind('workflowType');

/** The workflows that schedules start. */
export const MAINTENANCE_WORKFLOWS = {
  reconcile: 'reconcileWorkflow',
  sweep: 'sweepWorkflow',
  books: 'booksWorkflow',
  watch: 'watchWorkflow',
  catalogue: 'catalogueWorkflow',
} as const;

/**
 * Limit of one run: three tries of its longest activity, and their waits. A run that is pinned to a version without
 * workers would otherwise stop its schedule, which starts no second run beside it.
 */
export const MAINTENANCE_RUN_TIMEOUT_MS = 35 * 60_000;

/** Workflow id of a reconciliation that a person starts, beside that of the schedule. */
export const BOOKS_BY_HAND = 'books-by-hand';

/** Result of a reconciliation; the report is stored under this id. */
export interface BooksResult {
  readonly id: string;
  readonly status: ReconciliationStatus;
  readonly findings: number;
}

/** Type of the non-retryable failure of an activity for work that has ended. Its first detail is a `WorkEnd`. */
export const WORK_FINISHED = 'WorkFinished';

/** Type of the non-retryable failure of an activity for work without a row in this database. */
export const WORK_MISSING = 'WorkMissingError';

/** Type of the failure of a sending activity whose request has not left. */
export const SEND_NOT_BEGUN = 'SendNotBegun';

/** Workflow id of a piece of work, such as `order/ord_…`; shown in the Temporal UI. */
export function workflowId({ kind, id }: WorkRef): string {
  return `${kind}/${id}`;
}

/** Input of the workflows of work. It holds nothing personal. Workflows read no configuration: it has the policy. */
export interface PurchaseWorkflowInput {
  readonly work: WorkRef;
  readonly policy: PurchasePolicy;
  /** What the run before hands to a run that continues as new. */
  readonly carried?: CarriedState;
}

/** How the work ended. A business failure is a result, not an error. */
export interface PurchaseWorkflowResult {
  readonly status: FinalStatus;
  /** The eSIM that was delivered or recharged. */
  readonly esimId?: string;
  readonly failure?: FailureClass;
  /** What the workflow knew of the newest attempt; a following run needs it if PostgreSQL loses this end. */
  readonly witness?: Witness;
}

export const serviceObservedSignal = defineSignal<[ServiceObservation]>('serviceObserved');

/** The state of work in sentences; the answer to the `explain` query. */
export interface Explanation {
  readonly status: WorkStatus;
  /** Its state, with the reason. */
  readonly now: string;
  /** The next step. */
  readonly next: string;
  readonly failure?: FailureClass;
  readonly attention?: AttentionReason;
  /** Time of the next step in epoch milliseconds; absent where it does not depend on time. */
  readonly nextStepAt?: number;
  /** The retry rule in a sentence; absent where nothing is retried. */
  readonly retry?: string;
  /**
   * Whether the caller may submit the same again, under another reference. `ask_api`: it was safe at the end of the
   * workflow; later reports are known to the API only.
   */
  readonly resubmission: Omit<Resubmission, 'verdict'> & {
    readonly verdict: Exclude<Resubmission['verdict'], 'yes'> | 'ask_api';
  };
}

export const explainQuery = defineQuery<Explanation>('explain');

export type { Remembered };

/** What a run remembers beside PostgreSQL. The run that follows a terminated or failed one is given the answer. */
export const memoryQuery = defineQuery<Remembered>('memory');

/** Type of the failure of an operator's action that is refused. Its message gives the reason. */
export const ACTION_REFUSED = 'ActionRefused';

/** Type of the failure that ends a run whose input was not encrypted. */
export const UNENCRYPTED_INPUT = 'UnencryptedInput';

/** An operator's action was stored in PostgreSQL: the workflow reads the work again. */
export const operatorActedSignal = defineSignal('operatorActed');

/** Who acts from the Temporal UI or its command line, and the reason. Both are stored with the action. */
export interface ActionBy {
  readonly by: string;
  readonly reason: string;
}

/** Retries at once work that is held or needs attention. */
export const retryUpdate = defineUpdate<Explanation, [ActionBy]>('retry');

/** Releases held work through the purchase gate, past pauses and open circuits. */
export const releaseUpdate = defineUpdate<Explanation, [ActionBy]>('release');

/** Ends work that provably bought nothing. */
export const abandonUpdate = defineUpdate<Explanation, [ActionBy]>('abandon');

/** Sets the highest price that the service may charge; `null` removes the limit. */
export const changeLimitUpdate = defineUpdate<Explanation, [ActionBy & { readonly max_price: Money | null }]>(
  'changeLimit',
);

/** Changes of the retry rule. A field that is left out stays as it is; `null` removes an earlier change. */
export interface RetryPolicyRequest extends ActionBy {
  /** Attempts in all, those already made included. */
  readonly attempts?: number | null;
  readonly first_wait_seconds?: number | null;
  readonly longest_wait_seconds?: number | null;
  /** RFC 3339. */
  readonly deadline?: string | null;
}

/** Changes the retry rule of one piece of work. */
export const changeRetryPolicyUpdate = defineUpdate<Explanation, [RetryPolicyRequest]>('changeRetryPolicy');

/** The decision about an open case. */
export interface ResolveRequest extends ActionBy {
  readonly case: AttentionReason;
  readonly verdict: CaseVerdict;
  /** With `bought`: the id at the service. */
  readonly service_id?: string;
  readonly service_esim_id?: string;
  readonly next?: 'continue' | 'abandon';
}

export const resolveUpdate = defineUpdate<Explanation, [ResolveRequest]>('resolve');
