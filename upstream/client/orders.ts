import type { Calls, ListBounds, Listing, OptionalResult, SendLease } from '#upstream/client/calls.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import { esimUnderPath, sameId, sameWhereNamed } from '#upstream/client/identity.ts';
import { findBy, listRecent, type Recent } from '#upstream/client/searches.ts';
import {
  IDEMPOTENCY_KEY_HEADER,
  type PublicPackage,
  type ServiceEsim,
  type ServiceOrder,
  type ServicePackage,
  type ServiceWallet,
  type WalletTransaction,
} from '#upstream/contract.ts';

/** Calls about packages, orders with their eSIMs, and the wallet. */
export interface OrderCalls {
  /** Lists the packages with the prices that the service charges us. */
  listPackages(bounds?: ListBounds): Promise<ServiceResult<Listing<ServicePackage>>>;
  /**
   * Needs `public_packages`. Lists the public packages, without our prices. Sends a token only when the service
   * requires one.
   */
  listPublicPackages(bounds?: ListBounds): Promise<OptionalResult<Listing<PublicPackage>>>;
  /**
   * Buys a package. The deadline covers the login, the send, and after a 401 the second login and send.
   *
   * @param order.body the stored bytes of the attempt, sent unchanged.
   * @param order.reference the reference in those bytes. An answer that names another one is contract drift.
   * @param order.packageId the package in those bytes. An answer that names another one is contract drift.
   */
  createOrder(
    order: SendLease & {
      readonly idempotencyKey: string;
      readonly body: Buffer;
      readonly reference: string;
      readonly packageId: number;
    },
  ): Promise<ServiceResult<ServiceOrder>>;
  /** Needs `order_read`. A failure with status 404 means that the service has no such order. */
  getOrder(id: string): Promise<OptionalResult<ServiceOrder>>;
  /** Needs `order_list`. Returns only orders that name this reference, also when the service ignores the filter. */
  findOrdersByReference(reference: string): Promise<OptionalResult<Listing<ServiceOrder>>>;
  /** Needs `order_list`. Returns the newest orders. */
  listRecentOrders(recent: Recent): Promise<OptionalResult<Listing<ServiceOrder>>>;
  /** Reads the delivery, installation and activation data of an eSIM. */
  getEsim(id: string): Promise<ServiceResult<ServiceEsim>>;
  getWallet(): Promise<ServiceResult<ServiceWallet>>;
  /**
   * Needs `wallet_transactions`. Returns all transactions that the service sends: a debit without a reference may be
   * the one that the caller looks for.
   *
   * @param filter.since epoch milliseconds.
   * @param filter.isEnough without a filter of the service: called with each page; true ends the reading, which is then
   *   not complete if the service has more pages.
   * @param bounds.maxPages maximum number of pages; that of other lists by default.
   * @param bounds.deadlineMs milliseconds for all pages.
   */
  listWalletTransactions(
    filter:
      | { readonly reference: string }
      | { readonly since: number }
      | { readonly isEnough: (page: readonly WalletTransaction[]) => boolean },
    bounds?: ListBounds,
  ): Promise<OptionalResult<Listing<WalletTransaction>>>;
}

/** The calls about packages, orders and the wallet. */
export function orderCalls(calls: Calls): OrderCalls {
  return {
    listPackages: async (bounds) => await calls.list('listPackages', bounds),
    listPublicPackages: async (bounds) => await calls.optionalList('listPublicPackages', bounds),
    createOrder: async ({ idempotencyKey, body, reference, packageId, leaseLeftMs }) =>
      await calls.one(
        'createOrder',
        { body, headers: { [IDEMPOTENCY_KEY_HEADER]: idempotencyKey }, leaseLeftMs, names: reference },
        sameWhereNamed({ external_order_id: reference, package_id: packageId }),
      ),
    getOrder: async (id) => await calls.optional('getOrder', { id }, sameId(id)),
    findOrdersByReference: async (reference) => await findBy(calls, 'listOrders', 'external_order_id', reference),
    listRecentOrders: async (recent) => await listRecent(calls, 'listOrders', recent, (order) => order.created_at),
    getEsim: async (id) => await calls.one('getEsim', { id }, esimUnderPath('id', id)),
    getWallet: async () => await calls.one('getWallet', {}),
    listWalletTransactions: async (filter, bounds) =>
      await calls.optionalList('listWalletTransactions', {
        ...bounds,
        ...('reference' in filter && { filter: { external_order_id: filter.reference } }),
        ...('since' in filter && { filter: { since: new Date(filter.since).toISOString() } }),
        ...('isEnough' in filter && { isEnough: filter.isEnough }),
      }),
  };
}
