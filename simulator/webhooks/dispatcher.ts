import { Agent, request } from 'undici';
import { serviceHeaders } from '#upstream/contract.ts';

/** One HTTP request of a delivery. */
export interface OutgoingWebhook {
  readonly url: string;
  readonly deliveryId: string;
  readonly event: string;
  /** Unix time in seconds. */
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Uint8Array;
}

/** What came of it: an HTTP status, or why there is none. */
export interface SendResult {
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly durationMs: number;
}

/** Sends webhooks. Redirects are not followed: a 3xx is an answer like any other, and not a success. */
export class Dispatcher {
  readonly #agent: Agent;
  readonly #timeoutMs: number;
  readonly #headerPrefix: () => string;
  readonly #stopped = new AbortController();

  /**
   * @param timeoutMs total deadline of one request.
   * @param headerPrefix beginning of the names of the service's headers, as it is at the time of sending.
   */
  constructor(timeoutMs: number, headerPrefix: () => string) {
    this.#timeoutMs = timeoutMs;
    this.#headerPrefix = headerPrefix;
    this.#agent = new Agent({ connections: 64, pipelining: 1 });
  }

  /** Never throws: whatever goes wrong is in the result. */
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
      // The status is the whole answer; what follows it is not waited for beyond a small body.
      await response.body.dump({ limit: 16_384 }).catch(() => undefined);
      return result(response.statusCode);
    } catch (error) {
      return result(undefined, reasonOf(error));
    }
  }

  /** Cuts off what is under way. */
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
