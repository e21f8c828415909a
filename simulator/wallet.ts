import Big from 'big.js';
import { CURRENCY } from '#simulator/catalogue/catalogue.ts';
import type { Environment } from '#simulator/environment.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import type { Ledger, LedgerEntry, MovementSubject } from '#simulator/store/ledger.ts';
import type { Store } from '#simulator/store/store.ts';

/** The reason of a movement, and what it belongs to. */
export interface Movement extends MovementSubject {
  /** `order`, `topup`, `vpn`, `refund`, `deposit`, or any other text. */
  readonly reason: string;
}

/** The wallets of both environments, with exact balances. Each movement records the balance after it. */
export class Wallet {
  readonly #store: Store;
  readonly #ledger: Ledger;
  readonly #identifiers: Identifiers;
  readonly #now: () => number;

  /** @param now epoch milliseconds. */
  constructor(store: Store, ledger: Ledger, identifiers: Identifiers, now: () => number) {
    this.#store = store;
    this.#ledger = ledger;
    this.#identifiers = identifiers;
    this.#now = now;
  }

  balance(environment: Environment): string {
    return this.#ledger.lastBalance(environment) ?? '0.00';
  }

  /** The balance that the service shows while debits younger than `ageMs` are hidden. */
  visibleBalance(environment: Environment, ageMs: number): string {
    if (ageMs === 0) return this.balance(environment);
    const hidden = this.#ledger.debitsAfter(environment, this.#now() - ageMs);
    return plain(hidden.reduce((total, amount) => total.plus(amount), new Big(this.balance(environment))));
  }

  covers(environment: Environment, price: string): boolean {
    return new Big(this.balance(environment)).gte(price);
  }

  /** @throws RangeError when the balance does not cover the amount; check with {@link covers} first. */
  debit(environment: Environment, amount: string, movement: Movement): void {
    const after = new Big(this.balance(environment)).minus(amount);
    if (after.lt(0)) throw new RangeError(`the ${environment} wallet does not cover ${amount}`);
    this.#append(environment, 'debit', amount, after, movement);
  }

  credit(environment: Environment, amount: string, movement: Movement): void {
    this.#append(environment, 'credit', amount, new Big(this.balance(environment)).plus(amount), movement);
  }

  #append(environment: Environment, type: LedgerEntry['type'], amount: string, after: Big, movement: Movement): void {
    this.#store.transaction(() => {
      this.#ledger.append({
        id: this.#identifiers.id('ledger', this.#store.nextSequence('ledger')),
        environment,
        type,
        amount,
        currency: CURRENCY,
        balanceAfter: plain(after),
        orderId: null,
        externalOrderId: null,
        esimId: null,
        topupId: null,
        refundId: null,
        vpnSubscriptionId: null,
        externalSubscriptionId: null,
        ...movement,
        createdAt: this.#now(),
      });
    });
  }
}

/** Formats an exact amount with at least two decimals. */
function plain(amount: Big): string {
  const text = amount.toFixed();
  return (text.split('.')[1] ?? '').length < 2 ? amount.toFixed(2) : text;
}
