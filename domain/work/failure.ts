/**
 * The closed catalogue of failures of a send to the service, and what each means for money.
 *
 * A class is *definite* when it proves that this send bought nothing, and *unknown* when the service may have bought
 * although we have no readable answer. Every result of the client maps to exactly one class.
 */

/** How the workflow continues after a definite failure. An unknown result is always resent or looked up. */
type Disposition =
  /** Does not pass: the order fails for good. */
  | 'fail'
  /** Passes by itself or after a correction elsewhere: the work is held, and the same attempt is sent again. */
  | 'hold'
  /** The service knows the key or reference already: look the attempt up. */
  | 'look_up'
  /** The attempt is over; a new one is allowed once there is evidence (rule 3). */
  | 'new_attempt';

interface FailureClassRow {
  readonly certainty: 'definite' | 'unknown';
  readonly disposition: Disposition;
  /** True when we found the failure ourselves: it does not show that the service answers. */
  readonly withoutAnswer?: true;
  readonly meaning: string;
  readonly advice: string;
}

export const FAILURE_CLASSES = {
  invalid_request: {
    certainty: 'definite',
    disposition: 'fail',
    meaning: 'The service refused the request as malformed or not allowed.',
    advice: 'Compare the request with the package list; submit it corrected, under a new reference.',
  },
  package_unavailable: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service does not sell this package at the moment.',
    advice:
      'Compare package_id with the package list. It goes on when the package is sold again, and fails at its deadline.',
  },
  price_above_limit: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The price charged to the reseller is above the max_price that the caller set.',
    advice:
      'Wait for the price to fall, or change the limit. One in another currency than the price allows none: change it.',
  },
  topup_not_offered: {
    certainty: 'definite',
    disposition: 'fail',
    meaning: 'The service does not offer this package as a top-up of the eSIM.',
    advice: 'Choose one of the top-up options of the eSIM, and submit a new top-up.',
  },
  margin_too_low: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service charges the reseller more than the customer pays.',
    advice: 'Wait for the price to fall, or give it up and sell the plan at another price.',
  },
  esim_busy: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning: 'Another top-up or a cancellation of the same eSIM is not settled yet; only one may be under way.',
    advice: 'Nothing: it goes on when the other one has ended. Should that one wait for a person, look at it first.',
  },
  cancellation_refused: {
    certainty: 'definite',
    disposition: 'fail',
    meaning: 'The service refuses the cancellation.',
    advice: 'Read the cancellation preflight of the eSIM; what is used or installed is not taken back.',
  },
  refund_not_expected: {
    certainty: 'definite',
    disposition: 'fail',
    meaning: 'A condition of the automatic refund is not met, so nothing was sent.',
    advice: 'Submit it with accept_without_refund, if the eSIM is to be cancelled all the same.',
  },
  refund_uncertain: {
    certainty: 'definite',
    disposition: 'fail',
    meaning: 'This service shows too little to tell whether the conditions of the refund are met, so nothing was sent.',
    advice: 'Submit it with accept_without_refund, if the eSIM is to be cancelled all the same.',
  },
  insufficient_balance: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The wallet at the service does not cover the price.',
    advice: 'Deposit money into the wallet; what is held goes on by itself.',
  },
  not_approved: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service has not approved this reseller for production yet.',
    advice: 'Ask the service for approval, or use SERVICE_MODE=sandbox.',
  },
  unauthorized: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service refuses our token even after a fresh login, or refuses the login.',
    advice: 'Check SERVICE_EMAIL and SERVICE_PASSWORD.',
  },
  rate_limited: {
    certainty: 'definite',
    disposition: 'hold',
    meaning: 'The service asks us to slow down.',
    advice: 'Nothing: it goes on by itself after the time the service named.',
  },
  not_sent: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning: 'No connection to the service could be opened, so nothing was sent.',
    advice: 'Check the network and SERVICE_BASE_URL; what is held goes on by itself.',
  },
  service_down: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning: 'The service did not answer others just before, so nothing was sent.',
    advice:
      'Nothing: one purchase tries it from time to time, and once it answers the others follow, oldest first. ' +
      '`release` lets this one try now.',
  },
  spend_limit_reached: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning: 'What may be spent in a day is spent.',
    advice: 'Wait for the next day (UTC), or raise the limit: POLICY_SPEND_LIMIT, or that of the API key.',
  },
  purchases_paused: {
    certainty: 'definite',
    disposition: 'hold',
    withoutAnswer: true,
    meaning: 'Buying is paused: by an operator, or by the product until the shapes of the answers have been seen.',
    advice:
      'See `GET /v1/purchase-gate` for who and why. It goes on when the pause is released; `release` lets this ' +
      'one through now.',
  },
  deadline_passed: {
    certainty: 'definite',
    disposition: 'fail',
    withoutAnswer: true,
    meaning: 'The deadline passed while it was held; nothing was bought.',
    advice: 'Submit it anew, under a new reference, if it is still wanted.',
  },
  key_or_reference_used: {
    certainty: 'unknown',
    disposition: 'look_up',
    meaning: 'The service says that this key or reference is already used.',
    advice: 'Nothing at first: it is looked up at the service.',
  },
  supplier_failed: {
    certainty: 'definite',
    disposition: 'new_attempt',
    meaning: 'The service accepted the purchase and then reported it as failed.',
    advice: 'Nothing at first: the wallet is checked before anything is bought anew.',
  },
  timeout: {
    certainty: 'unknown',
    disposition: 'look_up',
    meaning: 'The service did not answer in time; it may have done what was asked.',
    advice: 'Nothing at first: the same bytes are sent again with the same key, then it is looked up.',
  },
  connection_lost: {
    certainty: 'unknown',
    disposition: 'look_up',
    meaning: 'The connection broke after the request was sent; the service may have done what was asked.',
    advice: 'Nothing at first: the same bytes are sent again with the same key, then it is looked up.',
  },
  server_error: {
    certainty: 'unknown',
    disposition: 'look_up',
    meaning: 'The service answered with a server error; it may have done what was asked.',
    advice: 'Nothing at first: the same bytes are sent again with the same key, then it is looked up.',
  },
  unreadable_answer: {
    certainty: 'unknown',
    disposition: 'look_up',
    meaning: 'The answer of the service could not be read (not JSON, too large, a redirect, or an unexpected status).',
    advice: 'Check that SERVICE_BASE_URL points at the service itself.',
  },
  contract_drift: {
    certainty: 'unknown',
    disposition: 'look_up',
    meaning: 'The answer of the service lacks something that we need; its interface may have changed.',
    advice: 'Compare the interface of the service with the contract before anything else.',
  },
  worker_lost: {
    certainty: 'unknown',
    disposition: 'look_up',
    meaning:
      'The process that sent the request died before it recorded the answer; the service may have done what was asked.',
    advice: 'Nothing at first: the same bytes are sent again with the same key, then it is looked up.',
  },
} as const satisfies Record<string, FailureClassRow>;

/** Name of a failure class; stable, shown in the API (`failure.class`) and as the search attribute `FailureClass`. */
export type FailureClass = keyof typeof FAILURE_CLASSES;

export const failureClasses = Object.keys(FAILURE_CLASSES) as readonly FailureClass[];

/** True when this failure proves that the send bought nothing. */
export function isDefinite(failure: FailureClass): boolean {
  return FAILURE_CLASSES[failure].certainty === 'definite';
}

/** True when this failure is a definite answer of the service; false when we found it ourselves. */
export function isDefiniteAnswer(failure: FailureClass): boolean {
  const { certainty, withoutAnswer }: FailureClassRow = FAILURE_CLASSES[failure];
  return certainty === 'definite' && withoutAnswer !== true;
}

/** A failure as the API, the timeline and the Temporal UI show it. */
export interface FailureDetail {
  readonly class: FailureClass;
  /** A sentence for the reader; never holds personal data. */
  readonly detail: string;
}

const FAILS_EVERY_CALL: ReadonlySet<FailureClass> = new Set([
  'not_sent',
  'timeout',
  'connection_lost',
  'rate_limited',
  'unauthorized',
  'not_approved',
]);

/** True when every further call of the same batch would fail in the same way, so that the batch stops. */
export function failsEveryCall(failure: FailureClass): boolean {
  return FAILS_EVERY_CALL.has(failure);
}
