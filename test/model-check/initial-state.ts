/** The state in which a search begins. */
import type {
  AttemptRow,
  Budget,
  Database,
  InboxRow,
  LostStep,
  Relay,
  ServicePurchase,
  State,
  Worker,
} from '#test/model-check/state.ts';

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
  newer: false,
  start: false,
  wake: false,
  attempts: [attemptRow(), attemptRow()],
  rows: [inboxRow(), inboxRow(), inboxRow(), inboxRow()],
});
/** No step is lost. */
export const lostStep = (): LostStep => ({
  status: 'absent',
  attention: 'none',
  attempt: 0,
  read: 'absent',
  isOfEarlierRun: false,
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

/** The initial state. @param budget the bounds of the run. */
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
      woken: false,
      epoch: 0,
    },
    lost: lostStep(),
    relays: [relay(), relay()],
    workers: [worker(), worker()],
    purchases: [purchase(), purchase(), purchase()],
    late: 0,
    keysMade: 0,
    left: 0,
    windowsOver: 0,
    forgotten: 0,
    listed: 0,
    fault: 0,
    budget: { ...budget },
  };
}
