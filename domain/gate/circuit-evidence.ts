/** What a send says of the service's circuits. */
import { CIRCUITS, type Circuit, type CircuitEvent, type CircuitName, type CircuitRow } from '#domain/gate/circuit.ts';
import type { FailureClass } from '#domain/work/failure.ts';

/** What a send, or the read of a price before it, came to. */
export type SendEvidence =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'failure'; readonly failure: FailureClass }
  /** Nothing was asked of the service. */
  | { readonly kind: 'none' };

/** What that says of a condition. */
export function evidenceFor(name: CircuitName, evidence: SendEvidence): 'failed' | 'succeeded' | 'nothing' {
  if (evidence.kind === 'none') return 'nothing';
  if (evidence.kind === 'accepted') return 'succeeded';
  const { classes }: CircuitRow = CIRCUITS[name];
  if (classes.includes(evidence.failure)) return 'failed';
  return SHOWS_OVER[evidence.failure].includes(name) ? 'succeeded' : 'nothing';
}

/**
 * The event that a send is for a circuit.
 *
 * @param isCanary its canary was sent. @returns undefined when it changes nothing.
 */
export function sendEventFor(
  name: CircuitName,
  circuit: Pick<Circuit, 'state' | 'failures'> | undefined,
  isCanary: boolean,
  evidence: SendEvidence,
): CircuitEvent | undefined {
  const shown = evidenceFor(name, evidence);
  if (isCanary)
    return ({ failed: 'canary_failed', succeeded: 'canary_succeeded', nothing: 'canary_lost' } as const)[shown];
  if (shown === 'failed') return 'failed';
  if (shown === 'nothing' || circuit === undefined) return undefined;
  if (circuit.state === 'closed' && circuit.failures === 0) return undefined;
  return evidence.kind === 'accepted' ? 'purchased' : 'succeeded';
}

/** The service answered, knew us and had time for us. That it would sell to us is not said. */
const ANSWERED = ['service_down', 'unauthorized', 'rate_limited'] as const;

/** By class of a failure, the conditions that do not hold, since the service answered in this way. */
const SHOWS_OVER: Readonly<Record<FailureClass, readonly CircuitName[]>> = {
  invalid_request: ANSWERED,
  cancellation_refused: ANSWERED,
  refund_not_expected: ANSWERED,
  refund_uncertain: ANSWERED,
  package_unavailable: ANSWERED,
  price_above_limit: ANSWERED,
  topup_not_offered: ANSWERED,
  margin_too_low: ANSWERED,
  key_or_reference_known: ANSWERED,
  contract_drift: ANSWERED,
  insufficient_balance: [...ANSWERED, 'not_approved'],
  not_approved: ANSWERED,
  supplier_failed: [...ANSWERED, 'not_approved', 'insufficient_balance'],
  unauthorized: ['service_down'],
  rate_limited: ['service_down'],
  not_sent: [],
  timeout: [],
  connection_lost: [],
  server_error: [],
  // It may be of a proxy.
  unreadable_answer: [],
  // Of our own making: the service was not asked.
  esim_busy: [],
  service_down: [],
  spend_limit_reached: [],
  buying_paused: [],
  deadline_passed: [],
  worker_lost: [],
};
