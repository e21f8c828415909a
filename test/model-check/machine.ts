import type { Dialect } from '#test/model-check/dialects.ts';
import type { Machine, Offer } from '#test/model-check/engine.ts';
import { storeActions } from '#test/model-check/faults.ts';
import { FAULTS, isWorkFinal, type Context } from '#test/model-check/participants/database.ts';
import { lostTaskActions } from '#test/model-check/participants/lost-task.ts';
import { operatorActions } from '#test/model-check/participants/operator.ts';
import { relayActions } from '#test/model-check/participants/relay.ts';
import { debitsOf, serviceActions } from '#test/model-check/participants/service.ts';
import { upkeepActions } from '#test/model-check/participants/upkeep.ts';
import { walletActions } from '#test/model-check/participants/wallet.ts';
import { workerActions } from '#test/model-check/participants/worker.ts';
import { workflowActions } from '#test/model-check/participants/workflow.ts';
import type { Rules } from '#test/model-check/rules.ts';
import { emptyState, type Budget, type Relay, type State, type Worker } from '#test/model-check/state.ts';
import { timeActions } from '#test/model-check/time.ts';

/** The invariants of every state. The backward search adds `CAN_CONTINUE`. */
export const INVARIANTS = {
  one_debit: 'at most one debit without a credit',
  no_false_failure: 'an order that failed or was abandoned has cost nothing',
  no_report_lost: 'no report is lost',
  one_send: 'one send at a time',
  allowed_states: 'a status or a state changes only as the tables allow',
  no_needless_case: 'no case opens while the same bytes may still be sent again',
} as const;

/** The model of one service with one set of rules, within one bound. */
export function machineOf(rules: Rules, dialect: Dialect, budget: Budget): Machine {
  const context: Context = { rules, dialect };
  return {
    initial: emptyState(budget),
    actions: (state, offer) => actionsOf(state, context, offer),
    canonical,
    violation,
    isRest,
  };
}

function actionsOf(state: State, context: Context, offer: Offer): boolean {
  upkeepActions(state, context, offer);
  workflowActions(state, context, offer);
  lostTaskActions(state, context, offer);
  const isCut = workerActions(state, context, offer);
  timeActions(state, offer);
  serviceActions(state, context.dialect, offer);
  walletActions(state, context.dialect, offer);
  relayActions(state, context, offer);
  operatorActions(state, context, offer);
  storeActions(state, context, offer);
  return isCut;
}

function violation(state: State): string | undefined {
  if (debitsOf(state) > 1) return INVARIANTS.one_debit;
  const isWithoutEffect = state.db.status === 'failed' || state.db.status === 'abandoned';
  if (isWithoutEffect && debitsOf(state) > 0) return INVARIANTS.no_false_failure;
  if (isReportLost(state)) return INVARIANTS.no_report_lost;
  if (state.fault === FAULTS.two_sends) return INVARIANTS.one_send;
  if (state.fault === FAULTS.forbidden) return INVARIANTS.allowed_states;
  if (state.fault === FAULTS.needless_case) return INVARIANTS.no_needless_case;
  return undefined;
}

/** True if the workflow waits for a report that has ended the attempt and that no row or relay will deliver. */
function isReportLost({ db, workflow, relays, epoch }: State): boolean {
  // A case that was lost with the last commits is not a lost report. The backward search checks this situation.
  const isWaitingWithoutCase =
    workflow.at === 'open_case' && db.attention === 'none' && !db.contradiction && epoch === 0;
  const isWaiting = workflow.at === 'await_service' || isWaitingWithoutCase;
  if (workflow.run !== 'running' || !isWaiting || workflow.queue !== 0 || workflow.woken || db.wake) return false;
  const row = db.attempts[workflow.attempt === 0 ? 0 : 1];
  if (row.state !== 'completed' && row.state !== 'failed') return false;
  const isOnItsWay = db.rows.some(({ state }) => state === 'pending') || relays.some(({ phase }) => phase !== 'idle');
  return !isOnItsWay && db.rows.some(({ state, decision }) => state === 'applied' && decision === 'known');
}

/** True if the order has ended and no participant works on it, or a case is open. */
function isRest({ db, workflow, relays }: State): boolean {
  if (db.attention !== 'none' || db.contradiction) return true;
  const isHandled = db.rows.every(({ state }) => state === 'absent' || state === 'applied');
  return isWorkFinal(db) && workflow.run !== 'running' && isHandled && relays.every(({ phase }) => phase === 'idle');
}

/** The order of equal relays and workers has no meaning, so they are sorted. */
function canonical(state: State): void {
  sort(...state.relays);
  if (!sort(...state.workers)) return;
  for (const { attempts } of [state.db, state.saved])
    for (const row of attempts) if (row.lease === 1 || row.lease === 2) row.lease = 3 - row.lease;
}

/** @returns true if it has exchanged the two. */
function sort<Part extends Relay | Worker>(left: Part, right: Part): boolean {
  const field = (Object.keys(left) as (keyof Part)[]).find((key) => left[key] !== right[key]);
  if (field === undefined || left[field] < right[field]) return false;
  const kept = { ...left };
  Object.assign(left, right);
  Object.assign(right, kept);
  return true;
}
