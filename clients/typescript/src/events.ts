import { NoAnswerError, ProblemError } from './errors.ts';
import type { ListEventsQuery } from './operations.ts';
import { StreamParser, type StreamBlock } from './sse.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { Event } from './types.ts';

/** Which events, and after which: `cursor` is that of a stream or of the feed. Without one, those that happen from now on. */
export interface StreamEventsQuery extends Pick<ListEventsQuery, 'type' | 'subject_kind' | 'subject_id'> {
  readonly cursor?: string | undefined;
}

export interface StreamOptions extends CallOptions {
  /** Connections in a row that may fail before it throws what the last one failed with. Default: it goes on for ever. */
  readonly retries?: number;
  /** A connection on which nothing comes for so long counts as broken. Default: 60 s; the API says every 15 s that it lives. */
  readonly silenceMs?: number;
  /** Told of each connection that is lost or not to be had, and after how long the next one is tried: for a log. */
  readonly onDisconnect?: (reason: ProblemError | NoAnswerError, nextInMs: number) => void;
}

/** Until the API says with `retry` how long to wait. */
const DEFAULT_RETRY_MS = 2_000;
/** However short it says: a server that hangs up at once is not to be called in a loop. */
const SHORTEST_RETRY_MS = 250;
/** What the wait doubles up to, from failure to failure. */
const LONGEST_DELAY_MS = 30_000;
/** Whatever is asked for, by `retry` or `Retry-After`: a stream is not to sleep for good because of one answer. */
const LONGEST_ASKED_MS = 3_600_000;
const DEFAULT_SILENCE_MS = 60_000;

/**
 * Events as they happen, in their order, each once. A connection that breaks is opened anew after the last event that was handed out, so
 * that nothing is skipped; `for await` over it ends only by `break`, or by an error: that of the `signal`, or a refusal that no further
 * try would change, such as `unauthenticated` or `cursor_expired`.
 */
export class EventStream implements AsyncIterable<Event> {
  readonly #transport: Transport;
  readonly #query: StreamEventsQuery;
  readonly #options: StreamOptions;
  #cursor: string | undefined;

  constructor(transport: Transport, { cursor, ...query }: StreamEventsQuery, options: StreamOptions) {
    this.#transport = transport;
    this.#query = query;
    this.#options = options;
    this.#cursor = cursor;
  }

  /**
   * Where it is: the event that was handed out last, or further where your filter left out what came after. Keep it once you have dealt
   * with that event, and begin with it after a restart. Undefined before the first connection.
   */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Begins where it is; so does another loop over the same stream, after the first one has ended. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void> {
    const { signal, retries = Number.POSITIVE_INFINITY, onDisconnect } = this.#options;
    let retryMs = DEFAULT_RETRY_MS;
    for (let failures = 0; ;) {
      const parser = new StreamParser();
      let lost: ProblemError | NoAnswerError;
      try {
        for await (const { lastEventId, data } of this.#connect(parser)) {
          failures = 0;
          retryMs = parser.retryMs ?? retryMs;
          const event = data === undefined ? undefined : readEvent(data);
          // A connection that has named no place yet leaves the reader where the one before has brought it.
          if (lastEventId !== '') this.#cursor = lastEventId;
          if (event !== undefined) yield event;
          signal?.throwIfAborted();
        }
        lost = new NoAnswerError('the stream has ended');
      } catch (error) {
        signal?.throwIfAborted();
        if (!isPassing(error)) throw error;
        lost = error;
      }
      if (failures >= retries) throw lost;
      const { retryAfterMs: asked } = lost;
      const delayMs = asked === undefined ? this.#delay(retryMs, failures) : Math.min(LONGEST_ASKED_MS, asked);
      failures += 1;
      onDisconnect?.(lost, delayMs);
      await this.#transport.sleep(delayMs, signal);
    }
  }

  /** What comes over one connection, which is closed when nobody reads on. */
  async *#connect(parser: StreamParser): AsyncGenerator<StreamBlock, void> {
    const { signal, silenceMs = DEFAULT_SILENCE_MS, ...options } = this.#options;
    const connection = new AbortController();
    const ends = signal === undefined ? connection.signal : AbortSignal.any([connection.signal, signal]);
    /** Not while the events are dealt with, which may take long. */
    const notSilent = async <Value>(answer: Promise<Value>): Promise<Value> => {
      const timer = setTimeout(() => connection.abort(new Error(`nothing came for ${silenceMs} ms`)), silenceMs);
      return answer.finally(() => clearTimeout(timer));
    };
    try {
      const headers = {
        Accept: 'text/event-stream',
        ...(this.#cursor === undefined ? {} : { 'Last-Event-ID': this.#cursor }),
      };
      const call = {
        operation: 'streamEvents',
        method: 'GET',
        path: '/v1/events/stream',
        query: this.#query,
        headers,
        options,
      };
      const reader = (await notSilent(this.#transport.stream(call, ends))).getReader();
      for (;;) {
        const { value } = await notSilent(reader.read()).catch((cause: unknown) => {
          throw new NoAnswerError(`the stream broke: ${cause instanceof Error ? cause.message : String(cause)}`, {
            cause,
          });
        });
        if (value === undefined) return;
        yield* parser.push(value);
      }
    } finally {
      connection.abort();
    }
  }

  /** Doubled with each failure, and by chance up to a quarter longer, so that many readers do not come back at once. */
  #delay(retryMs: number, failures: number): number {
    const first = Math.min(LONGEST_ASKED_MS, Math.max(SHORTEST_RETRY_MS, retryMs));
    const full = Math.max(first, Math.min(LONGEST_DELAY_MS, first * 2 ** failures));
    return full * (1 + this.#transport.random() / 4);
  }
}

/** What may be over at the next try. All other refusals (a key, a right, a cursor, a query) stay until somebody does something. */
function isPassing(error: unknown): error is ProblemError | NoAnswerError {
  if (!(error instanceof ProblemError || error instanceof NoAnswerError)) return false;
  const { status, cause } = error;
  // What broke off, a refusal too, comes whole the next time.
  return (
    status === undefined || cause !== undefined || status === 408 || status === 429 || (status >= 500 && status !== 501)
  );
}

/** @throws TypeError when it is no event: connecting again would bring the same. */
function readEvent(data: string): Event {
  const body = parseJson(data);
  if (!isEvent(body)) throw new TypeError(`the stream brought what is no event: ${data.slice(0, 200)}`);
  return body;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isEvent(body: unknown): body is Event {
  return typeof body === 'object' && body !== null && 'id' in body && 'type' in body && 'subject' in body;
}
