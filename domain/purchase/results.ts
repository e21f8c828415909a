import type { Operator, OperatorAction } from '#domain/operator/operator-actions.ts';
import type {
  AttemptHistory,
  BuyingBarrier,
  DebitEvidence,
  RecordResult,
  SendOutcome,
} from '#domain/purchase/purchase-decision.ts';
import type { Witness } from '#domain/purchase/recovery.ts';
import type { AttemptState, ObservedOutcome, SubscriptionEnd, ServiceObservation } from '#domain/relay/observation.ts';
import type { RetryOverrides, RetryRule } from '#domain/retry/retry-rules.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass, FailureDetail } from '#domain/work/failure.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { WorkStatus, TaskPosition } from '#domain/work/lifecycle.ts';

/** Inputs and results of the activities of work. Everything here is JSON without personal data. */

/** An attempt as its workflow receives it. */
export interface AttemptSnapshot {
  readonly id: string;
  readonly number: number;
  readonly state: AttemptState;
  /** True once it provably failed and cost nothing. */
  readonly settled: boolean;
  /** True when its id at the service is known. */
  readonly named: boolean;
  readonly serviceId?: string;
  readonly failure?: FailureDetail;
  /** What the service charged for it, such as `3.20 USD`; absent while unknown. */
  readonly charged?: string;
  readonly history: Omit<AttemptHistory, 'holds'>;
}

/** Work and its newest attempt, from PostgreSQL. */
export interface WorkSnapshot {
  readonly status: WorkStatus;
  readonly attention?: AttentionReason;
  /** The failure that holds it or that ended it. */
  readonly failure?: FailureClass;
  /** The caller's deadline, in epoch milliseconds; held work then ends. */
  readonly deadlineAt?: number;
  /** The limit of its price, such as `15.00 USD`. */
  readonly maxPrice?: string;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
  readonly attempt: AttemptSnapshot;
  /** Epoch of the database. A different one means that PostgreSQL may have lost commits; undefined: not known. */
  readonly epoch?: string;
  /** True when the row of the attempt knew less than the witness and was made unknown. */
  readonly isRestored?: boolean;
  /** True when this is the first read since PostgreSQL was started or restored. */
  readonly isFirstSinceRestart?: boolean;
  /** Attempts that operators granted beyond the policy. */
  readonly extraAttempts: number;
  /** Retry overrides of operators. */
  readonly retryOverrides?: RetryOverrides;
  /** Stored time of the next step, in epoch milliseconds. */
  readonly nextStepAt?: number;
  /** Reports that no workflow has handled yet. */
  readonly observations: readonly ServiceObservation[];
  /** Set for a VPN subscription. */
  readonly subscription?: SubscriptionSnapshot;
  readonly cancellation?: CancellationSnapshot;
}

/** A subscription, from PostgreSQL. */
export interface SubscriptionSnapshot {
  /** True once bought. */
  readonly isActive: boolean;
  readonly endedAs?: SubscriptionEnd;
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
  readonly cancelRequested: boolean;
  /** Time when the service accepted its cancellation, in epoch milliseconds. */
  readonly cancelAcceptedAt?: number;
}

/** A cancellation, from PostgreSQL. */
export interface CancellationSnapshot {
  /** Time since when the eSIM is known to be cancelled, in epoch milliseconds. */
  readonly cancelledAt?: number;
  readonly acceptWithoutRefund: boolean;
  /** True when the service reports that the refund failed. */
  readonly refundFailed: boolean;
  /** True when the service reports that it processes the refund. */
  readonly refundOpen: boolean;
  /** True when its money was found in the wallet. */
  readonly refundPaid: boolean;
}

/** The result of a request to cancel a subscription. */
export type CancellationResult =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly detail: string }
  /** Result unknown. A repeated request does not cancel twice. */
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail; readonly retryAfterMs?: number };

/** The result of looking a subscription up. */
export type SubscriptionLookUp =
  | { readonly kind: 'found' }
  /** The service has no such call, or does not know the subscription: a repeated look-up would end the same way. */
  | { readonly kind: 'not_known'; readonly detail: string }
  /** The service did not answer, which proves nothing about the subscription. */
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail; readonly retryAfterMs?: number };

/** The activities of a bought subscription. All are idempotent. */
export interface SubscriptionActivities {
  /** Requests the cancellation at the service. The request has no key and may be repeated. */
  cancelSubscription(input: { work: WorkRef }): Promise<CancellationResult>;
  /** Looks the subscription up at the service and stores the result. */
  lookUpSubscription(input: { work: WorkRef }): Promise<SubscriptionLookUp>;
}

export interface SendResult {
  /**
   * `barred`: nothing was sent, and nothing may be bought at this moment. `too_late`: the resend window is over.
   * `resend_not_allowed`: it may have been bought, and resends are not allowed (any more). `records_lost`: nothing was
   * sent, because the row knows less than the workflow.
   */
  readonly outcome:
    | SendOutcome
    | { readonly kind: 'barred'; readonly by: BuyingBarrier }
    | { readonly kind: 'too_late' }
    | { readonly kind: 'records_lost' }
    | { readonly kind: 'resend_not_allowed' };
  /** A sentence about a failure. */
  readonly detail?: string;
  readonly attempt: AttemptSnapshot;
  /** Set when the service called it completed in its answer, and the work was completed with it at once. */
  readonly delivered?: { readonly esimId?: string };
}

/** The result of opening a further attempt. */
export type OpenResult =
  | { readonly kind: 'opened'; readonly attempt: AttemptSnapshot }
  /** As in {@link RecordResult}: the rows of earlier attempts may be lost. Nothing is opened. */
  | { readonly kind: 'not_compared' }
  | { readonly kind: 'barred'; readonly by: BuyingBarrier }
  /** An earlier attempt may have bought, or may have cost something. */
  | { readonly kind: 'unsettled' }
  /** The configuration allows no further attempt. */
  | { readonly kind: 'not_allowed'; readonly attempts: number };

export type PurchaseLookUp =
  | { readonly kind: 'found'; readonly outcome: ObservedOutcome }
  /** The service does not know the attempt (yet). That does not prove that it was not bought. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail };

/** The evidence of list and wallet about an attempt with an unknown result. */
export type AbsenceResult =
  /** Neither shows it: its resend window restarts. */
  | { readonly kind: 'absent' }
  /** The attempt is no longer unknown, or the service lists it. */
  | { readonly kind: 'changed' }
  | ({ readonly kind: 'awaited' } & AwaitedEvidence)
  /** `mayPass`: the service did not answer now. */
  | { readonly kind: 'unproven'; readonly mayPass: boolean; readonly detail: string };

/** Why nothing proves yet what an attempt cost. */
export interface AwaitedEvidence {
  /** The same for as long as the reason is. */
  readonly reason: string;
  readonly detail: string;
  /** Milliseconds until a reading can prove anything. */
  readonly againInMs?: number;
}

export type EvidenceResult =
  | ({ readonly evidence: 'awaited' } & AwaitedEvidence)
  | {
      readonly evidence: Exclude<DebitEvidence, 'awaited'>;
      /** With `unavailable`: true when the wallet could not be read now. */
      readonly mayPass?: boolean;
      readonly detail: string;
    };

export type CompletionResult =
  | { readonly kind: 'completed'; readonly esimId?: string }
  /** A fact of the delivery is wrong. `isOurs`: false for a record of the service that is about another purchase. */
  | { readonly kind: 'unreadable'; readonly isOurs?: false; readonly detail: string }
  /** It did not bring the expected result: a case opens. */
  | { readonly kind: 'needs_attention'; readonly reason: AttentionReason; readonly detail: string }
  /** The service reports something else by now: continue from the stored state. */
  | { readonly kind: 'changed' }
  /** Something is missing, or the service does not answer: try again later. */
  | {
      readonly kind: 'not_yet';
      readonly reason: NotYetReason;
      readonly detail: string;
      readonly retryAfterMs?: number;
    };

/** A step of work to be recorded. */
export interface StepRecord {
  readonly work: WorkRef;
  /** Unique among the steps of the work; recording the same step twice has one effect. */
  readonly stepKey: string;
  /** The workflow task that decided it; undefined: decided by an earlier version, and never refused as superseded. */
  readonly task?: TaskPosition;
  readonly status: WorkStatus;
  /** Stable name of the timeline entry, such as `order.held`. */
  readonly event: string;
  readonly message: string;
  readonly attemptNumber: number;
  /** State of the attempt for which the case opens; undefined: any. */
  readonly attemptState?: AttemptState;
  readonly failure?: FailureDetail;
  readonly attention?: { readonly reason: AttentionReason; readonly detail: string };
  /** Epoch milliseconds. */
  readonly nextStepAt?: number;
  /** The configured retry rule of its failure. */
  readonly retryRule?: RetryRule;
  /** Inbox rows that this step handles. */
  readonly applied: readonly string[];
}

/** One attempt of one piece of work. */
export interface AttemptRef {
  readonly work: WorkRef;
  readonly attemptId: string;
}

/** The activities of every work workflow. All are idempotent. */
export interface PurchaseActivities {
  /**
   * Loads the work, and opens its first attempt if it has none. Fails with `WORK_FINISHED` when the work has ended, and
   * with `WORK_MISSING` when it has no row.
   * @param input.witness what the workflow knows about the newest attempt; a row that knows less is made unknown.
   * @param input.sentIn epoch of the database at a send whose result the workflow did not receive.
   * @param input.run id of a run that begins; from here on, steps of earlier runs are refused.
   */
  beginWork(input: { work: WorkRef; witness?: Witness; sentIn?: string; run?: string }): Promise<WorkSnapshot>;
  /** Opens a further attempt. Requires the evidence of rule 3, and a policy that allows this number of attempts. */
  openNextAttempt(input: { work: WorkRef; number: number }): Promise<OpenResult>;
  /**
   * Sends the stored bytes of the attempt with its stored key, once, and records the result.
   * @param input.resendWindowMs the window that the workflow planned with; the present policy may shorten it or forbid
   *   resends. Absent: an attempt that may have bought is not resent.
   * @param input.retryRule the retry rule, stored for display.
   * @param input.witness what the workflow knows about the newest attempt; a row that knows less is not claimed.
   * @param input.delivers true: what the service calls completed in its answer is delivered at once, as
   *   `completePurchase` does. When that does not succeed, the result is that of the send alone.
   * @param input.task the workflow task that decided it. Nothing is sent once a later one has recorded a step.
   */
  sendPurchase(
    input: AttemptRef & {
      readonly resendWindowMs?: number;
      readonly retryRule?: RetryRule;
      readonly witness?: Witness;
      readonly delivers?: true;
      readonly task?: TaskPosition;
    },
  ): Promise<SendResult>;
  /** Looks the attempt up at the service. */
  lookUpPurchase(input: AttemptRef): Promise<PurchaseLookUp>;
  /**
   * Checks the service's list and wallet for an attempt with an unknown result; when both lack it, its resend window
   * restarts.
   */
  proveAbsence(input: AttemptRef): Promise<AbsenceResult>;
  /** Reads the service's wallet for the attempt and updates our books. */
  readDebitEvidence(input: AttemptRef): Promise<EvidenceResult>;
  /** Stores what was bought (for an order its eSIM, encrypted) and completes the work. */
  completePurchase(input: AttemptRef & { applied: readonly string[] }): Promise<CompletionResult>;
  /**
   * Records a step of the work: status, timeline, case and inbox in one transaction.
   * @returns anything but `recorded` means that nothing changed: the worker has lost the workflow task (`superseded`),
   *   PostgreSQL may have lost commits (`not_compared`), the work was to fail and may not (`may_be_bought`, or the
   *   buying barrier), or the case is not needed any more (`judged`, `changed`).
   */
  recordStep(step: StepRecord): Promise<RecordResult>;
  /** Performs and records an operator action. Fails with `ACTION_REFUSED`, not retryable, when it is not allowed. */
  actOnWork(input: { work: WorkRef; action: OperatorAction; operator: Operator }): Promise<'applied' | 'unchanged'>;
}

/**
 * Why a purchase cannot be completed yet: a failure of the service, or something that it does not show yet.
 * `not_filled`: the service calls it completed, and a fact of the delivery has no value so far.
 */
export type NotYetReason = FailureClass | 'not_listed' | 'not_filled' | 'refund_not_in_wallet';
