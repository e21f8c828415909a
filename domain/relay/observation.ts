/**
 * What a report of the service means, whether by webhook or in answer to a look-up. The two tables of this file decide
 * about reports that come early, late, twice or out of order.
 */
import type { CancellationReport } from '#domain/cancellation/refund.ts';
import type { Money } from '#domain/money/money.ts';
import type { ServiceReason } from '#domain/work/foreign-text.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { type FinalStatus, isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

export const OBSERVED_OUTCOMES = ['processing', 'completed', 'failed'] as const;
export type ObservedOutcome = (typeof OBSERVED_OUTCOMES)[number];

/**
 * State of one attempt. `sending`: a send is under way, or its process died. `unknown`: the service may have bought.
 * `refused`: it provably has not. The last three are as the service reports them.
 */
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
  /** It reports something new: continue. */
  | 'advance'
  /** It reports something known or older: record it, change nothing. */
  | 'known'
  /** It contradicts what is known: stop and open a case. Nothing is bought without a person's decision. */
  | 'contradiction';

/** For an attempt whose work is open. Every pair of state and outcome has a decision. */
export const ATTEMPT_DECISIONS = {
  prepared: { processing: 'advance', completed: 'advance', failed: 'advance' },
  sending: { processing: 'advance', completed: 'advance', failed: 'advance' },
  unknown: { processing: 'advance', completed: 'advance', failed: 'advance' },
  // The service reports an order although it refused the send: its report counts.
  refused: { processing: 'advance', completed: 'advance', failed: 'advance' },
  processing: { processing: 'known', completed: 'advance', failed: 'advance' },
  completed: { processing: 'known', completed: 'known', failed: 'contradiction' },
  failed: { processing: 'known', completed: 'contradiction', failed: 'known' },
} as const satisfies Record<AttemptState, Record<ObservedOutcome, ObservationDecision>>;

/** For work that has ended: no report advances it. */
export const FINISHED_DECISIONS = {
  completed: { processing: 'known', completed: 'known', failed: 'contradiction' },
  failed: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
  abandoned: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
  // Subscriptions: they were bought before they ended.
  cancelled: { processing: 'known', completed: 'known', failed: 'contradiction' },
  expired: { processing: 'known', completed: 'known', failed: 'contradiction' },
  // Cancellations.
  refused: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
} as const satisfies Record<FinalStatus, Record<ObservedOutcome, 'known' | 'contradiction'>>;

/** How a subscription ends at the service. A subscription that has ended was bought before. */
export const SUBSCRIPTION_ENDS = ['cancelled', 'expired'] as const;
export type SubscriptionEnd = (typeof SUBSCRIPTION_ENDS)[number];

export interface ObservedWork {
  readonly status: WorkStatus;
  readonly attemptState: AttemptState;
  /** False when the work has a later attempt. */
  readonly latestAttempt: boolean;
}

/**
 * Decides what an observation means.
 * @param followUp the meaning for the time after the purchase: the end of a subscription, the refund of a cancellation.
 */
export function judgeObservation(
  work: ObservedWork,
  outcome: ObservedOutcome,
  followUp: ObservationDecision = 'known',
): ObservationDecision {
  if (followUp === 'contradiction') return followUp;
  const { status, attemptState, latestAttempt } = work;
  if (isFinal(status)) {
    // A failed attempt may be reported as failed again, whatever became of the work. Completed after all, it was bought
    // once too often.
    if (attemptState === 'failed') return outcome === 'completed' ? 'contradiction' : 'known';
    return FINISHED_DECISIONS[status][outcome];
  }
  const decision = ATTEMPT_DECISIONS[attemptState][outcome];
  // A superseded attempt must not become active again: two would be bought.
  if (!latestAttempt && decision === 'advance') return 'contradiction';
  return decision === 'known' ? followUp : decision;
}

/**
 * False when the service sold another product under our reference or id than was ordered, for example because somebody
 * bought by hand. Such a purchase is never taken for ours.
 * @param ordered id of the package or plan.
 * @param sold the same as the service reports it; undefined: not reported.
 */
export function isAsOrdered(ordered: number | undefined, sold: number | undefined): boolean {
  return ordered === undefined || sold === undefined || ordered === sold;
}

export function judgeSubscriptionEnd(
  known: SubscriptionEnd | undefined,
  reported: SubscriptionEnd | undefined,
): 'known' | 'advance' {
  return reported !== undefined && known === undefined ? 'advance' : 'known';
}

/** An event of the service about a purchase of any kind, in our terms. */
export interface PurchaseEvent {
  readonly kind: WorkKind;
  readonly outcome: ObservedOutcome;
  /** The service's id of the purchase; for a cancellation, the id of its refund, if named. */
  readonly serviceId?: string;
  readonly reference?: string;
  readonly serviceEsimId?: string;
  readonly productId?: number;
  readonly charged?: Money;
  /** The reason of a failure, in the words of the service. */
  readonly reason?: ServiceReason;
  readonly endedAs?: SubscriptionEnd;
  /** Access data of a subscription, as the service names them; personal data. */
  readonly access?: Readonly<Record<string, string | null | undefined>>;
  readonly startedAt?: string;
  readonly expiresAt?: string;
  /** The report about a cancellation; `outcome` follows from this report alone. */
  readonly cancellation?: CancellationReport & { readonly serviceRefundId?: string; readonly refunded?: Money };
  /** The conditions of a refund that are not met, in the words of the service. */
  readonly unmetConditions?: readonly string[];
}

/**
 * A report of the service about work, by webhook or as the answer to a read. The inbox row is the record: a new run
 * reads unhandled reports from there.
 */
export interface ServiceObservation {
  /** Key of the inbox row. The same row twice has no second effect. */
  readonly inboxId: string;
  /**
   * Epoch of the database when the row was read. PostgreSQL may lose that a row was handled: in another epoch the
   * same row counts again.
   */
  readonly epoch?: string;
  readonly source: 'webhook' | 'read';
  readonly attemptNumber: number;
  readonly outcome: ObservedOutcome;
  /** The decision of the relay. A report that is already `known` is not signalled. */
  readonly decision: Exclude<ObservationDecision, 'known'>;
}
