import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { serviceHeaders } from '#upstream/contract.ts';

/** One HTTP request of a delivery. */
interface OutgoingWebhook {
  readonly url: string;
  readonly deliveryId: string;
  readonly event: string;
  /** Unix time in seconds. */
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Uint8Array;
}

/** The result of a request: an HTTP status, or why there is none. */
export interface SendResult {
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly durationMs: number;
}

/** Sends webhooks. Redirects are not followed: a 3xx counts as a failure. */
export class Dispatcher {
  readonly #agent: Agent;
  readonly #timeoutMs: number;
  readonly #headerPrefix: () => string;
  readonly #stopped = new AbortController();

  /**
   * @param timeoutMs deadline of one request, in milliseconds.
   * @param headerPrefix returns the current prefix of the service's header names.
   */
  constructor(timeoutMs: number, headerPrefix: () => string) {
    this.#timeoutMs = timeoutMs;
    this.#headerPrefix = headerPrefix;
    this.#agent = new Agent({ connections: 64, pipelining: 1 });
  }

  /** Sends one request. Never throws; the result contains any error. */
  async send(webhook: OutgoingWebhook): Promise<SendResult> {
    const started = performance.now();
    const names = serviceHeaders(this.#headerPrefix());
    const result = (status: number | undefined, error?: string): SendResult => ({
      status,
      error,
      durationMs: Math.round(performance.now() - started),
    });
    try {
      const response = await request(webhook.url, {
        method: 'POST',
        dispatcher: this.#agent,
        signal: AbortSignal.any([AbortSignal.timeout(this.#timeoutMs), this.#stopped.signal]),
        headers: {
          'content-type': 'application/json',
          'user-agent': 'service-simulator',
          [names.event]: webhook.event,
          [names.delivery]: webhook.deliveryId,
          [names.timestamp]: webhook.timestamp,
          [names.signature]: webhook.signature,
        },
        body: webhook.body,
      });
      // Only the status matters. A small body is read, so that the connection can be used again.
      await response.body.dump({ limit: 16_384 }).catch(() => undefined);
      return result(response.statusCode);
    } catch (error) {
      return result(undefined, reasonOf(error));
    }
  }

  /** Aborts the requests under way. */
  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#agent.destroy();
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError') return 'timeout';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/**
 * Signs a delivery as the specification says (Events, signature rules 1 and 2). Written independently of the product's
 * own code, so that each checks the other.
 *
 * @param timestamp Unix time in seconds, digits only, as in the header.
 * @param body the raw bytes of the body.
 * @returns the value of the signature header.
 */
export function signatureOf(secret: string, timestamp: string, body: Uint8Array): string {
  const digest = createHmac('sha256', secret).update(`${timestamp}.`, 'utf8').update(body).digest('hex');
  return `v1=${digest}`;
}
