/** An operator, whose verdicts are true at the service at that moment. */
import {
  judgeAbandon,
  judgeResolve,
  judgeRetry,
  type OperatedAttempt,
  type OperatedWork,
} from '#domain/operator/operator-actions.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import type { Offer } from '#test/model-check/engine.ts';
import {
  currentAttempt,
  dropLease,
  indexOf,
  isReportPending,
  isWorkFinal,
  returnUnanswered,
  type Context,
} from '#test/model-check/participants/database.ts';
import { debitsOf, hasLateRequest } from '#test/model-check/participants/service.ts';
import type { AttemptRow, Attention, State, Status } from '#test/model-check/state.ts';

type Verdict = 'bought' | 'not_bought' | 'dismissed';

export function operatorActions(state: State, { rules }: Context, offer: Offer): void {
  const { db, budget } = state;
  if (budget.operator === 0 || db.status === 'absent' || isWorkFinal(db)) return;
  const work = operated(state, db.status, rules.abandonNeedsComparison && db.compared !== state.epoch + 1);
  const act = (sentence: string, change: (next: State) => void) =>
    offer('fault', `an operator ${sentence}`, (next) => {
      next.budget.operator -= 1;
      change(next);
    });
  const wake = (next: State) => void (next.db.wake = true);
  if (judgeRetry(work, db.wake) === 'allowed') act('retries the order', wake);
  const abandonment = judgeAbandon(work);
  if (abandonment === 'not_compared' && !db.wake) act('must repeat the abandonment after a comparison', wake);
  if (abandonment === 'allowed') act('abandons the order', abandon);
  const reasons = new Set<Attention>([db.contradiction ? 'contradiction' : 'none', db.attention]);
  for (const reason of reasons) if (reason !== 'none') resolveActions(state, work, reason, act);
}

function operated(state: State, status: Exclude<Status, 'absent'>, awaitsComparison: boolean): OperatedWork {
  const { db } = state;
  const current = currentAttempt(db);
  return {
    status,
    attempt: current === undefined ? undefined : operatedAttempt(db.attempts[indexOf(current)]),
    openContradiction: db.contradiction,
    observationsPending: isReportPending(db, 0),
    awaitsComparison,
  };
}

function operatedAttempt({ state, settled }: AttemptRow): OperatedAttempt | undefined {
  return state === 'absent' ? undefined : { state, settled };
}

function resolveActions(
  state: State,
  work: OperatedWork,
  reason: Exclude<Attention, 'none'>,
  act: (sentence: string, change: (next: State) => void) => void,
): void {
  const current = currentAttempt(state.db);
  if (current === undefined) return;
  const attempt = indexOf(current);
  const later = attempt === 0 ? operatedAttempt(state.db.attempts[1]) : undefined;
  const judged = { reason, attempt: work.attempt, laterAttempts: later === undefined ? [] : [later] };
  for (const verdict of truths(state, attempt)) {
    if (judgeResolve(work, judged, verdict) !== 'allowed') continue;
    act(`resolves ${reason.replaceAll('_', ' ')} as ${verdict.replace('_', ' ')}`, (next) =>
      resolve(next, attempt, reason, verdict),
    );
  }
}

/** The true verdicts. `not_bought` is only possible while no request is in progress. */
function truths(state: State, attempt: number): Verdict[] {
  const isSold = state.purchases.some((each) => each.attempt === attempt && each.state === 'completed');
  const isInProgress =
    hasLateRequest(state, attempt) ||
    state.workers.some((worker) => worker.phase !== 'idle' && worker.attempt === attempt);
  const isNotBought = debitsOf(state, attempt) === 0 && !isInProgress;
  return [...(isSold ? ['bought' as const] : []), ...(isNotBought ? ['not_bought' as const] : []), 'dismissed'];
}

function resolve({ db }: State, attempt: 0 | 1, reason: Attention, verdict: Verdict): void {
  const row = db.attempts[attempt];
  if (reason === 'contradiction') db.contradiction = false;
  if (row.state !== 'absent' && verdict !== 'dismissed') {
    row.state = attemptStateAfter(row.state, verdict === 'bought' ? 'verdict_bought' : 'verdict_not_bought');
    row.settled = verdict === 'not_bought';
    row.anyUnknown ||= verdict === 'bought';
    dropLease(row);
  }
  if (db.attention === reason) {
    db.attention = 'none';
    db.status = verdict === 'bought' ? 'processing' : 'held';
  }
  db.wake = true;
}

function abandon({ db }: State): void {
  db.status = 'abandoned';
  db.attention = 'none';
  returnUnanswered(db);
  db.wake = true;
}
