import type { Money } from '#domain/money/money.ts';
import {
  distrustBalance,
  usableBalance,
  type GateBalance,
  beginBalanceRead,
  storeBalance,
} from '#fulfilment/gate/account.ts';
import { noteSignOfLife } from '#fulfilment/gate/circuits.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';

type Dependencies = Pick<WorkDependencies, 'database' | 'gate' | 'now' | 'onGate'> & {
  readonly service: Pick<WorkDependencies['service'], 'getWallet'>;
};

/** Concurrent callers share one read. */
export class BalanceReader {
  readonly #dependencies: Dependencies;
  #reading: Promise<Money | undefined> | undefined;
  #failedAt = -Infinity;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** @returns true when the balance was read now. */
  async refreshIfOlderThan(maxAgeMs: number): Promise<boolean> {
    return this.refreshIfOld(await this.#dependencies.database.run(usableBalance), maxAgeMs);
  }

  /** As {@link refreshIfOlderThan}. `known` undefined: no reading can be used. */
  async refreshIfOld(known: GateBalance | undefined, maxAgeMs: number): Promise<boolean> {
    const { gate: policy, now } = this.#dependencies;
    if (known !== undefined && now() - known.readAt.getTime() <= maxAgeMs) return false;
    // After a failed read, the other purchases do not try again at once.
    if (Math.abs(now() - this.#failedAt) < policy.balanceTrustMs) return false;
    return this.refresh();
  }

  /** @returns false when it could not be read; the balance is unknown once the last reading is too old. */
  async refresh(): Promise<boolean> {
    return (await (this.#reading ??= this.read().finally(() => (this.#reading = undefined)))) !== undefined;
  }

  /** Does not share an earlier read. @returns undefined when the balance could not be read. */
  async read(): Promise<Money | undefined> {
    const { database, service, gate: policy, now, onGate } = this.#dependencies;
    const debitKnownBefore = new Date(now() - policy.debitShowsAfterMs);
    const number = await database.transaction((tx) => beginBalanceRead(tx, { debitKnownBefore }));
    // The time of the request: a change while the answer is on its way may not be in it.
    const readAt = new Date(now());
    const answer = await service.getWallet();
    if (!answer.ok) {
      this.#failedAt = now();
      await this.#distrustWhatIsOld();
      return undefined;
    }
    const balance = { amount: answer.value.balance, currency: answer.value.currency };
    const { change, crossed } = await database.transaction((tx) =>
      storeBalance(tx, number, balance, policy.lowBalance, readAt),
    );
    if (crossed !== undefined) onGate?.balanceCrossed(balance, crossed);
    if (change === 'first' || change === 'more') {
      await database.transaction((tx) => noteSignOfLife(tx, 'insufficient_balance', now(), policy));
    }
    return balance;
  }

  async #distrustWhatIsOld(): Promise<void> {
    const { database, gate: policy, now } = this.#dependencies;
    const known = await database.run(usableBalance);
    if (known === undefined || now() - known.readAt.getTime() <= policy.balanceAgeMs) return;
    await database.transaction((tx) => distrustBalance(tx));
  }
}
