/** Checks whether the wallet of the service names a purchase that was paid for. */
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { Listing, OptionalResult } from '#upstream/client.ts';
import type { WalletTransaction } from '#upstream/contract.ts';
import { failedCall } from '#upstream/first-contact/call-name.ts';
import { isOfOrder, namesNothing } from '#upstream/mapping/wallet-movements.ts';

/** Reads the newest movements of the wallet. */
export type MovementsRead = () => Promise<OptionalResult<Listing<WalletTransaction>>>;

/** The names of a purchase, as the list of purchases shows them. */
interface PurchaseName {
  readonly id: string;
  readonly reference: string | null | undefined;
}

/** The debits of the wallet that were read. */
export type OwnDebits = {
  readonly kind: PurchaseKind;
  /** True when a debit names the purchase. */
  readonly names: (purchase: PurchaseName) => boolean;
} & (
  | { readonly state: 'named' | 'nameless' }
  /** The list is switched off by `SERVICE_WITHOUT`. */
  | { readonly state: 'off' }
  | { readonly state: 'unread'; readonly reason: string }
);

/** By kind, the fields of a movement that may name the purchase. */
export const NAMING_FIELDS = {
  order: ['order_id', 'external_order_id'],
  topup: ['topup_id'],
  vpn_subscription: ['vpn_subscription_id', 'external_subscription_id'],
} as const satisfies Record<PurchaseKind, readonly (keyof WalletTransaction)[]>;

const IS_OF: Readonly<Record<PurchaseKind, (purchase: PurchaseName, debit: WalletTransaction) => boolean>> = {
  order: ({ id, reference = null }, debit) => isOfOrder({ serviceId: id, reference }, debit),
  topup: ({ id }, { topup_id: named }) => named === id,
  vpn_subscription: ({ id, reference }, debit) => {
    const { vpn_subscription_id: named, external_subscription_id: namedReference } = debit;
    return named === id || (namedReference != null && namedReference === reference);
  },
};

/** Reads the debits of the wallet. `nameless`: there are debits, and none of them names any purchase. */
export async function debitsOf(kind: PurchaseKind, movements: MovementsRead): Promise<OwnDebits> {
  const read = await movements();
  if (!read.ok) {
    const names = () => false;
    if (read.kind === 'unsupported') return { kind, names, state: 'off' };
    return { kind, names, state: 'unread', reason: failedCall('listWalletTransactions', read) };
  }
  const debits = read.value.items.filter(({ type }) => type === 'debit');
  const names = (purchase: PurchaseName) => debits.some((debit) => IS_OF[kind](purchase, debit));
  return { kind, names, state: debits.length > 0 && debits.every(namesNothing) ? 'nameless' : 'named' };
}
