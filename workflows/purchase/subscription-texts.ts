import type { SubscriptionEnd } from '#domain/relay/observation.ts';

/** How a subscription ended, in a sentence. */
export function endingOf(end: SubscriptionEnd): string {
  return end === 'cancelled' ? 'The service has cancelled it.' : 'Its time is over, as the service says.';
}

/** What comes next for one that is active. @param expiresAt epoch milliseconds. */
export function nextInLife(expiresAt: number | undefined): string {
  const until = expiresAt === undefined ? 'its end is not known' : `it ends at ${new Date(expiresAt).toISOString()}`;
  return `Its end, or its cancellation (${until}).`;
}

/** That the service does not say how it stands, in a sentence. @param expiresAt epoch milliseconds. */
export function silenceOf(expiresAt: number | undefined): string {
  const known =
    expiresAt === undefined
      ? 'Its end is not known'
      : `Its time was to be over at ${new Date(expiresAt).toISOString()}`;
  return `${known}, and the service does not say how it stands.`;
}
