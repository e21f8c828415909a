import { NoAnswerError, ProblemError } from './errors.ts';
import type { Problem } from './types.ts';

export interface TransportOptions {
  /** Where the API is, without `/v1`: `https://fulfilment.example.com`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Tries after the first one. Default: 4. */
  readonly retries?: number;
  /** Of one try. Default: 30 s; what a call waits for is added. */
  readonly timeoutMs?: number;
  /** Replaced in tests. */
  readonly fetch?: typeof fetch;
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  readonly random?: () => number;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Names the request in the log of the API. */
  readonly requestId?: string;
}

export interface WriteOptions extends CallOptions {
  /** Made by the client when left out. Name your own where the call must stay one across restarts of your program. */
  readonly idempotencyKey?: string;
  /** Seconds to wait for the finished resource, where the call can wait. */
  readonly wait?: number;
}

export interface Call {
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
    const answer = await this.#send(call);
    return (await answer.json()) as Answer;
  }

  async text(call: Call): Promise<string> {
    return (await this.#send(call)).text();
  }

  async bytes(call: Call): Promise<Uint8Array> {
    return new Uint8Array(await (await this.#send(call)).arrayBuffer());
  }

  async nothing(call: Call): Promise<void> {
    await (await this.#send(call)).arrayBuffer();
  }

  /**
   * Opens an answer that has no end, with one try and no limit of time: its reader knows when to try again, and ends it by the signal.
   *
   * @throws ProblemError, NoAnswerError; its `status` is set when something answered, and tells that it was no stream.
   */
  async stream(call: Call, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { url, init } = this.#request(call);
    const { origin } = new URL(url);
    // A redirect is shown, not followed: it is an answer, and would be the same next time.
    const answer = await this.#fetch(url, { ...init, redirect: 'manual', signal }).catch((cause: unknown) => {
      throw noAnswer(origin, cause);
    });
    if (!answer.ok) throw await refusal(answer, origin);
    const type = answer.headers.get('Content-Type') ?? 'no type';
    if (answer.body !== null && type.startsWith('text/event-stream')) return answer.body;
    throw new NoAnswerError(`${answer.status} from ${origin} with ${type} instead of a stream: something else answered`, { status: answer.status });
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

  async #send(call: Call): Promise<Response> {
    const request = this.#request(call);
    const retries = this.#options.retries ?? DEFAULT_RETRIES;
    for (let tries = 0; ; tries += 1) {
      const failure = await this.#try(call, request);
      if (failure instanceof Response) return failure;
      call.options.signal?.throwIfAborted();
      if (tries >= retries || !mayRepeat(call, failure)) throw failure;
      const { retryAfterMs: asked } = failure;
      if (asked !== undefined && asked > LONGEST_RETRY_AFTER_MS) throw failure;
      await this.sleep(asked ?? this.#delay(tries), call.options.signal);
    }
  }

  /** The same for every try: above all the Idempotency-Key. */
  #request({ method, path, query = {}, body, keyed, prefers, headers: own, options }: Call): { url: string; init: RequestInit } {
    const url = new URL(this.#options.baseUrl.replace(/\/+$/, '') + path);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
    const headers = new Headers({ Authorization: `Bearer ${this.#options.apiKey}`, Accept: 'application/json, */*;q=0.5', ...own });
    if (options.requestId !== undefined) headers.set('X-Request-Id', options.requestId);
    if (keyed === true) headers.set('Idempotency-Key', options.idempotencyKey ?? crypto.randomUUID());
    if (prefers === true && options.wait !== undefined) headers.set('Prefer', `wait=${options.wait}`);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    return { url: url.href, init: { method, headers, redirect: 'error', ...(body === undefined ? {} : { body: JSON.stringify(body) }) } };
  }

  async #try({ options, query = {} }: Call, { url, init }: { url: string; init: RequestInit }): Promise<Response | ProblemError | NoAnswerError> {
    const waits = options.wait ?? ('wait' in query && typeof query.wait === 'number' ? query.wait : 0);
    const limit = AbortSignal.timeout((this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS) + 1_000 * waits);
    const signal = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]);
    try {
      const answer = await this.#fetch(url, { ...init, signal });
      if (answer.ok) return answer;
      return await refusal(answer, new URL(url).origin);
    } catch (cause) {
      options.signal?.throwIfAborted();
      return noAnswer(new URL(url).origin, cause);
    }
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
  // 501 says that there is no such thing.
  return failure.status === undefined || (failure.status >= 500 && failure.status !== 501);
}

function noAnswer(origin: string, cause: unknown): NoAnswerError {
  return new NoAnswerError(`no answer from ${origin}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

async function refusal(answer: Response, origin: string): Promise<ProblemError | NoAnswerError> {
  const body: unknown = await answer.json().catch(() => undefined);
  const retryAfterMs = retryAfter(answer.headers.get('Retry-After'));
  if (isProblemBody(body)) return new ProblemError(body, retryAfterMs);
  return new NoAnswerError(`${answer.status} from ${origin}, and not as a problem: something else answered`, { status: answer.status, retryAfterMs });
}

function isProblemBody(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'status' in body && 'request_id' in body;
}

function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return 1_000 * Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
