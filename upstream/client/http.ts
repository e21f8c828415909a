import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { errors, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { ANSWER_LIMITS } from '#domain/policy/answer-limits.ts';
import type { FailureClass } from '#domain/work/failure.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** For the whole exchange: waiting for a connection, connecting, sending and reading the answer. */
  readonly deadlineMs: number;
  readonly ownConnection?: boolean;
  /** Remaining milliseconds. The request is written only if its deadline ends before the lease does. */
  readonly leaseLeftMs?: () => number;
  readonly answerLimitBytes?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** Only `not_sent` proves that no byte of the request left. */
interface TransportFailure {
  readonly failure: Extract<FailureClass, 'not_sent' | 'connection_lost' | 'timeout' | 'unreadable_answer'>;
  readonly reason: string;
}

export type HttpResult =
  | { readonly kind: 'answer'; readonly answer: HttpAnswer }
  | ({ readonly kind: 'no_answer' } & TransportFailure);

export interface Timers {
  monotonicNow(): number;
  setTimeout(callback: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
}

export const systemTimers: Timers = {
  monotonicNow: () => performance.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

interface HttpTransportOptions {
  readonly origin: string;
  /** Plain HTTP is tunnelled, too: an answer of the proxy itself is then never read as an answer of the service. */
  readonly proxy?: string | undefined;
  readonly timers?: Timers;
  /** For shared and own connections each. Further requests wait within their deadline. */
  readonly connections?: number;
}

/** Never sends a request twice, follows no redirect, never throws. */
export interface HttpTransport {
  send(request: HttpRequest): Promise<HttpResult>;
  close(): Promise<void>;
}

// As many as a worker runs first sends and other activities at a time.
const DEFAULT_CONNECTIONS = 128;
// Longer than a slow handshake, and well below the deadline of a send: an unreachable host shows as "not sent".
const CONNECT_TIMEOUT_MS = 8_000;

export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const timers = options.timers ?? systemTimers;
  const settings: Pool.Options = {
    connections: options.connections ?? DEFAULT_CONNECTIONS,
    // The deadline of the request covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  };
  const { origin, proxy } = options;
  const open = (pipelining: number) =>
    proxy === undefined
      ? new Pool(origin, { ...settings, pipelining })
      : new ProxyAgent({
          ...settings,
          pipelining,
          uri: proxy,
          proxyTunnel: true,
          connectTimeout: CONNECT_TIMEOUT_MS,
          // Of the answer to CONNECT, which a proxy may owe for ever.
          clientFactory: (uri, settingsOfProxy) =>
            new Pool(uri, { ...settingsOfProxy, headersTimeout: CONNECT_TIMEOUT_MS }),
        });
  const shared = open(1);
  // Without pipelining undici closes each connection after its one request.
  const own = open(0);
  return {
    send: async (request) => await exchange(request.ownConnection === true ? own : shared, request, timers, origin),
    close: async () => {
      await Promise.all([shared.close(), own.close()]);
    },
  };
}

export function exchange(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  request: HttpRequest,
  timers: Timers,
  origin?: string,
): Promise<HttpResult> {
  return new Promise((resolve) => {
    const handler = new ExchangeHandler(request, timers, (result) => {
      timers.clearTimeout(timer);
      resolve(result);
    });
    const timer = timers.setTimeout(() => handler.giveUp(request.deadlineMs), request.deadlineMs);
    dispatcher.dispatch(
      {
        ...(origin !== undefined && { origin }),
        method: request.method,
        path: request.path,
        headers: request.headers,
        body: request.body ?? null,
        // undici must not repeat any request by itself, not even a read.
        idempotent: false,
      },
      handler,
    );
  });
}

/**
 * The phase decides the failure class, not the code of the error: undici calls `onRequestStart` right before it writes
 * the first byte. A failure before that proves that nothing was sent; a later one proves nothing.
 */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #settle: (result: HttpResult) => void;
  readonly #lateness: () => string | undefined;
  readonly #limitBytes: number;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #answer: Omit<HttpAnswer, 'body'> | undefined;
  #chunks: Buffer[] = [];
  #received = 0;

  constructor(request: HttpRequest, timers: Timers, settle: (result: HttpResult) => void) {
    this.#settle = settle;
    this.#limitBytes = request.answerLimitBytes ?? ANSWER_LIMITS.recordBytes;
    const deadlineAt = timers.monotonicNow() + request.deadlineMs;
    this.#lateness = () => {
      const leftMs = deadlineAt - timers.monotonicNow();
      if (leftMs <= 0) return `its ${request.deadlineMs} ms were over before a connection was used`;
      return request.leaseLeftMs !== undefined && request.leaseLeftMs() <= leftMs
        ? 'another process may hold the lease by now'
        : undefined;
    };
  }

  /** A request that still waits for a connection will not be sent. */
  giveUp(deadlineMs: number): void {
    if (this.#controller === undefined) {
      this.#end({ kind: 'no_answer', failure: 'not_sent', reason: `no connection was open within ${deadlineMs} ms` });
      return;
    }
    const reason = `no complete answer within ${deadlineMs} ms`;
    this.#end({ kind: 'no_answer', failure: 'timeout', reason });
    this.#controller.abort(new Error(reason));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // After some lost connections undici queues a request again. Throwing prevents a second or late write.
    if (this.#controller !== undefined && !this.#settled) {
      this.#end({ kind: 'no_answer', failure: 'connection_lost', reason: 'the connection was lost' });
    }
    // A suspended process may see a connection open before its timers fire. So the clock decides here, not the timer.
    const reason = this.#controller === undefined ? this.#lateness() : undefined;
    if (reason !== undefined) this.#end({ kind: 'no_answer', failure: 'not_sent', reason });
    if (this.#settled) throw new Error('this request must not be written any more');
    this.#controller = controller;
  }

  /** We request no upgrade. A server that forces one has not answered. */
  onRequestUpgrade(
    _controller: Dispatcher.DispatchController,
    _status: number,
    _headers: IncomingHttpHeaders,
    socket: Duplex,
  ): void {
    socket.destroy();
    this.#refuse('the service switched protocols');
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // undici also calls this for interim answers (103 and others); the final one replaces them.
    this.#answer = { status, headers };
    if (Number(headers['content-length'] ?? 0) > this.#limitBytes) this.#refuseSize();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received > this.#limitBytes) this.#refuseSize();
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#answer === undefined) return this.#refuse('the answer has no status');
    this.#end({ kind: 'answer', answer: { ...this.#answer, body: Buffer.concat(this.#chunks, this.#received) } });
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    const code = errorCode(error);
    const mention = code === undefined ? '' : ` (${code})`;
    if (this.#controller === undefined) {
      this.#end({ kind: 'no_answer', failure: 'not_sent', reason: `no connection could be opened${mention}` });
    } else if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
      this.#end({ kind: 'no_answer', failure: 'unreadable_answer', reason: `the answer is not valid HTTP${mention}` });
    } else {
      this.#end({ kind: 'no_answer', failure: 'connection_lost', reason: `the connection broke${mention}` });
    }
  }

  #refuseSize(): void {
    this.#refuse(`the answer has more than ${this.#limitBytes} bytes`);
  }

  #refuse(reason: string): void {
    this.#end({ kind: 'no_answer', failure: 'unreadable_answer', reason });
    this.#controller?.abort(new Error(reason));
  }

  #end(result: HttpResult): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#chunks = [];
    this.#settle(result);
  }
}

/** Only codes: a closed set of Node, llhttp and undici. Messages may contain addresses and answer data. */
function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? code : undefined;
}
