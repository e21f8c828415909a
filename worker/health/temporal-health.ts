import { setTimeout as delay } from 'node:timers/promises';
import type { TemporalHealthPolicy } from '#domain/policy/relay-policy.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';

export interface TemporalHealthOptions {
  /** Makes a small call to Temporal; it may hang. */
  readonly ping: () => Promise<unknown>;
  readonly policy: TemporalHealthPolicy;
  readonly metrics: Pick<Metrics, 'temporalUnreachable'>;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Pings Temporal at intervals, so that a readiness probe need not wait for it. A Temporal server that hangs accepts
 * connections and calls but answers none: only a time limit detects it.
 */
export class TemporalHealth {
  readonly #options: TemporalHealthOptions;
  readonly #stopping = new AbortController();
  #answeredAt: number;
  #failure: string | undefined;
  #running: Promise<void> | undefined;

  constructor(options: TemporalHealthOptions) {
    this.#options = options;
    this.#answeredAt = options.now();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves at once, also during a ping. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** @throws Error when Temporal has not answered for `policy.unreachableAfterMs`. */
  check(): void {
    const silentMs = this.#silentMs();
    if (silentMs < this.#options.policy.unreachableAfterMs) return;
    throw new Error(`Temporal has not answered for ${Math.round(silentMs / 1_000)} s (${this.#failure})`);
  }

  /** Pings Temporal once. */
  async ping(): Promise<void> {
    const {
      ping,
      policy: { deadlineMs },
      metrics,
      now,
      logger,
    } = this.#options;
    const wasSilent = this.#failure !== undefined;
    try {
      await within(deadlineMs, this.#stopping.signal, ping);
      this.#answeredAt = now();
      this.#failure = undefined;
      if (wasSilent) logger.info({}, 'Temporal answers again');
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#failure = error instanceof Error ? error.message : 'unknown error';
      if (!wasSilent) logger.warn({ err: error }, 'Temporal does not answer; the worker tries again');
    }
    metrics.temporalUnreachable.set(this.#silentMs() / 1_000);
  }

  #silentMs(): number {
    return this.#failure === undefined ? 0 : Math.max(0, this.#options.now() - this.#answeredAt);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.ping();
      await delay(this.#options.policy.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Waits for a call. @throws Error after `ms` milliseconds, and at once when `signal` is aborted. */
export async function within<Result>(ms: number, signal: AbortSignal, call: () => Promise<Result>): Promise<Result> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  const onAbort = () => reject(new Error('stopped'));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([call(), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
