/**
 * The life of one try to buy as a table: which state follows when something happens to it. The database layer reads the
 * next state here. What a word of the service means for the work besides, such as a contradiction, stands in
 * `observation.ts`.
 */
import type { AttemptState, ObservedOutcome } from '#domain/relay/observation.ts';

/** What can happen to an attempt. */
export const ATTEMPT_EVENTS = {
  claimed:
    'The right to send it was taken; of one that is being sent, because that send left no result before its ' +
    'lease ran out.',
  refused: 'The send proved that it bought nothing, and no send before it may have bought.',
  refused_after_unknown: 'The same, but a send before it may have bought.',
  unproven: 'The send proved nothing.',
  processing: 'The service says that it is working on it.',
  completed: 'The service says that it has sold it.',
  failed: 'The service says that it has not.',
  delivered: 'What was bought is stored, and the work is done.',
  records_lost: 'PostgreSQL has lost commits: the row knows less than the workflow, so that it proves nothing.',
  verdict_bought: 'A person says that it is bought, and there is nothing left to ask the service for.',
  verdict_bought_unseen: 'A person says that it is bought; the service is to be asked for what it sold.',
  verdict_bought_undecided: 'A person says that the eSIM is cancelled; its refund is still waited for.',
  verdict_not_bought: 'A person says that the service sold nothing for it.',
} as const;

export type AttemptEvent = keyof typeof ATTEMPT_EVENTS;

/** `unchanged`: it is known already, or comes too late to move anything. `forbidden`: it must not happen. */
type Next = AttemptState | 'unchanged' | 'forbidden';

/** By what happens, and by the state that it finds. Every pair has a decision. */
export const ATTEMPT_LIFECYCLE = {
  // What the service has is never sent again.
  claimed: {
    prepared: 'sending',
    sending: 'sending',
    unknown: 'sending',
    refused: 'sending',
    processing: 'forbidden',
    completed: 'forbidden',
    failed: 'forbidden',
  },
  // Before the first send there is none that could come to anything; after a word of the service what it came to is
  // history.
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
  // Progress only goes forward. A refusal and then an order after all: the service knows better what it sold.
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
  // What we hold in our hands is bought, whatever was said of it.
  delivered: {
    prepared: 'completed',
    sending: 'completed',
    unknown: 'completed',
    refused: 'completed',
    processing: 'completed',
    completed: 'completed',
    failed: 'completed',
  },
  // Whether a person may say so was judged before (`operator-actions.ts`); then it is so, from wherever it stood.
  // What the row knows of the service is true all the same.
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

/** The state that an attempt has after something happened to it. @throws RangeError when that must not happen. */
export function attemptStateAfter(state: AttemptState, event: AttemptEvent): AttemptState {
  const next: Next = ATTEMPT_LIFECYCLE[event][state];
  if (next === 'forbidden') throw new RangeError(`an attempt that is ${state} cannot be ${event}`);
  return next === 'unchanged' ? state : next;
}

/**
 * True when the service has the attempt, so that nothing is sent for it any more: its state is then the word of the
 * service.
 */
export function isSettledByService(state: AttemptState): state is ObservedOutcome {
  return ATTEMPT_LIFECYCLE.claimed[state] === 'forbidden';
}
