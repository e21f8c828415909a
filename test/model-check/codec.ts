/** States as bytes: compact to keep, exact to compare. */
import {
  ANSWERS,
  ATTEMPTS,
  ATTENTIONS,
  DECISIONS,
  PHASES,
  POSITIONS,
  PURCHASES,
  RELAY_PHASES,
  ROW_STATES,
  RUNS,
  STATUSES,
  type Database,
  type State,
} from '#test/model-check/state.ts';

/** Reads a field from bytes or writes it to them. */
interface Codec {
  number(value: number): number;
  flag(value: boolean): boolean;
  of<Value extends string>(values: readonly Value[], value: Value): Value;
}

function walkDatabase(db: Database, io: Codec): void {
  db.status = io.of(STATUSES, db.status);
  db.attention = io.of(ATTENTIONS, db.attention);
  db.contradiction = io.flag(db.contradiction);
  db.compared = io.number(db.compared);
  db.newer = io.flag(db.newer);
  db.start = io.flag(db.start);
  db.wake = io.flag(db.wake);
  for (const row of db.attempts) {
    row.state = io.of(ATTEMPTS, row.state);
    row.anyUnknown = io.flag(row.anyUnknown);
    row.sends = io.number(row.sends);
    row.key = io.number(row.key);
    row.settled = io.flag(row.settled);
    row.windowStarted = io.flag(row.windowStarted);
    row.windowOver = io.flag(row.windowOver);
    row.neverResent = io.flag(row.neverResent);
    row.lease = io.number(row.lease);
    row.leaseOn = io.flag(row.leaseOn);
  }
  for (const row of db.rows) {
    row.state = io.of(ROW_STATES, row.state);
    row.decision = io.of(DECISIONS, row.decision);
    row.failed = io.flag(row.failed);
    row.leased = io.flag(row.leased);
  }
}

function walkProcesses({ workflow, lost, relays, workers }: State, io: Codec): void {
  workflow.run = io.of(RUNS, workflow.run);
  workflow.at = io.of(POSITIONS, workflow.at);
  workflow.attempt = io.number(workflow.attempt);
  workflow.read = io.of(ATTEMPTS, workflow.read);
  workflow.sends = io.number(workflow.sends);
  workflow.maybe = io.flag(workflow.maybe);
  workflow.queue = io.number(workflow.queue);
  workflow.seen = io.number(workflow.seen);
  workflow.answered = io.number(workflow.answered);
  workflow.woken = io.flag(workflow.woken);
  workflow.epoch = io.number(workflow.epoch);
  workflow.first = io.flag(workflow.first);
  lost.status = io.of(STATUSES, lost.status);
  lost.attention = io.of(ATTENTIONS, lost.attention);
  lost.attempt = io.number(lost.attempt);
  lost.read = io.of(ATTEMPTS, lost.read);
  lost.isOfEarlierRun = io.flag(lost.isOfEarlierRun);
  for (const relay of relays) {
    relay.phase = io.of(RELAY_PHASES, relay.phase);
    relay.row = io.number(relay.row);
    relay.remembered = io.of(DECISIONS, relay.remembered);
    relay.gone = io.flag(relay.gone);
  }
  for (const worker of workers) {
    worker.phase = io.of(PHASES, worker.phase);
    worker.attempt = io.number(worker.attempt);
    worker.key = io.number(worker.key);
    worker.answer = io.of(ANSWERS, worker.answer);
    worker.stalled = io.flag(worker.stalled);
    worker.current = io.flag(worker.current);
    worker.over = io.flag(worker.over);
    worker.clear = io.flag(worker.clear);
  }
}

/** Passes every field of a state through a codec, in one fixed order. */
function walk(state: State, io: Codec): void {
  walkDatabase(state.db, io);
  state.hasSaved = io.flag(state.hasSaved);
  walkDatabase(state.saved, io);
  state.epoch = io.number(state.epoch);
  walkProcesses(state, io);
  for (const purchase of state.purchases) {
    purchase.state = io.of(PURCHASES, purchase.state);
    purchase.attempt = io.number(purchase.attempt);
    purchase.key = io.number(purchase.key);
    purchase.hook = io.flag(purchase.hook);
  }
  state.late = io.number(state.late);
  state.keysMade = io.number(state.keysMade);
  state.left = io.number(state.left);
  state.windowsOver = io.number(state.windowsOver);
  state.forgotten = io.number(state.forgotten);
  state.listed = io.number(state.listed);
  state.fault = io.number(state.fault);
  const { budget } = state;
  budget.faults = io.number(budget.faults);
  budget.setBacks = io.number(budget.setBacks);
  budget.emptied = io.number(budget.emptied);
  budget.sends = io.number(budget.sends);
  budget.refusals = io.number(budget.refusals);
  budget.operator = io.number(budget.operator);
  budget.failures = io.number(budget.failures);
}

class Bytes implements Codec {
  readonly #bytes: Uint8Array;
  readonly #isReading: boolean;
  at: number;

  constructor(bytes: Uint8Array, at: number, isReading: boolean) {
    this.#bytes = bytes;
    this.#isReading = isReading;
    this.at = at;
  }

  number(value: number): number {
    const at = this.at;
    this.at += 1;
    if (this.#isReading) return this.#bytes[at] ?? 0;
    this.#bytes[at] = value;
    return value;
  }

  flag(value: boolean): boolean {
    return this.number(value ? 1 : 0) === 1;
  }

  of<Value extends string>(values: readonly Value[], value: Value): Value {
    const index = this.number(this.#isReading ? 0 : values.indexOf(value));
    const read = values[index];
    if (read === undefined) throw new RangeError(`no ${value} in ${values.join(', ')}`);
    return read;
  }
}

/** Writes a state into the bytes from offset `at` on. */
export function pack(state: State, bytes: Uint8Array, at: number): void {
  walk(state, new Bytes(bytes, at, false));
}

/** Reads a state from the bytes from offset `at` on. */
export function unpack(bytes: Uint8Array, at: number, into: State): void {
  walk(into, new Bytes(bytes, at, true));
}

/** Number of bytes of one state. */
export function sizeOf(state: State): number {
  const io = new Bytes(new Uint8Array(1_024), 0, false);
  walk(state, io);
  return io.at;
}

/** Makes `to` equal to `from`. */
export function copyDatabase(from: Database, to: Database): void {
  const bytes = new Uint8Array(128);
  walkDatabase(from, new Bytes(bytes, 0, false));
  walkDatabase(to, new Bytes(bytes, 0, true));
}
