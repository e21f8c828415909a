/**
 * The service's circuits: what concerns the service as a whole, or our account there, is found out once and not by
 * every purchase anew. One circuit for each condition; the life of each is the table below.
 */
import { backoffMs } from '#domain/policy/backoff.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { FAILURE_CLASSES, type FailureClass } from '#domain/work/failure.ts';

export interface CircuitRow {
  /** Failures of a send that are this condition. */
  readonly classes: readonly FailureClass[];
  /** The class under which others are held while it is open. */
  readonly heldAs: FailureClass;
  /** One failure opens it: there is no doubt about it, and trying again does not help. */
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
 * `closed`: purchases go through. `open`: they are held without a call. `probing`: held, but for one canary that is
 * under way. `releasing`: new purchases go through, those that were held follow at a set rate.
 */
export const CIRCUIT_STATES = ['closed', 'open', 'probing', 'releasing'] as const;
export type CircuitState = (typeof CIRCUIT_STATES)[number];

/**
 * `failed`, `succeeded`: what a send that is not the canary shows; `purchased` when the service accepted it, which the
 * condition would have prevented. `probe_started`: a canary is let through. `canary_…`: what it came to; `canary_lost`
 * when it showed nothing, or nothing was heard of it. `drained`: no work is held any more. `idle`: a canary has been
 * due for `circuitIdleMs` and no work waits.
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

/** What an event does in a state. */
export type CircuitDecision =
  | 'stay'
  /** One more failure in a row; the circuit opens when there are enough. */
  | 'count'
  /** There are no failures in a row any more. */
  | 'reset'
  | 'probe'
  /** A sign of life: the next canary need not wait. */
  | 'probe_soon'
  /** Opens again, for longer than before. */
  | 'reopen'
  /** Opens again for a moment: another canary is to find out. */
  | 'try_another'
  | 'release'
  | 'close'
  /** Closes on trial: the next failure opens it again, for longer than before. */
  | 'close_on_trial';

/** What every event does in every state. */
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
    // Sent before it opened.
    failed: 'stay',
    succeeded: 'probe_soon',
    // It went past this circuit, and is as good as a canary.
    purchased: 'release',
    probe_started: 'probe',
    // A canary that had been given up.
    canary_failed: 'stay',
    canary_succeeded: 'release',
    canary_lost: 'stay',
    drained: 'stay',
    // No work would ever find out whether it is over.
    idle: 'close_on_trial',
  },
  probing: {
    // Short of a purchase only the canary decides: what else ends now was sent before.
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
  /** Failures in a row while it is closed. */
  readonly failures: number;
  /** How often it opened since it was last closed; sets the back-off. */
  readonly openings: number;
  /** When the next canary may go; null unless it is open. */
  readonly probeAt: number | null;
  /** When the canary is given up; null unless it is probing. */
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
  /** With a failure: the service asked not to come back before. */
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

/** A canary that showed nothing is followed soon, but not in a tight loop. */
const TRY_ANOTHER_MS = 1_000;

function opened(name: CircuitName, circuit: Circuit, now: number, policy: CircuitPolicy, retryAfterMs = 0): Circuit {
  const openings = circuit.openings + 1;
  const delay = probeDelayMs(name, openings, policy);
  return { ...circuit, state: 'open', openings, probeAt: now + Math.max(delay, retryAfterMs), canaryUntil: null };
}

/**
 * Doubling waits, each longer or shorter by up to a fifth, so that several installations do not come back in step; the
 * same for the same opening.
 */
export function probeDelayMs(name: CircuitName, openings: number, policy: CircuitPolicy): number {
  const base = backoffMs(policy.probeDelayMs, policy.probeDelayMaxMs, openings);
  return Math.round(base * (0.8 + 0.4 * seeded(`${name}/${openings}`)));
}

/** From 0 to 1, by FNV-1a. */
function seeded(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash / 0xffffffff;
}

/** A piece of work before a circuit. */
export interface CircuitCandidate {
  /** It is the canary that is under way. */
  readonly isCanary: boolean;
  /** It was held here and has not been released. */
  readonly isWaiting: boolean;
  /** Nobody who was accepted earlier is held here. */
  readonly isOldest: boolean;
  /** An operator lets it through. */
  readonly isReleased: boolean;
}

/** `canary`: it goes through, and what becomes of it decides. */
export type CircuitAnswer = 'pass' | 'canary' | 'hold';

/** Whether a piece of work may pass a circuit. */
export function judgeAtCircuit(circuit: Circuit, asker: CircuitCandidate, now: number): CircuitAnswer {
  switch (circuit.state) {
    case 'closed':
      return 'pass';
    case 'releasing':
      // What was held goes in its turn; what comes new does not wait behind it, so that the queue always ends.
      return asker.isWaiting && !asker.isReleased ? 'hold' : 'pass';
    case 'probing':
      return asker.isCanary || asker.isReleased ? 'pass' : 'hold';
    case 'open':
      if (asker.isReleased) return 'canary';
      return asker.isOldest && circuit.probeAt !== null && circuit.probeAt <= now ? 'canary' : 'hold';
  }
}

/** A sentence for whoever is held at it. */
export function circuitSentence(name: CircuitName): string {
  const { heldAs }: CircuitRow = CIRCUITS[name];
  return FAILURE_CLASSES[heldAs].meaning;
}
