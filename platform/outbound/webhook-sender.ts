import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, errors, ProxyAgent, request, type Dispatcher } from 'undici';
import type { EventRow } from '#db/events/event-log.ts';
import { type TryFailure, type TryOutcome, isDelivered } from '#domain/events/webhook-delivery.ts';
import { retryAfterMs } from '#domain/retry/retry-after.ts';
import { hostOf } from '#domain/text.ts';
import { webhookBody, webhookHeaders } from '#outbound/event-message.ts';
import { type AddressPolicy, type HostLookup, mayConnect, urlProblem } from '#outbound/webhook-address.ts';
import { currentTraceparent, inSpan, type SpanOptions, traceHeaders } from '#telemetry/tracing.ts';

interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Covers lookup, connection, request and answer together. */
  readonly deadlineMs: number;
}

interface Delivery extends Pick<WebhookRequest, 'url' | 'deadlineMs'> {
  readonly event: EventRow;
  readonly secrets: readonly string[];
}

interface WebhookResult {
  readonly outcome: TryOutcome;
  readonly excerpt: Buffer;
}

interface WebhookSenderOptions {
  readonly policy: AddressPolicy;
  readonly lookup: HostLookup;
  /** It finds and judges the addresses of names in our place. */
  readonly proxy?: string | undefined;
  readonly now: () => number;
}

/** The rest of an answer is not read. */
export const EXCERPT_BYTES = 1_024;
/** The status decides the outcome, so the wait for the body is short. */
const EXCERPT_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;
/** Long enough for a burst of deliveries; receivers may close idle connections at any time. */
const KEEP_ALIVE_MS = 4_000;
const CONNECTIONS_PER_ORIGIN = 8;
const MAX_HEADER_BYTES = 16_384;

class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

class HostUnknownError extends Error {
  override readonly name = 'HostUnknownError';
}

/** No redirects; never throws. Addresses are judged when connecting: a name may point elsewhere by now. */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #agent: Agent;
  readonly #proxy: ProxyAgent | undefined;

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
    const settings = {
      connections: CONNECTIONS_PER_ORIGIN,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The time limit of the request covers these.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    const { proxy } = options;
    this.#agent = new Agent({ ...settings, connect: this.#connector() });
    this.#proxy =
      proxy === undefined
        ? undefined
        : new ProxyAgent({ ...settings, uri: proxy, proxyTunnel: true, connectTimeout: CONNECT_TIMEOUT_MS });
  }

  async send({ url, headers, body, deadlineMs }: WebhookRequest): Promise<WebhookResult> {
    if (urlProblem(url) !== undefined) return noAnswer('address_refused');
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: this.#dispatcherFor(new URL(url)),
        headers: { ...headers },
        body,
        idempotent: false,
        signal: AbortSignal.timeout(deadlineMs),
      });
      const wait = retryAfterMs(answer.headers['retry-after'], this.#options.now());
      return {
        outcome: { kind: 'answered', status: answer.statusCode, ...(wait !== undefined && { retryAfterMs: wait }) },
        excerpt: await excerptOf(answer.body),
      };
    } catch (error) {
      return noAnswer(failureOf(error));
    }
  }

  /** Never throws because of a receiver. */
  async deliver({ url, event, secrets, deadlineMs }: Delivery): Promise<WebhookResult> {
    const body = webhookBody(event);
    return inSpan('POST webhook', spanOptions(event), async (span) => {
      const at = new Date(this.#options.now());
      const headers = { ...webhookHeaders(event, body, secrets, at), ...traceHeaders(span) };
      const result = await this.send({ url, body, headers, deadlineMs });
      const { outcome } = result;
      if (outcome.kind === 'answered') span.set({ 'http.response.status_code': outcome.status });
      if (!isDelivered(outcome)) span.fail(outcome.kind === 'answered' ? String(outcome.status) : outcome.failure);
      return result;
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#proxy?.destroy()]);
  }

  /** The proxy can judge names over TLS only. */
  #dispatcherFor(url: URL): Dispatcher {
    const isName = isIP(hostOf(url)) === 0 && url.hostname !== 'localhost';
    return (url.protocol === 'https:' && isName ? this.#proxy : undefined) ?? this.#agent;
  }

  /** Literal addresses here, those of names in their lookup. */
  #connector(): buildConnector.connector {
    const { policy } = this.#options;
    const settings = { timeout: CONNECT_TIMEOUT_MS, allowH2: false };
    const secure = buildConnector({ ...settings, lookup: this.#lookupFor('https:') });
    const plain = buildConnector({ ...settings, lookup: this.#lookupFor('http:') });
    return (options, callback) => {
      const { protocol } = options;
      const host = hostOf(options);
      // Node calls no lookup for a literal address.
      if (isIP(host) !== 0 && !mayConnect(protocol, policy.judge(host))) {
        callback(new AddressRefusedError(), null);
        return;
      }
      (protocol === 'https:' ? secure : plain)({ ...options, hostname: host }, callback);
    };
  }

  #lookupFor(protocol: string): LookupFunction {
    return (host, options, callback) => void this.#answer(host, protocol, options.all === true, callback);
  }

  async #answer(host: string, protocol: string, all: boolean, callback: Parameters<LookupFunction>[2]): Promise<void> {
    const found = await this.#addressesOf(host, protocol).catch((error: unknown) =>
      error instanceof Error ? error : new HostUnknownError(),
    );
    if (found instanceof Error) return callback(found, '');
    const [first] = found;
    if (first === undefined) return callback(new HostUnknownError(), '');
    return all ? callback(null, found) : callback(null, first.address, first.family);
  }

  /** One refused address refuses the name: Node may connect to any of them. */
  async #addressesOf(host: string, protocol: string): Promise<{ address: string; family: number }[]> {
    const { policy, lookup } = this.#options;
    const addresses = await lookup(host).catch((cause: unknown) => {
      throw new HostUnknownError('the name was not found', { cause });
    });
    if (!addresses.every((address) => mayConnect(protocol, policy.judge(address)))) throw new AddressRefusedError();
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  }
}

async function excerptOf(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Destroying the body closes the connection, so that an endless answer does not keep it.
  const timer = setTimeout(() => body.destroy(), EXCERPT_TIMEOUT_MS);
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) break;
      chunks.push(chunk);
      size += chunk.length;
      if (size >= EXCERPT_BYTES) break;
    }
  } catch {
    // The excerpt is what arrived before.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).subarray(0, EXCERPT_BYTES);
}

function noAnswer(failure: TryFailure): WebhookResult {
  return { outcome: { kind: 'no_answer', failure }, excerpt: Buffer.alloc(0) };
}

function failureOf(error: unknown): TryFailure {
  const causes = causesOf(error);
  if (causes.some((each) => each instanceof AddressRefusedError)) return 'address_refused';
  if (causes.some((each) => each instanceof HostUnknownError)) return 'host_unknown';
  if (causes.some((each) => each.name === 'TimeoutError' || each instanceof errors.ConnectTimeoutError))
    return 'timeout';
  if (causes.some((each) => each instanceof errors.HTTPParserError || each instanceof errors.HeadersOverflowError))
    return 'unreadable_answer';
  return causes.some((each) => TLS_CODES.test(codeOf(each))) ? 'tls_failed' : 'connection_failed';
}

/** TLS failures of Node and OpenSSL. */
const TLS_CODES =
  /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO$|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH)/;

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Includes the errors of an AggregateError, one for each address that was tried. */
function causesOf(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error, ...parts.flatMap(causesOf), ...causesOf(error.cause)];
}

/** The span belongs to the trace of the event's work, with a link to the round of deliveries. */
function spanOptions({ id, type, traceparent }: EventRow): SpanOptions {
  const round = currentTraceparent();
  return {
    kind: 'client',
    parent: traceparent ?? round,
    ...(traceparent !== null && { link: round }),
    attributes: { 'http.request.method': 'POST', 'reseller.event.type': type, 'reseller.event.id': id },
  };
}
