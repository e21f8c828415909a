/** Limits of the bodies that arrive at the same time, in one API process. */
export interface BodyLimits {
  readonly total: number;
  /** Of one address without an API key, or of one lineage of API keys. */
  readonly perSender: number;
  /** How long one body may take to arrive, in milliseconds; absent: as long as its whole request. */
  readonly deadlineMs?: number;
}

/**
 * In bodies, for senders without an API key. They send webhooks, whose signature can only be checked after the body was
 * read.
 */
export const UNAUTHENTICATED_BODIES: BodyLimits = {
  // A body is at most API_BODY_LIMIT, 512 KiB by default and 1 MiB at most: 32 or 64 MiB in all. A body of the service
  // arrives in one or two packets, within milliseconds.
  total: 64,
  // Half, so that one address cannot block the service. All webhooks of the service may come from one address: its
  // proxy's.
  perSender: 32,
  // More than a slow line needs for 512 KiB, and a third of what other requests may take.
  deadlineMs: 10_000,
};

const MIB = 1_048_576;

/** In bytes, for senders with an API key: by Content-Length, or without it as much as the call may read. */
export const AUTHENTICATED_BODY_BYTES: BodyLimits = {
  total: 48 * MIB,
  // Four of the longest batches, or 24 orders without a Content-Length.
  perSender: 12 * MIB,
};
