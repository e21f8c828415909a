/**
 * The state of the model: one order, everything that takes part in it, and what is left of the bounds. Plain numbers
 * and booleans in a fixed order, so that a state is a short run of bytes.
 */

/** Positions of the workflow of the order. `begin`: it reads from PostgreSQL where the work stands. */
export const POSITIONS = [
  'begin',
  'send',
  'sending',
  'hold',
  'look_up',
  'await_service',
  'deliver',
  'settle',
  'buy_anew',
  'fail',
  'park',
] as const;
export type Position = (typeof POSITIONS)[number];

/** What Temporal knows of the workflow id. */
export const RUNS = ['none', 'running', 'completed', 'failed'] as const;
export type Run = (typeof RUNS)[number];

/** Status of the order's row; `absent`: there is no such row. The others are those of `domain/work/lifecycle.ts`. */
export const STATUSES = [
  'absent',
  'accepted',
  'held',
  'submitting',
  'processing',
  'needs_attention',
  'completed',
  'failed',
  'abandoned',
] as const;
export type Status = (typeof STATUSES)[number];

/** Why the order waits for a person; a contradiction has a case of its own beside it. */
export const ATTENTIONS = [
  'none',
  'contradiction',
  'outcome_unknown',
  'failed_but_charged',
  'evidence_unavailable',
  'attempts_used_up',
] as const;
export type Attention = (typeof ATTENTIONS)[number];

/** States of a row of the attempts; `absent`: there is no such row. The others are those of `domain/relay/observation.ts`. */
export const ATTEMPTS = [
  'absent',
  'prepared',
  'sending',
  'unknown',
  'refused',
  'processing',
  'completed',
  'failed',
] as const;
type Attempt = (typeof ATTEMPTS)[number];

export const ROW_STATES = ['absent', 'pending', 'relayed', 'applied', 'unmatched'] as const;
type RowState = (typeof ROW_STATES)[number];

export const DECISIONS = ['none', 'advance', 'known', 'contradiction'] as const;
export type Decision = (typeof DECISIONS)[number];

/**
 * What the service says of a purchase; `none`: it does not exist. A failed one keeps the money until it has paid it
 * back.
 */
export const PURCHASES = ['none', 'processing', 'completed', 'failed', 'paid_back'] as const;
type Purchase = (typeof PURCHASES)[number];

/** Where a worker stands with one send; `executing` only where the service does not serialise equal keys. */
export const PHASES = ['idle', 'claimed', 'wire', 'executing', 'answered'] as const;
type Phase = (typeof PHASES)[number];

/** What came back to a worker. `known`: a 409 about the key or the reference. `nothing`: no readable answer. */
export const ANSWERS = [
  'none',
  'processing',
  'completed',
  'failed',
  'refused',
  'known',
  'not_sent',
  'nothing',
] as const;
export type Answer = (typeof ANSWERS)[number];

export const RELAY_PHASES = ['idle', 'taken', 'judged', 'told'] as const;
type RelayPhase = (typeof RELAY_PHASES)[number];

/** A row of the attempts. */
export interface AttemptRow {
  state: Attempt;
  anyUnknown: boolean;
  sends: number;
  /** Which of the keys made for this attempt; 0 always where keys are derived. */
  key: number;
  settled: boolean;
  /** A stored time from which the resend window counts. */
  windowStarted: boolean;
  windowOver: boolean;
  /** The service knows the key or the reference already. */
  neverResent: boolean;
  /** Number of the worker that has the lease; {@link NOBODY}: one that is gone; 0: none. */
  lease: number;
  leaseOn: boolean;
}

/** A row of the inbox. Its place says what it is: the attempt times two, plus one if it was found by asking. */
export interface InboxRow {
  state: RowState;
  decision: Decision;
  failed: boolean;
  leased: boolean;
}

/** What PostgreSQL holds; a set back returns to an earlier copy of it. */
export interface Database {
  status: Status;
  attention: Attention;
  /** The case of a contradiction is open. */
  contradiction: boolean;
  /** The epoch of the store in which the workflow last compared what it knows with the row, plus one; 0: not yet. */
  compared: number;
  /** Wishes of the outbox. */
  start: boolean;
  wake: boolean;
  readonly attempts: readonly [AttemptRow, AttemptRow];
  readonly rows: readonly [InboxRow, InboxRow, InboxRow, InboxRow];
}

/** The workflow of the order, as Temporal keeps it. Sets of inbox rows are bit masks. */
export interface Workflow {
  run: Run;
  at: Position;
  /** Index of the attempt that it works on. */
  attempt: number;
  /** State of the attempt as it was read last. */
  read: Attempt;
  /** The witness: sends that it knows of, and whether one of them may have bought. */
  sends: number;
  maybe: boolean;
  queue: number;
  seen: number;
  answered: number;
  /** A wake-up that it has not looked into. */
  acted: boolean;
  /** Which life of PostgreSQL it read last. */
  epoch: number;
}

export interface Relay {
  phase: RelayPhase;
  row: number;
  /** The decision as it was read when the row was taken. */
  remembered: Decision;
  /** PostgreSQL was set back, and has no such row any more; another one may have its id. */
  gone: boolean;
}

export interface Worker {
  phase: Phase;
  attempt: number;
  key: number;
  answer: Answer;
  stalled: boolean;
  /** The workflow still waits for this send. */
  current: boolean;
  /** By this worker's own monotonic clock too little of its lease is left. */
  over: boolean;
  /** In a service that does not serialise keys: it saw no earlier purchase when it began. */
  clear: boolean;
}

/** A purchase at the service, by the reference and key of its request. */
export interface ServicePurchase {
  state: Purchase;
  attempt: number;
  key: number;
  /** A webhook about its end is to be delivered. */
  hook: boolean;
}

/** What a trace may still contain. */
export interface Budget {
  faults: number;
  setBacks: number;
  emptied: number;
  sends: number;
  refusals: number;
  operator: number;
  /** Purchases that the service lets fail. */
  failures: number;
}

/** Everything at one moment. */
export interface State {
  readonly db: Database;
  /** The copy that PostgreSQL may be set back to. */
  hasSaved: boolean;
  readonly saved: Database;
  /** Changes with each set back of PostgreSQL. */
  epoch: number;
  readonly workflow: Workflow;
  readonly relays: readonly [Relay, Relay];
  readonly workers: readonly [Worker, Worker];
  readonly purchases: readonly [ServicePurchase, ServicePurchase, ServicePurchase];
  /** A request that is late: 0, or one more than the attempt times two plus the key. */
  late: number;
  /**
   * Bit masks by attempt: keys made; sends that began and were not refused; windows since then that are over; forgotten
   * keys.
   */
  keysMade: number;
  left: number;
  windowsOver: number;
  forgotten: number;
  /** Set where an invariant is about an action and not about a state; see `invariants.ts`. */
  fault: number;
  readonly budget: Budget;
}

/** The lease of a worker that is gone. */
export const NOBODY = 3;

const attemptRow = (): AttemptRow => ({
  state: 'absent',
  anyUnknown: false,
  sends: 0,
  key: 0,
  settled: false,
  windowStarted: false,
  windowOver: false,
  neverResent: false,
  lease: 0,
  leaseOn: false,
});
const inboxRow = (): InboxRow => ({ state: 'absent', decision: 'none', failed: false, leased: false });
const database = (): Database => ({
  status: 'absent',
  attention: 'none',
  contradiction: false,
  compared: 0,
  start: false,
  wake: false,
  attempts: [attemptRow(), attemptRow()],
  rows: [inboxRow(), inboxRow(), inboxRow(), inboxRow()],
});
const relay = (): Relay => ({ phase: 'idle', row: 0, remembered: 'none', gone: false });
const worker = (): Worker => ({
  phase: 'idle',
  attempt: 0,
  key: 0,
  answer: 'none',
  stalled: false,
  current: false,
  over: false,
  clear: false,
});
const purchase = (): ServicePurchase => ({ state: 'none', attempt: 0, key: 0, hook: false });

/** Nothing has been asked for yet. @param budget the bounds of the run. */
export function emptyState(budget: Budget): State {
  return {
    db: database(),
    hasSaved: false,
    saved: database(),
    epoch: 0,
    workflow: {
      run: 'none',
      at: 'begin',
      attempt: 0,
      read: 'absent',
      sends: 0,
      maybe: false,
      queue: 0,
      seen: 0,
      answered: 0,
      acted: false,
      epoch: 0,
    },
    relays: [relay(), relay()],
    workers: [worker(), worker()],
    purchases: [purchase(), purchase(), purchase()],
    late: 0,
    keysMade: 0,
    left: 0,
    windowsOver: 0,
    forgotten: 0,
    fault: 0,
    budget: { ...budget },
  };
}
