import { proxyActivities } from '@temporalio/workflow';
import { backoffMs } from '#domain/policy/settings.ts';
import type { CompletionResult, PurchaseActivities } from '#domain/purchase/results.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { DEADLINES_OF_READS, repeatedRead, requireGivenUp } from '#workflows/activity-options.ts';
import { nothingMore } from '#workflows/purchase/cases.ts';
import type { Purchase } from '#workflows/purchase/purchase.ts';
import type { Step, StepNamed } from '#workflows/purchase/steps.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';
import type { Shown } from '#workflows/work/progress.ts';
import type { WorkRun } from '#workflows/work/work-run.ts';

export interface Delivery {
  readonly name: string;
  readonly status: WorkStatus;
  readonly overdue: StepNamed<'retry_later'>['reason'];
  readonly done: (esimId: string) => string;
}

export async function deliver(purchase: Purchase, delivery: Delivery): Promise<Step> {
  const { run } = purchase;
  const now = `The service has completed the ${run.noun}; its ${delivery.name} is being read.`;
  const next = `The ${run.noun} is completed.`;
  // The completion itself marks the queued reports as handled.
  const applied = run.takeAnswered();
  if (purchase.unansweredReads > 0) showAskedAgain(run, { now, next });
  else await run.goOn({ status: 'processing', now, next });
  const result = await complete(purchase, delivery, applied);
  if (result?.kind !== 'completed') run.answer(applied);
  if (result?.kind === 'not_yet') return waitToReadAgain(purchase, delivery, result);
  purchase.unread = undefined;
  if (result === undefined) {
    const detail = `Its ${delivery.name} could not be read from the service.`;
    return { step: 'retry_later', reason: delivery.overdue, detail, resume: 'deliver' };
  }
  // It is bought: a read costs nothing, and the service or a new version may have repaired it.
  if (result.kind === 'unreadable')
    return { step: 'retry_later', reason: 'contract_drift', detail: result.detail, resume: 'deliver' };
  purchase.unansweredReads = 0;
  switch (result.kind) {
    case 'needs_attention':
      return { step: 'open_case', reason: result.reason, detail: result.detail };
    case 'changed':
      await run.reload();
      return purchase.nextStep();
    case 'completed':
      return delivered(purchase, delivery, result);
  }
}

export function delivered(
  { run }: Purchase,
  { status, done }: Delivery,
  { esimId }: { readonly esimId?: string },
): Step {
  const after = status === 'completed' ? nothingMore(run) : 'It is renewed until it expires or is cancelled.';
  run.show({ status, now: done(esimId ?? ''), next: after });
  return { step: 'end', end: { status: 'completed', ...(esimId !== undefined && { esimId }) } };
}

/** @returns undefined when the activity was given up. */
async function complete(
  { run, attemptRef }: Purchase,
  { name }: Delivery,
  applied: readonly string[],
): Promise<CompletionResult | undefined> {
  const { completePurchase } = proxyActivities<Pick<PurchaseActivities, 'completePurchase'>>({
    ...repeatedRead(run.policy, DEADLINES_OF_READS),
    summary: `Read the ${name} and complete the ${run.noun}`,
  });
  try {
    return await completePurchase({ ...attemptRef, applied });
  } catch (error) {
    requireGivenUp(error);
    return undefined;
  }
}

/** After the deadline a case opens, and the reads go on: what the service fills late is delivered. */
async function waitToReadAgain(
  purchase: Purchase,
  { name, overdue }: Delivery,
  { reason, detail, retryAfterMs = 0 }: Extract<CompletionResult, { kind: 'not_yet' }>,
): Promise<Step> {
  const { run } = purchase;
  const { resendDelayMs, resendDelayMaxMs, deliveryDeadlineMs } = run.policy;
  const now = Date.now();
  const { since, reads } = purchase.unread ?? { since: now, reads: 0 };
  // A service that asks for an hour must not use up the time for the delivery.
  const pause = Math.min(
    resendDelayMaxMs,
    Math.max(retryAfterMs, backoffMs(resendDelayMs, resendDelayMaxMs, reads + 1)),
  );
  if (purchase.unansweredReads > 0 || now + pause - since >= deliveryDeadlineMs) {
    purchase.unread = undefined;
    const text = `Its ${name} could not be read from the service. ${detail}`;
    // The books find a refund, and wake the cancellation.
    if (reason === 'refund_not_in_wallet') return { step: 'open_case', reason: overdue, detail: text };
    return { step: 'retry_later', reason: overdue, detail: text, resume: 'deliver' };
  }
  purchase.unread = { since, reads: reads + 1 };
  const until = new Date(since + deliveryDeadlineMs).toISOString();
  await run.record({
    status: 'processing',
    event: `${run.work.kind}.not_complete_yet`,
    message: `The ${name} could not be read yet: ${detail}`,
    nextStepAt: now + pause,
    next:
      `It is read again. A case is opened if that does not succeed until ${until}. Then: The ${run.noun} is ` +
      'completed.',
  });
  return purchase.waitThen(pause, WAIT_NAMES.completion(name, reason), { step: 'deliver' });
}

/** Work with an open case keeps its status: only an answer changes PostgreSQL. */
export function showAskedAgain(run: WorkRun, shown: Pick<Shown, 'now' | 'next' | 'nextStepAt'>): void {
  const { attention, failure } = run;
  run.show({
    ...shown,
    status: attention === undefined ? 'processing' : 'needs_attention',
    attention,
    failure,
  });
}
