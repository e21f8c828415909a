/**
 * What to make of what the service says, by webhook or in answer to a read. Everything that comes early, late, twice
 * or out of order is decided by the two tables of this file.
 */
import { isFinal, type FinalStatus, type WorkStatus } from '#domain/work/lifecycle.ts';

/** What the service says of a purchase. */
export const OBSERVED_OUTCOMES = ['processing', 'completed', 'failed'] as const;
export type ObservedOutcome = (typeof OBSERVED_OUTCOMES)[number];

/**
 * State of one try to buy. `sending`: a send is under way, or its process died. `unknown`: the service may have
 * bought. `refused`: it provably has not. The last three are the service's own words.
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

/** What to do with an observation. */
export type ObservationDecision =
  /** It tells something new: move on. */
  | 'advance'
  /** It says what is known already, or something older: note it, change nothing. */
  | 'known'
  /** It contradicts what was known: stop, open a case, never buy again without a person. */
  | 'contradiction';

/** For an attempt whose work is open. Every pair of state and outcome has a decision. */
export const ATTEMPT_DECISIONS = {
  prepared: { processing: 'advance', completed: 'advance', failed: 'advance' },
  sending: { processing: 'advance', completed: 'advance', failed: 'advance' },
  unknown: { processing: 'advance', completed: 'advance', failed: 'advance' },
  // A refusal and then an order after all: the service knows better what it sold.
  refused: { processing: 'advance', completed: 'advance', failed: 'advance' },
  processing: { processing: 'known', completed: 'advance', failed: 'advance' },
  completed: { processing: 'known', completed: 'known', failed: 'contradiction' },
  failed: { processing: 'known', completed: 'contradiction', failed: 'known' },
} as const satisfies Record<AttemptState, Record<ObservedOutcome, ObservationDecision>>;

/** For work that has ended: nothing advances any more. */
export const FINISHED_DECISIONS = {
  completed: { processing: 'known', completed: 'known', failed: 'contradiction' },
  failed: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
  abandoned: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
  // Of subscriptions, which were bought before they ended.
  cancelled: { processing: 'known', completed: 'known', failed: 'contradiction' },
  expired: { processing: 'known', completed: 'known', failed: 'contradiction' },
  // Of cancellations.
  refused: { processing: 'contradiction', completed: 'contradiction', failed: 'known' },
} as const satisfies Record<FinalStatus, Record<ObservedOutcome, 'known' | 'contradiction'>>;

/** How a subscription ends at the service. Whatever has ended was bought before. */
export const SUBSCRIPTION_ENDS = ['cancelled', 'expired'] as const;
export type SubscriptionEnd = (typeof SUBSCRIPTION_ENDS)[number];

/** What is known of the work that an observation speaks of. */
export interface ObservedWork {
  readonly status: WorkStatus;
  readonly attemptState: AttemptState;
  /** False when the work has gone on to a later attempt. */
  readonly latestAttempt: boolean;
}

/**
 * Decides what an observation means.
 *
 * @param followUp what it means for the time after the purchase: the end of a subscription, the refund of a cancellation.
 */
export function judgeObservation(
  work: ObservedWork,
  outcome: ObservedOutcome,
  followUp: ObservationDecision = 'known',
): ObservationDecision {
  if (followUp === 'contradiction') return followUp;
  const { status, attemptState, latestAttempt } = work;
  if (isFinal(status)) {
    // Of a failed attempt it is no news that it failed, whatever came of the work; completed after all, it was
    // bought once too often.
    if (attemptState === 'failed') return outcome === 'completed' ? 'contradiction' : 'known';
    return FINISHED_DECISIONS[status][outcome];
  }
  const decision = ATTEMPT_DECISIONS[attemptState][outcome];
  // An attempt that was given up may not come back to life: two would be bought.
  if (!latestAttempt && decision === 'advance') return 'contradiction';
  return decision === 'known' ? followUp : decision;
}

/**
 * False when the service has sold something else under our reference or id than was ordered, as when somebody bought by
 * hand: that is never taken for ours.
 *
 * @param ordered id of the package or plan.
 * @param sold the same, as far as the service says it.
 */
export function isAsOrdered(ordered: number | undefined, sold: number | undefined): boolean {
  return ordered === undefined || sold === undefined || ordered === sold;
}

/** What the end of a subscription means, given what is known of it. */
export function judgeSubscriptionEnd(
  known: SubscriptionEnd | undefined,
  told: SubscriptionEnd | undefined,
): 'known' | 'advance' {
  return told !== undefined && known === undefined ? 'advance' : 'known';
}
