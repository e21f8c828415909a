import { and, eq } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { grantOverride, hasOverride } from '#db/gate/waits.ts';
import { attempts } from '#db/schema.ts';
import { attemptsOf, currentAttempt } from '#db/work/attempts.ts';
import { isCancelledAlready } from '#db/work/cancellations.ts';
import { closeCase, findOpenCase, hasOpenCase, openCase, openReasons, type CaseRow } from '#db/work/cases.ts';
import { type WorkRow, type AttemptRow, lockWork } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { equalMoney, type Money } from '#domain/money/money.ts';
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
import { changedOverrides, RETRY_OVERRIDES, type RetryOverrides } from '#domain/retry/retry-rules.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';
import { isCompared } from '#fulfilment/attempts/recover.ts';
import {
  actionKey,
  isDone,
  isRetryUnderWay,
  wasJudgedSo,
  detailOf,
  sentence,
} from '#fulfilment/operator/action-record.ts';
import { correctAttempt, correctCancellation, type Resolution } from '#fulfilment/operator/corrections.ts';
import { hasPendingObservations } from '#fulfilment/work/buying-barrier.ts';
import { changeWork, NOTHING_IN_THE_WAY } from '#fulfilment/work/change.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { forgetCancelAccepted, withdrawCancel } from '#fulfilment/work/subscription.ts';

export type ActionResult =
  | { readonly kind: 'applied' | 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly detail: string };

/** After a refusal the caller rolls back: a part of the action may have been written. @throws WorkMissingError */
export async function actOnWork(
  tx: Executor,
  work: WorkRef,
  action: OperatorAction,
  operator: Operator,
  now: Date,
): Promise<ActionResult> {
  const row = await lockWork(tx, work);
  if (await isDone(tx, work, operator)) return { kind: 'unchanged' };
  const context = { tx, work, row, operator, now };
  const operated = await operatedWork(context);
  const judged = await judge(context, operated, action);
  if (judged === 'unchanged') return { kind: 'unchanged' };
  if (typeof judged === 'string') return refused(context, operated, judged);

  await addTimelineEntry(tx, work, {
    event: `operator.${action.action}`,
    message: `${sentence(work, action)} Reason given: ${operator.reason}`,
    detail: { actor: operator.actor, ...detailOf(action) },
    dedupKey: actionKey(operator),
    at: now,
  });
  const audited = {
    actor: operator.actor,
    action: `${work.kind}.${action.action}`,
    subject: work,
    reason: operator.reason,
  };
  await addAuditEntry(tx, audited, now);
  const refusal = await judged();
  return refusal === undefined ? { kind: 'applied' } : refused(context, operated, refusal);
}

async function refused({ tx, work }: ActionContext, operated: OperatedWork, refusal: Refusal): Promise<ActionResult> {
  const possible = possibleNow(operated, work.kind, await openReasons(tx, work));
  return { kind: 'refused', refusal, detail: [REFUSALS[refusal], possible].filter(Boolean).join(' ') };
}

interface ActionContext {
  readonly tx: Executor;
  readonly work: WorkRef;
  readonly row: WorkRow;
  readonly operator: Operator;
  readonly now: Date;
}

/** @returns a refusal that only showed while it was performed. */
type Doing = () => Promise<Refusal | undefined>;

async function judge(
  context: ActionContext,
  operated: OperatedWork,
  action: OperatorAction,
): Promise<Exclude<ActionJudgement, 'allowed'> | Doing> {
  const { tx, work, row } = context;
  const unless = (judged: ActionJudgement, doing: Doing) => (judged === 'allowed' ? doing : judged);
  switch (action.action) {
    case 'retry':
      return unless(judgeRetry(operated, await isRetryUnderWay(tx, work)), () => retry(context));
    case 'release':
      if (!KINDS[work.kind].isPurchase) return 'nothing_is_charged';
      return unless(judgeRelease(operated, await hasOverride(tx, work)), () => release(context));
    case 'abandon':
      return unless(judgeAbandon(operated), () => abandon(context));
    case 'change_limit':
      if (!KINDS[work.kind].isPurchase) return 'nothing_is_charged';
      return unless(judgeLimitChange(operated, sameLimit(row, action.maxPrice), isComparable(action)), () =>
        changeLimit(context, action.maxPrice),
      );
    case 'change_retry': {
      const current = row.retryOverrides ?? {};
      const next = changedOverrides(current, action.change);
      return unless(judgeRetryChange(operated, current, next, context.now.getTime()), () => changeRetry(context, next));
    }
    case 'resolve': {
      const found =
        (await findOpenCase(tx, work, action.reason)) ?? (await openByPerson(context, operated, action.reason));
      if (found === undefined) return (await wasJudgedSo(tx, work, action)) ? 'unchanged' : 'case_not_open';
      const all = await attemptsOf(tx, work);
      const attempt = all.find(({ id }) => id === found.attemptId) ?? (await currentAttempt(tx, work));
      const laterAttempts = all.filter(({ number }) => attempt !== undefined && number > attempt.number);
      if (await isTaken(tx, work, attempt, action.serviceId)) return 'service_id_taken';
      const isCancelled = work.kind === 'cancellation' ? await isCancelledAlready(tx, work.id) : undefined;
      const judged = judgeResolve(
        operated,
        { reason: action.reason, attempt, laterAttempts, isCancelled },
        action.verdict,
      );
      return unless(judged, () => resolve(context, attempt, action));
    }
  }
}

/** For work that the service does not finish. The case is rolled back when the action is refused. */
async function openByPerson(
  { tx, work }: ActionContext,
  operated: OperatedWork,
  reason: AttentionReason,
): Promise<CaseRow | undefined> {
  if (!judgeableWithoutCase(operated, work.kind).includes(reason)) return undefined;
  const attempt = await currentAttempt(tx, work);
  await openCase(tx, work, reason, 'An operator resolved it before a case opened.', attempt?.id);
  return findOpenCase(tx, work, reason);
}

async function operatedWork({ tx, work, row }: ActionContext): Promise<OperatedWork> {
  return {
    status: row.status,
    attempt: await currentAttempt(tx, work),
    openContradiction: await hasOpenCase(tx, work, 'contradiction'),
    observationsPending: await hasPendingObservations(tx, work),
    failure: row.failureClass ?? undefined,
    awaitsComparison: !(await isCompared(tx, row)),
  };
}

/** Their step is recorded anew when it is due. */
const WAITING: ReadonlySet<WorkStatus> = new Set(['held', 'needs_attention']);

async function retry({ tx, work, row, now }: ActionContext): Promise<undefined> {
  if (row.attentionReason === 'cancellation_refused') {
    await closeCase(tx, work, 'cancellation_refused', 'The cancellation is requested again.', now);
    await forgetCancelAccepted(tx, work.id);
    const set = { attentionReason: null, nextStepAt: now };
    await changeWork(tx, work, row, { set, status: 'cancelling' }, now);
    return;
  }
  if (row.attentionReason !== 'attempts_used_up') {
    // Work that is not compared with its row yet, now or when the wake comes, would take the wake as that comparison,
    // and wait on; held work would wait on after a concurrent change of its waits.
    if (WAITING.has(row.status) || !(await isCompared(tx, row)))
      await changeWork(tx, work, row, { set: { nextStepAt: now } }, now);
    return;
  }
  // A retry grants one more attempt, however many operators request it at the same time.
  await closeCase(tx, work, 'attempts_used_up', 'One more attempt was granted.', now);
  const made = (await currentAttempt(tx, work))?.number ?? 0;
  // When the number of attempts was set for this work, that number grows.
  const retryOverrides =
    row.retryOverrides?.attempts === undefined ? row.retryOverrides : { ...row.retryOverrides, attempts: made + 1 };
  // Otherwise one more than were made, even if a larger number was set and removed before.
  const extraAttempts = Math.max(row.extraAttempts + 1, made + 1 - (row.retryRule?.attempts ?? made));
  const granted = { extraAttempts, retryOverrides, attentionReason: null, nextStepAt: now };
  await changeWork(tx, work, row, { set: granted, status: 'held' }, now);
}

async function release({ tx, work, row, operator, now }: ActionContext): Promise<undefined> {
  await grantOverride(tx, work, operator.actor, now);
  if (row.status === 'held') await changeWork(tx, work, row, { set: { nextStepAt: now } }, now);
}

async function changeLimit({ tx, work, row, now }: ActionContext, maxPrice: Money | null): Promise<undefined> {
  const limit = { maxPriceAmount: maxPrice?.amount ?? null, maxPriceCurrency: maxPrice?.currency ?? null };
  await changeWork(tx, work, row, { set: { ...limit, ...(WAITING.has(row.status) && { nextStepAt: now }) } }, now);
}

async function changeRetry({ tx, work, row, now }: ActionContext, next: RetryOverrides): Promise<undefined> {
  const isEmpty = RETRY_OVERRIDES.every((name) => next[name] === undefined);
  await changeWork(tx, work, row, { set: { retryOverrides: isEmpty ? null : next } }, now);
}

async function abandon({ tx, work, now }: ActionContext): Promise<undefined> {
  const event = `${work.kind}.abandoned`;
  const message = 'An operator abandoned it; nothing was bought.';
  await recordStep(tx, { work, status: 'abandoned', event, message, stepKey: event }, now);
}

async function resolve(
  context: ActionContext,
  attempt: AttemptRow | undefined,
  action: Resolution,
): Promise<Refusal | undefined> {
  const { tx, work, row, operator, now } = context;
  const { isPurchase } = KINDS[work.kind];
  const isUnproven = attempt !== undefined && isPurchase && needsWallet({ reason: action.reason, attempt });
  if (isUnproven && action.verdict === 'not_bought' && action.next === 'abandon') return 'wallet_not_read';
  await closeCase(tx, work, action.reason, `${action.verdict}: ${operator.reason}`, now);
  if (isFinal(row.status)) return undefined;
  if (work.kind === 'cancellation') await correctCancellation(tx, work, action, now);
  if (attempt !== undefined) await correctAttempt(tx, attempt, action);
  if (action.verdict === 'not_bought' && action.next === 'abandon') {
    // Another attempt than the judged one may forbid it.
    const judged = judgeAbandon(await operatedWork(context));
    return judged === 'allowed' || judged === 'unchanged' ? abandon(context) : judged;
  }
  if (action.reason === 'cancellation_refused') await withdrawCancel(tx, work.id);

  if (row.attentionReason === action.reason) {
    const { status, nextStepAt } = statusAfter(row, action, now);
    const set = { ...NOTHING_IN_THE_WAY, nextStepAt };
    await changeWork(tx, work, row, { set, status }, now);
  }
  return undefined;
}

/** The workflow continues at once. */
function statusAfter(row: WorkRow, { verdict }: Resolution, now: Date): Pick<WorkRow, 'status' | 'nextStepAt'> {
  // A bought subscription stays active.
  if (row.completedAt !== null) return { status: 'active', nextStepAt: null };
  const isDone = verdict === 'bought' || verdict === 'refunded';
  return isDone ? { status: 'processing', nextStepAt: null } : { status: 'held', nextStepAt: now };
}

/** One purchase of the service is one attempt of ours. */
async function isTaken(
  tx: Executor,
  { kind }: WorkRef,
  attempt: AttemptRow | undefined,
  serviceId: string | undefined,
): Promise<boolean> {
  if (serviceId === undefined) return false;
  const rows = await tx
    .select({ id: attempts.id })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, kind), eq(attempts.serviceId, serviceId)));
  return rows.some(({ id }) => id !== attempt?.id);
}

function isComparable({ maxPrice, priceCurrency }: OperatorAction & { readonly action: 'change_limit' }): boolean {
  return maxPrice === null || priceCurrency === undefined || maxPrice.currency === priceCurrency;
}

function sameLimit(row: WorkRow, maxPrice: Money | null): boolean {
  const { maxPriceAmount: amount, maxPriceCurrency: currency } = row;
  if (amount === null || currency === null) return maxPrice === null;
  return maxPrice !== null && equalMoney(maxPrice, { amount, currency });
}
