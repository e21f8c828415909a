/**
 * The state of the model: one order, all participants, and the rest of the bounds. It consists of numbers and booleans
 * in a fixed order, so it is a short sequence of bytes.
 */

/** Positions of the workflow of the order. `begin`: it reads the work from PostgreSQL. */
export const POSITIONS = [
  'begin',
  'send',
  'sending',
  'hold',
  'look_up',
  'await_service',
  'deliver',
  'settle',
  'open_next_attempt',
  'fail',
  'open_case',
] as const;
export type Position = (typeof POSITIONS)[number];

/** The latest run of the workflow id in Temporal. */
export const RUNS = ['none', 'running', 'completed', 'failed'] as const;
export type Run = (typeof RUNS)[number];

/** Status of the order. `absent`: there is no row. The others are of `domain/work/lifecycle.ts`. */
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

/** Reason of the order's case. A contradiction has a separate case. */
export const ATTENTIONS = [
  'none',
  'contradiction',
  'outcome_unknown',
  'failed_but_charged',
  'evidence_unavailable',
] as const;
export type Attention = (typeof ATTENTIONS)[number];

/** State of an attempt. `absent`: there is no row. The others are of `domain/relay/observation.ts`. */
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

/** State of a purchase at the service. `none`: it does not exist. `failed`: the price is not yet paid back. */
export const PURCHASES = ['none', 'processing', 'completed', 'failed', 'paid_back'] as const;
type Purchase = (typeof PURCHASES)[number];

/** Phase of a send in a worker. `executing` only if the service does not serialise equal keys. */
export const PHASES = ['idle', 'claimed', 'wire', 'executing', 'answered'] as const;
type Phase = (typeof PHASES)[number];

/** The answer to a send. `known`: a 409 about the key or the reference. `nothing`: no readable answer. */
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

export const RELAY_PHASES = ['idle', 'taken', 'judged', 'signalled'] as const;
type RelayPhase = (typeof RELAY_PHASES)[number];

/** An attempt in PostgreSQL. */
export interface AttemptRow {
  state: Attempt;
  anyUnknown: boolean;
  sends: number;
  /** Number of the key of this attempt. Always 0 if keys are derived. */
  key: number;
  settled: boolean;
  /** The start of the resend window is stored. */
  windowStarted: boolean;
  windowOver: boolean;
  /** The service knows the key or the reference already. */
  neverResent: boolean;
  /** Number of the worker that has the lease. {@link KILLED_WORKER}: a killed worker. 0: no lease. */
  lease: number;
  leaseOn: boolean;
}

/** A row of the inbox. Its index is the attempt times two, plus one for the result of a look-up. */
export interface InboxRow {
  state: RowState;
  decision: Decision;
  failed: boolean;
  leased: boolean;
}

/** The content of PostgreSQL. A set-back restores an earlier copy. */
export interface Database {
  status: Status;
  attention: Attention;
  /** A case of a contradiction is open. */
  contradiction: boolean;
  /** Epoch of the workflow's last comparison of its record with the row, plus one. 0: no comparison yet. */
  compared: number;
  /** A step of a later task than the lost one is recorded. */
  newer: boolean;
  /** Requests in the outbox. */
  start: boolean;
  wake: boolean;
  readonly attempts: readonly [AttemptRow, AttemptRow];
  readonly rows: readonly [InboxRow, InboxRow, InboxRow, InboxRow];
}

/** The workflow of the order in Temporal. Sets of inbox rows are bit masks. */
export interface Workflow {
  run: Run;
  at: Position;
  /** Index of the current attempt. */
  attempt: number;
  /** Last read state of the attempt. */
  read: Attempt;
  /** The workflow's record (witness): its number of sends, and whether one of them may have bought. */
  sends: number;
  maybe: boolean;
  queue: number;
  seen: number;
  answered: number;
  /** A wake-up that is not handled yet. */
  woken: boolean;
  /** Epoch of PostgreSQL at the last read. */
  epoch: number;
}

/** The decided step of a workflow task that Temporal has given to another worker. `absent`: there is none. */
export interface LostStep {
  status: Status;
  attention: Attention;
  /** The attempt that it judged, and the state of this attempt that it read. */
  attempt: number;
  read: Attempt;
  /** Its run has ended, and another one has begun. */
  isOfEarlierRun: boolean;
}

export interface Relay {
  phase: RelayPhase;
  row: number;
  /** The stored decision when the relay took the row. */
  remembered: Decision;
  /** The row was lost in a set-back. Another row may get its id. */
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
  /** Too little time of the lease is left, by the worker's own monotonic clock. */
  over: boolean;
  /** The service, which does not serialise keys, had no earlier purchase when it began with the request. */
  clear: boolean;
}

/** A purchase at the service, by the reference and key of its request. */
export interface ServicePurchase {
  state: Purchase;
  attempt: number;
  key: number;
  /** A webhook about its end is not delivered yet. */
  hook: boolean;
}

/** The rest of the bounds of a trace. */
export interface Budget {
  faults: number;
  setBacks: number;
  emptied: number;
  sends: number;
  refusals: number;
  operator: number;
  /** Failed purchases. */
  failures: number;
}

/** The whole state. */
export interface State {
  readonly db: Database;
  /** A copy for a set-back exists. */
  hasSaved: boolean;
  readonly saved: Database;
  /** Increases with each set-back of PostgreSQL. */
  epoch: number;
  readonly workflow: Workflow;
  readonly lost: LostStep;
  readonly relays: readonly [Relay, Relay];
  readonly workers: readonly [Worker, Worker];
  readonly purchases: readonly [ServicePurchase, ServicePurchase, ServicePurchase];
  /** A late request: attempt times two plus key plus one. 0: none. */
  late: number;
  /** Bit masks by attempt: created keys; sends without refusal; windows since then that are over; forgotten keys. */
  keysMade: number;
  left: number;
  windowsOver: number;
  forgotten: number;
  /** Bit mask by purchase: debits that a late list of the wallet shows. */
  listed: number;
  /** Violation by an action; see `FAULTS` in `participants/database.ts`. */
  fault: number;
  readonly budget: Budget;
}

/** The holder of a lease whose worker was killed. */
export const KILLED_WORKER = 3;
