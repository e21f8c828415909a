import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '#db/connection/database.ts';
import { debitDelay } from '#db/money/wallet-readings.ts';
import { NO_DEBIT_SEEN } from '#domain/money/absence.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import { backoffMs } from '#domain/policy/settings.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WalletReadings } from '#fulfilment/purchase/wallet-readings.ts';
import type { Logger } from '#telemetry/logger.ts';

interface DebitWatchOptions {
  readonly database: Database;
  readonly readings: WalletReadings;
  readonly policy: Pick<PurchasePolicy, 'settleDelayMs' | 'unseenDebitDelayMs'>;
  readonly logger: Logger;
}

/** A debit that is listed at once is seen by the first reading. */
const FIRST_READING_MS = 5_000;

/**
 * Measures how long the service takes to list a debit. A failed purchase then waits twice that time, not the longest
 * possible time. Best effort: the next process measures again.
 */
export class DebitWatch {
  readonly #options: DebitWatchOptions;
  readonly #watched = new Set<WorkKind>();
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: DebitWatchOptions) {
    this.#options = options;
  }

  /** Returns at once and never throws. */
  notePurchase(kind: WorkKind): void {
    if (this.#watched.has(kind) || this.#stopping.signal.aborted) return;
    this.#watched.add(kind);
    this.#running = Promise.all([this.#running, this.#measure(kind)]).then(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #measure(kind: WorkKind): Promise<void> {
    const { database, readings, policy, logger } = this.#options;
    const { signal } = this.#stopping;
    let isKnown = false;
    const firstMs = Math.min(FIRST_READING_MS, policy.settleDelayMs);
    try {
      for (let waitedMs = 0, n = 1; waitedMs < policy.unseenDebitDelayMs; n += 1) {
        isKnown = (await database.run((db) => debitDelay(db, kind))) !== NO_DEBIT_SEEN;
        if (isKnown) return;
        const waitMs = backoffMs(firstMs, policy.unseenDebitDelayMs, n);
        await delay(waitMs, undefined, { signal, ref: false });
        waitedMs += waitMs;
        if (!(await readings.read({})).ok) return;
      }
    } catch (error) {
      if (!signal.aborted) logger.debug({ err: error, kind }, 'the time until a debit appears could not be measured');
    } finally {
      // Otherwise the next purchase of the kind begins again.
      if (!isKnown) this.#watched.delete(kind);
    }
  }
}
