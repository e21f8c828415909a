import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '#db/connection/database.ts';
import type { Waiter } from '#db/connection/wakeups.ts';
import { isGateInUse } from '#db/gate/waits.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { readDriftedAgain } from '#fulfilment/gate/drift.ts';
import { releaseHeldWork } from '#fulfilment/gate/release-held-work.ts';
import type { GateListener } from '#fulfilment/purchase/handler.ts';
import { WalletReader } from '#fulfilment/purchase/wallet-reader.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { ServiceClient } from '#upstream/client.ts';

export interface GateLoopOptions {
  readonly database: Database;
  readonly service: Pick<ServiceClient, 'getWallet'>;
  readonly policy: GatePolicy;
  readonly onGate: GateListener;
  /** Woken when work waits at the gate, or a circuit is not closed. */
  readonly waiter: Waiter;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/**
 * Releases held purchases when their hold reason is over; see `fulfilment/gate/release-held-work.ts`. Every worker has
 * a loop, and one of them runs at a time. It sleeps while nothing is held or stopped. Held work also
 * calls the gate by its own timer, if no loop runs.
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

  /** Stops and waits for a running round. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#options.waiter.wake();
    await this.#running;
  }

  /** One round: wakes released work, and reads the wallet if work waits for money. */
  async runOnce(): Promise<void> {
    const { database, policy, onGate, now } = this.#options;
    const look = await database.transaction((tx) => releaseHeldWork(tx, now(), policy));
    if (look === undefined) return;
    for (const change of look.changes) onGate.circuitChanged(change);
    if (look.wantsReading) await this.#wallet.refreshIfOlderThan(policy.balanceAgeMs / 2);
  }

  async #run(): Promise<void> {
    const { database, policy, waiter, logger } = this.#options;
    const { signal } = this.#stopping;
    // A new version may read what the last one could not.
    await database.transaction(readDriftedAgain).catch((error: unknown) => {
      logger.warn({ err: error }, 'the drifted purchases could not be woken; their own timers read them again');
    });
    while (!signal.aborted) {
      try {
        await this.runOnce();
        if (!(await database.run(isGateInUse))) await waiter.next();
      } catch (error) {
        logger.warn({ err: error }, 'held purchases could not be released; the worker tries again');
      }
      await delay(policy.tickMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
