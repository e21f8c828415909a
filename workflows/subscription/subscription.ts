import { proxyActivities } from '@temporalio/workflow';
import type { CancellationResult, SubscriptionActivities, SubscriptionLookUp } from '#domain/purchase/results.ts';
import type { SubscriptionEnd } from '#domain/relay/observation.ts';
import type { WorkEnd } from '#domain/work/lifecycle.ts';
import { orWhenGivenUp, repeatedRead } from '#workflows/options.ts';
import { waitForPerson } from '#workflows/purchase/cases.ts';
import type { Run } from '#workflows/run/run.ts';

const DEADLINES_OF_REQUESTS = 3;

export const REPORT_DURING_CASE = 'The service reported more about it; a person must decide about the open case first.';

/** After a loss of commits PostgreSQL may not know that it was bought: a new run then completes it again. */
export async function readSubscription(run: Run): Promise<void> {
  await run.read();
  if (!run.subscription.isActive) await run.startOver();
}

/** `expiresAt` in epoch milliseconds. */
export function isOver({ policy }: Run, expiresAt: number | undefined): boolean {
  return expiresAt !== undefined && Date.now() >= expiresAt + policy.expiryGraceMs;
}

export function lookUp(run: Run): Promise<SubscriptionLookUp> {
  return orWhenGivenUp(
    service(run, 'Look the subscription up at the service').lookUpSubscription({ work: run.work }),
    unavailable('The service has not answered for a long time.'),
  );
}

/** It may be repeated. */
export function requestCancellation(run: Run): Promise<CancellationResult> {
  return orWhenGivenUp(
    service(run, 'Ask the service to cancel the subscription').cancelSubscription({ work: run.work }),
    unavailable('The cancellation could not be sent to the service.'),
  );
}

function unavailable(detail: string) {
  return { kind: 'unavailable', failure: { class: 'timeout', detail } } as const;
}

function service({ policy }: Run, summary: string): SubscriptionActivities {
  return proxyActivities<SubscriptionActivities>({
    ...repeatedRead(policy, DEADLINES_OF_REQUESTS),
    summary,
  });
}

type SubscriptionCase = 'cancellation_refused' | 'contradiction';

export async function openCase(run: Run, reason: SubscriptionCase, detail: string): Promise<void> {
  const recorded = await run.record({
    status: 'needs_attention',
    message: `Waits for a person: ${detail}`,
    attention: { reason, detail },
    next: reason === 'contradiction' ? 'A person decides.' : 'A person decides, or the service reports more.',
  });
  // Otherwise a person has judged it already.
  if (recorded === 'recorded') await waitForPerson(run, reason);
}

/** Recording the case again handles a report. */
export async function keepCase(run: Run, reason: SubscriptionCase): Promise<void> {
  if (run.applied.length > 0) await openCase(run, reason, REPORT_DURING_CASE);
  else await waitForPerson(run, reason);
}

export async function endSubscription(run: Run, status: SubscriptionEnd, message: string): Promise<WorkEnd> {
  await run.record({ status, message, next: 'Nothing: the VPN subscription has ended.' });
  return { status };
}

export function endingOf(end: SubscriptionEnd): string {
  return end === 'cancelled' ? 'The service has cancelled it.' : 'Its time is over, as the service reports.';
}

/** `expiresAt` in epoch milliseconds. */
export function nextForActive(expiresAt: number | undefined): string {
  const until = expiresAt === undefined ? 'its end is not known' : `it ends at ${new Date(expiresAt).toISOString()}`;
  return `Its end, or its cancellation (${until}).`;
}

/** `expiresAt` in epoch milliseconds. */
export function unreadableText(expiresAt: number | undefined): string {
  const known =
    expiresAt === undefined ? 'Its end is not known' : `Its time ended at ${new Date(expiresAt).toISOString()}`;
  return `${known}, and the service does not report its status.`;
}
