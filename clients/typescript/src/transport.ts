import {
  foreign,
  noAnswer,
  readBytes,
  readJson,
  readText,
  refusal,
  type Asked,
  type Outcome,
  type Read,
} from './answers.ts';
import { ProblemError, type NoAnswerError } from './errors.ts';

/** An answer as its headers show it. */
export interface ResponseInfo {
  /** The method of the client, by the name of the description: `createOrder`. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Such as `X-Request-Id`, `Idempotent-Replayed`, `RateLimit` and `Retry-After`. */
  readonly headers: Headers;
}

/**
 * Told of every answer of the API or of what is in between: of refusals too, and of each try. For logs and metrics; what it throws ends
 * the call, and nothing is sent again.
 */
export type OnResponse = (response: ResponseInfo) => void;

export interface TransportOptions {
  /** Where the API is, without `/v1`: `https://fulfilment.example.com`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Tries after the first one. Default: 4. */
  readonly retries?: number;
  /** Of one try. Default: 30 s; what a call waits for is added. */
  readonly timeoutMs?: number;
  /** Of all calls. */
  readonly onResponse?: OnResponse;
  /** Replaced in tests. */
  readonly fetch?: typeof fetch;
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly random?: () => number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Names the request in the log of the API. */
  readonly requestId?: string;
  /** Of this call, after that of the client. */
  readonly onResponse?: OnResponse;
}

export interface WriteOptions extends CallOptions {
  /** Made by the client when left out, and named by its errors. Name your own where the call must stay one across restarts of your program. */
  readonly idempotencyKey?: string;
  /** Seconds to wait for the finished resource, where the call can wait. */
  readonly wait?: number;
}

export interface Call {
  /** The name of the call. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query?: object;
  readonly body?: unknown;
  /** Takes an Idempotency-Key: may be sent again whatever came of the first time. */
  readonly keyed?: boolean;
  /** Takes `Prefer: wait=N`. */
  readonly prefers?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly options: WriteOptions;
}

/** What every try of a call sends. */
interface Sent extends Asked {
  readonly url: string;
  readonly init: RequestInit;
}

const DEFAULT_RETRIES = 4;
const DEFAULT_TIMEOUT_MS = 30_000;
/** Doubled with each try, and no longer than the other. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
/** A longer `Retry-After` is for the caller to plan, not to sleep through. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Sends calls: key, idempotency, retries, errors. */
export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  async json<Answer>(call: Call): Promise<Answer> {
    return (await this.#send(call, readJson)) as Answer;
  }

  async text(call: Call): Promise<string> {
    return this.#send(call, readText);
  }

  async bytes(call: Call): Promise<Uint8Array> {
    return this.#send(call, readBytes);
  }

  async nothing(call: Call): Promise<void> {
    await this.bytes(call);
  }

  /**
   * Opens an answer that has no end, with one try and no limit of time: its reader knows when to try again, and ends it by the signal.
   *
   * @throws ProblemError, NoAnswerError; its `status` is set when something answered, and tells that it was no stream.
   */
  async stream(call: Call, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const sent = this.#request(call);
    const answer = await this.#fetch(sent.url, { ...sent.init, signal }).catch((cause: unknown) => {
      throw noAnswer(sent, cause);
    });
    this.#tell(call, answer);
    if (!answer.ok) throw await refusal(answer, sent);
    if (answer.body !== null && answer.headers.get('Content-Type')?.startsWith('text/event-stream') === true)
      return answer.body;
    throw foreign(answer, sent, 'a stream');
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await (this.#options.sleep ?? sleep)(ms, signal);
  }

  /** From 0 to 1. */
  random(): number {
    return (this.#options.random ?? Math.random)();
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    return (this.#options.fetch ?? fetch)(url, init);
  }

  async #send<Value>(call: Call, read: Read<Value>): Promise<Value> {
    const sent = this.#request(call);
    const retries = this.#options.retries ?? DEFAULT_RETRIES;
    for (let tries = 0; ; tries += 1) {
      const outcome = await this.#try(call, sent, read);
      if ('value' in outcome) return outcome.value;
      const { failure } = outcome;
      call.options.signal?.throwIfAborted();
      if (tries >= retries || !mayRepeat(call, failure)) throw failure;
      const { retryAfterMs: asked } = failure;
      if (asked !== undefined && asked > LONGEST_RETRY_AFTER_MS) throw failure;
      await this.sleep(asked ?? this.#delay(tries), call.options.signal);
    }
  }

  /** The same for every try: above all the Idempotency-Key. */
  #request({ method, path, query = {}, body, keyed, prefers, headers: own, options }: Call): Sent {
    const url = new URL(this.#options.baseUrl.replace(/\/+$/, '') + path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = new Headers({
      Authorization: `Bearer ${this.#options.apiKey}`,
      Accept: 'application/json, */*;q=0.5',
      ...own,
    });
    if (options.requestId !== undefined) headers.set('X-Request-Id', options.requestId);
    if (keyed === true) headers.set('Idempotency-Key', options.idempotencyKey ?? crypto.randomUUID());
    if (prefers === true && options.wait !== undefined) headers.set('Prefer', `wait=${options.wait}`);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    // A redirect is shown, not followed: it is an answer, and would be the same next time.
    const init: RequestInit = {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    return { url: url.href, init, origin: url.origin, idempotencyKey: headers.get('Idempotency-Key') ?? undefined };
  }

  /** Until all of the answer is there: what breaks off in its middle is none. */
  async #try<Value>(call: Call, sent: Sent, read: Read<Value>): Promise<Outcome<Value>> {
    const { options, query = {} } = call;
    const waits = options.wait ?? ('wait' in query && typeof query.wait === 'number' ? query.wait : 0);
    const limit = AbortSignal.timeout((this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS) + 1_000 * waits);
    const signal = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]);
    let answer: Response | undefined;
    let outcome: Outcome<Value>;
    try {
      answer = await this.#fetch(sent.url, { ...sent.init, signal });
      outcome = answer.ok
        ? ((await read(answer)) ?? { failure: foreign(answer, sent, 'what was asked for') })
        : { failure: await refusal(answer, sent) };
    } catch (cause) {
      options.signal?.throwIfAborted();
      outcome = { failure: noAnswer(sent, cause, answer) };
    }
    // Not within the above: what the caller's own code throws is no lost answer.
    if (answer !== undefined) this.#tell(call, answer);
    return outcome;
  }

  #tell({ operation, method, path, options }: Call, { status, headers }: Response): void {
    const response: ResponseInfo = { operation, method, path, status, headers };
    this.#options.onResponse?.(response);
    options.onResponse?.(response);
  }

  /** Doubled each time; half of it by chance, so that many clients do not come back at once. */
  #delay(tries: number): number {
    const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** tries);
    return full / 2 + this.random() * (full / 2);
  }
}

/**
 * Too many requests (429) were not carried out. Whatever else passes by itself may have been: it is repeated only where that is
 * harmless, which is a read, what HTTP itself calls idempotent, or a call whose key makes the API answer as it did before.
 */
function mayRepeat({ method, keyed }: Call, failure: ProblemError | NoAnswerError): boolean {
  if (failure.status === 429) return true;
  const harmless = keyed === true || ['GET', 'PUT', 'DELETE'].includes(method);
  if (!harmless) return false;
  if (failure instanceof ProblemError && failure.code === 'idempotency_in_progress') return true;
  const { status, cause } = failure;
  // Lost, also in the middle of an answer; or one that should be the API's and is not.
  if (status === undefined || cause !== undefined || (status >= 200 && status < 300)) return true;
  // 501 says that there is no such thing.
  return status === 408 || (status >= 500 && status !== 501);
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
  signal?.throwIfAborted();
}
