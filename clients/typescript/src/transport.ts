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

/** The status and headers of an answer. */
export interface ResponseInfo {
  /** The method of the client, such as `createOrder`. */
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Contains `X-Request-Id`, `Idempotent-Replayed`, `RateLimit` and `Retry-After`, among others. */
  readonly headers: Headers;
}

/** Called for every answer, refusals and retries included. An error that it throws ends the call without a retry. */
export type OnResponse = (response: ResponseInfo) => void;

export interface TransportOptions {
  /** Address of the API without `/v1`, such as `https://fulfilment.example.com`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Number of retries. Default: 4. */
  readonly retries?: number;
  /** Milliseconds for one attempt. Default: 30 s; the waiting time of a call is added. */
  readonly timeoutMs?: number;
  /** Called for the answers of all calls. */
  readonly onResponse?: OnResponse;
  /** Sends the requests, for proxies and slow networks. Default: the `fetch` of Node. */
  readonly fetch?: typeof fetch;
  /** Replaced in tests. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly random?: () => number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Id of the request in the log of the API. */
  readonly requestId?: string;
  /** Called for the answers of this call, after the callback of the client. */
  readonly onResponse?: OnResponse;
}

export interface WriteOptions extends CallOptions {
  /** Default: a generated key. Set your own if the call must stay one call across restarts of your program. */
  readonly idempotencyKey?: string;
  /** Seconds to wait for the finished resource, if the call supports it. */
  readonly wait?: number;
}

export interface Call {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly query?: object;
  readonly body?: unknown;
  /** A call with an Idempotency-Key may always be sent again. */
  readonly keyed?: boolean;
  /** `Prefer: wait=N`. */
  readonly prefers?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly options: WriteOptions;
}

/** The same for all attempts of a call. */
interface Sent extends Asked {
  readonly url: string;
  readonly init: RequestInit;
}

const DEFAULT_RETRIES = 4;
const DEFAULT_TIMEOUT_MS = 30_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
/** With a longer `Retry-After`, the call fails, so that the caller can plan the next attempt. */
const LONGEST_RETRY_AFTER_MS = 60_000;

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
   * One attempt without a time-out: the caller reconnects, and ends it by the signal.
   * @throws ProblemError, NoAnswerError; its `status` is set when an answer came that is not a stream.
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

  /** All attempts have the same Idempotency-Key. */
  #request({ method, path, query = {}, body, keyed, prefers, headers: own, options }: Call): Sent {
    const url = new URL(this.#options.baseUrl.replace(/\/+$/, '') + path);
    for (const [name, value] of Object.entries(query).flatMap(parametersOf)) url.searchParams.set(name, value);
    const headers = new Headers({
      Authorization: `Bearer ${this.#options.apiKey}`,
      Accept: 'application/json, */*;q=0.5',
      ...own,
    });
    if (options.requestId !== undefined) headers.set('X-Request-Id', options.requestId);
    if (keyed === true) headers.set('Idempotency-Key', options.idempotencyKey ?? crypto.randomUUID());
    if (prefers === true && options.wait !== undefined) headers.set('Prefer', `wait=${options.wait}`);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    // Redirects are not followed: they count as an answer, and would be the same at the next attempt.
    const init: RequestInit = {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    return { url: url.href, init, origin: url.origin, idempotencyKey: headers.get('Idempotency-Key') ?? undefined };
  }

  /** An answer that breaks off counts as none. */
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
    // Outside the `try`: an error of the caller's own code is not a lost answer.
    if (answer !== undefined) this.#tell(call, answer);
    return outcome;
  }

  #tell({ operation, method, path, options }: Call, { status, headers }: Response): void {
    const response: ResponseInfo = { operation, method, path, status, headers };
    this.#options.onResponse?.(response);
    options.onResponse?.(response);
  }

  /** Half of it is random, so that many clients do not return at once. */
  #delay(tries: number): number {
    const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** tries);
    return full / 2 + this.random() * (full / 2);
  }
}

/** A list has commas between its values, and pairs are `name[key]=value`. */
function parametersOf([name, value]: [string, unknown]): [string, string][] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return [[name, value.join(',')]];
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([key, each]) => [`${name}[${key}]`, String(each)]);
  return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
}

/**
 * After 429 the call was not carried out. After other temporary failures it may have been: it is repeated only as a
 * read, or with a key, which makes the API return the first answer.
 */
function mayRepeat({ method, keyed }: Call, failure: ProblemError | NoAnswerError): boolean {
  if (failure.status === 429) return true;
  if (keyed !== true && method !== 'GET') return false;
  if (failure instanceof ProblemError && failure.code === 'idempotency_in_progress') return true;
  const { status, cause } = failure;
  // The answer was lost or broke off, or a success does not come from the API.
  if (status === undefined || cause !== undefined || (status >= 200 && status < 300)) return true;
  // 501 means that the operation does not exist.
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
