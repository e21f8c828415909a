import { count, DAY, duration, HOUR, MINUTE, SECOND, TIMER, type Values } from '#domain/policy/settings.ts';

/** Proxies cut longer waits, and a caller can repeat the request. */
export const MAX_WAIT_MS = 10 * MINUTE;

/** Each needs 15 KB of the heap of 192 MB, twice that with the longest headers. */
const MAX_WAITING = 2_000;

export const WAITING_SETTINGS = {
  /** Shorter than the minute after which common load balancers cut a response. */
  maxMs: duration(
    'waiting.max',
    50 * SECOND,
    'The longest wait of a request (`Prefer: wait=N`, `?wait=N`). Choose less than the time-outs of your proxies.',
    { max: MAX_WAIT_MS },
  ),
  maxWaiting: MAX_WAITING,
  /** One key cannot take all places. */
  maxWaitingPerKey: count(
    'waiting.per_key',
    1_000,
    [1, MAX_WAITING],
    `Requests of one API key that may wait for an answer at a time in one API process. ${MAX_WAITING} is the ` +
      'limit for all keys; a further request is answered immediately.',
  ),
  /** Beside NOTIFY, because a notification may be lost. */
  pollMs: 2 * SECOND,
  /** The slowest poll. An event whose notification was lost is passed on after this time at most. */
  pollMaxMs: 30 * SECOND,
};

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
  /** Events that may wait for a slow reader. Beyond that it is disconnected. */
  maxBehind: 1_000,
  /** How long a reader may accept no data at all. */
  stallMs: 30 * SECOND,
};

export type WaitingPolicy = Values<typeof WAITING_SETTINGS>;

export const AT_ONCE = {
  /** Each uses a connection of the pool, or a core, for much of the time. */
  file: 2,
  /** Other keys need the other connections of the pool. */
  many: 4,
} as const;

export const EXPORTS = {
  /** Few enough for some hundred kilobytes. */
  page: 500,
} as const;

/** Unused time of a rate limit that may be used at once: a shop that shows a page sends several requests together. */
export const BURST_MS = 10 * SECOND;

/** A person who mistypes a key is blocked for a minute at most. */
export const FAILURE_WINDOW_MS = MINUTE;

/** How long a key that was valid is still looked up although its address has too many failures. */
export const KNOWN_KEY_MS = HOUR;

/** Milliseconds. A change of a key is notified at once; this bounds the time if the notification is lost. */
export const KEY_AGE_MS = 2 * SECOND;

/** Milliseconds. */
export const SHARE_LINK_LIFE = {
  /** A customer installs within days of the purchase, or shortly before a journey: then the shop makes a new link. */
  defaultMs: 7 * DAY,
  /** A shorter link may end before the message that contains it is read. */
  minMs: 5 * MINUTE,
  /** A link is as good as the codes: old messages must not keep opening the page. */
  maxMs: 90 * DAY,
} as const;

/** People behind one address open share links together. */
export const SHARE_LINK_BURST_MS = 15 * SECOND;

/** One working day to deploy the new key. */
export const DEFAULT_KEY_OVERLAP_MS = DAY;

export interface BodyLimits {
  readonly total: number;
  /** Limit of one address without an API key, or of one lineage of API keys. */
  readonly perSender: number;
  /** Milliseconds for one body; absent: as long as its whole request. */
  readonly deadlineMs?: number;
}

/** In bodies. Senders without a key send webhooks, whose signature can only be checked after the body was read. */
export const UNAUTHENTICATED_BODIES: BodyLimits = {
  // A body is at most API_BODY_LIMIT, 512 KiB by default: 32 MiB in all.
  total: 64,
  // Half: all webhooks of the service may come from one address, its proxy's.
  perSender: 32,
  // More than a slow line needs for 512 KiB.
  deadlineMs: 10 * SECOND,
};

const MIB = 1_048_576;

/** In bytes: by Content-Length, or without it as much as the call may read. */
export const AUTHENTICATED_BODY_BYTES: BodyLimits = {
  total: 48 * MIB,
  // Four of the longest batches, or 24 orders without a Content-Length.
  perSender: 12 * MIB,
};
