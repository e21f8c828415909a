/**
 * What a workflow and whoever talks to it share: names, ids, inputs, signals, queries and updates. Nothing in here
 * needs the workflow runtime of either side, so the API, the relay and tests import it freely.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ReconciliationStatus } from '#domain/money/books.ts';
import type { Money } from '#domain/money/money.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { Witness } from '#domain/purchase/restored-records.ts';
import type { ObservationDecision, ObservedOutcome } from '#domain/relay/observation.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { FinalStatus, WorkStatus } from '#domain/work/lifecycle.ts';
import type { CaseVerdict } from '#domain/work/operator-actions.ts';
import type { Resubmission } from '#domain/work/resubmission.ts';
import { byKind, type WorkRef } from '#domain/work/work.ts';
import type { Carried, Remembered } from '#workflows/work/carried.ts';

/** The one task queue of the product; a second one would be for work with other needs, not for another lifecycle. */
export const TASK_QUEUE = 'reseller';

/**
 * Task queue of the activity that sends webhooks. Receivers may be slow or gone, and there may be many of them: they
 * share slots among themselves, and never take one from a purchase.
 */
export const WEBHOOK_TASK_QUEUE = 'reseller-webhooks';

/** The workflow that delivers to one webhook endpoint; it runs while something waits for it. */
export const WEBHOOK_ENDPOINT_WORKFLOW = 'webhookEndpointWorkflow';

/** Workflow id of the deliveries to an endpoint. */
export function webhookEndpointWorkflowId(endpointId: string): string {
  return `webhook_endpoint/${endpointId}`;
}

export interface WebhookEndpointInput {
  readonly endpointId: string;
}

/** How the workflow of an endpoint ends; `idle`: all was delivered or given up. */
export interface WebhookEndpointResult {
  readonly ended: 'idle' | 'deleted' | 'disabled';
}

/**
 * Something waits for the endpoint. `urgent`: a person waits for it, so it is tried although an outage is waited out.
 */
export const deliveriesWaitSignal = defineSignal<[{ readonly urgent: boolean }]>('deliveriesWait');

/** By kind of work, the workflow that carries it out. */
export const WORK_WORKFLOWS = byKind('workflowType');

/** The workflows that schedules start. */
export const MAINTENANCE_WORKFLOWS = {
  reconcile: 'reconcileWorkflow',
  sweep: 'sweepWorkflow',
  books: 'booksWorkflow',
  watch: 'watchWorkflow',
} as const;

/** Workflow id of a comparison of the books that a person asks for, beside that of the schedule. */
export const BOOKS_BY_HAND = 'books-by-hand';

/** What a comparison of the books came to; the report is stored under this id. */
export interface BooksResult {
  readonly id: string;
  readonly status: ReconciliationStatus;
  readonly findings: number;
}

/** Type of the non-retryable failure by which an activity says that the work has ended; its first detail says how. */
export const WORK_FINISHED = 'WorkFinished';

/** Type of the non-retryable failure by which an activity says that the work has no row in this database. */
export const WORK_MISSING = 'WorkMissingError';

/** Type of the failure by which a sending activity says that its request has not left. */
export const SEND_NOT_BEGUN = 'SendNotBegun';

/** Workflow id of a piece of work, such as `order/ord_…`; shown in the Temporal UI. */
export function workflowId({ kind, id }: WorkRef): string {
  return `${kind}/${id}`;
}

/** Input of a workflow that buys: nothing personal, and a copy of the policy, since workflows read no configuration. */
export interface PurchaseWorkflowInput {
  readonly work: WorkRef;
  readonly policy: PurchasePolicy;
  /** What a run that continues as new must remember. */
  readonly carried?: Carried;
}

/** How a workflow that buys ends; a business failure is a result, not an error. */
export interface PurchaseWorkflowResult {
  readonly status: FinalStatus;
  /** The eSIM that was delivered or recharged. */
  readonly esimId?: string;
  readonly failure?: FailureClass;
  /** What the workflow knew of the newest attempt, for a run that follows should PostgreSQL lose this end. */
  readonly witness?: Witness;
}

/**
 * Something the service said of work, by webhook or in answer to a read. The row of the inbox stays the record;
 * a workflow that starts anew reads what it has not applied from there.
 */
export interface ServiceObservation {
  /** Key of the row of the inbox; the same one twice has no second effect. */
  readonly inboxId: string;
  /**
   * Of the database when this was read. PostgreSQL, set back, forgets what was answered: in another epoch the same row
   * counts again.
   */
  readonly epoch?: string;
  readonly source: 'webhook' | 'read';
  /** Which attempt it speaks of. */
  readonly attemptNumber: number;
  readonly outcome: ObservedOutcome;
  /** What it meant when the relay judged it; what is `known` already is not handed over. */
  readonly decision: Exclude<ObservationDecision, 'known'>;
}

export const serviceObservedSignal = defineSignal<[ServiceObservation]>('serviceObserved');

/** Where work stands, in plain words; answered by the workflow's `explain` query. */
export interface Explanation {
  readonly status: WorkStatus;
  /** Where it stands and why. */
  readonly now: string;
  /** What happens next, and when. */
  readonly next: string;
  readonly failure?: FailureClass;
  readonly attention?: AttentionReason;
  /** Epoch milliseconds of the next step that time brings; absent when something else is awaited. */
  readonly nextStepAt?: number;
  /** How often, how fast and until when it is tried again; absent where nothing is to be tried again. */
  readonly retry?: string;
  /**
   * Whether the caller may submit the same again, under another reference; `ask_api`: it may have been safe when this
   * ended.
   */
  readonly submitAgain: Omit<Resubmission, 'verdict'> & {
    readonly verdict: Exclude<Resubmission['verdict'], 'yes'> | 'ask_api';
  };
}

export const explainQuery = defineQuery<Explanation>('explain');

export type { Remembered };

/**
 * What a run remembers beside PostgreSQL. A run that was terminated or has failed is asked, so that the one that
 * follows knows it.
 */
export const rememberedQuery = defineQuery<Remembered>('remembered');

/** Type of the failure by which an action of an operator is refused; its message says why. */
export const ACTION_REFUSED = 'ActionRefused';

/** Type of the failure that ends a run whose input was not encrypted. */
export const UNENCRYPTED_INPUT = 'UnencryptedInput';

/** A person acted on the work in PostgreSQL: its workflow looks at once. */
export const operatorActedSignal = defineSignal('operatorActed');

/** Who acts from the Temporal UI or its command line, and why. Both are written down with the work. */
export interface ActedBy {
  readonly by: string;
  readonly why: string;
}

/** Tries again now what is held or parked. */
export const retryUpdate = defineUpdate<Explanation, [ActedBy]>('retry');

/** Lets through the purchase gate now what is held, past pauses and open circuits. */
export const releaseUpdate = defineUpdate<Explanation, [ActedBy]>('release');

/** Ends what provably bought nothing. */
export const abandonUpdate = defineUpdate<Explanation, [ActedBy]>('abandon');

/** Sets the most that the service may charge; `null` takes the limit away. */
export const changeLimitUpdate = defineUpdate<Explanation, [ActedBy & { readonly max_price: Money | null }]>(
  'changeLimit',
);

/** How it is tried again: what is left out stays as it is, `null` takes a change back. */
export interface RetryPolicyRequest extends ActedBy {
  /** Attempts in all, those that were made included. */
  readonly attempts?: number | null;
  readonly first_wait_seconds?: number | null;
  readonly longest_wait_seconds?: number | null;
  /** RFC 3339. */
  readonly deadline?: string | null;
}

/** Changes how often, how fast and until when it is tried again. */
export const changeRetryPolicyUpdate = defineUpdate<Explanation, [RetryPolicyRequest]>('changeRetryPolicy');

/** Judges an open case. */
export interface ResolveRequest extends ActedBy {
  readonly case: AttentionReason;
  readonly verdict: CaseVerdict;
  /** With `bought`: the service's id of what it sold. */
  readonly service_id?: string;
  readonly service_esim_id?: string;
  readonly next?: 'continue' | 'abandon';
}

export const resolveUpdate = defineUpdate<Explanation, [ResolveRequest]>('resolve');
