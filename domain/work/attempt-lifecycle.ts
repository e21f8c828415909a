/** The storage takes the next state from this table. */
import type { AttemptState, ObservedOutcome } from '#domain/relay/observation.ts';

export const ATTEMPT_EVENTS = {
  claimed:
    'A worker took the lease for a send. A running send is replaced only when its lease has ended without a result.',
  refused: 'The answer proves that nothing was bought, and no earlier send may have bought it.',
  refused_after_unknown: 'The same, but an earlier send may have bought it.',
  unproven: 'The send did not show the outcome.',
  processing: 'The service reports that it is processing it.',
  completed: 'The service reports that it sold it.',
  failed: 'The service reports that it failed.',
  delivered: 'The delivery is stored, and the work is completed.',
  records_lost: 'PostgreSQL has lost commits: the row is older than the memory of the workflow, so it proves nothing.',
  verdict_bought: 'An operator reports that it is bought, and nothing more must be read from the service.',
  verdict_bought_unseen: 'An operator reports that it is bought; its delivery must be read from the service.',
  verdict_bought_undecided: 'An operator reports that the eSIM is cancelled; its refund is still expected.',
  verdict_not_bought: 'An operator reports that the service sold nothing for it.',
} as const;

export type AttemptEvent = keyof typeof ATTEMPT_EVENTS;

/** `unchanged`: known already or too late. `forbidden`: it must not happen. */
type Next = AttemptState | 'unchanged' | 'forbidden';

export const ATTEMPT_LIFECYCLE = {
  // An attempt that the service has is never sent again.
  claimed: {
    prepared: 'sending',
    sending: 'sending',
    unknown: 'sending',
    refused: 'sending',
    processing: 'forbidden',
    completed: 'forbidden',
    failed: 'forbidden',
  },
  // A send that never began has no result; after a report of the service the result of a send no longer matters.
  refused: {
    prepared: 'forbidden',
    sending: 'refused',
    unknown: 'unchanged',
    refused: 'unchanged',
    processing: 'unchanged',
    completed: 'unchanged',
    failed: 'unchanged',
  },
  refused_after_unknown: {
    prepared: 'forbidden',
    sending: 'unknown',
    unknown: 'unchanged',
    refused: 'unchanged',
    processing: 'unchanged',
    completed: 'unchanged',
    failed: 'unchanged',
  },
  unproven: {
    prepared: 'forbidden',
    sending: 'unknown',
    unknown: 'unchanged',
    refused: 'unchanged',
    processing: 'unchanged',
    completed: 'unchanged',
    failed: 'unchanged',
  },
  // Progress only goes forward. An order after a refusal: the report of the service is taken.
  processing: {
    prepared: 'processing',
    sending: 'processing',
    unknown: 'processing',
    refused: 'processing',
    processing: 'unchanged',
    completed: 'unchanged',
    failed: 'unchanged',
  },
  completed: {
    prepared: 'completed',
    sending: 'completed',
    unknown: 'completed',
    refused: 'completed',
    processing: 'completed',
    completed: 'unchanged',
    failed: 'unchanged',
  },
  failed: {
    prepared: 'failed',
    sending: 'failed',
    unknown: 'failed',
    refused: 'failed',
    processing: 'failed',
    completed: 'unchanged',
    failed: 'unchanged',
  },
  // A stored delivery proves the purchase, whatever was reported before.
  delivered: {
    prepared: 'completed',
    sending: 'completed',
    unknown: 'completed',
    refused: 'completed',
    processing: 'completed',
    completed: 'completed',
    failed: 'completed',
  },
  // `operator-actions.ts` has checked these verdicts; they apply in every state.
  records_lost: {
    prepared: 'unknown',
    sending: 'unknown',
    unknown: 'unknown',
    refused: 'unknown',
    processing: 'unchanged',
    completed: 'unchanged',
    failed: 'unknown',
  },
  verdict_bought: {
    prepared: 'completed',
    sending: 'completed',
    unknown: 'completed',
    refused: 'completed',
    processing: 'completed',
    completed: 'completed',
    failed: 'completed',
  },
  verdict_bought_unseen: {
    prepared: 'unknown',
    sending: 'unknown',
    unknown: 'unknown',
    refused: 'unknown',
    processing: 'unknown',
    completed: 'unknown',
    failed: 'unknown',
  },
  verdict_bought_undecided: {
    prepared: 'processing',
    sending: 'processing',
    unknown: 'processing',
    refused: 'processing',
    processing: 'processing',
    completed: 'processing',
    failed: 'processing',
  },
  verdict_not_bought: {
    prepared: 'failed',
    sending: 'failed',
    unknown: 'failed',
    refused: 'failed',
    processing: 'failed',
    completed: 'failed',
    failed: 'failed',
  },
} as const satisfies Record<AttemptEvent, Record<AttemptState, Next>>;

/** @throws RangeError when the event must not happen in this state. */
export function attemptStateAfter(state: AttemptState, event: AttemptEvent): AttemptState {
  const next: Next = ATTEMPT_LIFECYCLE[event][state];
  if (next === 'forbidden') throw new RangeError(`an attempt that is ${state} cannot be ${event}`);
  return next === 'unchanged' ? state : next;
}

export function isSettledByService(state: AttemptState): state is ObservedOutcome {
  return ATTEMPT_LIFECYCLE.claimed[state] === 'forbidden';
}
