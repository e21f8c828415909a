/** Seconds a webhook's timestamp may differ from the receiver's clock, either way (specification, Limits). */
export const WEBHOOK_TOLERANCE_SECONDS = 300;

/**
 * How long a copy of a received webhook is accepted at most: one whose timestamp is ahead of our clock by the whole
 * tolerance is accepted until the timestamp is older than the tolerance. A stored report is needed for as long, because
 * only that shows that the delivery is a copy.
 *
 * A retry of the service that is signed anew may come later. The specification shows no retry schedule. Such a retry
 * says about ended work what is known, so it has no effect.
 *
 * @param toleranceMs milliseconds. @returns milliseconds.
 */
export function copiesAcceptedForMs(toleranceMs: number): number {
  return 2 * toleranceMs;
}
