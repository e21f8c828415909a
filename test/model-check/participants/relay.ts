/** Two relays. They take rows of the inbox, judge them, and signal the workflow. */
import { judgeObservation, type AttemptState } from '#domain/relay/observation.ts';
import type { Offer } from '#test/model-check/engine.ts';
import {
  currentAttempt,
  indexOf,
  isWorkFinal,
  recordReport,
  type Context,
} from '#test/model-check/participants/database.ts';
import { offerReport, startRun } from '#test/model-check/participants/workflow-run.ts';
import type { InboxRow, Relay, State } from '#test/model-check/state.ts';

/** The name of a row in sentences. */
function named(place: number): string {
  return `the ${place % 2 === 0 ? 'webhook' : 'finding'} about attempt ${(place >> 1) + 1}`;
}

export function relayActions(state: State, context: Context, offer: Offer): void {
  const { relays, db } = state;
  for (const [index, relay] of relays.entries()) {
    // Two idle relays are equal, so only the first one takes a row.
    if (relay.phase === 'idle' && (index === 0 || relays[0].phase !== 'idle')) takeActions(state, index, offer);
    if (relay.phase !== 'idle') passOnActions(state, context, index, relay, offer);
  }
  for (const [place, row] of db.rows.entries()) {
    if (!row.leased) continue;
    const isTaken = relays.some(({ phase, row: taken }) => phase !== 'idle' && taken === place);
    if (!isTaken) offer('step', `the lease of ${named(place)} ends`, (next) => release(next.db.rows[place]));
    else if (state.budget.faults > 0) {
      offer('fault', `the lease of ${named(place)} ends while a relay has the row`, (next) => {
        next.budget.faults -= 1;
        release(next.db.rows[place]);
      });
    }
  }
}

function takeActions({ db }: State, index: number, offer: Offer): void {
  for (const [place, { state, leased }] of db.rows.entries()) {
    if (state !== 'pending' || leased) continue;
    offer('step', `relay ${index + 1} takes ${named(place)}`, (next) => {
      const row = next.db.rows[place];
      const relay = next.relays[index];
      if (row === undefined || relay === undefined) return;
      row.leased = true;
      relay.phase = 'taken';
      relay.row = place;
      relay.remembered = row.decision;
    });
  }
}

function passOnActions(
  state: State,
  context: Context,
  index: number,
  { phase, row: place }: Relay,
  offer: Offer,
): void {
  const name = `relay ${index + 1}`;
  const onItself = (change: (next: State, relay: Relay, row: InboxRow) => void) => (next: State) => {
    const relay = next.relays[index];
    const row = next.db.rows[place];
    if (relay !== undefined && row !== undefined) change(next, relay, row);
  };
  if (phase === 'taken')
    offer(
      'step',
      `${name} judges ${named(place)}`,
      onItself((next, relay, row) => judge(next, context, relay, row)),
    );
  if (phase === 'judged')
    offer(
      'step',
      `${name} signals the workflow`,
      onItself((next, relay) => signal(next, context, relay)),
    );
  if (phase === 'signalled')
    offer(
      'step',
      `${name} notes that the workflow was signalled`,
      onItself((next, relay, row) => markRelayed(next, relay, row)),
    );
  if (state.budget.faults === 0) return;
  const fault = (sentence: string, change: (relay: Relay, row: InboxRow) => void) =>
    offer(
      'fault',
      sentence,
      onItself((next, relay, row) => {
        next.budget.faults -= 1;
        change(relay, row);
      }),
    );
  fault(`${name} is killed`, (relay) => rest(relay));
  if (phase === 'judged') {
    fault(`${name} cannot reach Temporal and gives the row back`, (relay, row) => {
      release(row);
      rest(relay);
    });
  }
}

function release(row: InboxRow | undefined): void {
  if (row !== undefined) row.leased = false;
}

function rest(relay: Relay): void {
  relay.phase = 'idle';
  relay.row = 0;
  relay.remembered = 'none';
  relay.gone = false;
}

/** One transaction, as `judgeReport` of the product. */
function judge(state: State, context: Context, relay: Relay, row: InboxRow): void {
  const { db } = state;
  if (row.state === 'absent' || relay.gone) return rest(relay);
  const attempt = indexOf(relay.row >> 1);
  const { state: attemptState } = db.attempts[attempt];
  if (db.status === 'absent' || attemptState === 'absent') {
    if (row.state === 'pending') row.state = 'unmatched';
    release(row);
    return rest(relay);
  }
  const judged = judgeObservation(
    {
      status: db.status,
      attemptState: attemptState satisfies AttemptState,
      latestAttempt: currentAttempt(db) === attempt,
    },
    row.failed ? 'failed' : 'completed',
  );
  const known = {
    remembered: relay.remembered,
    stored: row.decision,
    isPending: row.state === 'pending',
    judged,
    isWorkFinal: isWorkFinal(db),
  };
  const decision = context.rules.inboxDecision(known);
  if (decision === 'leave') return rest(relay);
  row.decision = decision;
  if (decision === 'advance') recordReport(state, attempt, row.failed ? 'failed' : 'completed');
  if (decision === 'contradiction') db.contradiction = true;
  if (decision === 'known' || isWorkFinal(db)) {
    row.state = 'applied';
    release(row);
    return rest(relay);
  }
  relay.phase = 'judged';
}

function signal(state: State, { rules }: Context, relay: Relay): void {
  const { workflow, db } = state;
  // The work is lost: its row cannot be read, and the report waits.
  if (db.status === 'absent') {
    release(db.rows[relay.row]);
    return rest(relay);
  }
  if (workflow.run !== 'running' && rules.startDecision(workflow.run, isWorkFinal(db)) === 'start')
    startRun(state, workflow.run === 'completed');
  if (workflow.run === 'running' && relay.gone) workflow.woken = true;
  else if (workflow.run === 'running') offerReport(state, relay.row);
  relay.phase = 'signalled';
}

/** If the work has ended meanwhile, the row stays pending and is judged again. */
function markRelayed({ db }: State, relay: Relay, row: InboxRow): void {
  if (relay.gone) return rest(relay);
  if (row.state === 'pending' && !isWorkFinal(db)) row.state = 'relayed';
  release(row);
  rest(relay);
}
