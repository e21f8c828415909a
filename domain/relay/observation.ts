/** The meaning of a report by webhook or look-up, also when it comes early, late, twice or out of order. */
import type { CancellationReport } from '#domain/cancellation/refund.ts';
import type { Money } from '#domain/money/money.ts';
import type { ServiceReason } from '#domain/work/foreign-text.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { type FinalStatus, isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

export const OBSERVED_OUTCOMES = ['processing', 'completed', 'failed'] as const;
export type ObservedOutcome = (typeof OBSERVED_OUTCOMES)[number];

/** `sending`: also when its process died. `unknown`: the service may have bought. `refused`: it provably has not. */
export const ATTEMPT_STATES = [
  'prepared',
  'sending',
  'unknown',
  'refused',
  'processing',
  'completed',
  'failed',
] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

export type ObservationDecision =
  | 'advance'
  | 'known'
  /** Stop and open a case. Nothing is bought without a person's decision. */
  | 'contradiction';

/** For open work. Every pair has a decision. */
export const ATTEMPT_DECISIONS = {
  prepared: { processing: 'advance', completed: 'advance', failed: 'advance' },
  sending: { processing: 'advance', completed: 'advance', failed: 'advance' },
  unknown: { processing: 'advance', completed: 'advance', failed: 'advance' },
  // The service reports an order although it refused the send: its report is taken.
  refused: { processing: 'advance', completed: 'advance', failed: 'advance' },
  processing: { processing: 'known', completed: 'advance', failed: 'advance' },
  completed: { processing: 'known', completed: 'known', failed: 'contradiction' },
  failed: { processing: 'known', completed: 'contradiction', failed: 'known' },
} as const satisfies Record<AttemptState, Record<ObservedOutcome, ObservationDecision>>;

/** For ended work: no report advances it. */
const FINISHED_DECISIONS = {
  completed: { processing: 'known', completed: 'known', failed: 'contradiction' },
  failed: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
  abandoned: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
  // Subscriptions: they were bought before they ended.
  cancelled: { processing: 'known', completed: 'known', failed: 'contradiction' },
  expired: { processing: 'known', completed: 'known', failed: 'contradiction' },
  // Cancellations.
  refused: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
} as const satisfies Record<FinalStatus, Record<ObservedOutcome, 'known' | 'contradiction'>>;

export const SUBSCRIPTION_ENDS = ['cancelled', 'expired'] as const;
export type SubscriptionEnd = (typeof SUBSCRIPTION_ENDS)[number];

export interface ObservedWork {
  readonly status: WorkStatus;
  readonly attemptState: AttemptState;
  readonly latestAttempt: boolean;
}

/** @param followUp for the time after the purchase: the end of a subscription, the refund of a cancellation. */
export function judgeObservation(
  work: ObservedWork,
  outcome: ObservedOutcome,
  followUp: ObservationDecision = 'known',
): ObservationDecision {
  if (followUp === 'contradiction') return followUp;
  const { status, attemptState, latestAttempt } = work;
  if (isFinal(status)) {
    // Completed after all, it was bought once too often.
    if (attemptState === 'failed') return outcome === 'completed' ? 'contradiction' : 'known';
    return FINISHED_DECISIONS[status][outcome];
  }
  const decision = ATTEMPT_DECISIONS[attemptState][outcome];
  // A superseded attempt must not become active again: two would be bought.
  if (!latestAttempt && decision === 'advance') return 'contradiction';
  return decision === 'known' ? followUp : decision;
}

/** Another product under our reference or id is never taken for ours. @param sold undefined: not reported. */
export function isAsOrdered(ordered: number | undefined, sold: number | undefined): boolean {
  return ordered === undefined || sold === undefined || ordered === sold;
}

export function judgeSubscriptionEnd(
  known: SubscriptionEnd | undefined,
  reported: SubscriptionEnd | undefined,
): 'known' | 'advance' {
  return reported !== undefined && known === undefined ? 'advance' : 'known';
}

/** What the service says about one purchase or cancellation: in an answer, a look-up or an event. */
export interface Report {
  readonly outcome: ObservedOutcome;
  /** For a cancellation, the id of its refund once it is named. */
  readonly serviceId?: string | undefined;
  readonly serviceEsimId?: string | undefined;
  /** Of the sold package or VPN plan. */
  readonly productId?: number | undefined;
  readonly charged?: Money | undefined;
  readonly reason?: ServiceReason | undefined;
  readonly cancellation?: CancellationReport | undefined;
  readonly unmetConditions?: readonly string[] | undefined;
  readonly startedAt?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly endedAs?: SubscriptionEnd | undefined;
  readonly encryptedAccess?: Buffer | undefined;
}

/** Which work it is about is still to be found. */
export interface PurchaseEvent extends Report {
  readonly kind: WorkKind;
  readonly reference?: string | undefined;
  /** Personal data. */
  readonly access?: Readonly<Record<string, string | null | undefined>> | undefined;
}

/** The inbox row is the record: a new run reads unhandled reports from there. */
export interface ServiceObservation {
  /** The same row twice has no second effect. */
  readonly inboxId: string;
  /** PostgreSQL may lose that a row was handled: in another epoch of the database the same row is handled again. */
  readonly epoch?: string;
  readonly source: 'webhook' | 'read';
  readonly attemptNumber: number;
  readonly outcome: ObservedOutcome;
  readonly decision: Exclude<ObservationDecision, 'known'>;
}
