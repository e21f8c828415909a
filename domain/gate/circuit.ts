/** A condition of the whole service, or of our account, is found out once, not by every purchase. */
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { backoffMs, spreadMs } from '#domain/policy/settings.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';

export const circuitNames = [
  'service_down',
  'not_approved',
  'unauthorized',
  'rate_limited',
  'insufficient_balance',
] as const satisfies readonly FailureClass[];
export type CircuitName = (typeof circuitNames)[number];

/** `atOnce`: one failure opens the circuit, since a retry does not help. */
export const CIRCUITS: Readonly<
  Record<CircuitName, { readonly classes: readonly FailureClass[]; readonly atOnce?: true }>
> = {
  service_down: { classes: ['not_sent', 'timeout', 'connection_lost', 'server_error'] },
  not_approved: { classes: ['not_approved'], atOnce: true },
  unauthorized: { classes: ['unauthorized'] },
  rate_limited: { classes: ['rate_limited'] },
  insufficient_balance: { classes: ['insufficient_balance'] },
};

/**
 * `open`: purchases are held without a call. `probing`: held, except one canary. `releasing`: new purchases pass, and
 * held ones follow at a set rate.
 */
export const CIRCUIT_STATES = ['closed', 'open', 'probing', 'releasing'] as const;
export type CircuitState = (typeof CIRCUIT_STATES)[number];

/**
 * `failed`, `succeeded`: the result of a send that is not the canary. `purchased`: the service accepted such a send.
 * `canary_lost`: it showed nothing or did not report in time. `drained`: no work is held any more. `idle`: a canary has
 * been due for `circuitIdleMs` and no work waits.
 */
export const CIRCUIT_EVENTS = [
  'failed',
  'succeeded',
  'purchased',
  'probe_started',
  'canary_failed',
  'canary_succeeded',
  'canary_lost',
  'drained',
  'idle',
] as const;
export type CircuitEvent = (typeof CIRCUIT_EVENTS)[number];

/**
 * `count`: one more failure in a row. `probe_soon`: the next canary may go at once. `reopen`: with a longer delay;
 * `try_another`: with a short one. `close_on_trial`: the next failure opens it again.
 */
type CircuitDecision =
  | 'stay'
  | 'count'
  | 'reset'
  | 'probe'
  | 'probe_soon'
  | 'reopen'
  | 'try_another'
  | 'release'
  | 'close'
  | 'close_on_trial';

/**
 * A send that ends while the circuit is open or probing began before: its failure says nothing new. A purchase proves
 * as much as a canary. Without work no canary would ever close an idle circuit.
 */
const CIRCUIT_TABLE: Readonly<Record<CircuitEvent, Readonly<Record<CircuitState, CircuitDecision>>>> = {
  failed: { closed: 'count', open: 'stay', probing: 'stay', releasing: 'reopen' },
  succeeded: { closed: 'reset', open: 'probe_soon', probing: 'stay', releasing: 'stay' },
  purchased: { closed: 'reset', open: 'release', probing: 'release', releasing: 'stay' },
  probe_started: { closed: 'stay', open: 'probe', probing: 'stay', releasing: 'stay' },
  // In an open circuit: a canary that had been given up as lost.
  canary_failed: { closed: 'count', open: 'stay', probing: 'reopen', releasing: 'reopen' },
  canary_succeeded: { closed: 'reset', open: 'release', probing: 'release', releasing: 'stay' },
  canary_lost: { closed: 'stay', open: 'stay', probing: 'try_another', releasing: 'stay' },
  drained: { closed: 'stay', open: 'stay', probing: 'stay', releasing: 'close' },
  idle: { closed: 'stay', open: 'close_on_trial', probing: 'stay', releasing: 'stay' },
};

export interface Circuit {
  readonly state: CircuitState;
  readonly failures: number;
  /** Since it was last closed; sets the back-off. */
  readonly openings: number;
  /** The next canary may pass from then on; null unless open. */
  readonly probeAt: Date | null;
  /** The canary then counts as lost; null unless probing. */
  readonly canaryUntil: Date | null;
}

export const CLOSED_CIRCUIT: Circuit = { state: 'closed', failures: 0, openings: 0, probeAt: null, canaryUntil: null };

export type CircuitPolicy = Pick<
  GatePolicy,
  'circuitFailures' | 'probeDelayMs' | 'probeDelayMaxMs' | 'canaryLeaseMs' | 'circuitIdleMs'
>;

/** `now` in epoch milliseconds. @param happening.retryAfterMs with a failure: the wait that the service asked for. */
export function afterCircuitEvent(
  name: CircuitName,
  circuit: Circuit,
  happening: { readonly event: CircuitEvent; readonly now: number; readonly retryAfterMs?: number | undefined },
  policy: CircuitPolicy,
): Circuit {
  const { event, now, retryAfterMs } = happening;
  switch (CIRCUIT_TABLE[event][circuit.state]) {
    case 'stay':
      return circuit;
    case 'reset':
    case 'close':
      return CLOSED_CIRCUIT;
    case 'count': {
      const failures = circuit.failures + 1;
      if (failures < policy.circuitFailures && CIRCUITS[name].atOnce !== true) return { ...circuit, failures };
      return opened(name, { ...circuit, failures }, now, policy, retryAfterMs);
    }
    case 'probe':
      return { ...circuit, state: 'probing', probeAt: null, canaryUntil: new Date(now + policy.canaryLeaseMs) };
    case 'probe_soon':
      return { ...circuit, probeAt: new Date(Math.min(circuit.probeAt?.getTime() ?? now, now)) };
    case 'reopen':
      return opened(name, circuit, now, policy, retryAfterMs);
    case 'try_another':
      return {
        ...circuit,
        state: 'open',
        probeAt: new Date(now + Math.min(TRY_ANOTHER_MS, policy.probeDelayMs)),
        canaryUntil: null,
      };
    case 'release':
      return { ...circuit, state: 'releasing', failures: 0, probeAt: null, canaryUntil: null };
    case 'close_on_trial':
      return { ...circuit, state: 'closed', failures: policy.circuitFailures - 1, probeAt: null };
  }
}

/** A canary has been due for `circuitIdleMs`, and no work waits that could be one. */
export function isIdle({ state, probeAt }: Circuit, isAwaited: boolean, now: number, policy: CircuitPolicy): boolean {
  return state === 'open' && !isAwaited && probeAt !== null && probeAt.getTime() + policy.circuitIdleMs <= now;
}

/** Wait after a lost canary: short, but no tight loop. */
const TRY_ANOTHER_MS = 1_000;

function opened(name: CircuitName, circuit: Circuit, now: number, policy: CircuitPolicy, retryAfterMs = 0): Circuit {
  const openings = circuit.openings + 1;
  const probeAt = new Date(now + Math.max(probeDelayMs(name, openings, policy), retryAfterMs));
  return { ...circuit, state: 'open', openings, probeAt, canaryUntil: null };
}

/** Milliseconds. Spread by up to a fifth so that several installations do not probe at the same time. */
export function probeDelayMs(name: CircuitName, openings: number, policy: CircuitPolicy): number {
  const base = backoffMs(policy.probeDelayMs, policy.probeDelayMaxMs, openings);
  return spreadMs(base, seeded(`${name}/${openings}`));
}

function seeded(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash / 0xffffffff;
}

/** `canary`: its result decides about the circuit. @param candidate.isOldest of the work held at this circuit. */
export function judgeAtCircuit(
  circuit: Pick<Circuit, 'state' | 'probeAt'>,
  candidate: Readonly<Record<'isCanary' | 'isWaiting' | 'isOldest' | 'isReleased', boolean>>,
  now: number,
): 'pass' | 'canary' | 'hold' {
  switch (circuit.state) {
    case 'closed':
      return 'pass';
    case 'releasing':
      // Held work passes in its turn. New work does not queue behind it, so the queue always ends.
      return candidate.isWaiting && !candidate.isReleased ? 'hold' : 'pass';
    case 'probing':
      return candidate.isCanary || candidate.isReleased ? 'pass' : 'hold';
    case 'open':
      if (candidate.isReleased) return 'canary';
      return candidate.isOldest && circuit.probeAt !== null && circuit.probeAt.getTime() <= now ? 'canary' : 'hold';
  }
}

export function circuitSentence(name: CircuitName): string {
  return FAILURE_CLASSES[name].meaning;
}

/** `none`: no request reached the service. */
export type SendEvidence =
  | { readonly kind: 'accepted' | 'none' }
  | { readonly kind: 'failure'; readonly failure: FailureClass };

export function evidenceFor(name: CircuitName, evidence: SendEvidence): 'failed' | 'succeeded' | 'nothing' {
  if (evidence.kind !== 'failure') return evidence.kind === 'none' ? 'nothing' : 'succeeded';
  if (CIRCUITS[name].classes.includes(evidence.failure)) return 'failed';
  return SHOWS_OVER[evidence.failure].includes(name) ? 'succeeded' : 'nothing';
}

export function sendEventFor(
  name: CircuitName,
  circuit: Pick<Circuit, 'state' | 'failures'> | undefined,
  isCanary: boolean,
  evidence: SendEvidence,
): CircuitEvent | undefined {
  const shown = evidenceFor(name, evidence);
  if (isCanary) return shown === 'nothing' ? 'canary_lost' : `canary_${shown}`;
  if (shown === 'failed') return 'failed';
  if (shown === 'nothing' || circuit === undefined) return undefined;
  if (circuit.state === 'closed' && circuit.failures === 0) return undefined;
  return evidence.kind === 'accepted' ? 'purchased' : 'succeeded';
}

/** The service answered our login. This does not show that it would sell. */
const ANSWERED = ['service_down', 'unauthorized', 'rate_limited'] as const;

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
