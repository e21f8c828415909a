/**
 * What a report of the service means, whether by webhook or in answer to a look-up. The two tables of this file decide
 * about reports that come early, late, twice or out of order.
 */
import { isFinal, type FinalStatus, type WorkStatus } from '#domain/work/lifecycle.ts';

/** What the service reports about a purchase. */
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

/** The decision about an observation. */
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

/** The work that an observation is about. */
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

/** Decides what a reported end of a subscription means. */
export function judgeSubscriptionEnd(
  known: SubscriptionEnd | undefined,
  reported: SubscriptionEnd | undefined,
): 'known' | 'advance' {
  return reported !== undefined && known === undefined ? 'advance' : 'known';
}
