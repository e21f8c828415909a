import { backoffMs } from '#domain/policy/settings.ts';
import type { CompletionResult } from '#domain/purchase/results.ts';
import { orWhenGivenUp, readActivities } from '#workflows/options.ts';
import { attemptRef, nextStep, waitThen, type Step } from '#workflows/purchase/steps.ts';
import type { Shown } from '#workflows/run/display.ts';
import type { Run } from '#workflows/run/run.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

export async function deliver(run: Run): Promise<Step> {
  const { name, overdue } = run.rules;
  const now = `The service has completed the ${run.noun}; its ${name} is being read.`;
  const next = `The ${run.noun} is completed.`;
  // The completion itself marks the queued reports as applied.
  const applied = run.applied.splice(0);
  if (run.state.unansweredReads > 0) showAskedAgain(run, { now, next });
  else await run.goOn({ status: 'processing', now, next });
  const result = await complete(run, applied);
  if (result?.kind !== 'completed') run.applied.push(...applied);
  if (result?.kind === 'not_yet') return waitToReadAgain(run, result);
  run.state.unread = undefined;
  if (result === undefined) {
    const detail = `Its ${name} could not be read from the service.`;
    return { step: 'retry_later', reason: overdue, detail, resume: 'deliver' };
  }
  // It is bought: a read costs nothing, and the service or a new version may have repaired it.
  if (result.kind === 'unreadable')
    return { step: 'retry_later', reason: 'contract_drift', detail: result.detail, resume: 'deliver' };
  run.state.unansweredReads = 0;
  switch (result.kind) {
    case 'needs_attention':
      return { step: 'open_case', reason: result.reason, detail: result.detail };
    case 'changed':
      await run.read();
      return nextStep(run);
    case 'completed':
      return delivered(run, result);
  }
}

export function nothingMore({ noun }: Run): string {
  return `Nothing: the ${noun} has ended.`;
}

export function delivered(run: Run, { esimId }: { readonly esimId?: string }): Step {
  const { delivered: status, done } = run.rules;
  const after = status === 'completed' ? nothingMore(run) : 'It is renewed until it expires or is cancelled.';
  // Here the purchase has ended. A VPN subscription goes on: its status is `active`.
  run.show({ status, now: done(esimId ?? ''), next: after });
  return { step: 'end', end: { status: 'completed', ...(esimId !== undefined && { esimId }) } };
}

/** @returns undefined when the activity was given up. */
function complete(run: Run, applied: readonly string[]): Promise<CompletionResult | undefined> {
  const { completePurchase } = readActivities(run.policy, `Read the ${run.rules.name} and complete the ${run.noun}`);
  return orWhenGivenUp<CompletionResult | undefined>(completePurchase({ ...attemptRef(run), applied }), undefined);
}

/** After the deadline a case opens, and the reads go on: what the service fills late is delivered. */
async function waitToReadAgain(
  run: Run,
  { reason, detail, retryAfterMs = 0 }: Extract<CompletionResult, { kind: 'not_yet' }>,
): Promise<Step> {
  const { name, overdue } = run.rules;
  const { resendDelayMs, resendDelayMaxMs, deliveryDeadlineMs } = run.policy;
  const now = Date.now();
  const { since, reads } = run.state.unread ?? { since: now, reads: 0 };
  // A service that asks for an hour must not use up the time for the delivery.
  const pause = Math.min(
    resendDelayMaxMs,
    Math.max(retryAfterMs, backoffMs(resendDelayMs, resendDelayMaxMs, reads + 1)),
  );
  if (run.state.unansweredReads > 0 || now + pause - since >= deliveryDeadlineMs) {
    run.state.unread = undefined;
    const text = `Its ${name} could not be read from the service. ${detail}`;
    // The books find a refund, and wake the cancellation.
    if (reason === 'refund_not_in_wallet') return { step: 'open_case', reason: overdue, detail: text };
    return { step: 'retry_later', reason: overdue, detail: text, resume: 'deliver' };
  }
  run.state.unread = { since, reads: reads + 1 };
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
  return waitThen(run, pause, WAIT_NAMES.completion(name, reason), { step: 'deliver' });
}

/** Work with an open case keeps its status: only an answer changes PostgreSQL. */
export function showAskedAgain(run: Run, shown: Pick<Shown, 'now' | 'next' | 'nextStepAt'>): void {
  const { attention, failure } = run;
  run.show({
    ...shown,
    status: attention === undefined ? 'processing' : 'needs_attention',
    attention,
    failure,
  });
}
