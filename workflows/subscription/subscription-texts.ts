import type { SubscriptionEnd } from '#domain/relay/observation.ts';

/** How a subscription ended, in a sentence. */
export function endingOf(end: SubscriptionEnd): string {
  return end === 'cancelled' ? 'The service has cancelled it.' : 'Its time is over, as the service reports.';
}

/** The next step of an active subscription. @param expiresAt epoch milliseconds. */
export function nextForActive(expiresAt: number | undefined): string {
  const until = expiresAt === undefined ? 'its end is not known' : `it ends at ${new Date(expiresAt).toISOString()}`;
  return `Its end, or its cancellation (${until}).`;
}

/** Says that a subscription cannot be read at the service. @param expiresAt epoch milliseconds. */
export function unreadableText(expiresAt: number | undefined): string {
  const known =
    expiresAt === undefined ? 'Its end is not known' : `Its time ended at ${new Date(expiresAt).toISOString()}`;
  return `${known}, and the service does not report its status.`;
}
