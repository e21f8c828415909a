/** Evidence that a send gives about the service's circuits. */
import { CIRCUITS, type Circuit, type CircuitEvent, type CircuitName, type CircuitRow } from '#domain/gate/circuit.ts';
import type { FailureClass } from '#domain/work/failure.ts';

/** The result of a send, or of the read of a price before it. */
export type SendEvidence =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'failure'; readonly failure: FailureClass }
  /** No request reached the service. */
  | { readonly kind: 'none' };

/** Whether a send shows that the condition of a circuit holds (`failed`) or does not hold (`succeeded`). */
export function evidenceFor(name: CircuitName, evidence: SendEvidence): 'failed' | 'succeeded' | 'nothing' {
  if (evidence.kind === 'none') return 'nothing';
  if (evidence.kind === 'accepted') return 'succeeded';
  const { classes }: CircuitRow = CIRCUITS[name];
  if (classes.includes(evidence.failure)) return 'failed';
  return SHOWS_OVER[evidence.failure].includes(name) ? 'succeeded' : 'nothing';
}

/**
 * The event that a send is for a circuit.
 * @param isCanary true when the send was the canary of this circuit.
 * @returns undefined when it changes nothing.
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

/** The service answered, accepted our login and did not limit the rate. This does not show that it would sell. */
const ANSWERED = ['service_down', 'unauthorized', 'rate_limited'] as const;

/** By failure class, the circuits whose condition the answer disproves. */
const SHOWS_OVER: Readonly<Record<FailureClass, readonly CircuitName[]>> = {
  invalid_request: ANSWERED,
  cancellation_refused: ANSWERED,
  refund_not_expected: ANSWERED,
  refund_uncertain: ANSWERED,
  package_unavailable: ANSWERED,
  price_above_limit: ANSWERED,
  topup_not_offered: ANSWERED,
  margin_too_low: ANSWERED,
  key_or_reference_used: ANSWERED,
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
  // A proxy may have answered.
  unreadable_answer: [],
  // Found by ourselves: no request reached the service.
  esim_busy: [],
  service_down: [],
  spend_limit_reached: [],
  purchases_paused: [],
  deadline_passed: [],
  worker_lost: [],
};
