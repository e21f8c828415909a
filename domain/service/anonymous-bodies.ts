/**
 * What senders without an API key may have under way at once: the bodies of webhooks, which are known by their
 * signature only once they are read.
 */
export interface AnonymousBodyLimits {
  /** Bodies that arrive at the same moment, in one API process. */
  readonly total: number;
  readonly perAddress: number;
  /** How long one may take to arrive, in milliseconds. */
  readonly deadlineMs: number;
}

export const ANONYMOUS_BODY_LIMITS: AnonymousBodyLimits = {
  // A body at API_BODY_LIMIT is 256 KiB: 16 MiB in all. One of the service arrives in a packet or two, within
  // milliseconds.
  total: 64,
  // Half of it, so that one address does not shut the service out; all of the service may come from one, its proxy's.
  perAddress: 32,
  // Longer than a slow line needs for 256 KiB, and a third of what other requests may take.
  deadlineMs: 10_000,
};
