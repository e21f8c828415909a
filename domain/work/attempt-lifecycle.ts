import type { AttemptState, ObservedOutcome } from '#domain/relay/observation.ts';

export type AttemptEvent =
  /** A worker took the lease for a send. A running send is replaced only when its lease has ended without a result. */
  | 'claimed'
  /** The answer proves that nothing was bought, and no earlier send may have bought it. */
  | 'refused'
  /** The same, but an earlier send may have bought it. */
  | 'refused_after_unknown'
  /** The send did not show the outcome. */
  | 'unproven'
  /** The service reports that it is processing it, sold it, or failed. */
  | ObservedOutcome
  /** The delivery is stored, and the work is completed. */
  | 'delivered'
  /** PostgreSQL has lost commits: the row is older than the memory of the workflow, so it proves nothing. */
  | 'records_lost'
  /** An operator reports that it is bought, and nothing more must be read from the service. */
  | 'verdict_bought'
  /** An operator reports that it is bought; its delivery must be read from the service. */
  | 'verdict_bought_unseen'
  /** An operator reports that the eSIM is cancelled; its refund is still expected. */
  | 'verdict_bought_undecided'
  /** An operator reports that the service sold nothing for it. */
  | 'verdict_not_bought';

/** `unchanged`: known already or too late. `forbidden`: it must not happen. */
type Next = AttemptState | 'unchanged' | 'forbidden';

const HELD_BY_SERVICE = { processing: 'forbidden', completed: 'forbidden', failed: 'forbidden' } as const;
/** A send that never began has no result; after a report of the service the result of a send no longer matters. */
const resultOfSend = (next: AttemptState) => fromAll('unchanged', { prepared: 'forbidden', sending: next });

/** The storage takes the next state from this table. */
export const ATTEMPT_LIFECYCLE: Readonly<Record<AttemptEvent, Readonly<Record<AttemptState, Next>>>> = {
  // An attempt that the service has is never sent again.
  claimed: fromAll('sending', HELD_BY_SERVICE),
  refused: resultOfSend('refused'),
  refused_after_unknown: resultOfSend('unknown'),
  unproven: resultOfSend('unknown'),
  // Progress only goes forward. An order after a refusal: the report of the service is taken.
  processing: fromAll('processing', { completed: 'unchanged', failed: 'unchanged' }),
  completed: fromAll('completed', { failed: 'unchanged' }),
  failed: fromAll('failed', { completed: 'unchanged' }),
  // A stored delivery proves the purchase, whatever was reported before.
  delivered: fromAll('completed'),
  records_lost: fromAll('unknown', { processing: 'unchanged', completed: 'unchanged' }),
  // `operator-actions.ts` has checked these verdicts; they apply in every state.
  verdict_bought: fromAll('completed'),
  verdict_bought_unseen: fromAll('unknown'),
  verdict_bought_undecided: fromAll('processing'),
  verdict_not_bought: fromAll('failed'),
};

function fromAll(next: Next, except: Partial<Record<AttemptState, Next>> = {}): Record<AttemptState, Next> {
  const all = { prepared: next, sending: next, unknown: next, refused: next };
  return { ...all, processing: next, completed: next, failed: next, ...except };
}

/** In the order of an attempt's life. A send may be under way, have an unknown outcome, or have bought. */
export const MAY_BE_BOUGHT: readonly AttemptState[] = ['sending', 'unknown', 'processing', 'completed'];

/** @throws RangeError when the event must not happen in this state. */
export function attemptStateAfter(state: AttemptState, event: AttemptEvent): AttemptState {
  const next = ATTEMPT_LIFECYCLE[event][state];
  if (next === 'forbidden') throw new RangeError(`an attempt that is ${state} cannot be ${event}`);
  return next === 'unchanged' ? state : next;
}

/** It must not be sent again. `processing` is no end: see {@link ATTEMPT_LIFECYCLE}. */
export function isKnownToService(state: AttemptState): state is ObservedOutcome {
  return ATTEMPT_LIFECYCLE.claimed[state] === 'forbidden';
}
