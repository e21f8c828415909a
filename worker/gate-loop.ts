import { setTimeout as delay } from 'node:timers/promises';
import { WalletReader } from '#activities/upkeep/wallet-reader.ts';
import type { GateListener } from '#activities/work/work-dependencies.ts';
import type { Database } from '#db/connection/database.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { releaseHeldWork } from '#fulfilment/gate/release-held-work.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { ServiceClient } from '#upstream/client.ts';

export interface GateLoopOptions {
  readonly database: Database;
  readonly service: Pick<ServiceClient, 'getWallet'>;
  readonly policy: GatePolicy;
  readonly onGate: GateListener;
  /** Called after rows for the relay were committed. */
  readonly wakeRelay: () => void;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Lets held purchases go once what held them is over; see `fulfilment/gate/release-held-work.ts`. Every worker has one, and one of them
 * looks at a time. Should none look, held work still asks the gate by its own timer.
 */
export class GateLoop {
  readonly #options: GateLoopOptions;
  readonly #wallet: WalletReader;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: GateLoopOptions) {
    const { database, service, policy, onGate, now } = options;
    this.#options = options;
    this.#wallet = new WalletReader({ database, service, policy, now, onCrossing: onGate.balanceCrossed.bind(onGate) });
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Waits for a look that is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** One look: wakes whoever may go, and reads the wallet when somebody waits for money. */
  async look(): Promise<void> {
    const { database, policy, onGate, wakeRelay, now } = this.#options;
    const look = await database.transaction((tx) => releaseHeldWork(tx, now(), policy));
    if (look === undefined) return;
    for (const change of look.changes) onGate.circuitChanged(change);
    if (look.woken.length > 0) wakeRelay();
    if (look.wantsReading) await this.#wallet.refreshIfOlderThan(policy.balanceAgeMs / 2);
  }

  async #run(): Promise<void> {
    const { policy, logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) =>
        logger.warn({ err: error }, 'the purchase gate could not be looked at; it tries again'),
      );
      await delay(policy.tickMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
