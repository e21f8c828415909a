import { backoffMs } from '#domain/policy/settings.ts';
import type { CancellationResult, SubscriptionLookUp } from '#domain/purchase/results.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import type { Run } from '#workflows/run/run.ts';
import {
  endSubscription,
  lookUp,
  openCase,
  readSubscription,
  requestCancellation,
} from '#workflows/subscription/subscription.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

export async function cancel(run: Run): Promise<WorkEnd | undefined> {
  const { cancelAcceptedAt, expiresAt } = run.subscription;
  run.state.silence = undefined;
  const otherwise =
    expiresAt === undefined ? '' : ` If it does not, the subscription ends with its time, at ${timeOf(expiresAt)}.`;
  const next = `The service confirms that it is cancelled.${otherwise}`;
  if (run.status !== 'cancelling' && run.attention !== 'service_not_answering') {
    const message = 'The customer has ended it; the cancellation is requested at the service.';
    await run.record({ status: 'cancelling', message, next });
  }
  if (cancelAcceptedAt === undefined) {
    await request(run);
    return undefined;
  }
  if (isRenewed(run, expiresAt, cancelAcceptedAt)) {
    const detail = `The service accepted the cancellation and has renewed it since, until ${timeOf(expiresAt)}.`;
    await openCase(run, 'cancellation_refused', detail);
    return undefined;
  }
  await run.goOn({ status: 'cancelling', now: 'The service has accepted the cancellation.', next });
  const { expiryGraceMs, silentDeadlineMs, cancelCheckMs, cancelCheckMaxMs } = run.policy;
  // A cancellation that was accepted after the end of its time may still be confirmed.
  const endsAt =
    expiresAt === undefined
      ? cancelAcceptedAt + silentDeadlineMs
      : Math.max(expiresAt, cancelAcceptedAt) + expiryGraceMs;
  run.state.cancelChecks += 1;
  const delayMs = backoffMs(cancelCheckMs, cancelCheckMaxMs, run.state.cancelChecks);
  const leftMs = endsAt - Date.now();
  const woken = await run.wait(leftMs > 0 ? Math.min(delayMs, leftMs) : delayMs, WAIT_NAMES.cancelled());
  if (woken !== 'time') return undefined;
  const answer = await lookUp(run);
  return Date.now() < endsAt ? undefined : endUnconfirmed(run, answer, expiresAt, cancelAcceptedAt);
}

/**
 * Each renewal costs money, so a person must know. The end may be corrected once before it is reached; by less than a
 * day, its time zone is meant.
 */
function isRenewed({ state, policy }: Run, expiresAt: number | undefined, acceptedAt: number): expiresAt is number {
  if (expiresAt === undefined) return false;
  const { at, moves } = state.paidUntil ?? { at: expiresAt, moves: 0 };
  const isLater = expiresAt >= at + policy.unknownExpiryCheckMs;
  // A read that lags behind may show the former end in between.
  state.paidUntil = isLater ? { at: expiresAt, moves: moves + 1 } : { at, moves };
  return isLater && (moves > 0 || (Date.now() >= at && at >= acceptedAt));
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

async function endUnconfirmed(
  run: Run,
  answer: SubscriptionLookUp,
  expiresAt: number | undefined,
  acceptedAt: number,
): Promise<WorkEnd | undefined> {
  await readSubscription(run);
  const after = run.subscription;
  // Its status says that it goes on: its time may have been stated without a zone, so it may be hours off.
  const lastAt = Math.max(expiresAt ?? 0, acceptedAt) + run.policy.unknownExpiryCheckMs;
  if (answer.kind === 'found' && expiresAt !== undefined && Date.now() < lastAt) return undefined;
  const isChanged = after.endedAs !== undefined || after.expiresAt !== expiresAt || !after.cancelRequested;
  if (isChanged || run.hasReports) return undefined;
  if (expiresAt !== undefined)
    return endSubscription(run, 'cancelled', 'The service accepted its cancellation, and its time is over.');
  const accepted = `The service accepted the cancellation at ${timeOf(acceptedAt)} and has not confirmed it.`;
  await openCase(run, 'cancellation_refused', `${accepted} ${answerText(answer)}`);
  return undefined;
}

function answerText(answer: SubscriptionLookUp): string {
  switch (answer.kind) {
    case 'found':
      return 'It shows the subscription as active.';
    case 'not_known':
      return answer.detail;
    case 'unavailable':
      return answer.failure.detail;
  }
}

async function request(run: Run): Promise<void> {
  run.state.cancelChecks = 0;
  run.state.paidUntil = undefined;
  const result = await requestCancellation(run);
  if (result.kind === 'unavailable') {
    await waitToRequestAgain(run, result);
    return;
  }
  run.state.unanswered = undefined;
  if (result.kind === 'refused') await openCase(run, 'cancellation_refused', result.detail);
}

async function waitToRequestAgain(
  run: Run,
  { failure, retryAfterMs = 0 }: Extract<CancellationResult, { kind: 'unavailable' }>,
): Promise<void> {
  const { resendDelayMs, resendDelayMaxMs, cancelCheckMaxMs, deliveryDeadlineMs } = run.policy;
  const now = Date.now();
  const { since, requests } = run.state.unanswered ?? { since: now, requests: 0 };
  run.state.unanswered = { since, requests: requests + 1 };
  const pause = Math.max(
    backoffMs(resendDelayMs, resendDelayMaxMs, requests + 1),
    Math.min(retryAfterMs, cancelCheckMaxMs),
  );
  if (now + pause - since >= deliveryDeadlineMs) {
    await waitWithCase(run, failure, requests);
    return;
  }
  const until = new Date(since + deliveryDeadlineMs).toISOString();
  await run.record({
    status: 'cancelling',
    event: 'vpn_subscription.cancel_unanswered',
    message: `The service has not accepted the cancellation: ${failure.detail}`,
    failure,
    nextStepAt: now + pause,
    next: `The cancellation is requested again. A case is opened if it does not accept it until ${until}.`,
  });
  await run.wait(pause, WAIT_NAMES.cancelRequest(failure.class));
}

/** The request is repeated without a person. */
async function waitWithCase(run: Run, failure: FailureDetail, requests: number): Promise<void> {
  const { lookUpAgainMs, lookUpAgainMaxMs } = run.policy;
  const pause = backoffMs(lookUpAgainMs, lookUpAgainMaxMs, requests);
  const wakeAt = Date.now() + pause;
  const again = `The next request is at ${new Date(wakeAt).toISOString()}.`;
  const detail = `The service has not answered the cancellation request for a long time. ${failure.detail} ${again}`;
  await run.record({
    status: 'needs_attention',
    message: detail,
    attention: { reason: 'service_not_answering', detail },
    failure,
    nextStepAt: wakeAt,
    next: 'The request is repeated automatically; `retry` repeats it now.',
  });
  await run.wait(pause, WAIT_NAMES.notAnswered('service_not_answering'));
}
