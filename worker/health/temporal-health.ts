import { setTimeout as delay } from 'node:timers/promises';
import type { TemporalHealthPolicy } from '#domain/policy/relay-policy.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';

export interface TemporalHealthOptions {
  /** Asks Temporal for something small; may hang. */
  readonly ask: () => Promise<unknown>;
  readonly policy: TemporalHealthPolicy;
  readonly metrics: Pick<Metrics, 'temporalUnreachable'>;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Asks Temporal at intervals whether it answers, so that a probe need not wait for it. A Temporal that hangs takes
 * connections and calls and answers none: only a deadline shows it.
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

  /** Resolves at once, also while a question is under way. */
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

  /** Asks once. */
  async ask(): Promise<void> {
    const {
      ask,
      policy: { deadlineMs },
      metrics,
      now,
      logger,
    } = this.#options;
    const wasSilent = this.#failure !== undefined;
    try {
      await within(deadlineMs, this.#stopping.signal, ask);
      this.#answeredAt = now();
      this.#failure = undefined;
      if (wasSilent) logger.info({}, 'Temporal answers again');
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#failure = error instanceof Error ? error.message : 'unknown error';
      if (!wasSilent) logger.warn({ err: error }, 'Temporal does not answer; it is asked again');
    }
    metrics.temporalUnreachable.set(this.#silentMs() / 1_000);
  }

  #silentMs(): number {
    return this.#failure === undefined ? 0 : Math.max(0, this.#options.now() - this.#answeredAt);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.ask();
      await delay(this.#options.policy.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function within(ms: number, signal: AbortSignal, ask: () => Promise<unknown>): Promise<void> {
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  const onAbort = () => reject(new Error('stopped'));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await Promise.race([ask(), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
