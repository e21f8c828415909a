/** Checks whether the wallet of the service names a purchase that was paid for. */
import type { Money } from '#domain/money/money.ts';
import type { Listing, OptionalResult } from '#upstream/client.ts';
import type { WalletTransaction } from '#upstream/contract.ts';
import { failedCall } from '#upstream/first-purchase-check/call-name.ts';
import { moneyOf, namesNothing } from '#upstream/mapping/wallet-movements.ts';

/** Reads the newest movements of the wallet. */
export type MovementsRead = () => Promise<OptionalResult<Listing<WalletTransaction>>>;

/** The names of a purchase, as the list of purchases shows them. */
interface PurchaseName {
  readonly id: string;
  readonly reference: string | null | undefined;
}

/** The debits of the wallet that were read. */
export type OwnDebits = {
  /** The fields that may name the purchase. */
  readonly fields: DebitNaming['fields'];
  /** The amounts of the debits that name the purchase. */
  readonly of: (purchase: PurchaseName) => readonly Money[];
} & (
  | { readonly state: 'named' | 'nameless' }
  /** The list is switched off by `SERVICE_MISSING_CAPABILITIES`. */
  | { readonly state: 'off' }
  | { readonly state: 'unread'; readonly reason: string }
);

/** How the debits of one kind of purchase name their purchase. */
export interface DebitNaming {
  /** The fields of a movement that may name the purchase. */
  readonly fields: readonly (keyof WalletTransaction)[];
  readonly isOf: (purchase: PurchaseName, debit: WalletTransaction) => boolean;
}

/** Reads the debits of the wallet. `nameless`: there are debits, and none of them names any purchase. */
export async function debitsOf({ fields, isOf }: DebitNaming, movements: MovementsRead): Promise<OwnDebits> {
  const read = await movements();
  if (!read.ok) {
    const of = () => [];
    if (read.kind === 'unsupported') return { fields, of, state: 'off' };
    return { fields, of, state: 'unread', reason: failedCall('listWalletTransactions', read) };
  }
  const debits = read.value.items.filter(({ type }) => type === 'debit');
  const of = (purchase: PurchaseName) => debits.filter((debit) => isOf(purchase, debit)).map(moneyOf);
  return { fields, of, state: debits.length > 0 && debits.every(namesNothing) ? 'nameless' : 'named' };
}
