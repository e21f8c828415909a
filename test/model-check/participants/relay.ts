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
import { offerFault } from '#test/model-check/participants/offers.ts';
import { offerReport, startRun } from '#test/model-check/participants/workflow-run.ts';
import { idleRelay, type InboxRow, type Relay, type State } from '#test/model-check/state.ts';

function named(place: number): string {
  return `the ${place % 2 === 0 ? 'webhook' : 'finding'} about attempt ${(place >> 1) + 1}`;
}

export function relayActions(state: State, context: Context, offer: Offer): void {
  const { relays, db } = state;
  for (const index of [0, 1] as const) {
    const { phase } = relays[index];
    // Two idle relays are equal, so only the first one takes a row.
    if (phase !== 'idle') passOnActions(state, context, index, offer);
    else if (index === 0 || relays[0].phase !== 'idle') takeActions(state, index, offer);
  }
  for (const [place, { leased }] of db.rows.entries()) {
    if (!leased) continue;
    const isTaken = relays.some(({ phase, row: taken }) => phase !== 'idle' && taken === place);
    if (!isTaken) offer('step', `the lease of ${named(place)} ends`, (next) => release(next.db.rows[place]!));
    else
      offerFault(state, offer, `the lease of ${named(place)} ends while a relay has the row`, (next) =>
        release(next.db.rows[place]!),
      );
  }
}

function takeActions({ db }: State, index: 0 | 1, offer: Offer): void {
  for (const [place, { state, leased }] of db.rows.entries()) {
    if (state !== 'pending' || leased) continue;
    offer('step', `relay ${index + 1} takes ${named(place)}`, (next) => {
      const row = next.db.rows[place]!;
      row.leased = true;
      Object.assign(next.relays[index], { phase: 'taken', row: place, remembered: row.decision });
    });
  }
}

function passOnActions(state: State, context: Context, index: 0 | 1, offer: Offer): void {
  const { phase, row: place } = state.relays[index];
  const name = `relay ${index + 1}`;
  const step = (sentence: string, change: (next: State, relay: Relay, row: InboxRow) => void) =>
    offer('step', `${name} ${sentence}`, (next) => change(next, next.relays[index], next.db.rows[place]!));
  if (phase === 'taken') step(`judges ${named(place)}`, (next, relay, row) => judge(next, context, relay, row));
  if (phase === 'judged') step('signals the workflow', (next, relay) => signal(next, context, relay));
  if (phase === 'signalled') step('notes that the workflow was signalled', markRelayed);
  offerFault(state, offer, `${name} is killed`, (next) => rest(next.relays[index]));
  if (phase !== 'judged') return;
  offerFault(state, offer, `${name} cannot reach Temporal and gives the row back`, (next) => {
    release(next.db.rows[place]!);
    rest(next.relays[index]);
  });
}

function release(row: InboxRow): void {
  row.leased = false;
}

function rest(relay: Relay): void {
  Object.assign(relay, idleRelay());
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
    release(db.rows[relay.row]!);
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
