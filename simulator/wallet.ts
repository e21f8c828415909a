import Big from 'big.js';
import type * as z from 'zod';
import type { Dialect } from '#simulator/behaviour/dialect.ts';
import { CURRENCY } from '#simulator/catalogue.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import type { Ledger, LedgerEntry, MovementSubject } from '#simulator/store/ledger.ts';
import type { Environment, Store } from '#simulator/store/store.ts';
import { wireTransaction } from '#simulator/wire.ts';
import type { walletTransaction } from '#upstream/contract.ts';

interface Movement extends MovementSubject {
  /** `order`, `topup`, `vpn`, `refund`, `deposit` or another text. */
  readonly reason: string;
  /** Another currency than that of the prices does not change the balance. */
  readonly currency?: string;
}

const OF_ANOTHER_SYSTEM = 'another_system';
const SECOND_CURRENCY = 'EUR';

/** Exact balances; each movement records the balance after it. */
export class Wallet {
  readonly #store: Store;
  readonly #ledger: Ledger;
  readonly #identifiers: Identifiers;
  readonly #now: () => number;

  constructor(store: Store, ledger: Ledger, identifiers: Identifiers, now: () => number) {
    this.#store = store;
    this.#ledger = ledger;
    this.#identifiers = identifiers;
    this.#now = now;
  }

  balance(environment: Environment): string {
    return this.#balance(environment, CURRENCY);
  }

  /** Debits younger than `ageMs` are hidden. */
  visibleBalance(environment: Environment, ageMs: number): string {
    if (ageMs === 0) return this.balance(environment);
    const hidden = this.#ledger.debitsAfter(environment, CURRENCY, this.#now() - ageMs);
    return plain(hidden.reduce((total, { amount }) => total.plus(amount), new Big(this.balance(environment))));
  }

  covers(environment: Environment, price: string): boolean {
    return new Big(this.balance(environment)).gte(price);
  }

  /** @throws RangeError when the balance does not cover the amount; check with {@link covers} first. */
  debit(environment: Environment, amount: string, movement: Movement): void {
    if (!this.covers(environment, amount)) throw new RangeError(`the ${environment} wallet does not cover ${amount}`);
    this.#append(environment, 'debit', amount, CURRENCY, movement);
  }

  credit(environment: Environment, amount: string, movement: Movement): void {
    const { currency = CURRENCY, ...names } = movement;
    this.#append(environment, 'credit', amount, currency, names);
  }

  /**
   * Another system spends a cent, at most once in `everyMs`. @param inOtherCurrency true: the balance does not change.
   */
  moveForOthers(environment: Environment, everyMs: number, inOtherCurrency: boolean): void {
    const before = this.#ledger.lastTimeOf(environment, OF_ANOTHER_SYSTEM);
    if (before !== undefined && this.#now() < before + everyMs) return;
    const currency = inOtherCurrency ? SECOND_CURRENCY : CURRENCY;
    const movement = { reason: OF_ANOTHER_SYSTEM };
    if (new Big(this.#balance(environment, currency)).gte('0.01'))
      this.#append(environment, 'debit', '0.01', currency, movement);
    else this.#append(environment, 'credit', '0.10', currency, movement);
  }

  #balance(environment: Environment, currency: string): string {
    return this.#ledger.lastBalance(environment, currency) ?? '0.00';
  }

  #append(
    environment: Environment,
    type: LedgerEntry['type'],
    amount: string,
    currency: string,
    movement: Movement,
  ): void {
    this.#store.transaction(() => {
      const before = new Big(this.#balance(environment, currency));
      const after = type === 'debit' ? before.minus(amount) : before.plus(amount);
      this.#ledger.append({
        id: this.#identifiers.id('ledger', this.#store.nextSequence('ledger')),
        environment,
        type,
        amount,
        currency,
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

function plain(amount: Big): string {
  const text = amount.toFixed();
  return (text.split('.')[1] ?? '').length < 2 ? amount.toFixed(2) : text;
}

export function shownAmount({ wallet_amounts: unit }: Dialect, amount: string): string {
  return unit === 'cents' ? new Big(amount).times(100).toFixed() : amount;
}

export function shownMovement(dialect: Dialect, now: number) {
  return (entry: LedgerEntry): z.input<typeof walletTransaction> => {
    const isPending = entry.type === 'credit' && now - entry.createdAt < dialect.credits_pending_for_ms;
    return {
      ...wireTransaction(entry),
      amount: shownAmount(dialect, entry.amount),
      currency: entry.currency === CURRENCY ? dialect.wallet_currency : entry.currency,
      ...(dialect.credits_pending_for_ms > 0 && { status: isPending ? 'pending' : 'completed' }),
    };
  };
}
