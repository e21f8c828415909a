/**
 * Limits for senders without an API key. They send webhooks, whose signature can only be checked after the body was
 * read.
 */
export interface UnauthenticatedBodyLimits {
  /** Bodies that may arrive at the same time, in one API process. */
  readonly total: number;
  readonly perAddress: number;
  /** How long one body may take to arrive, in milliseconds. */
  readonly deadlineMs: number;
}

export const UNAUTHENTICATED_BODY_LIMITS: UnauthenticatedBodyLimits = {
  // A body is at most API_BODY_LIMIT, 256 KiB: 16 MiB in all. A body of the service arrives in one or two packets,
  // within milliseconds.
  total: 64,
  // Half, so that one address cannot block the service. All webhooks of the service may come from one address: its
  // proxy's.
  perAddress: 32,
  // More than a slow line needs for 256 KiB, and a third of what other requests may take.
  deadlineMs: 10_000,
};
