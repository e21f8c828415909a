import {
  findBy,
  listRecent,
  sameId,
  sameWhereNamed,
  type Calls,
  type Listing,
  type OptionalResult,
  type Recent,
  type SoleRight,
} from '#upstream/client/calls.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import {
  IDEMPOTENCY_KEY_HEADER,
  type PublicPackage,
  type ServiceEsim,
  type ServiceOrder,
  type ServicePackage,
  type ServiceWallet,
  type WalletTransaction,
} from '#upstream/contract.ts';

/** Packages, orders with their eSIMs, and the wallet. */
export interface OrderCalls {
  /** With the prices charged to the reseller. */
  listPackages(): Promise<ServiceResult<Listing<ServicePackage>>>;
  /** Needs `public_packages`. What anybody may see: no prices of ours, and no token unless the service asks for one. */
  listPublicPackages(): Promise<OptionalResult<Listing<PublicPackage>>>;
  /**
   * Buys. The deadline covers everything in it: a login, the send, and after a 401 the second login and send.
   *
   * @param order.body the stored bytes of the attempt, sent as they are.
   * @param order.reference the reference in those bytes, and
   * @param order.packageId the package: an answer about another one is contract drift.
   */
  createOrder(
    order: SoleRight & {
      readonly idempotencyKey: string;
      readonly body: Buffer;
      readonly reference: string;
      readonly packageId: number;
    },
  ): Promise<ServiceResult<ServiceOrder>>;
  /** Needs `order_read`. A failure with status 404: the service has no such order. */
  getOrder(id: string): Promise<OptionalResult<ServiceOrder>>;
  /** Needs `order_list`. Only orders that name this reference, also when the service ignores the filter. */
  findOrdersByReference(reference: string): Promise<OptionalResult<Listing<ServiceOrder>>>;
  /** Needs `order_list`. The newest orders. */
  listRecentOrders(recent: Recent): Promise<OptionalResult<Listing<ServiceOrder>>>;
  /** Delivery, installation and activation facts. */
  getEsim(id: string): Promise<ServiceResult<ServiceEsim>>;
  getWallet(): Promise<ServiceResult<ServiceWallet>>;
  /**
   * Needs `wallet_transactions`. Everything that the service returns, unfiltered: a debit that names no reference may
   * be the one that is looked for.
   *
   * @param filter.since epoch milliseconds.
   * @param bounds.maxPages how many pages are read at most, if not as many as of other lists.
   * @param bounds.deadlineMs for all of them.
   */
  listWalletTransactions(
    filter: { readonly reference: string } | { readonly since: number },
    bounds?: { readonly maxPages: number; readonly deadlineMs: number },
  ): Promise<OptionalResult<Listing<WalletTransaction>>>;
}

export function orderCalls(calls: Calls): OrderCalls {
  return {
    listPackages: async () => await calls.list('listPackages'),
    listPublicPackages: async () => await calls.optionalList('listPublicPackages'),
    createOrder: async ({ idempotencyKey, body, reference, packageId, leaseLeftMs }) =>
      await calls.one(
        'createOrder',
        { body, headers: { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }, leaseLeftMs },
        sameWhereNamed({ external_order_id: reference, package_id: packageId }),
      ),
    getOrder: async (id) => await calls.optional('getOrder', { id }, sameId(id)),
    findOrdersByReference: async (reference) => await findBy(calls, 'listOrders', 'external_order_id', reference),
    listRecentOrders: async (recent) => await listRecent(calls, 'listOrders', recent, (order) => order.created_at),
    getEsim: async (id) => await calls.one('getEsim', { id }, sameId(id)),
    getWallet: async () => await calls.one('getWallet', {}),
    listWalletTransactions: async (filter, bounds) =>
      await calls.optionalList('listWalletTransactions', {
        ...bounds,
        filter:
          'reference' in filter
            ? { external_order_id: filter.reference }
            : { since: new Date(filter.since).toISOString() },
      }),
  };
}
