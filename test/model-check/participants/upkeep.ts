/** The caller, the outbox, the sweeper and the reconciler. They start and wake the workflow, and look up purchases. */
import type { Offer } from '#test/model-check/engine.ts';
import { indexOf, isWorkFinal, type Context } from '#test/model-check/participants/database.ts';
import { isSending } from '#test/model-check/participants/offers.ts';
import { lookUp, storeReport } from '#test/model-check/participants/service.ts';
import { startRun } from '#test/model-check/participants/workflow-run.ts';
import type { Position, State } from '#test/model-check/state.ts';

/** Waits in which a workflow may stay for days. */
const LONG_WAITS: ReadonlySet<Position> = new Set<Position>(['await_service', 'open_case']);
/** States of attempts that the reconciler looks up. */
const SILENT: ReadonlySet<string> = new Set(['sending', 'unknown', 'processing']);

export function upkeepActions(state: State, context: Context, offer: Offer): void {
  const { db, workflow } = state;
  if (db.status === 'absent') {
    offer('step', 'the caller requests the order, and it is accepted', accept);
    return;
  }
  if (db.start) offer('step', 'the outbox starts the workflow', (next) => start(next, context));
  if (db.wake) offer('step', 'the outbox wakes the workflow', (next) => wake(next, context));
  if (!isWorkFinal(db)) {
    if (workflow.run !== 'running' && !db.start)
      offer('step', 'the sweeper requests the workflow of the order', (next) => void (next.db.start = true));
    const isLong = workflow.run === 'running' && LONG_WAITS.has(workflow.at) && !workflow.woken && !db.wake;
    if (isLong && context.rules.sweeperWakes)
      offer('step', 'the sweeper wakes the workflow of silent work', (next) => void (next.db.wake = true));
  }
  for (const [place, row] of db.rows.entries()) {
    if (row.state === 'unmatched' && db.attempts[indexOf(place >> 1)].state !== 'absent') {
      offer('step', `the sweeper makes an unmatched report about attempt ${(place >> 1) + 1} pending`, (next) => {
        next.db.rows[place]!.state = 'pending';
      });
    }
  }
  reconcilerActions(state, context, offer);
}

/** The same reference of the caller gives the same order, also after a loss of its row. */
function accept({ db }: State): void {
  db.status = 'accepted';
  db.start = true;
}

function start(state: State, { rules }: Context): void {
  const { db, workflow } = state;
  db.start = false;
  if (workflow.run !== 'running' && rules.startDecision(workflow.run, isWorkFinal(db)) === 'start')
    startRun(state, workflow.run === 'completed');
}

function wake(state: State, context: Context): void {
  state.db.wake = false;
  start(state, context);
  if (state.workflow.run === 'running') state.workflow.woken = true;
}

function reconcilerActions(state: State, { dialect }: Context, offer: Offer): void {
  for (const attempt of [0, 1] as const) {
    if (!SILENT.has(state.db.attempts[attempt].state) || isSending(state, attempt)) continue;
    const found = lookUp(state, dialect, attempt);
    const place = attempt * 2 + 1;
    if (found === undefined || found === 'processing' || state.db.rows[place]!.state !== 'absent') continue;
    offer('step', `the reconciler finds attempt ${attempt + 1} ${found}`, (next) =>
      storeReport(next, place, found === 'failed'),
    );
  }
}
