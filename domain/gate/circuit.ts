import type { GatePolicy } from '#domain/policy/gate-policy.ts';
/**
 * The service's circuits. A condition of the service as a whole, or of our account there, is found out once instead of
 * by every purchase. Each condition has one circuit; the table below is the lifecycle of all of them.
 */
import { backoffMs } from '#domain/retry/backoff.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';

export interface CircuitRow {
  /** Failure classes that show this condition. */
  readonly classes: readonly FailureClass[];
  /** The failure class of work that is held while the circuit is open. */
  readonly heldAs: FailureClass;
  /** Set when one failure opens the circuit: the failure is certain, and a retry does not help. */
  readonly atOnce?: true;
}

export const CIRCUITS = {
  service_down: { classes: ['not_sent', 'timeout', 'connection_lost', 'server_error'], heldAs: 'service_down' },
  not_approved: { classes: ['not_approved'], heldAs: 'not_approved', atOnce: true },
  unauthorized: { classes: ['unauthorized'], heldAs: 'unauthorized' },
  rate_limited: { classes: ['rate_limited'], heldAs: 'rate_limited' },
  insufficient_balance: { classes: ['insufficient_balance'], heldAs: 'insufficient_balance' },
} as const satisfies Record<string, CircuitRow>;

export type CircuitName = keyof typeof CIRCUITS;
export const circuitNames = Object.keys(CIRCUITS) as readonly CircuitName[];

/**
 * `closed`: purchases pass. `open`: purchases are held without a call to the service. `probing`: held, except one
 * canary that is under way. `releasing`: new purchases pass, and held purchases follow at a set rate.
 */
export const CIRCUIT_STATES = ['closed', 'open', 'probing', 'releasing'] as const;
export type CircuitState = (typeof CIRCUIT_STATES)[number];

/**
 * `failed`, `succeeded`: the result of a send that is not the canary. `purchased`: the service accepted such a send,
 * which the condition would have prevented. `probe_started`: a canary passes. `canary_…`: the result of the canary;
 * `canary_lost` when it showed nothing or did not report in time. `drained`: no work is held any more. `idle`: a canary
 * has been due for `circuitIdleMs` and no work waits.
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

/** The effect of an event in a state. */
export type CircuitDecision =
  | 'stay'
  /** Counts one more failure in a row; enough failures open the circuit. */
  | 'count'
  /** Sets the count of failures in a row to zero. */
  | 'reset'
  | 'probe'
  /** The service answered: the next canary may go at once. */
  | 'probe_soon'
  /** Opens again, with a longer delay than before. */
  | 'reopen'
  /** Opens again with a short delay: another canary has to find out. */
  | 'try_another'
  | 'release'
  | 'close'
  /** Closes on trial: the next failure opens it again, with a longer delay than before. */
  | 'close_on_trial';

/** The effect of every event in every state. */
export const CIRCUIT_TABLE: Readonly<Record<CircuitState, Readonly<Record<CircuitEvent, CircuitDecision>>>> = {
  closed: {
    failed: 'count',
    succeeded: 'reset',
    purchased: 'reset',
    probe_started: 'stay',
    canary_failed: 'count',
    canary_succeeded: 'reset',
    canary_lost: 'stay',
    drained: 'stay',
    idle: 'stay',
  },
  open: {
    // The send began before the circuit opened.
    failed: 'stay',
    succeeded: 'probe_soon',
    // The send passed this circuit, so it proves as much as a canary.
    purchased: 'release',
    probe_started: 'probe',
    // A canary that had been given up as lost.
    canary_failed: 'stay',
    canary_succeeded: 'release',
    canary_lost: 'stay',
    drained: 'stay',
    // Without work no canary would ever close the circuit.
    idle: 'close_on_trial',
  },
  probing: {
    // Other sends that end now began before the circuit opened; only a purchase or the canary decides.
    failed: 'stay',
    succeeded: 'stay',
    purchased: 'release',
    probe_started: 'stay',
    canary_failed: 'reopen',
    canary_succeeded: 'release',
    canary_lost: 'try_another',
    drained: 'stay',
    idle: 'stay',
  },
  releasing: {
    failed: 'reopen',
    succeeded: 'stay',
    purchased: 'stay',
    probe_started: 'stay',
    canary_failed: 'reopen',
    canary_succeeded: 'stay',
    canary_lost: 'stay',
    drained: 'close',
    idle: 'stay',
  },
};

/** A circuit. Times are epoch milliseconds. */
export interface Circuit {
  readonly state: CircuitState;
  /** Failures in a row while closed. */
  readonly failures: number;
  /** Openings since the circuit was last closed; sets the back-off. */
  readonly openings: number;
  /** Time from which the next canary may pass; null unless open. */
  readonly probeAt: number | null;
  /** Time at which the canary counts as lost; null unless probing. */
  readonly canaryUntil: number | null;
}

export const CLOSED_CIRCUIT: Circuit = { state: 'closed', failures: 0, openings: 0, probeAt: null, canaryUntil: null };

export type CircuitPolicy = Pick<
  GatePolicy,
  'circuitFailures' | 'probeDelayMs' | 'probeDelayMaxMs' | 'canaryLeaseMs' | 'circuitIdleMs'
>;

/** What happened to a circuit. */
export interface TimedCircuitEvent {
  readonly event: CircuitEvent;
  /** Epoch milliseconds. */
  readonly now: number;
  /** With a failure: the wait that the service asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** The circuit after an event. */
export function afterCircuitEvent(
  name: CircuitName,
  circuit: Circuit,
  { event, now, retryAfterMs }: TimedCircuitEvent,
  policy: CircuitPolicy,
): Circuit {
  switch (CIRCUIT_TABLE[circuit.state][event]) {
    case 'stay':
      return circuit;
    case 'reset':
      return CLOSED_CIRCUIT;
    case 'count': {
      const failures = circuit.failures + 1;
      const { atOnce }: CircuitRow = CIRCUITS[name];
      if (failures < policy.circuitFailures && atOnce !== true) return { ...circuit, failures };
      return opened(name, { ...circuit, failures }, now, policy, retryAfterMs);
    }
    case 'probe':
      return { ...circuit, state: 'probing', probeAt: null, canaryUntil: now + policy.canaryLeaseMs };
    case 'probe_soon':
      return { ...circuit, probeAt: Math.min(circuit.probeAt ?? now, now) };
    case 'reopen':
      return opened(name, circuit, now, policy, retryAfterMs);
    case 'try_another':
      return {
        ...circuit,
        state: 'open',
        probeAt: now + Math.min(TRY_ANOTHER_MS, policy.probeDelayMs),
        canaryUntil: null,
      };
    case 'release':
      return { ...circuit, state: 'releasing', failures: 0, probeAt: null, canaryUntil: null };
    case 'close':
      return CLOSED_CIRCUIT;
    case 'close_on_trial':
      return { ...circuit, state: 'closed', failures: policy.circuitFailures - 1, probeAt: null };
  }
}

/**
 * True when a canary has been due for `circuitIdleMs` and no work waits that could be one.
 *
 * @param now epoch milliseconds.
 */
export function isIdle({ state, probeAt }: Circuit, isAwaited: boolean, now: number, policy: CircuitPolicy): boolean {
  return state === 'open' && !isAwaited && probeAt !== null && probeAt + policy.circuitIdleMs <= now;
}

/** Wait after a lost canary: short, but no tight loop. */
const TRY_ANOTHER_MS = 1_000;

function opened(name: CircuitName, circuit: Circuit, now: number, policy: CircuitPolicy, retryAfterMs = 0): Circuit {
  const openings = circuit.openings + 1;
  const delay = probeDelayMs(name, openings, policy);
  return { ...circuit, state: 'open', openings, probeAt: now + Math.max(delay, retryAfterMs), canaryUntil: null };
}

/**
 * The wait before a canary, in milliseconds: doubled with each opening, and spread by up to a fifth so that several
 * installations do not probe at the same time. The spread is the same for the same opening.
 */
export function probeDelayMs(name: CircuitName, openings: number, policy: CircuitPolicy): number {
  const base = backoffMs(policy.probeDelayMs, policy.probeDelayMaxMs, openings);
  return Math.round(base * (0.8 + 0.4 * seeded(`${name}/${openings}`)));
}

/** A number from 0 to 1 from the FNV-1a hash of `text`. */
function seeded(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash / 0xffffffff;
}

/** A piece of work that asks to pass a circuit. */
export interface CircuitCandidate {
  /** It is the canary under way. */
  readonly isCanary: boolean;
  /** It is held at this circuit and not released yet. */
  readonly isWaiting: boolean;
  /** No work that was accepted earlier is held at this circuit. */
  readonly isOldest: boolean;
  /** An operator has released it. */
  readonly isReleased: boolean;
}

/** `canary`: it passes, and its result decides about the circuit. */
export type CircuitAnswer = 'pass' | 'canary' | 'hold';

/** Decides whether a piece of work may pass a circuit. @param now epoch milliseconds. */
export function judgeAtCircuit(circuit: Circuit, candidate: CircuitCandidate, now: number): CircuitAnswer {
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
      return candidate.isOldest && circuit.probeAt !== null && circuit.probeAt <= now ? 'canary' : 'hold';
  }
}

/** The reason for a hold at this circuit, as a sentence. */
export function circuitSentence(name: CircuitName): string {
  const { heldAs }: CircuitRow = CIRCUITS[name];
  return FAILURE_CLASSES[heldAs].meaning;
}
