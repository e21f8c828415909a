import { setTimeout as delay } from 'node:timers/promises';
import type { AcceptedSecret } from '#crypto/webhook-signatures.ts';
import type { StoredWebhookSecrets } from '#db/service/webhook-secrets.ts';
import type { Logger } from '#telemetry/logger.ts';

export interface StoredSecretsOptions {
  /** @throws when the database is down. */
  readonly read: () => Promise<StoredWebhookSecrets>;
  readonly logger: Pick<Logger, 'warn'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The time until a secret of another process is known here. */
const REFRESH_EVERY_MS = 5_000;
/** Limits how often forged deliveries can make this process query the database. */
const LOOK_AGAIN_AFTER_MS = 1_000;

/** A delivery is verified without the database. While the database is down the last list is used. */
export class WebhookSecretCache {
  readonly #options: StoredSecretsOptions;
  #known: readonly AcceptedSecret[] | undefined;
  #undecryptable = 0;
  #failing = false;
  #triedAt: number | undefined;
  #underWay: Promise<void> | undefined;

  constructor(options: StoredSecretsOptions) {
    this.#options = options;
  }

  /** Newest first; the same array until the list was read again. Undefined before the first read. */
  current(): readonly AcceptedSecret[] | undefined {
    return this.#known;
  }

  /** After a signature that matches no secret. Never throws. */
  async lookAgain(): Promise<void> {
    const { now } = this.#options;
    const isRecent = this.#triedAt !== undefined && Math.abs(now() - this.#triedAt) < LOOK_AGAIN_AFTER_MS;
    if (this.#underWay === undefined && isRecent) return;
    await this.refresh();
  }

  /** Concurrent callers share one read. A failure keeps the former list. Never throws. */
  async refresh(): Promise<void> {
    this.#underWay ??= this.#read().finally(() => (this.#underWay = undefined));
    await this.#underWay;
  }

  async keepFresh(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.refresh();
      await delay(REFRESH_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #read(): Promise<void> {
    const { read, logger, now } = this.#options;
    this.#triedAt = now();
    try {
      const { secrets, undecryptable } = await read();
      // A new array for each read: callers compare it to detect a new read.
      this.#known = [...secrets];
      if (undecryptable > this.#undecryptable) {
        logger.warn(
          { count: undecryptable },
          'stored webhook secrets cannot be decrypted: their key is missing from ENCRYPTION_KEYS',
        );
      }
      this.#undecryptable = undecryptable;
      this.#failing = false;
    } catch (error) {
      if (this.#failing) return;
      this.#failing = true;
      logger.warn({ err: error }, 'the stored webhook secrets could not be read; the cached ones are used');
    }
  }
}
