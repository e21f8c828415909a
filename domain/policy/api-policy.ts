/** Times and limits of the API: requests that wait, event streams, rate limits, bodies and keys. */
import { count, DAY, duration, HOUR, MINUTE, SECOND, TIMER, type Values } from '#domain/policy/settings.ts';

/** Longest wait that can be configured. Proxies cut longer waits, and a caller can simply repeat the request. */
export const MAX_WAIT_MS = 10 * MINUTE;

/** Waiting requests in one process. Each needs 15 KB of the heap of 192 MB, twice that with the longest headers. */
const MAX_WAITING = 2_000;

/** How callers wait for answers. */
export const WAITING_SETTINGS = {
  /** Shorter than the minute after which common load balancers cut a response. */
  maxMs: duration(
    'waiting.max',
    50 * SECOND,
    'The longest wait of a request (`Prefer: wait=N`, `?wait=N`). Choose less than the time-outs of your proxies.',
    { max: MAX_WAIT_MS },
  ),
  /** A further request is answered at once. */
  maxWaiting: MAX_WAITING,
  /** One key cannot take all places. */
  maxWaitingPerKey: count(
    'waiting.per_key',
    1_000,
    [1, MAX_WAITING],
    `Requests of one API key that may wait for an answer at a time in one API process. ${MAX_WAITING} is the ` +
      'limit for all keys; a further request is answered immediately.',
  ),
  /** Slow poll for new events beside NOTIFY, because a notification may be lost. */
  pollMs: 2 * SECOND,
  /**
   * The poll becomes up to this slow while notifications arrive and it finds nothing. An event whose notification was
   * lost is passed on after this time at most, or with the next event.
   */
  pollMaxMs: 30 * SECOND,
};

/** How events are streamed. */
export const STREAM_SETTINGS = {
  /** A live view for each of a few people, and room for reconnects. */
  perKey: count('streams.per_key', 10, [1, 1_000], 'Event streams that one API key may hold open in one API process.'),
  /** Proxies cut idle connections after about a minute, and a revoked key must lose access within seconds. */
  heartbeatMs: duration(
    'streams.heartbeat',
    15 * SECOND,
    'How often a quiet event stream sends a heartbeat and checks its key.',
    TIMER,
  ),
  /**
   * Events that may wait for a slow reader. A reader that is further behind is disconnected; it continues from its
   * position when it reconnects.
   */
  maxBehind: 1_000,
  /** How long a reader may accept no data at all. */
  stallMs: 30 * SECOND,
};

export type WaitingPolicy = Values<typeof WAITING_SETTINGS>;
export type StreamPolicy = Values<typeof STREAM_SETTINGS>;

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

/**
 * How much unused time of its rate limit a caller may use at once. A shop that shows a page sends several requests
 * together.
 */
export const BURST_MS = 10 * SECOND;

/** Window of failed authentications. A person who mistypes a key is blocked for a minute at most. */
export const FAILURE_WINDOW_MS = MINUTE;

/**
 * How long a key that was valid is still looked up although its address has too many failures. Longer than the usual
 * pause between requests of a caller.
 */
export const KNOWN_KEY_MS = HOUR;

/**
 * How long an API process uses a key that it has read, in milliseconds. A change of a key (revocation, rotation,
 * limits) is notified and reaches every process at once; this bounds the time if the notification is lost. Shorter
 * would save few reads more of a key in steady use than this: one read in this time.
 */
export const KEY_AGE_MS = 2 * SECOND;

/** How long share links can be opened, in milliseconds. */
export const SHARE_LINK_LIFE = {
  /** A customer installs within days of the purchase, or shortly before a journey: then the shop makes a new link. */
  defaultMs: 7 * DAY,
  /** A shorter link may end before the message that contains it is read. */
  minMs: 5 * MINUTE,
  /** A link is as good as the codes: old messages must not keep opening the page. */
  maxMs: 90 * DAY,
} as const;

/** The same of an address for share links: people behind it open them together. */
export const SHARE_LINK_BURST_MS = 15 * SECOND;

/** Default overlap after the rotation of an API key: one working day to deploy the new key. */
export const DEFAULT_KEY_OVERLAP_MS = DAY;

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
  deadlineMs: 10 * SECOND,
};

const MIB = 1_048_576;

/** In bytes, for senders with an API key: by Content-Length, or without it as much as the call may read. */
export const AUTHENTICATED_BODY_BYTES: BodyLimits = {
  total: 48 * MIB,
  // Four of the longest batches, or 24 orders without a Content-Length.
  perSender: 12 * MIB,
};
