/** Faults of stores: PostgreSQL is set back to an earlier copy, or Temporal loses all workflows. */
import type { Offer } from '#test/model-check/engine.ts';
import type { Context } from '#test/model-check/participants/database.ts';
import type { Rules } from '#test/model-check/rules.ts';
import { copy, database, noWorkflow, type State } from '#test/model-check/state.ts';

export function storeActions(state: State, { rules }: Context, offer: Offer): void {
  const { budget } = state;
  if (budget.setBacks > 0) {
    if (!state.hasSaved) offer('fault', 'PostgreSQL keeps a copy that it will be set back to', save);
    else offer('fault', 'PostgreSQL is set back to that copy', (next) => setBack(next, rules));
  }
  if (budget.emptied > 0 && state.workflow.run !== 'none')
    offer('fault', 'Temporal loses all workflows', emptyTemporal);
}

function save(state: State): void {
  copy(state.db, state.saved);
  state.hasSaved = true;
}

function setBack(state: State, { seenByLife }: Rules): void {
  copy(state.saved, state.db);
  copy(database(), state.saved);
  state.hasSaved = false;
  state.epoch += 1;
  if (seenByLife) forgetRows(state);
  state.budget.setBacks -= 1;
}

function emptyTemporal(state: State): void {
  Object.assign(state.workflow, noWorkflow());
  for (const worker of state.workers) worker.current = false;
  state.budget.emptied -= 1;
}

/** PostgreSQL may assign the ids of lost rows again. A process with such an id then refers to another row. */
function forgetRows({ db, workflow, relays }: State): void {
  const isGone = (place: number) => db.rows[place]?.state === 'absent';
  for (const relay of relays) relay.gone ||= relay.phase !== 'idle' && isGone(relay.row);
  const gone = db.rows.reduce((bits, _, place) => bits | (isGone(place) ? 1 << place : 0), 0);
  workflow.seen = 0;
  workflow.woken ||= (workflow.queue & gone) !== 0;
  workflow.queue &= ~gone;
  workflow.answered &= ~gone;
}
