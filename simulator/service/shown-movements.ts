import Big from 'big.js';
import type * as z from 'zod';
import type { Dialect } from '#simulator/behaviour/dialect.ts';
import { CURRENCY } from '#simulator/catalogue/catalogue.ts';
import type { LedgerEntry } from '#simulator/store/ledger.ts';
import { wireTransaction } from '#simulator/wire.ts';
import type { walletTransaction } from '#upstream/contract.ts';

/** An amount of the wallet in the unit of the dialect. */
export function shownAmount({ wallet_amounts: unit }: Dialect, amount: string): string {
  return unit === 'cents' ? new Big(amount).times(100).toFixed() : amount;
}

/** Makes the form of the movements of the wallet in a dialect. @param now epoch milliseconds. */
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
