import type { Money } from '#domain/money/money.ts';
import type { Listing, OptionalResult, ServiceClient, Unsupported } from '#upstream/client.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import {
  ENDPOINTS,
  type EndpointName,
  type ServiceWallet,
  type VpnPlan,
  type WalletTransaction,
} from '#upstream/contract.ts';
import { moneyOf, namesNothing } from '#upstream/mapping/wallet-movements.ts';

/** None of these buys, cancels or changes anything. */
export type FirstPurchaseCheckClient = Pick<
  ServiceClient,
  | 'getEsim'
  | 'getOpenApi'
  | 'getVpnSubscription'
  | 'getWallet'
  | 'listPackages'
  | 'listRecentOrders'
  | 'listRecentTopups'
  | 'listRecentVpnSubscriptions'
  | 'listTopupOptions'
  | 'listVpnPlans'
  | 'listWalletTransactions'
>;

type Priced = Pick<VpnPlan, 'id' | 'price_for_reseller' | 'currency'>;

export type PriceList = 'listPackages' | 'listVpnPlans';

/** All kinds need them. */
interface FreeReads {
  readonly prices: ReadonlyMap<PriceList, ServiceResult<Listing<Priced>>>;
  readonly wallet: ServiceResult<ServiceWallet>;
  readonly movements: OptionalResult<Listing<WalletTransaction>>;
}

/** Never throws. @returns undefined after `signal`. */
export async function readFree(
  client: FirstPurchaseCheckClient,
  lists: ReadonlySet<PriceList>,
  deadlineMs: number,
  signal: AbortSignal | undefined,
): Promise<FreeReads | undefined> {
  const isStopped = () => signal?.aborted === true;
  const prices = new Map<PriceList, ServiceResult<Listing<Priced>>>();
  for (const name of lists) {
    if (isStopped()) return undefined;
    prices.set(name, await client[name]());
  }
  if (isStopped()) return undefined;
  const wallet = await client.getWallet();
  if (isStopped()) return undefined;
  const movements = await client.listWalletTransactions({ since: 0 }, { maxPages: 1, deadlineMs });
  return { prices, wallet, movements };
}

/** Each is a clause that begins with a call. */
export function problemsOf({ prices, wallet, movements }: FreeReads, name: PriceList): readonly string[] {
  const list = prices.get(name);
  const priced = list?.ok === true ? list.value.items : [];
  return [
    ...(list?.ok === false ? [failedCall(name, list)] : []),
    // An empty list shows no shape; a list with some unreadable items shows one.
    ...(list?.ok === true && priced.length === 0 ? [`${callName(name)}: the list is empty, so no price was read`] : []),
    ...(wallet.ok ? [] : [failedCall('getWallet', wallet)]),
    ...(wallet.ok && isOfNoPrice(wallet.value, priced)
      ? [`${callName('getWallet')}: currency is ${wallet.value.currency}, and no price of ${callName(name)} has it`]
      : []),
    ...(movements.ok || movements.kind === 'unsupported' ? [] : [failedCall('listWalletTransactions', movements)]),
  ];
}

export function priceIn(
  { prices }: FreeReads,
  name: PriceList,
  productId: number | null | undefined,
): Money | undefined {
  const list = prices.get(name);
  const listed = list?.ok === true ? list.value.items.find(({ id }) => id === productId) : undefined;
  return listed && { amount: listed.price_for_reseller, currency: listed.currency };
}

function isOfNoPrice(wallet: ServiceWallet, prices: readonly Priced[]): boolean {
  return prices.length > 0 && prices.every(({ currency }) => currency !== wallet.currency);
}

interface PurchaseName {
  readonly id: string;
  readonly reference: string | null | undefined;
}

export type OwnDebits = {
  readonly fields: DebitNaming['fields'];
  readonly of: (purchase: PurchaseName) => readonly Money[];
} & ({ readonly state: 'named' | 'nameless' | 'off' } | { readonly state: 'unread'; readonly reason: string });

export interface DebitNaming {
  readonly fields: readonly (keyof WalletTransaction)[];
  readonly isOf: (purchase: PurchaseName, debit: WalletTransaction) => boolean;
}

/** `nameless`: there are debits, and none of them names a purchase. */
export function debitsOf({ fields, isOf }: DebitNaming, read: FreeReads['movements']): OwnDebits {
  if (!read.ok) {
    const of = () => [];
    if (read.kind === 'unsupported') return { fields, of, state: 'off' };
    return { fields, of, state: 'unread', reason: failedCall('listWalletTransactions', read) };
  }
  const debits = read.value.items.filter(({ type }) => type === 'debit');
  const of = (purchase: PurchaseName) => debits.filter((debit) => isOf(purchase, debit)).map(moneyOf);
  return { fields, of, state: debits.length > 0 && debits.every(namesNothing) ? 'nameless' : 'named' };
}

export function callName(name: EndpointName): string {
  const { method, path } = ENDPOINTS[name];
  return `${method} ${path}`;
}

/** A clause that begins with the call. */
export function failedCall(name: EndpointName, failure: ServiceFailure | Unsupported): string {
  if (failure.kind === 'unsupported')
    return `${callName(name)}: SERVICE_MISSING_CAPABILITIES=${failure.capability} switches it off`;
  return `${callName(name)}: ${failure.detail.replace(/^The service /, 'it ').replace(/\.$/, '')}`;
}
