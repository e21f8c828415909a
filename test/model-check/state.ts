/**
 * The state of the model: one order, all participants, and the rest of the bounds. Each field is a number below 256, a
 * boolean or a word, so a state is a short sequence of bytes. The functions give the parts of the state in which a
 * search begins; the types are theirs.
 */
import type { AttemptState, ObservationDecision } from '#domain/relay/observation.ts';
import type { StatusOf } from '#domain/work/lifecycle.ts';

/** Positions of the workflow of the order. `begin`: it reads the work from PostgreSQL. */
export type Position =
  | 'begin'
  | 'send'
  | 'sending'
  | 'hold'
  | 'look_up'
  | 'await_service'
  | 'deliver'
  | 'settle'
  | 'open_next_attempt'
  | 'fail'
  | 'open_case';

/** The latest run of the workflow id in Temporal. */
export type Run = 'none' | 'running' | 'completed' | 'failed';

/** `absent`: there is no row. */
export type Status = 'absent' | StatusOf<'order'>;
type Attempt = 'absent' | AttemptState;

/** Reason of the order's case. A contradiction has a separate case. */
export type Attention = 'none' | 'contradiction' | 'outcome_unknown' | 'failed_but_charged' | 'evidence_unavailable';

export type Decision = 'none' | ObservationDecision;

/** The answer to a send. `known`: a 409 about the key or the reference. `nothing`: no readable answer. */
export type Answer = 'none' | 'processing' | 'completed' | 'failed' | 'refused' | 'known' | 'not_sent' | 'nothing';

/** The holder of a lease whose worker was killed. */
export const KILLED_WORKER = 3;

/** An attempt in PostgreSQL. */
const attemptRow = () => ({
  state: 'absent' as Attempt,
  anyUnknown: false,
  sends: 0,
  /** Number of the key of this attempt. Always 0 if keys are derived. */
  key: 0,
  settled: false,
  /** The start of the resend window is stored. */
  windowStarted: false,
  windowOver: false,
  /** The service knows the key or the reference already. */
  neverResent: false,
  /** Number of the worker that has the lease. {@link KILLED_WORKER}: a killed worker. 0: no lease. */
  lease: 0,
  leaseOn: false,
});
export type AttemptRow = ReturnType<typeof attemptRow>;

/** A row of the inbox. Its index is the attempt times two, plus one for the result of a look-up. */
const inboxRow = () => ({
  state: 'absent' as 'absent' | 'pending' | 'relayed' | 'applied' | 'unmatched',
  decision: 'none' as Decision,
  failed: false,
  leased: false,
});
export type InboxRow = ReturnType<typeof inboxRow>;

/** The content of PostgreSQL. A set-back restores an earlier copy. */
export const database = () => ({
  status: 'absent' as Status,
  attention: 'none' as Attention,
  /** A case of a contradiction is open. */
  contradiction: false,
  /** Epoch of the workflow's last comparison of its record with the row, plus one. 0: no comparison yet. */
  compared: 0,
  /** A step of a later task than the lost one is recorded. */
  newer: false,
  /** Requests in the outbox. */
  start: false,
  wake: false,
  attempts: [attemptRow(), attemptRow()] as const,
  rows: [inboxRow(), inboxRow(), inboxRow(), inboxRow()] as const,
});
export type Database = ReturnType<typeof database>;

/** The workflow of the order in Temporal. Sets of inbox rows are bit masks. */
export const noWorkflow = () => ({
  run: 'none' as Run,
  at: 'begin' as Position,
  /** Index of the current attempt. */
  attempt: 0,
  /** Last read state of the attempt. */
  read: 'absent' as Attempt,
  /** The workflow's record (witness): its number of sends, and whether one of them may have bought. */
  sends: 0,
  maybe: false,
  queue: 0,
  seen: 0,
  answered: 0,
  /** A wake-up that is not handled yet. */
  woken: false,
  /** Epoch of PostgreSQL at the last read, or at the start while the first task may send. */
  epoch: 0,
  /** Its first task reads the order and sends the first attempt. Until it ends, Temporal knows the start only. */
  first: false,
});
export type Workflow = ReturnType<typeof noWorkflow>;

/** The decided step of a workflow task that Temporal has given to another worker. `absent`: there is none. */
export const lostStep = () => ({
  status: 'absent' as Status,
  attention: 'none' as Attention,
  /** The attempt that it judged, and the state of this attempt that it read. */
  attempt: 0,
  read: 'absent' as Attempt,
  /** Its run has ended, and another one has begun. */
  isOfEarlierRun: false,
});
export type LostStep = ReturnType<typeof lostStep>;

export const idleRelay = () => ({
  phase: 'idle' as 'idle' | 'taken' | 'judged' | 'signalled',
  row: 0,
  /** The stored decision when the relay took the row. */
  remembered: 'none' as Decision,
  /** The row was lost in a set-back. Another row may get its id. */
  gone: false,
});
export type Relay = ReturnType<typeof idleRelay>;

export const idleWorker = () => ({
  /** `executing` only if the service does not serialise equal keys. */
  phase: 'idle' as 'idle' | 'claimed' | 'wire' | 'executing' | 'answered',
  attempt: 0,
  key: 0,
  answer: 'none' as Answer,
  stalled: false,
  /** The workflow still waits for this send. */
  current: false,
  /** Too little time of the lease is left, by the worker's own monotonic clock. */
  over: false,
  /** The service, which does not serialise keys, had no earlier purchase when it began with the request. */
  clear: false,
});
export type Worker = ReturnType<typeof idleWorker>;

/** A purchase at the service, by the reference and key of its request. */
const purchase = () => ({
  /** `failed`: the price is not yet paid back. */
  state: 'none' as 'none' | 'processing' | 'completed' | 'failed' | 'paid_back',
  attempt: 0,
  key: 0,
  /** A webhook about its end is not delivered yet. */
  hook: false,
});
export type ServicePurchase = ReturnType<typeof purchase>;

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

/** The whole state in which a search begins. @param budget the bounds of the run. */
export const emptyState = (budget: Budget) => ({
  db: database(),
  /** A copy for a set-back exists. */
  hasSaved: false,
  saved: database(),
  /** Increases with each set-back of PostgreSQL. */
  epoch: 0,
  workflow: noWorkflow(),
  lost: lostStep(),
  relays: [idleRelay(), idleRelay()] as const,
  workers: [idleWorker(), idleWorker()] as const,
  purchases: [purchase(), purchase(), purchase()] as const,
  /** A late request: attempt times two plus key plus one. 0: none. */
  late: 0,
  /** Bit masks by attempt: created keys; sends without refusal; windows since then that are over; forgotten keys. */
  keysMade: 0,
  left: 0,
  windowsOver: 0,
  forgotten: 0,
  /** Bit mask by purchase: debits that a late list of the wallet shows. */
  listed: 0,
  /** Violation by an action; see `FAULTS` in `participants/database.ts`. */
  fault: 0,
  budget: { ...budget },
});
export type State = ReturnType<typeof emptyState>;

/** Makes `to` equal to `from`. */
export function copy<Part extends object>(from: Part, to: Part): void {
  for (const [key, value] of Object.entries(from) as [keyof Part, Part[keyof Part]][]) {
    const target = to[key];
    if (typeof value === 'object' && value !== null) copy<object>(value, target as object);
    else to[key] = value;
  }
}
