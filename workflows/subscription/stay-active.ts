import { backoffMs } from '#domain/policy/settings.ts';
import type { SubscriptionLookUp } from '#domain/purchase/results.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import type { Run } from '#workflows/run/run.ts';
import type { Silence } from '#workflows/run/state.ts';
import {
  endSubscription,
  isOver,
  lookUp,
  nextForActive,
  readSubscription,
  REPORT_DURING_CASE,
  unreadableText,
} from '#workflows/subscription/subscription.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

/** The service has not reported its state for long. */
function hasCase({ attention }: Run): boolean {
  return attention === 'delivery_unavailable';
}

export async function stayActive(run: Run): Promise<WorkEnd | undefined> {
  await endSilenceOfRenewed(run);
  const { silence } = run.state;
  const { expiresAt } = run.subscription;
  if (silence?.isEscalated === true && !hasCase(run)) {
    // A person has dismissed the case: the stored state is right.
    run.state.silence = undefined;
    if (isOver(run, expiresAt))
      return endSubscription(
        run,
        'expired',
        'Its time is over. The service did not report its status, and an operator dismissed the case.',
      );
  }
  const readAt = nextReadAt(run, expiresAt);
  await showActive(run, expiresAt);
  const name =
    run.state.silence === undefined
      ? WAIT_NAMES.endOfTime()
      : WAIT_NAMES.subscriptionRead(run.state.silence.failure.class);
  const woken = await run.wait(readAt - Date.now(), name);
  if (woken === 'operator' && run.state.silence?.isEscalated === true)
    run.state.silence = { ...run.state.silence, readAgainAt: Date.now() };
  return woken === 'time' ? readAtEnd(run) : undefined;
}

/** A report has renewed it while its look-ups had no answer. */
async function endSilenceOfRenewed(run: Run): Promise<void> {
  const { silence } = run.state;
  const { expiresAt } = run.subscription;
  if (silence === undefined || expiresAt === undefined || expiresAt <= Date.now()) return;
  run.state.silence = undefined;
  if (!hasCase(run)) return;
  const message = 'The service has renewed it, by a report.';
  await run.record({ status: 'active', message, next: nextForActive(expiresAt) });
}

/** It may have been renewed, or have ended without a report. */
async function readAtEnd(run: Run): Promise<WorkEnd | undefined> {
  const answer = await lookUp(run);
  await readSubscription(run);
  const { endedAs, expiresAt } = run.subscription;
  if (endedAs !== undefined) return undefined;
  if (answer.kind === 'unavailable') {
    const silence = noteSilence(run, answer);
    if (silence.isEscalated) await showEscalated(run, expiresAt, silence);
    return undefined;
  }
  run.state.silence = undefined;
  const hasOutlived = isOver(run, expiresAt);
  if (hasOutlived && answer.kind === 'not_known')
    return endSubscription(run, 'expired', `Its time is over. ${answer.detail}`);
  const isNew = hasOutlived && run.state.activeAfterEndAt === undefined;
  run.state.activeAfterEndAt = hasOutlived ? Date.now() : undefined;
  if (hasCase(run) || isNew) {
    const message = hasOutlived ? `The service has not ended it. ${STATUS_COUNTS}` : 'The service answers again.';
    await run.record({ status: 'active', message, next: nextForActive(expiresAt) });
  }
  return undefined;
}

/** A time without a zone may be hours off. */
const STATUS_COUNTS = 'Its stated time is over, but its status counts; it is read again with growing waits.';

/** A failed read proves nothing about the subscription: a growing wait or a case follows, never an end. */
function noteSilence(
  run: Run,
  { failure, retryAfterMs = 0 }: Extract<SubscriptionLookUp, { kind: 'unavailable' }>,
): Silence {
  const { cancelCheckMs, cancelCheckMaxMs, silentDeadlineMs, unknownExpiryCheckMs } = run.policy;
  const now = Date.now();
  const { since, reads } = run.state.silence ?? { since: now, reads: 0 };
  const isEscalated = hasCase(run) || now - since >= silentDeadlineMs;
  const pause = Math.max(
    backoffMs(cancelCheckMs, cancelCheckMaxMs, reads + 1),
    Math.min(retryAfterMs, cancelCheckMaxMs),
  );
  const readAgainAt = now + (isEscalated ? unknownExpiryCheckMs : pause);
  const silence = { since, reads: reads + 1, failure, readAgainAt, isEscalated };
  run.state.silence = silence;
  return silence;
}

/** Epoch milliseconds. */
function nextReadAt(run: Run, expiresAt: number | undefined): number {
  const { silence, activeAfterEndAt } = run.state;
  if (silence !== undefined) return silence.readAgainAt;
  // A run that begins with this case reads at once: the service may answer by now.
  if (hasCase(run)) return Date.now();
  const { unknownExpiryCheckMs, expiryGraceMs } = run.policy;
  if (expiresAt === undefined) return Date.now() + unknownExpiryCheckMs;
  const dueAt = expiresAt + expiryGraceMs;
  if (activeAfterEndAt === undefined || activeAfterEndAt < dueAt) return dueAt;
  // The longer it has outlived its stated time, the less does another hour matter.
  return activeAfterEndAt + Math.min(unknownExpiryCheckMs, activeAfterEndAt - expiresAt);
}

async function showActive(run: Run, expiresAt: number | undefined): Promise<void> {
  const { silence } = run.state;
  if (silence?.isEscalated === true || hasCase(run)) {
    await showEscalated(run, expiresAt, silence);
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
  const mustRecord = run.isWaiting || run.failure !== undefined || run.applied.length > 0;
  if (mustRecord) await run.record({ status: 'active', message: now, next });
  run.show({ status: 'active', now, next, nextStepAt: expiresAt });
}

async function showEscalated(run: Run, expiresAt: number | undefined, silence: Silence | undefined): Promise<void> {
  // A run that begins with the case has shown it already, and reads at once.
  if (silence === undefined && run.applied.length === 0) return;
  const verdict = isOver(run, expiresAt) ? 'With `dismissed` it ends as expired.' : 'With `dismissed` it continues.';
  const cause = silence?.failure.detail ?? REPORT_DURING_CASE;
  const detail = `${unreadableText(expiresAt)} ${cause} \`retry\` looks it up now. ${verdict}`;
  const message = `Waits for a person: ${detail}`;
  const next = 'A person decides, or the service reports more. It is looked up once a day.';
  const status = 'needs_attention';
  const reason = 'delivery_unavailable';
  if (hasCase(run) && run.applied.length === 0) {
    run.show({ status, now: message, next, attention: reason, failure: silence?.failure.class });
  } else {
    const failure = silence === undefined ? {} : { failure: silence.failure };
    await run.record({ status, message, attention: { reason, detail }, next, ...failure });
  }
}
