/** Inputs and results of activities: JSON without personal data. */
import type { Operator, OperatorAction } from '#domain/operator/operator-actions.ts';
import type {
  AttemptHistory,
  BuyingBlock,
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

export interface AttemptSnapshot {
  readonly id: string;
  readonly number: number;
  readonly state: AttemptState;
  /** It provably failed and cost nothing. */
  readonly settled: boolean;
  readonly named: boolean;
  readonly serviceId?: string | undefined;
  readonly failure?: FailureDetail | undefined;
  readonly charged?: string | undefined;
  readonly history: Omit<AttemptHistory, 'holds'>;
}

export interface WorkSnapshot {
  readonly status: WorkStatus;
  readonly attention?: AttentionReason | undefined;
  readonly failure?: FailureClass | undefined;
  /** Unix milliseconds; held work then ends. */
  readonly deadlineAt?: number | undefined;
  readonly maxPrice?: string | undefined;
  /** Unix milliseconds. */
  readonly acceptedAt: number;
  readonly attempt: AttemptSnapshot;
  /** Another epoch means that PostgreSQL may have lost commits; undefined: not known. */
  readonly epoch?: string;
  /** The row knew less than the witness and was made unknown. */
  readonly isRestored?: boolean | undefined;
  /** True when this is the first read since PostgreSQL was started or restored. */
  readonly isFirstSinceRestart?: boolean | undefined;
  readonly extraAttempts: number;
  readonly retryOverrides?: RetryOverrides | undefined;
  /** Unix milliseconds. */
  readonly nextStepAt?: number | undefined;
  readonly observations: readonly ServiceObservation[];
  readonly subscription?: SubscriptionSnapshot | undefined;
  readonly cancellation?: CancellationSnapshot | undefined;
}

export interface SubscriptionSnapshot {
  readonly isActive: boolean;
  readonly endedAs?: SubscriptionEnd | undefined;
  /** Unix milliseconds. */
  readonly expiresAt?: number | undefined;
  readonly cancelRequested: boolean;
  /** Unix milliseconds. */
  readonly cancelAcceptedAt?: number | undefined;
}

export interface CancellationSnapshot {
  /** Unix milliseconds. */
  readonly cancelledAt?: number | undefined;
  readonly acceptWithoutRefund: boolean;
  /** As the service reports, like `refundOpen`. */
  readonly refundFailed: boolean;
  readonly refundOpen: boolean;
  /** Its money was found in the wallet. */
  readonly refundPaid: boolean;
}

export type CancellationResult =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly detail: string }
  /** Result unknown. A repeated request does not cancel twice. */
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail; readonly retryAfterMs?: number };

export type SubscriptionLookUp =
  | { readonly kind: 'found' }
  /** The service has no such call, or does not know the subscription: a repeated look-up would end the same way. */
  | { readonly kind: 'not_known'; readonly detail: string }
  /** Proves nothing about the subscription. */
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail; readonly retryAfterMs?: number };

export interface SubscriptionActivities {
  /** The request has no key and may be repeated. */
  cancelSubscription(input: { work: WorkRef }): Promise<CancellationResult>;
  lookUpSubscription(input: { work: WorkRef }): Promise<SubscriptionLookUp>;
}

export interface SendResult {
  /**
   * `barred`: nothing may be bought at this moment. `too_late`: the resend window is over. `resend_not_allowed`: it may
   * have been bought. `records_lost`: nothing was sent, because the row knows less than the workflow. `not_current`:
   * nothing was sent, because the workflow has to read its work again.
   */
  readonly outcome:
    | SendOutcome
    | { readonly kind: 'barred'; readonly by: BuyingBlock }
    | { readonly kind: 'too_late' }
    | { readonly kind: 'records_lost' }
    | { readonly kind: 'not_current' }
    | { readonly kind: 'resend_not_allowed' };
  readonly detail?: string;
  readonly attempt: AttemptSnapshot;
  /** The service called it completed in its answer, and the work was completed at once. */
  readonly delivered?: { readonly esimId?: string };
}

export type OpenResult =
  | { readonly kind: 'opened'; readonly attempt: AttemptSnapshot }
  /** As in {@link RecordResult}: rows of earlier attempts may be lost. */
  | { readonly kind: 'not_compared' }
  | { readonly kind: 'barred'; readonly by: BuyingBlock }
  /** An earlier attempt may have bought, or may have cost something. */
  | { readonly kind: 'unsettled' }
  | { readonly kind: 'not_allowed'; readonly attempts: number };

export type PurchaseLookUp =
  | { readonly kind: 'found'; readonly outcome: ObservedOutcome }
  /** Does not prove that it was not bought. */
  | { readonly kind: 'not_found' }
  | { readonly kind: 'unavailable'; readonly failure: FailureDetail };

export type AbsenceResult =
  /** List and wallet lack it: its resend window restarts. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'changed' }
  | ({ readonly kind: 'awaited' } & AwaitedEvidence)
  /** `mayPass`: the service did not answer now. */
  | { readonly kind: 'unproven'; readonly mayPass: boolean; readonly detail: string };

export interface AwaitedEvidence {
  /** The same for as long as the reason is. */
  readonly reason: string;
  readonly detail: string;
  readonly againInMs?: number;
}

export type EvidenceResult =
  | ({ readonly evidence: 'awaited' } & AwaitedEvidence)
  | {
      readonly evidence: Exclude<DebitEvidence, 'awaited'>;
      /** With `unavailable`: the wallet could not be read now. */
      readonly mayPass?: boolean;
      readonly detail: string;
    };

export type CompletionResult =
  | { readonly kind: 'completed'; readonly esimId?: string }
  /** `isOurs`: false for a record that is about another purchase. */
  | { readonly kind: 'unreadable'; readonly isOurs?: false; readonly detail: string }
  | { readonly kind: 'needs_attention'; readonly reason: AttentionReason; readonly detail: string }
  | { readonly kind: 'changed' }
  | {
      readonly kind: 'not_yet';
      readonly reason: NotYetReason;
      readonly detail: string;
      readonly retryAfterMs?: number;
    };

export interface StepRecord {
  readonly work: WorkRef;
  /** Recording the same step twice has one effect. */
  readonly stepKey: string;
  /** Undefined: decided by an earlier version, and never refused as superseded. */
  readonly task?: TaskPosition;
  readonly status: WorkStatus;
  readonly event: string;
  readonly message: string;
  readonly attemptNumber: number;
  /** State of the attempt for which the case opens; undefined: any. */
  readonly attemptState?: AttemptState;
  readonly failure?: FailureDetail;
  readonly attention?: { readonly reason: AttentionReason; readonly detail: string };
  readonly nextStepAt?: number;
  readonly retryRule?: RetryRule;
  readonly applied: readonly string[];
}

export interface AttemptRef {
  readonly work: WorkRef;
  readonly attemptId: string;
}

/** What the workflow allows a send. */
export interface SendTerms {
  /** The present policy may shorten it or forbid resends. Absent: an attempt that may have bought is not resent. */
  readonly resendWindowMs?: number;
  readonly retryRule?: RetryRule;
  /** A row that knows less is not claimed. */
  readonly witness?: Witness;
  /** What the service calls completed is delivered at once, as `completePurchase` does. */
  readonly delivers?: true;
  /** Nothing is sent once a later task has recorded a step. */
  readonly task?: TaskPosition;
}

export interface PurchaseActivities {
  /**
   * Opens the first attempt if there is none. Fails with `WORK_FINISHED` or `WORK_MISSING`.
   * @param input.witness a row that knows less is made unknown.
   * @param input.sentIn epoch of the database at a send whose result the workflow did not receive.
   * @param input.run a run that begins; steps of earlier runs are refused from here on.
   * @param input.firstSend the first attempt is sent at once, if it was never sent, PostgreSQL is still in the epoch
   *   `sentIn`, the purchase gate is clear, and the worker has room for it.
   */
  beginWork(input: {
    readonly work: WorkRef;
    readonly witness?: Witness;
    readonly sentIn?: string;
    readonly run?: string;
    readonly firstSend?: SendTerms;
  }): Promise<WorkSnapshot & { readonly sent?: SendResult }>;
  /** Requires the evidence of rule 3 (docs/reference/rules.md), and a policy that allows this number of attempts. */
  openNextAttempt(input: { work: WorkRef; number: number }): Promise<OpenResult>;
  /** Sends the stored bytes with the stored key, once. */
  sendPurchase(input: AttemptRef & SendTerms): Promise<SendResult>;
  lookUpPurchase(input: AttemptRef): Promise<PurchaseLookUp>;
  proveAbsence(input: AttemptRef): Promise<AbsenceResult>;
  readDebitEvidence(input: AttemptRef): Promise<EvidenceResult>;
  completePurchase(input: AttemptRef & { applied: readonly string[] }): Promise<CompletionResult>;
  /** One transaction. @returns anything but `recorded` means that nothing changed; see {@link RecordResult}. */
  recordStep(step: StepRecord): Promise<RecordResult>;
  /** Fails with `ACTION_REFUSED`, not retryable, when it is not allowed. */
  actOnWork(input: { work: WorkRef; action: OperatorAction; operator: Operator }): Promise<'applied' | 'unchanged'>;
}

/** `not_filled`: the service calls it completed, and a fact of the delivery has no value so far. */
export type NotYetReason = FailureClass | 'not_listed' | 'not_filled' | 'refund_not_in_wallet';
