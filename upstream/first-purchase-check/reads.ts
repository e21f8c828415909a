import type { Money } from '#domain/money/money.ts';
import type { Listing, OptionalResult, ServiceClient, Unsupported } from '#upstream/client.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';
import { ENDPOINTS, type EndpointName, type ServiceWallet, type WalletTransaction } from '#upstream/contract.ts';
import { moneyOf, namesNothing } from '#upstream/mapping/wallet-movements.ts';

export type FreeReadClient = Pick<
  ServiceClient,
  'listPackages' | 'listVpnPlans' | 'getWallet' | 'listWalletTransactions'
>;

interface Priced {
  readonly id: number;
  readonly price_for_reseller: string;
  readonly currency: string;
}

export type PriceList = 'listPackages' | 'listVpnPlans';

/** Each read is made once, even if several kinds need it. Never throws. */
export class FreeReads {
  readonly #lists: Readonly<Record<PriceList, () => Promise<ServiceResult<Listing<Priced>>>>>;
  readonly #wallet: () => Promise<ServiceResult<ServiceWallet>>;
  readonly movements: () => Promise<OptionalResult<Listing<WalletTransaction>>>;

  constructor(client: FreeReadClient, deadlineMs: number) {
    this.#lists = {
      listPackages: once(async () => await client.listPackages()),
      listVpnPlans: once(async () => await client.listVpnPlans()),
    };
    this.#wallet = once(async () => await client.getWallet());
    this.movements = once(async () => await client.listWalletTransactions({ since: 0 }, { maxPages: 1, deadlineMs }));
  }

  async priceOf(name: PriceList, productId: number): Promise<Money | undefined> {
    const prices = await this.#lists[name]();
    const listed = prices.ok ? prices.value.items.find(({ id }) => id === productId) : undefined;
    return listed && { amount: listed.price_for_reseller, currency: listed.currency };
  }

  /** Each problem is a clause that begins with a call. After `signal` the result is incomplete. */
  async problems(name: PriceList, signal?: AbortSignal): Promise<readonly string[]> {
    const isStopped = () => signal?.aborted === true;
    const prices = await this.#lists[name]();
    if (isStopped()) return [];
    const wallet = await this.#wallet();
    if (isStopped()) return [];
    const movements = await this.movements();
    return [
      ...(prices.ok ? [] : [failedCall(name, prices)]),
      // An empty list shows no shape; a list with some unreadable items shows one.
      ...(prices.ok && prices.value.items.length === 0
        ? [`${callName(name)}: the list is empty, so no price was read`]
        : []),
      ...(wallet.ok ? [] : [failedCall('getWallet', wallet)]),
      ...(prices.ok && wallet.ok && isOfNoPrice(wallet.value, prices.value.items)
        ? [`${callName('getWallet')}: currency is ${wallet.value.currency}, and no price of ${callName(name)} has it`]
        : []),
      ...(movements.ok || movements.kind === 'unsupported' ? [] : [failedCall('listWalletTransactions', movements)]),
    ];
  }
}

function isOfNoPrice(wallet: ServiceWallet, prices: readonly Priced[]): boolean {
  return prices.length > 0 && prices.every(({ currency }) => currency !== wallet.currency);
}

function once<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return async () => {
    made ??= read();
    return await made;
  };
}

export type MovementsRead = () => Promise<OptionalResult<Listing<WalletTransaction>>>;

interface PurchaseName {
  readonly id: string;
  readonly reference: string | null | undefined;
}

export type OwnDebits = {
  readonly fields: DebitNaming['fields'];
  readonly of: (purchase: PurchaseName) => readonly Money[];
} & (
  | { readonly state: 'named' | 'nameless' }
  | { readonly state: 'off' }
  | { readonly state: 'unread'; readonly reason: string }
);

export interface DebitNaming {
  readonly fields: readonly (keyof WalletTransaction)[];
  readonly isOf: (purchase: PurchaseName, debit: WalletTransaction) => boolean;
}

/** `nameless`: there are debits, and none of them names a purchase. */
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
