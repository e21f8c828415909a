import { NoAnswerError, ProblemError } from './errors.ts';
import type { ListEventsQuery } from './operations.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { Event } from './types.ts';

/** `cursor` is that of a stream or of the feed. Without it, the stream begins with new events. */
export interface StreamEventsQuery extends Pick<ListEventsQuery, 'type' | 'subject_kind' | 'subject_id'> {
  readonly cursor?: string | undefined;
}

export interface StreamOptions extends CallOptions {
  /** Failed connections in a row before the stream throws the last error. Default: no limit. */
  readonly retries?: number;
  /** Milliseconds without data before a new connection. Default: 60 s; the API sends a heartbeat every 15 s. */
  readonly idleTimeoutMs?: number;
  /** Called for each lost or failed connection, with the milliseconds until the next attempt; for a log. */
  readonly onDisconnect?: (reason: ProblemError | NoAnswerError, nextInMs: number) => void;
}

/** Until the API sets it with `retry`. */
const DEFAULT_RETRY_MS = 2_000;
/** A server that closes connections at once is not called in a loop. */
const SHORTEST_RETRY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** One `retry` or `Retry-After` cannot stop a stream for ever. */
const LONGEST_ASKED_MS = 3_600_000;
const DEFAULT_IDLE_TIMEOUT_MS = 60_000;

/**
 * Events in order, each once, also across broken connections. `for await` ends only by `break` or an error: that of the
 * `signal`, or a permanent refusal such as `unauthenticated` or `cursor_expired`.
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

  /** Store it after you processed an event; start with it after a restart. Undefined before the first connection. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Starts at the current position. A second loop over the same stream continues after the first one has ended. */
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
          // A connection that has not sent an id yet does not change the position.
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

  /** Closed when the caller stops reading. */
  async *#connect(parser: StreamParser): AsyncGenerator<StreamBlock, void> {
    const { signal, idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS, ...options } = this.#options;
    const connection = new AbortController();
    const ends = signal === undefined ? connection.signal : AbortSignal.any([connection.signal, signal]);
    /** Measures silence only while reading, not while the caller processes events. */
    const notSilent = async <Value>(answer: Promise<Value>): Promise<Value> => {
      const timer = setTimeout(
        () => connection.abort(new Error(`nothing came for ${idleTimeoutMs} ms`)),
        idleTimeoutMs,
      );
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

  /** Adds up to a quarter at random, so that many readers do not reconnect at once. */
  #delay(retryMs: number, failures: number): number {
    const first = Math.min(LONGEST_ASKED_MS, Math.max(SHORTEST_RETRY_MS, retryMs));
    const full = Math.max(first, Math.min(LONGEST_DELAY_MS, first * 2 ** failures));
    return full * (1 + this.#transport.random() / 4);
  }
}

/** All other refusals (key, permission, cursor, query) are permanent. */
function isPassing(error: unknown): error is ProblemError | NoAnswerError {
  if (!(error instanceof ProblemError || error instanceof NoAnswerError)) return false;
  const { status, cause } = error;
  // An answer that broke off may be complete at the next attempt.
  return (
    status === undefined || cause !== undefined || status === 408 || status === 429 || (status >= 500 && status !== 501)
  );
}

/** @throws TypeError when the data is not an event: a new connection would bring the same data. */
function readEvent(data: string): Event {
  const body = parseJson(data);
  if (!isEvent(body)) throw new TypeError(`the stream contains data that is not an event: ${data.slice(0, 200)}`);
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

/** Up to a blank line. */
export interface StreamBlock {
  /** For continuing after this block; empty when the connection has sent no id. */
  readonly lastEventId: string;
  /** Undefined for a block without data, which is not an event. */
  readonly data: string | undefined;
}

/**
 * https://html.spec.whatwg.org/multipage/server-sent-events.html. Bytes may be split at any place. An incomplete block
 * at the end is ignored, its id included. Written here because this package has no dependencies.
 */
export class StreamParser {
  /** If the stream sets it with `retry`. */
  retryMs: number | undefined;
  // The byte order mark is removed below: Node.js would also remove a second one when the first arrives alone.
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #hasBegun = false;
  /** The part of a line received so far. */
  #line = '';
  /** A line feed after a carriage return belongs to it. */
  #afterReturn = false;
  #id = '';
  #data: string[] = [];

  push(bytes: Uint8Array): StreamBlock[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === '') return [];
    if (!this.#hasBegun && text.startsWith('\uFEFF')) text = text.slice(1);
    this.#hasBegun = true;
    if (this.#afterReturn && text.startsWith('\n')) text = text.slice(1);
    this.#afterReturn = text.endsWith('\r');
    const [first = '', ...others] = text.split(/\r\n|\r|\n/);
    const lines = [this.#line + first, ...others];
    this.#line = lines.pop() ?? '';
    return lines.flatMap((line) => (line === '' ? [this.#end()] : this.#take(line)));
  }

  #take(line: string): [] {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    // `event` is ignored, because our events contain their type. A comment has an empty name.
    if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'retry' && /^[0-9]+$/.test(value)) this.retryMs = Number(value);
    return [];
  }

  #end(): StreamBlock {
    const data = this.#data.length === 0 ? undefined : this.#data.join('\n');
    this.#data = [];
    return { lastEventId: this.#id, data };
  }
}
