/** Times and limits of the API: requests that wait, event streams, rate limits and keys. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** How callers wait for answers. */
export interface WaitingPolicy {
  /** The longest wait of one request. Below the minute after which the usual load balancers give an answer up. */
  readonly maxMs: number;
  /**
   * Requests that wait at a time in one process; one more is answered at once. Each costs some kilobytes and a
   * connection.
   */
  readonly maxWaiting: number;
  /** Of those, requests of one API key: none takes the place of all others. */
  readonly maxWaitingPerKey: number;
  /** Slow poll for new events beside NOTIFY, for notifications that were lost. */
  readonly pollMs: number;
}

/** How events are streamed. */
export interface StreamPolicy {
  /**
   * Streams that one API key may hold open in one process. A live view for each of a few people, and room for what
   * reconnects.
   */
  readonly perKey: number;
  /**
   * How often a quiet stream says that it lives, and its key is looked at again. Idle connections are cut after a
   * minute on the usual way, and a revoked key is to see no more within seconds.
   */
  readonly heartbeatMs: number;
  /**
   * Events that wait for a slow reader; one that is further behind is cut, and goes on from where it was when it comes
   * again.
   */
  readonly maxBehind: number;
  /** How long a reader may take nothing at all. */
  readonly stallMs: number;
}

/** Longer waits are cut by proxies, and a caller who wants more asks again. */
export const MAX_WAIT_MS = 10 * minute;

/**
 * How much of its time of silence a caller may use at once: a shop that shows a page asks for several things together,
 * and ten seconds' worth of them in one moment is no harm.
 */
export const BURST_MS = 10_000;

/** Failed authentications count by the minute: a person who mistypes is never stopped for longer. */
export const FAILURE_WINDOW_MS = 60_000;

/**
 * For how long a key that was valid is looked up even if its address is full of failures. Longer than callers usually
 * pause.
 */
export const KNOWN_KEY_MS = hour;

/**
 * How long a rotated API key still works when nobody says otherwise: a day, in which whoever deploys the new one is at
 * work once.
 */
export const DEFAULT_KEY_OVERLAP_MS = 24 * hour;

export const WAITING_POLICY: WaitingPolicy = {
  maxMs: 50 * second,
  maxWaiting: 10_000,
  maxWaitingPerKey: 2_500,
  pollMs: 2 * second,
};

export const STREAM_POLICY: StreamPolicy = {
  perKey: 10,
  heartbeatMs: 15 * second,
  maxBehind: 1_000,
  stallMs: 30 * second,
};
