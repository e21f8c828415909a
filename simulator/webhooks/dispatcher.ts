import { createHmac } from 'node:crypto';
import { Agent, request } from 'undici';
import { serviceHeaders } from '#upstream/contract.ts';

interface OutgoingWebhook {
  readonly url: string;
  readonly deliveryId: string;
  readonly event: string;
  /** Unix seconds. */
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Uint8Array;
}

export interface SendResult {
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly durationMs: number;
}

/** Redirects are not followed: a 3xx counts as a failure. */
export class Dispatcher {
  readonly #agent: Agent;
  readonly #timeoutMs: number;
  readonly #headerPrefix: () => string;
  readonly #stopped = new AbortController();

  /** `headerPrefix` is read at each request. */
  constructor(timeoutMs: number, headerPrefix: () => string) {
    this.#timeoutMs = timeoutMs;
    this.#headerPrefix = headerPrefix;
    this.#agent = new Agent({ connections: 64, pipelining: 1 });
  }

  /** Never throws. */
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
      // A small body is read, so that the connection can be used again.
      await response.body.dump({ limit: 16_384 }).catch(() => undefined);
      return result(response.statusCode);
    } catch (error) {
      return result(undefined, reasonOf(error));
    }
  }

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

/** Specification, Events, signature rules 1 and 2. Independent of the product's code, so that each checks the other. */
export function signatureOf(secret: string, timestamp: string, body: Uint8Array): string {
  const digest = createHmac('sha256', secret).update(`${timestamp}.`, 'utf8').update(body).digest('hex');
  return `v1=${digest}`;
}
