/** Times and limits of the API: requests that wait, event streams, rate limits and keys. */

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** How callers wait for answers. */
export interface WaitingPolicy {
  /** Longest wait of one request. Shorter than the minute after which common load balancers cut a response. */
  readonly maxMs: number;
  /**
   * Waiting requests in one process; a further one is answered at once. Each needs 15 KB of the heap of 192 MB, and
   * twice that with the longest headers.
   */
  readonly maxWaiting: number;
  /** Waiting requests of one API key, so that one key cannot take all places. */
  readonly maxWaitingPerKey: number;
  /** Slow poll for new events beside NOTIFY, because a notification may be lost. */
  readonly pollMs: number;
  /**
   * The poll becomes up to this slow while notifications arrive and it finds nothing. An event whose notification was
   * lost is passed on after this time at most, or with the next event.
   */
  readonly pollMaxMs: number;
}

/** Heavy calls of one API key that may run at the same time in one process. */
export const AT_ONCE = {
  /** Lists and QR codes as files: each uses a connection of the pool, or a core, for much of the time. */
  file: 2,
  /** Calls about up to a thousand things. Other keys need the other connections of the pool. */
  many: 4,
} as const;

/** How lists are sent as files. */
export const EXPORTS = {
  /** Items in one read: few enough for some hundred kilobytes, enough that the reads cost little beside the rows. */
  page: 500,
} as const;

/** How events are streamed. */
export interface StreamPolicy {
  /** Open streams of one API key in one process: a live view for each of a few people, and room for reconnects. */
  readonly perKey: number;
  /**
   * Interval at which a quiet stream sends a heartbeat and its key is checked again. Proxies cut idle connections after
   * about a minute, and a revoked key must lose access within seconds.
   */
  readonly heartbeatMs: number;
  /**
   * Events that may wait for a slow reader. A reader that is further behind is disconnected; it continues from its
   * position when it reconnects.
   */
  readonly maxBehind: number;
  /** How long a reader may accept no data at all. */
  readonly stallMs: number;
}

/** Longest wait that can be configured. Proxies cut longer waits, and a caller can simply repeat the request. */
export const MAX_WAIT_MS = 10 * minute;

/**
 * How much unused time of its rate limit a caller may use at once. A shop that shows a page sends several requests
 * together.
 */
export const BURST_MS = 10_000;

/** Window of failed authentications. A person who mistypes a key is blocked for a minute at most. */
export const FAILURE_WINDOW_MS = 60_000;

/**
 * How long a key that was valid is still looked up although its address has too many failures. Longer than the usual
 * pause between requests of a caller.
 */
export const KNOWN_KEY_MS = hour;

/**
 * How long an API process uses a key that it has read, in milliseconds. A change of a key (revocation, rotation,
 * limits) is notified and reaches every process at once; this bounds the time if the notification is lost. Shorter
 * would save few reads more of a key in steady use than this: one read in this time.
 */
export const KEY_AGE_MS = 2_000;

/** How long share links can be opened, in milliseconds. */
export const SHARE_LINK_LIFE = {
  /** A customer installs within days of the purchase, or shortly before a journey: then the shop makes a new link. */
  defaultMs: 7 * 24 * hour,
  /** A shorter link may end before the message that contains it is read. */
  minMs: 5 * minute,
  /** A link is as good as the codes: old messages must not keep opening the page. */
  maxMs: 90 * 24 * hour,
} as const;

/**
 * How much unused time of its limit an address may use at once for share links: people behind it open them together.
 */
export const SHARE_LINK_BURST_MS = 15_000;

/** Default overlap after the rotation of an API key: one working day to deploy the new key. */
export const DEFAULT_KEY_OVERLAP_MS = 24 * hour;

export const WAITING_POLICY: WaitingPolicy = {
  maxMs: 50 * second,
  maxWaiting: 2_000,
  maxWaitingPerKey: 1_000,
  pollMs: 2 * second,
  pollMaxMs: 30 * second,
};

export const STREAM_POLICY: StreamPolicy = {
  perKey: 10,
  heartbeatMs: 15 * second,
  maxBehind: 1_000,
  stallMs: 30 * second,
};
