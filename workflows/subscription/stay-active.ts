import { patched } from '@temporalio/workflow';
import { backoffMs } from '#domain/policy/settings.ts';
import type { SubscriptionLookUp } from '#domain/purchase/results.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import {
  nextForActive,
  unreadableText,
  REPORT_DURING_CASE,
  type Subscription,
} from '#workflows/subscription/subscription.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';
import type { Silence } from '#workflows/work/run-state.ts';

export async function stayActive(subscription: Subscription): Promise<WorkEnd | undefined> {
  await endSilenceOfRenewed(subscription);
  const { run, silence } = subscription;
  const { expiresAt } = run.subscription;
  if (silence?.isEscalated === true && !subscription.isEscalated) {
    // A person has dismissed the case: the stored state is right.
    subscription.silence = undefined;
    if (subscription.isOver(expiresAt))
      return subscription.end(
        'expired',
        'Its time is over. The service did not report its status, and an operator dismissed the case.',
      );
  }
  const readAt = nextReadAt(subscription, expiresAt);
  await showActive(subscription, expiresAt);
  const name =
    subscription.silence === undefined
      ? WAIT_NAMES.endOfTime()
      : WAIT_NAMES.subscriptionRead(subscription.silence.failure.class);
  const woken = await run.wait(readAt - Date.now(), name);
  if (woken === 'operator' && subscription.silence?.isEscalated === true)
    subscription.silence = { ...subscription.silence, readAgainAt: Date.now() };
  return woken === 'time' ? readAtEnd(subscription) : undefined;
}

/** A report has renewed it while its look-ups had no answer. */
async function endSilenceOfRenewed(subscription: Subscription): Promise<void> {
  const { run, silence } = subscription;
  const { expiresAt } = run.subscription;
  if (silence === undefined || expiresAt === undefined || expiresAt <= Date.now()) return;
  // Runs of earlier versions have waited on.
  if (!patched('renewal-ends-silence')) return;
  subscription.silence = undefined;
  if (!subscription.isEscalated) return;
  const message = 'The service has renewed it, by a report.';
  await run.record({ status: 'active', message, next: nextForActive(expiresAt) });
}

/** It may have been renewed, or have ended without a report. */
async function readAtEnd(subscription: Subscription): Promise<WorkEnd | undefined> {
  const { run } = subscription;
  const answer = await subscription.read();
  await subscription.reload();
  const { endedAs, expiresAt } = run.subscription;
  if (endedAs !== undefined) return undefined;
  if (answer.kind === 'unavailable') {
    const silence = noteSilence(subscription, answer);
    if (silence.isEscalated) await showEscalated(subscription, expiresAt, silence);
    return undefined;
  }
  subscription.silence = undefined;
  const isOver = subscription.isOver(expiresAt);
  if (isOver && answer.kind === 'not_known') return subscription.end('expired', `Its time is over. ${answer.detail}`);
  const isNew = isOver && subscription.activeAfterEndAt === undefined;
  subscription.activeAfterEndAt = isOver ? Date.now() : undefined;
  if (subscription.isEscalated || isNew) {
    const message = isOver ? `The service has not ended it. ${STATUS_COUNTS}` : 'The service answers again.';
    await run.record({ status: 'active', message, next: nextForActive(expiresAt) });
  }
  return undefined;
}

/** A time without a zone may be hours off. */
const STATUS_COUNTS = 'Its stated time is over, but its status counts; it is read again with growing waits.';

/** A failed read proves nothing about the subscription: a growing wait or a case follows, never an end. */
function noteSilence(
  subscription: Subscription,
  { failure, retryAfterMs = 0 }: Extract<SubscriptionLookUp, { kind: 'unavailable' }>,
): Silence {
  const { cancelCheckMs, cancelCheckMaxMs, silentDeadlineMs, unknownExpiryCheckMs } = subscription.run.policy;
  const now = Date.now();
  const { since, reads } = subscription.silence ?? { since: now, reads: 0 };
  const isEscalated = subscription.isEscalated || now - since >= silentDeadlineMs;
  const pause = Math.max(
    backoffMs(cancelCheckMs, cancelCheckMaxMs, reads + 1),
    Math.min(retryAfterMs, cancelCheckMaxMs),
  );
  const readAgainAt = now + (isEscalated ? unknownExpiryCheckMs : pause);
  const silence = { since, reads: reads + 1, failure, readAgainAt, isEscalated };
  subscription.silence = silence;
  return silence;
}

/** Epoch milliseconds. */
function nextReadAt(
  { silence, isEscalated, activeAfterEndAt, run }: Subscription,
  expiresAt: number | undefined,
): number {
  if (silence !== undefined) return silence.readAgainAt;
  // A run that begins with this case reads at once: the service may answer by now.
  if (isEscalated) return Date.now();
  const { unknownExpiryCheckMs, expiryGraceMs } = run.policy;
  if (expiresAt === undefined) return Date.now() + unknownExpiryCheckMs;
  const dueAt = expiresAt + expiryGraceMs;
  if (activeAfterEndAt === undefined || activeAfterEndAt < dueAt) return dueAt;
  // The longer it has outlived its stated time, the less does another hour matter.
  return activeAfterEndAt + Math.min(unknownExpiryCheckMs, activeAfterEndAt - expiresAt);
}

async function showActive(subscription: Subscription, expiresAt: number | undefined): Promise<void> {
  const { run, silence } = subscription;
  if (silence?.isEscalated === true || subscription.isEscalated) {
    await showEscalated(subscription, expiresAt, silence);
    return;
  }
  if (silence !== undefined) {
    const until = new Date(silence.since + run.policy.silentDeadlineMs).toISOString();
    await run.record({
      status: 'active',
      event: 'vpn_subscription.lookup_failed',
      message: `${unreadableText(expiresAt)} ${silence.failure.detail}`,
      failure: silence.failure,
      nextStepAt: silence.readAgainAt,
      next: `It is looked up again. A case is opened if it does not answer until ${until}.`,
    });
    return;
  }
  const now = 'The VPN subscription is active.';
  const next = nextForActive(expiresAt);
  // Reports are handled now, not at the end of the subscription in a year.
  const mustRecord = run.isWaiting || run.failure !== undefined || run.owesAnswers;
  if (mustRecord) await run.record({ status: 'active', message: now, next });
  run.show({ status: 'active', now, next, nextStepAt: expiresAt });
}

async function showEscalated(
  subscription: Subscription,
  expiresAt: number | undefined,
  silence: Silence | undefined,
): Promise<void> {
  const { run } = subscription;
  // A run that begins with the case has shown it already, and reads at once.
  if (silence === undefined && !run.owesAnswers) return;
  const verdict = subscription.isOver(expiresAt)
    ? 'With `dismissed` it ends as expired.'
    : 'With `dismissed` it continues.';
  const cause = silence?.failure.detail ?? REPORT_DURING_CASE;
  const detail = `${unreadableText(expiresAt)} ${cause} \`retry\` looks it up now. ${verdict}`;
  const message = `Waits for a person: ${detail}`;
  const next = 'A person decides, or the service reports more. It is looked up once a day.';
  const status = 'needs_attention';
  const reason = 'delivery_unavailable';
  if (subscription.isEscalated && !run.owesAnswers) {
    run.show({ status, now: message, next, attention: reason, failure: silence?.failure.class });
  } else {
    const failure = silence === undefined ? {} : { failure: silence.failure };
    await run.record({ status, message, attention: { reason, detail }, next, ...failure });
  }
}
