import type { Executor } from '#db/connection/database.ts';
import { grantOverride, hasOverride } from '#db/gate/waits.ts';
import { attemptsOf, currentAttempt, currentOf, takenServiceIds } from '#db/work/attempts.ts';
import { isCancelledAlready } from '#db/work/cancellations.ts';
import { closeCase, findOpenCase, hasOpenCase, openCase, openReasons, type CaseRow } from '#db/work/cases.ts';
import { type AttemptRow, type WorkRow, lockWork } from '#db/work/rows.ts';
import { equalMoney, moneyOf, type Money } from '#domain/money/money.ts';
import {
  type ActionJudgement,
  judgeAbandon,
  judgeLimitChange,
  judgeRelease,
  judgeResolve,
  judgeRetry,
  judgeRetryChange,
  needsWallet,
  type OperatedWork,
  type Operator,
  type OperatorAction,
  type Refusal,
  REFUSALS,
} from '#domain/operator/operator-actions.ts';
import { judgeableWithoutCase, possibleNow } from '#domain/operator/possible-actions.ts';
import { changedOverrides, RETRY_OVERRIDES } from '#domain/retry/retry-rules.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';
import { isCompared } from '#fulfilment/attempts/recover.ts';
import {
  type ActedOn,
  type ActionOf,
  isDone,
  isRetryUnderWay,
  noteAction,
  type Resolution,
  wasJudgedSo,
} from '#fulfilment/operator/action-record.ts';
import { correctAttempt, correctCancellation } from '#fulfilment/operator/corrections.ts';
import { hasPendingObservations } from '#fulfilment/work/buying-block.ts';
import { changeWork, NOTHING_IN_THE_WAY } from '#fulfilment/work/change.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { forgetCancelAccepted, withdrawCancel } from '#fulfilment/work/subscription.ts';

type ActionResult =
  | { readonly kind: 'applied' | 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly detail: string };

/**
 * After a refusal the caller rolls back: a part of the action may have been written, except of an `abandon`.
 * @throws WorkMissingError
 */
export async function actOnWork(
  tx: Executor,
  work: WorkRef,
  action: OperatorAction,
  operator: Operator,
  now: Date,
): Promise<ActionResult> {
  return actOnLockedWork({ tx, work, operator, now }, await lockWork(tx, work), action);
}

/** As {@link actOnWork}; `row` is as it is now in this transaction, which has locked it. */
export async function actOnLockedWork(acted: ActedOn, row: WorkRow, action: OperatorAction): Promise<ActionResult> {
  const { tx, work, operator } = acted;
  if (await isDone(tx, work, operator)) return { kind: 'unchanged' };
  const attempt = await currentAttempt(tx, work);
  const context = { ...acted, row, attempt, operated: await operatedWork(tx, work, row, attempt) };
  const judged = await act(context, action);
  if (judged === 'allowed') return { kind: 'applied' };
  if (judged === 'unchanged') return { kind: 'unchanged' };
  const possible = possibleNow(context.operated, work.kind, await openReasons(tx, work));
  return { kind: 'refused', refusal: judged, detail: [REFUSALS[judged], possible].filter(Boolean).join(' ') };
}

interface ActionContext extends ActedOn {
  readonly row: WorkRow;
  readonly attempt: AttemptRow | undefined;
  readonly operated: OperatedWork;
}

/** Each judges, notes and does. @returns `allowed` when it is done. */
async function act(context: ActionContext, action: OperatorAction): Promise<ActionJudgement> {
  switch (action.action) {
    case 'retry':
      return retry(context, action);
    case 'release':
      return release(context, action);
    case 'abandon':
      return abandon(context, action);
    case 'change_limit':
      return changeLimit(context, action);
    case 'change_retry':
      return changeRetry(context, action);
    case 'resolve':
      return resolve(context, action);
  }
}

async function operatedWork(
  tx: Executor,
  work: WorkRef,
  row: WorkRow,
  attempt: AttemptRow | undefined,
): Promise<OperatedWork> {
  return {
    status: row.status,
    attempt,
    openContradiction: await hasOpenCase(tx, work, 'contradiction'),
    observationsPending: await hasPendingObservations(tx, work),
    failure: row.failureClass ?? undefined,
    awaitsComparison: !(await isCompared(tx, row)),
  };
}

/** Their step is recorded anew when it is due. */
const WAITING: ReadonlySet<WorkStatus> = new Set(['held', 'needs_attention']);

async function retry(context: ActionContext, action: OperatorAction): Promise<ActionJudgement> {
  const { tx, work, row, attempt, operated, now } = context;
  const judged = judgeRetry(operated, await isRetryUnderWay(tx, work));
  if (judged !== 'allowed') return judged;
  await noteAction(context, action);
  if (row.attentionReason === 'cancellation_refused') {
    await closeCase(tx, work, 'cancellation_refused', 'The cancellation is requested again.', now);
    await forgetCancelAccepted(tx, work.id);
    const set = { attentionReason: null, nextStepAt: now };
    await changeWork(tx, work, row, { set, status: 'cancelling' }, now);
  } else if (row.attentionReason === 'attempts_used_up') {
    // A retry grants one more attempt, however many operators request it at the same time.
    await closeCase(tx, work, 'attempts_used_up', 'One more attempt was granted.', now);
    const made = attempt?.number ?? 0;
    // When the number of attempts was set for this work, that number grows.
    const retryOverrides =
      row.retryOverrides?.attempts === undefined ? row.retryOverrides : { ...row.retryOverrides, attempts: made + 1 };
    // Otherwise one more than were made, even if a larger number was set and removed before.
    const extraAttempts = Math.max(row.extraAttempts + 1, made + 1 - (row.retryRule?.attempts ?? made));
    const set = { extraAttempts, retryOverrides, attentionReason: null, nextStepAt: now };
    await changeWork(tx, work, row, { set, status: 'held' }, now);
  } else if (WAITING.has(row.status) || operated.awaitsComparison === true) {
    // Work that is not compared with its row yet, now or when the wake comes, would take the wake as that comparison,
    // and wait on; held work would wait on after a concurrent change of its waits.
    await changeWork(tx, work, row, { set: { nextStepAt: now } }, now);
  }
  return 'allowed';
}

async function release(context: ActionContext, action: OperatorAction): Promise<ActionJudgement> {
  const { tx, work, row, operator, now } = context;
  if (!KINDS[work.kind].isPurchase) return 'nothing_is_charged';
  const judged = judgeRelease(context.operated, await hasOverride(tx, work));
  if (judged !== 'allowed') return judged;
  await noteAction(context, action);
  await grantOverride(tx, work, operator.actor, now);
  await changeWork(tx, work, row, { set: { nextStepAt: now } }, now);
  return 'allowed';
}

async function abandon(context: ActionContext, action: OperatorAction): Promise<ActionJudgement> {
  const judged = judgeAbandon(context.operated);
  if (judged !== 'allowed') return judged;
  await noteAction(context, action);
  await recordAbandonment(context);
  return 'allowed';
}

async function recordAbandonment({ tx, work, now }: ActionContext): Promise<void> {
  const event = `${work.kind}.abandoned`;
  const message = 'An operator abandoned it; nothing was bought.';
  await recordStep(tx, { work, status: 'abandoned', event, message, stepKey: event }, now);
}

async function changeLimit(context: ActionContext, action: ActionOf<'change_limit'>): Promise<ActionJudgement> {
  const { tx, work, row, now } = context;
  const { maxPrice, priceCurrency } = action;
  if (!KINDS[work.kind].isPurchase) return 'nothing_is_charged';
  const isComparable = maxPrice === null || priceCurrency === undefined || maxPrice.currency === priceCurrency;
  const judged = judgeLimitChange(context.operated, sameLimit(row, maxPrice), isComparable);
  if (judged !== 'allowed') return judged;
  await noteAction(context, action);
  const limit = { maxPriceAmount: maxPrice?.amount ?? null, maxPriceCurrency: maxPrice?.currency ?? null };
  await changeWork(tx, work, row, { set: { ...limit, ...(WAITING.has(row.status) && { nextStepAt: now }) } }, now);
  return 'allowed';
}

function sameLimit(row: WorkRow, maxPrice: Money | null): boolean {
  const limit = moneyOf(row.maxPriceAmount, row.maxPriceCurrency);
  if (limit === undefined || maxPrice === null) return limit === undefined && maxPrice === null;
  return equalMoney(maxPrice, limit);
}

async function changeRetry(context: ActionContext, action: ActionOf<'change_retry'>): Promise<ActionJudgement> {
  const { tx, work, row, operated, now } = context;
  const current = row.retryOverrides ?? {};
  const next = changedOverrides(current, action.change);
  const judged = judgeRetryChange(operated, current, next, now.getTime());
  if (judged !== 'allowed') return judged;
  await noteAction(context, action);
  const isEmpty = RETRY_OVERRIDES.every((name) => next[name] === undefined);
  await changeWork(tx, work, row, { set: { retryOverrides: isEmpty ? null : next } }, now);
  return 'allowed';
}

async function resolve(context: ActionContext, action: Resolution): Promise<ActionJudgement> {
  const { tx, work, row, operator, operated, now } = context;
  const { reason, verdict } = action;
  const found = (await findOpenCase(tx, work, reason)) ?? (await openByPerson(context, reason));
  if (found === undefined) return (await wasJudgedSo(tx, work, action)) ? 'unchanged' : 'case_not_open';
  const all = await attemptsOf(tx, work);
  const attempt = all.find(({ id }) => id === found.attemptId) ?? currentOf(all);
  const laterAttempts = all.filter(({ number }) => attempt !== undefined && number > attempt.number);
  // One purchase of the service is one attempt of ours.
  const named = action.serviceId === undefined ? [] : [action.serviceId];
  if ((await takenServiceIds(tx, work.kind, named, attempt?.id)).size > 0) return 'service_id_taken';
  const isCancelled = work.kind === 'cancellation' ? await isCancelledAlready(tx, work.id) : undefined;
  const judged = judgeResolve(operated, { reason, attempt, laterAttempts, isCancelled }, verdict);
  if (judged !== 'allowed') return judged;
  const abandons = verdict === 'not_bought' && action.next === 'abandon';
  const isUnproven = attempt !== undefined && KINDS[work.kind].isPurchase && needsWallet({ reason, attempt });
  if (isUnproven && abandons) return 'wallet_not_read';

  await noteAction(context, action);
  await closeCase(tx, work, reason, `${verdict}: ${operator.reason}`, now);
  if (isFinal(row.status)) return 'allowed';
  if (work.kind === 'cancellation') await correctCancellation(tx, work, action, now);
  if (attempt !== undefined) await correctAttempt(tx, attempt, action);
  if (abandons) {
    // Another attempt than the judged one may forbid it.
    const after = judgeAbandon(await operatedWork(tx, work, row, await currentAttempt(tx, work)));
    if (after === 'allowed') await recordAbandonment(context);
    return after;
  }
  if (reason === 'cancellation_refused') await withdrawCancel(tx, work.id);
  if (row.attentionReason === reason) {
    const { status, nextStepAt } = statusAfter(row, action, now);
    await changeWork(tx, work, row, { set: { ...NOTHING_IN_THE_WAY, nextStepAt }, status }, now);
  }
  return 'allowed';
}

/** For work that the service does not finish. The case is rolled back when the action is refused. */
async function openByPerson(
  { tx, work, attempt, operated }: ActionContext,
  reason: AttentionReason,
): Promise<CaseRow | undefined> {
  if (!judgeableWithoutCase(operated, work.kind).includes(reason)) return undefined;
  await openCase(tx, work, reason, 'An operator resolved it before a case opened.', attempt?.id);
  return findOpenCase(tx, work, reason);
}

/** The workflow continues at once. */
function statusAfter(row: WorkRow, { verdict }: Resolution, now: Date): Pick<WorkRow, 'status' | 'nextStepAt'> {
  // A bought subscription stays active.
  if (row.completedAt !== null) return { status: 'active', nextStepAt: null };
  const isDone = verdict === 'bought' || verdict === 'refunded';
  return isDone ? { status: 'processing', nextStepAt: null } : { status: 'held', nextStepAt: now };
}
