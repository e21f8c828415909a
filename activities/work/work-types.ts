/**
 * What the workflows of purchases and their activities tell each other. Everything here is JSON and holds nothing
 * personal.
 */
import type { NotYetReason } from '#activities/purchases/not-yet.ts';
import type { AttemptHistory, BuyingBarrier, DebitEvidence, SendOutcome } from '#domain/purchase/purchase-decision.ts';
import type { Witness } from '#domain/purchase/restored-records.ts';
import type { AttemptState, ObservedOutcome, SubscriptionEnd } from '#domain/relay/observation.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureDetail, FailureClass } from '#domain/work/failure.ts';
import type { FinalStatus, WorkStatus } from '#domain/work/lifecycle.ts';
import type { Operator, OperatorAction } from '#domain/work/operator-actions.ts';
import type { RetryOverrides, RetryRule } from '#domain/work/retry-rules.ts';
import type { WorkRef } from '#domain/work/work.ts';
import type { ServiceObservation } from '#workflows/messages.ts';

/** An attempt as the workflow knows it. */
export interface AttemptView {
  readonly id: string;
  readonly number: number;
  readonly state: AttemptState;
  /** True once it is certain that it failed and cost nothing. */
  readonly settled: boolean;
  /** True when the service's id of it is known. */
  readonly named: boolean;
  readonly serviceId?: string;
  readonly failure?: FailureDetail;
  readonly history: Omit<AttemptHistory, 'holds'>;
}

/** Work and its newest attempt as PostgreSQL has them. */
export interface WorkSnapshot {
  readonly status: WorkStatus;
  readonly attention?: AttentionReason;
  /** What stands in its way. */
  readonly failure?: FailureClass;
  /** Epoch milliseconds after which held work fails; the caller's wish, if any. */
  readonly deadlineAt?: number;
  /** Epoch milliseconds. */
  readonly acceptedAt: number;
  readonly attempt: AttemptView;
  /** Another one means that PostgreSQL may have lost commits meanwhile; undefined: not known. */
  readonly epoch?: string;
  /** True when the attempt's row knew less than the witness, and was made unknown. */
  readonly isRestored?: boolean;
  /** True when this read is the first since PostgreSQL was started or restored. */
  readonly isFirstSinceRestart?: boolean;
  /** Attempts that operators have granted beyond the policy. */
  readonly extraAttempts: number;
  /** What operators have set for how it is tried again. */
  readonly retryOverrides?: RetryOverrides;
  /** Epoch milliseconds of when time brings the next step, as it was stored last. */
  readonly nextStepAt?: number;
  /** What the service said and no workflow has answered yet. */
  readonly observations: readonly ServiceObservation[];
  /** Of a subscription, once there is one. */
  readonly subscription?: SubscriptionView;
  readonly cancellation?: CancellationView;
}

/** A subscription as PostgreSQL has it. */
export interface SubscriptionView {
  /** True once it was bought. */
  readonly isActive: boolean;
  readonly endedAs?: SubscriptionEnd;
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
  readonly cancelRequested: boolean;
  /** Epoch milliseconds at which the service accepted to cancel it. */
  readonly cancelAcceptedAt?: number;
}

/** A cancellation as PostgreSQL has it. */
export interface CancellationView {
  /** Epoch milliseconds since when the eSIM is known to be cancelled. */
  readonly cancelledAt?: number;
  readonly acceptWithoutRefund: boolean;
  /** True when the service says that no refund comes. */
  readonly refundFailed: boolean;
  /** True when the service says that it decides about a refund. */
  readonly refundOpen: boolean;
  /** Its money was found in the wallet. */
  readonly refundPaid: boolean;
}

/** What came of asking the service to cancel. */
export type CancellationResult =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly detail: string }
  /** Nothing is known of it; asked again, it cancels no second time. */
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail; readonly retryAfterMs?: number };

/** What came of asking the service how a subscription stands. */
export type SubscriptionAnswer =
  | { readonly kind: 'told' }
  /** It has no such call, or says plainly that it knows no such subscription: to ask again would end the same way. */
  | { readonly kind: 'cannot_tell'; readonly detail: string }
  /** That it could not be asked at this moment says nothing about the subscription. */
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail; readonly retryAfterMs?: number };

/** The activities of what lives on after it was bought. All may run twice with the same input. */
export interface SubscriptionActivities {
  /**
   * Asks the service to cancel, which carries no key and may be asked again. Fails (retryably) while the outcome is
   * unknown.
   */
  cancelSubscription(input: { work: WorkRef }): Promise<CancellationResult>;
  /** Asks the service how a subscription stands, and stores what it says. */
  askSubscription(input: { work: WorkRef }): Promise<SubscriptionAnswer>;
}

export interface SendResult {
  /**
   * `barred`: nothing was sent, and nothing may be at this moment. `too_late`: the time for sending it again is over.
   * `resend_not_allowed`: it may have been bought, and nothing of this kind may be sent twice (any more).
   * `records_lost`: nothing was sent, since the row knows less than the workflow.
   */
  readonly outcome:
    | SendOutcome
    | { readonly kind: 'barred'; readonly by: BuyingBarrier }
    | { readonly kind: 'too_late' }
    | { readonly kind: 'records_lost' }
    | { readonly kind: 'resend_not_allowed' };
  /** A sentence about a failure. */
  readonly detail?: string;
  readonly attempt: AttemptView;
}

/** What became of the wish for a further attempt. */
export type OpenResult =
  | { readonly kind: 'opened'; readonly attempt: AttemptView }
  | { readonly kind: 'barred'; readonly by: BuyingBarrier }
  /** The profile or the configuration allows no (further) new attempt any more. */
  | { readonly kind: 'not_allowed'; readonly attempts: number };

/**
 * `judged`: it was to be parked for a contradiction that a person has judged meanwhile. `changed`: it was to be parked
 * for an attempt that is in another state by now.
 */
export type RecordResult = 'recorded' | 'may_be_bought' | 'judged' | 'changed' | BuyingBarrier;

export type PurchaseLookUp =
  | { readonly kind: 'found'; readonly outcome: ObservedOutcome }
  /** The service does not know the attempt (yet): no proof that it was not bought. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail };

/** What the list and the wallet of the service say together of an attempt of unknown outcome. */
export type AbsenceResult =
  /** Neither knows it: its resend window begins anew. */
  | { readonly kind: 'absent' }
  /** The attempt is not unknown any more, or the service lists it after all. */
  | { readonly kind: 'changed' }
  /** `mayPass`: it could not be asked at this moment. */
  | { readonly kind: 'unproven'; readonly mayPass: boolean; readonly detail: string };

export interface EvidenceResult {
  readonly evidence: DebitEvidence;
  /** With `unavailable`: true when the wallet could not be read at this moment. */
  readonly mayPass?: boolean;
  readonly detail: string;
}

export type CompletionResult =
  | { readonly kind: 'completed'; readonly esimId?: string }
  /** The service answers, but not with what we need. */
  | { readonly kind: 'unreadable'; readonly detail: string }
  /** It did not come to what it was to bring; a person is told. */
  | { readonly kind: 'parked'; readonly reason: AttentionReason; readonly detail: string }
  /** The service says something else by now: go on from what is stored. */
  | { readonly kind: 'changed' }
  /** What is missing is not there yet, or the service does not answer: it is to be read again. */
  | {
      readonly kind: 'not_yet';
      readonly reason: NotYetReason;
      readonly detail: string;
      readonly retryAfterMs?: number;
    };

/** A step of work to be recorded. */
export interface StepRecord {
  readonly work: WorkRef;
  /** Unique among the steps of the work; the same step recorded twice has one effect. */
  readonly stepKey: string;
  readonly status: WorkStatus;
  /** Stable name of the timeline entry, such as `order.held`. */
  readonly event: string;
  readonly message: string;
  readonly attemptNumber: number;
  /** State of that attempt by which a person is to be told; undefined: whatever it is. */
  readonly attemptState?: AttemptState;
  readonly failure?: FailureDetail;
  readonly attention?: { readonly reason: AttentionReason; readonly detail: string };
  /** Epoch milliseconds. */
  readonly nextStepAt?: number;
  /** How it is tried again, as configured for what it failed with. */
  readonly retryRule?: RetryRule;
  /** Inbox rows that this step answers. */
  readonly applied: readonly string[];
}

/** How work ended. */
export interface WorkEnd {
  readonly status: FinalStatus;
  /** The eSIM that was delivered or recharged. */
  readonly esimId?: string;
  readonly failure?: FailureClass;
}

/** One attempt of one piece of work. */
export interface AttemptRef {
  readonly work: WorkRef;
  readonly attemptId: string;
}

/** The activities of every workflow that buys. All may run twice with the same input. */
export interface PurchaseActivities {
  /**
   * Loads the work and opens its first attempt if it has none. Fails with `WORK_FINISHED` once it has ended, and with
   * `WORK_MISSING` where it has no row.
   *
   * @param input.witness what the workflow knows of the newest attempt: a row that knows less is made unknown.
   * @param input.sentIn epoch of the database in which a send was asked for of which the workflow has heard nothing.
   */
  beginWork(input: { work: WorkRef; witness?: Witness; sentIn?: string }): Promise<WorkSnapshot>;
  /** Opens a further attempt; only on the evidence of rule 3, and while the policy in force allows so many. */
  openNextAttempt(input: { work: WorkRef; number: number }): Promise<OpenResult>;
  /**
   * Sends the attempt's stored bytes with its stored key, once, and records what came of it.
   *
   * @param input.resendWindowMs that the workflow planned with. What is in force when the send is claimed decides: it
   *   may be shorter, or allow no resend. Absent: what may have been bought is not sent again.
   * @param input.retryRule by which it is tried again, stored for whoever looks at the work.
   * @param input.witness what the workflow knows of its newest attempt: a row that knows less is not claimed.
   */
  sendPurchase(
    input: AttemptRef & {
      readonly resendWindowMs?: number;
      readonly retryRule?: RetryRule;
      readonly witness?: Witness;
    },
  ): Promise<SendResult>;
  /** Asks the service what became of the attempt. */
  lookUpPurchase(input: AttemptRef): Promise<PurchaseLookUp>;
  /**
   * Asks the service's list and wallet whether an attempt of unknown outcome is absent; if so, its resend window begins
   * anew.
   */
  proveAbsence(input: AttemptRef): Promise<AbsenceResult>;
  /** Reads the service's wallet for the attempt and writes what it shows into our books. */
  readDebitEvidence(input: AttemptRef): Promise<EvidenceResult>;
  /** Stores what was bought (of an order its eSIM, encrypted) and completes the work. */
  completePurchase(input: AttemptRef & { applied: readonly string[] }): Promise<CompletionResult>;
  /**
   * Moves the work on in PostgreSQL: status, timeline, case and inbox in one transaction.
   *
   * @returns anything but `recorded`, with nothing changed, when the work was to fail and may not (`may_be_bought`
   *   while a send of it is under way or its outcome is open, or what bars it), or need not be parked any more
   *   (`judged`, `changed`).
   */
  recordStep(step: StepRecord): Promise<RecordResult>;
  /**
   * Does what an operator asks, with its record. Fails with `ACTION_REFUSED`, not to be retried, where it may not be.
   */
  actOnWork(input: { work: WorkRef; action: OperatorAction; operator: Operator }): Promise<'applied' | 'unchanged'>;
}
