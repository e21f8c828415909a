import { HOLD_REASONS } from '#domain/work/hold-reasons.ts';

/** What follows a definite failure. An unknown result is always resent or looked up. */
type Disposition =
  | 'fail'
  | 'hold'
  | 'look_up'
  /** A new attempt is allowed once there is evidence (rule 3 of docs/reference/rules.md). */
  | 'new_attempt';

interface FailureClassRow {
  /** *Definite*: the send provably bought nothing. *Unknown*: the service may have bought. */
  readonly certainty: 'definite' | 'unknown';
  readonly disposition: Disposition;
  /** We found it ourselves: it does not show that the service answers. */
  readonly withoutAnswer?: true;
  readonly meaning: string;
  readonly advice: string;
}

const REFUSED = { certainty: 'definite', disposition: 'fail' } as const;
const UNKNOWN = { certainty: 'unknown', disposition: 'look_up' } as const;

export const FAILURE_CLASSES = {
  invalid_request: {
    ...REFUSED,
    meaning: 'The service refused the request as malformed or not allowed.',
    advice: 'Compare the request with the list of packages or VPN plans; submit it corrected, as a new request.',
  },
  topup_not_offered: {
    ...REFUSED,
    meaning: 'The service does not offer this package as a top-up of the eSIM.',
    advice: 'Choose one of the top-up options of the eSIM, and submit a new top-up.',
  },
  cancellation_refused: {
    ...REFUSED,
    meaning: 'The service refuses the cancellation.',
    advice: 'Read the cancellation preflight of the eSIM; the service does not refund a used or installed eSIM.',
  },
  refund_not_expected: {
    ...REFUSED,
    meaning: 'A condition of the automatic refund is not met, so nothing was sent.',
    advice: 'Submit it with another on_unmet_conditions: ask_for_review or cancel_without_refund.',
  },
  refund_uncertain: {
    ...REFUSED,
    meaning: 'The service does not show whether the conditions of the refund are met, so nothing was sent.',
    advice: 'Submit it with another on_unmet_conditions: ask_for_review or cancel_without_refund.',
  },
  deadline_passed: {
    ...REFUSED,
    withoutAnswer: true,
    meaning: 'The deadline passed before it was sent; nothing was bought.',
    advice: 'If it is still wanted, submit it again with a new Idempotency-Key; the same reference may be used.',
  },
  key_or_reference_used: {
    ...UNKNOWN,
    meaning: 'The service reports that this key or reference is already used.',
    advice: 'No action yet: it is looked up at the service.',
  },
  supplier_failed: {
    certainty: 'definite',
    disposition: 'new_attempt',
    meaning: 'The service accepted the purchase and then reported it as failed.',
    advice: 'No action yet: the wallet is checked before it is bought again.',
  },
  timeout: {
    ...UNKNOWN,
    meaning: 'The service did not answer in time; it may have carried out the request.',
    advice: 'No action yet: the same bytes are sent again with the same key, then it is looked up.',
  },
  connection_lost: {
    ...UNKNOWN,
    meaning: 'The connection broke after the request was sent; the service may have carried out the request.',
    advice: 'No action yet: the same bytes are sent again with the same key, then it is looked up.',
  },
  server_error: {
    ...UNKNOWN,
    meaning: 'The service answered with a server error; it may have carried out the request.',
    advice: 'No action yet: the same bytes are sent again with the same key, then it is looked up.',
  },
  unreadable_answer: {
    ...UNKNOWN,
    meaning: 'The answer of the service could not be read (not JSON, too large, a redirect, or an unexpected status).',
    advice: 'Check that SERVICE_BASE_URL is the address of the service itself.',
  },
  contract_drift: {
    ...UNKNOWN,
    meaning: 'The answer of the service lacks a required field; its interface may have changed.',
    advice: 'Compare the interface of the service with the contract before anything else.',
  },
  worker_lost: {
    ...UNKNOWN,
    meaning:
      'The process that sent the request died before it recorded the answer; the service may have carried out the ' +
      'request.',
    advice: 'No action yet: the same bytes are sent again with the same key, then it is looked up.',
  },
  ...HOLD_REASONS,
} as const satisfies Record<string, FailureClassRow>;

/** Stable: shown in the API and as the search attribute `FailureClass`. */
export type FailureClass = keyof typeof FAILURE_CLASSES;

export const failureClasses = Object.keys(FAILURE_CLASSES) as readonly FailureClass[];

export function isFailureClass(name: string): name is FailureClass {
  return Object.hasOwn(FAILURE_CLASSES, name);
}

const ABOUT_THE_ACCOUNT: ReadonlySet<FailureClass> = new Set([
  'purchases_paused',
  'service_down',
  'insufficient_balance',
  'spend_limit_reached',
  'not_approved',
  'unauthorized',
]);

/** Their details concern the whole account: wallet, reservations, pauses, the amount spent in a day. */
export function isAboutAccount(failure: FailureClass): boolean {
  return ABOUT_THE_ACCOUNT.has(failure);
}

/** By this type the compiler proves that a definite failure is never looked up (`decideAfterSend`). */
type DefiniteClass = {
  [Class in FailureClass]: (typeof FAILURE_CLASSES)[Class]['certainty'] extends 'definite' ? Class : never;
}[FailureClass];

export function isDefinite(failure: FailureClass): failure is DefiniteClass {
  return FAILURE_CLASSES[failure].certainty === 'definite';
}

/** False when we found it ourselves. */
export function isDefiniteAnswer(failure: FailureClass): boolean {
  const { certainty, withoutAnswer }: FailureClassRow = FAILURE_CLASSES[failure];
  return certainty === 'definite' && withoutAnswer !== true;
}

/** What ended the work; `failure.class` keeps the cause. */
export const FAILURE_ENDS = {
  attempts_used_up: {
    meaning: 'All attempts that the retry policy allows failed, and it is proven that none was charged.',
    advice:
      'Find out why the supplier fails. If it is still wanted, submit it again with a new Idempotency-Key; the same ' +
      'reference may be used.',
  },
  deadline_passed: {
    meaning: 'The deadline passed before it could be carried out, and nothing was charged.',
    advice:
      'If it is still wanted, submit it again with a new Idempotency-Key and a later deadline; the same reference ' +
      'may be used.',
  },
} as const satisfies Record<string, { meaning: string; advice: string }>;

export type FailureEnd = keyof typeof FAILURE_ENDS;

export interface FailureDetail {
  readonly class: FailureClass;
  /** Never personal data. It may quote the service, see `foreign-text.ts`. */
  readonly detail: string;
  readonly serviceMessage?: string | undefined;
  readonly endedBy?: FailureEnd | undefined;
}

const FAILS_EVERY_CALL: ReadonlySet<FailureClass> = new Set([
  'not_sent',
  'timeout',
  'connection_lost',
  'rate_limited',
  'unauthorized',
  'not_approved',
]);

/** The batch then stops. */
export function failsEveryCall(failure: FailureClass): boolean {
  return FAILS_EVERY_CALL.has(failure);
}
