import type { Database } from '#db/connection/database.ts';
import type { Waiter } from '#db/connection/wakeups.ts';
import { isGateInUse } from '#db/gate/waits.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { readDriftedAgain } from '#fulfilment/gate/drift.ts';
import { releaseHeldWork } from '#fulfilment/gate/release-held-work.ts';
import { BalanceReader } from '#fulfilment/purchase/balance-reader.ts';
import type { GateListener } from '#fulfilment/purchase/dependencies.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { RepeatedWork } from '#worker/repeated-work.ts';

interface GateLoopOptions {
  readonly database: Database;
  readonly service: Pick<ServiceClient, 'getWallet'>;
  readonly policy: GatePolicy;
  readonly onGate: GateListener;
  readonly waiter: Waiter;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Releases held purchases. One loop of all workers runs at a time; held work also calls the gate by its own timer. */
export class GateLoop extends RepeatedWork {
  readonly #options: GateLoopOptions;
  readonly #wallet: BalanceReader;
  #hasBegun = false;

  constructor(options: GateLoopOptions) {
    const { policy, waiter } = options;
    super(policy.tickMs);
    this.#options = options;
    this.#wallet = new BalanceReader({ ...options, gate: policy });
    this.signal.addEventListener('abort', () => waiter.wake());
  }

  protected override async turn(): Promise<boolean> {
    const { database, policy, onGate, waiter, logger, now } = this.#options;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      // A new version may read what the last one could not.
      await database.transaction(readDriftedAgain).catch((error: unknown) => {
        logger.warn({ err: error }, 'the drifted purchases could not be woken; their own timers read them again');
      });
    }
    try {
      const look = await database.transaction((tx) => releaseHeldWork(tx, now(), policy));
      for (const change of look?.changes ?? []) onGate.circuitChanged(change);
      if (look?.wantsReading === true) await this.#wallet.refreshIfOlderThan(policy.balanceAgeMs / 2);
      if (!this.signal.aborted && !(await database.run(isGateInUse))) await waiter.next();
    } catch (error) {
      logger.warn({ err: error }, 'held purchases could not be released; the worker tries again');
    }
    return true;
  }
}

export function gateListener(logger: Logger): GateListener {
  return {
    circuitChanged: ({ name, from, to, detail }) => {
      const isBad = to === 'open' && from !== 'probing';
      const facts = { circuit: name, from, to, detail };
      logger[isBad ? 'error' : 'info'](facts, `the circuit ${name} of the service is ${to}`);
    },
    balanceCrossed: ({ amount, currency }, crossed) => {
      if (crossed === 'low')
        logger.error({ balance: amount, currency }, 'the balance of the wallet is below wallet.low_balance');
      else logger.info({ balance: amount, currency }, 'the balance of the wallet is back above wallet.low_balance');
    },
    failed: (error) =>
      logger.warn({ err: error }, 'the circuits could not be updated after a send; the next send updates them'),
  };
}
