// Made from /openapi.json by `npm run generate:api`; changes by hand are lost.

import { Paged } from './paged.ts';
import type { CallOptions, Transport, WriteOptions } from './transport.ts';
import type {
  Cancellation,
  CancellationBulkAction,
  CancellationBulkResult,
  CancellationCaseResolution,
  CancellationInput,
  CancellationPreflight,
  Case,
  CaseDismissal,
  Esim,
  EsimActivation,
  EsimUsage,
  LatestUpdate,
  LimitChange,
  OperatorAct,
  Order,
  OrderBulkAction,
  OrderBulkResult,
  OrderCaseResolution,
  OrderInput,
  Package,
  PackageWithAge,
  Pause,
  PauseInput,
  PauseRelease,
  PurchaseGate,
  Reconciliation,
  ReconciliationSummary,
  Refund,
  TimelineEntry,
  Topup,
  TopupBulkAction,
  TopupBulkResult,
  TopupCaseResolution,
  TopupInput,
  TopupOptions,
  VpnAccess,
  VpnCancellation,
  VpnPlans,
  VpnSubscription,
  VpnSubscriptionBulkAction,
  VpnSubscriptionBulkResult,
  VpnSubscriptionCaseResolution,
  VpnSubscriptionInput,
  Wallet,
  WalletTransaction,
  WalletTransactionExplanation,
  WebhookSecretRotation,
  WebhookSecretStatus,
} from './types.ts';

/** Nothing happens any more to work with one of these. */
export const FINAL_STATUSES: readonly string[] = ['completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused'];

/** Where work is read, by the prefix of its id; and whether that call waits for a change by itself. */
export const WORK_READS: Readonly<Record<string, { readonly path: string; readonly waits: boolean }>> = {
  ord: { path: '/v1/orders', waits: false },
  top: { path: '/v1/topups', waits: false },
  vpn: { path: '/v1/vpn/subscriptions', waits: false },
  can: { path: '/v1/cancellations', waits: false },
};

export interface ListOrdersQuery {
  readonly external_order_id?: string;
  readonly package_id?: number;
  readonly status?:
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned';
  /** What holds it, or why it failed. */
  readonly failure_class?:
    | 'invalid_request'
    | 'package_unavailable'
    | 'price_above_limit'
    | 'topup_not_offered'
    | 'margin_too_low'
    | 'esim_busy'
    | 'cancellation_refused'
    | 'refund_not_expected'
    | 'refund_uncertain'
    | 'insufficient_balance'
    | 'not_approved'
    | 'unauthorized'
    | 'rate_limited'
    | 'not_sent'
    | 'service_down'
    | 'spend_limit_reached'
    | 'buying_paused'
    | 'deadline_passed'
    | 'key_or_reference_known'
    | 'supplier_failed'
    | 'timeout'
    | 'connection_lost'
    | 'server_error'
    | 'unreadable_answer'
    | 'contract_drift'
    | 'worker_lost';
  /** What it waits for a person for. */
  readonly attention?:
    | 'outcome_unknown'
    | 'debit_without_goods'
    | 'evidence_unavailable'
    | 'attempts_used_up'
    | 'contradiction'
    | 'contract_drift'
    | 'delivery_unavailable'
    | 'charged_above_limit'
    | 'debited_twice'
    | 'debited_for_nothing'
    | 'amount_differs'
    | 'movement_missing'
    | 'cancellation_refused'
    | 'refund_failed'
    | 'refund_missing'
    | 'webhook_conflict';
  /** Later than this; from 1970 to 9998. */
  readonly created_after?: string;
  /** Earlier than this; from 1970 to 9998. */
  readonly created_before?: string;
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface GetOrderTimelineQuery {
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface ListTopupsQuery {
  readonly esim_id?: string;
  readonly external_topup_id?: string;
  readonly package_id?: number;
  readonly status?:
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned';
  /** What holds it, or why it failed. */
  readonly failure_class?:
    | 'invalid_request'
    | 'package_unavailable'
    | 'price_above_limit'
    | 'topup_not_offered'
    | 'margin_too_low'
    | 'esim_busy'
    | 'cancellation_refused'
    | 'refund_not_expected'
    | 'refund_uncertain'
    | 'insufficient_balance'
    | 'not_approved'
    | 'unauthorized'
    | 'rate_limited'
    | 'not_sent'
    | 'service_down'
    | 'spend_limit_reached'
    | 'buying_paused'
    | 'deadline_passed'
    | 'key_or_reference_known'
    | 'supplier_failed'
    | 'timeout'
    | 'connection_lost'
    | 'server_error'
    | 'unreadable_answer'
    | 'contract_drift'
    | 'worker_lost';
  /** What it waits for a person for. */
  readonly attention?:
    | 'outcome_unknown'
    | 'debit_without_goods'
    | 'evidence_unavailable'
    | 'attempts_used_up'
    | 'contradiction'
    | 'contract_drift'
    | 'delivery_unavailable'
    | 'charged_above_limit'
    | 'debited_twice'
    | 'debited_for_nothing'
    | 'amount_differs'
    | 'movement_missing'
    | 'cancellation_refused'
    | 'refund_failed'
    | 'refund_missing'
    | 'webhook_conflict';
  /** Later than this; from 1970 to 9998. */
  readonly created_after?: string;
  /** Earlier than this; from 1970 to 9998. */
  readonly created_before?: string;
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface GetTopupTimelineQuery {
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface ListVpnSubscriptionsQuery {
  readonly external_subscription_id?: string;
  readonly vpn_plan_id?: number;
  readonly status?:
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'active'
    | 'cancelling'
    | 'cancelled'
    | 'expired'
    | 'failed'
    | 'abandoned';
  /** What holds it, or why it failed. */
  readonly failure_class?:
    | 'invalid_request'
    | 'package_unavailable'
    | 'price_above_limit'
    | 'topup_not_offered'
    | 'margin_too_low'
    | 'esim_busy'
    | 'cancellation_refused'
    | 'refund_not_expected'
    | 'refund_uncertain'
    | 'insufficient_balance'
    | 'not_approved'
    | 'unauthorized'
    | 'rate_limited'
    | 'not_sent'
    | 'service_down'
    | 'spend_limit_reached'
    | 'buying_paused'
    | 'deadline_passed'
    | 'key_or_reference_known'
    | 'supplier_failed'
    | 'timeout'
    | 'connection_lost'
    | 'server_error'
    | 'unreadable_answer'
    | 'contract_drift'
    | 'worker_lost';
  /** What it waits for a person for. */
  readonly attention?:
    | 'outcome_unknown'
    | 'debit_without_goods'
    | 'evidence_unavailable'
    | 'attempts_used_up'
    | 'contradiction'
    | 'contract_drift'
    | 'delivery_unavailable'
    | 'charged_above_limit'
    | 'debited_twice'
    | 'debited_for_nothing'
    | 'amount_differs'
    | 'movement_missing'
    | 'cancellation_refused'
    | 'refund_failed'
    | 'refund_missing'
    | 'webhook_conflict';
  /** Later than this; from 1970 to 9998. */
  readonly created_after?: string;
  /** Earlier than this; from 1970 to 9998. */
  readonly created_before?: string;
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface GetVpnSubscriptionTimelineQuery {
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface ListCancellationsQuery {
  readonly esim_id?: string;
  readonly status?:
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'refused'
    | 'abandoned';
  /** What holds it, or why it failed. */
  readonly failure_class?:
    | 'invalid_request'
    | 'package_unavailable'
    | 'price_above_limit'
    | 'topup_not_offered'
    | 'margin_too_low'
    | 'esim_busy'
    | 'cancellation_refused'
    | 'refund_not_expected'
    | 'refund_uncertain'
    | 'insufficient_balance'
    | 'not_approved'
    | 'unauthorized'
    | 'rate_limited'
    | 'not_sent'
    | 'service_down'
    | 'spend_limit_reached'
    | 'buying_paused'
    | 'deadline_passed'
    | 'key_or_reference_known'
    | 'supplier_failed'
    | 'timeout'
    | 'connection_lost'
    | 'server_error'
    | 'unreadable_answer'
    | 'contract_drift'
    | 'worker_lost';
  /** What it waits for a person for. */
  readonly attention?:
    | 'outcome_unknown'
    | 'debit_without_goods'
    | 'evidence_unavailable'
    | 'attempts_used_up'
    | 'contradiction'
    | 'contract_drift'
    | 'delivery_unavailable'
    | 'charged_above_limit'
    | 'debited_twice'
    | 'debited_for_nothing'
    | 'amount_differs'
    | 'movement_missing'
    | 'cancellation_refused'
    | 'refund_failed'
    | 'refund_missing'
    | 'webhook_conflict';
  /** Later than this; from 1970 to 9998. */
  readonly created_after?: string;
  /** Earlier than this; from 1970 to 9998. */
  readonly created_before?: string;
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface GetCancellationTimelineQuery {
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface ListRefundsQuery {
  readonly status?:
    | 'expected'
    | 'manual_review'
    | 'completed'
    | 'failed'
    | 'needs_attention';
  readonly esim_id?: string;
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface ListCasesQuery {
  readonly reason?:
    | 'outcome_unknown'
    | 'debit_without_goods'
    | 'evidence_unavailable'
    | 'attempts_used_up'
    | 'contradiction'
    | 'contract_drift'
    | 'delivery_unavailable'
    | 'charged_above_limit'
    | 'debited_twice'
    | 'debited_for_nothing'
    | 'amount_differs'
    | 'movement_missing'
    | 'cancellation_refused'
    | 'refund_failed'
    | 'refund_missing'
    | 'webhook_conflict';
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface ListEsimsQuery {
  /** As the service calls it, such as `installed`. */
  readonly status?: string;
  readonly order_id?: string;
  /** Serial number of the SIM profile. */
  readonly iccid?: string;
  readonly package_id?: number;
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface ListPackagesQuery {
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface ListWalletTransactionsQuery {
  /** Only of this kind; `none`: what the service moved and nothing here is the cause of. */
  readonly cause?:
    | 'attempt'
    | 'subscription_period'
    | 'refund'
    | 'deposit'
    | 'adjustment'
    | 'none';
  readonly direction?:
    | 'debit'
    | 'credit';
  /** Only what was written down here after this. */
  readonly recorded_after?: string;
  /** Only what was written down here before this. */
  readonly recorded_before?: string;
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface ListReconciliationsQuery {
  /** How many at most, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the page before; leave it out for the first page. */
  readonly cursor?: string;
}

export interface GetLatestUpdateQuery {
  /** Version of the storefront that is installed, dotted numbers. */
  readonly current_version: string;
  /** Release channel. */
  readonly channel?: string;
}

/** Every call of the API that takes a key. */
export class Operations {
  protected readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** List orders, newest first.
   *
   * Scope: `orders:read`.
   */
  listOrders(query: ListOrdersQuery = {}, options: CallOptions = {}): Paged<Order> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/orders', query: { ...query, ...cursor }, options }));
  }

  /** Buy an eSIM package.
   *
   * Stores the order and answers at once; it is carried out afterwards, however long the service takes. Read the order, or its timeline, to follow it. The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.
   *
   * Scope: `orders:write`.
   */
  createOrder(body: OrderInput, options: WriteOptions = {}): Promise<Order> {
    return this.transport.json({ method: 'POST', path: '/v1/orders', body, keyed: true, options });
  }

  /** Retry, release or abandon many orders.
   *
   * Each is an act of its own, with its own record; one that is refused does not stop the others. Look first with `dry_run`. Without it an Idempotency-Key is needed: the same call again is about the same, and changes nothing more.
   *
   * Scope: `orders:operate`.
   */
  actOnManyOrders(body: OrderBulkAction, options: WriteOptions = {}): Promise<OrderBulkResult> {
    return this.transport.json({ method: 'POST', path: '/v1/orders/bulk-actions', body, keyed: true, options });
  }

  /** Read an order.
   *
   * Scope: `orders:read`.
   */
  getOrder(id: string, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ method: 'GET', path: `/v1/orders/${encodeURIComponent(id)}`, options });
  }

  /** Read what happened to an order, oldest first.
   *
   * Scope: `orders:read`.
   */
  getOrderTimeline(id: string, query: GetOrderTimelineQuery = {}, options: CallOptions = {}): Paged<TimelineEntry> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: `/v1/orders/${encodeURIComponent(id)}/timeline`, query: { ...query, ...cursor }, options }));
  }

  /** Try again now what is held or parked.
   *
   * Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants one more.
   *
   * Scope: `orders:operate`.
   */
  retryOrder(id: string, body: OperatorAct, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ method: 'POST', path: `/v1/orders/${encodeURIComponent(id)}/retry`, body, options });
  }

  /** Let through the purchase gate now what is held.
   *
   * Past a pause and an open circuit, whose canary it then is; not past the wallet, the daily limits or `max_price`. Refused unless it is held. One that was released and has not gone through yet stays released.
   *
   * Scope: `orders:operate`.
   */
  releaseOrder(id: string, body: OperatorAct, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ method: 'POST', path: `/v1/orders/${encodeURIComponent(id)}/release`, body, options });
  }

  /** Change the most that the service may charge.
   *
   * An order that is held because of its price is tried again at once.
   *
   * Scope: `orders:operate`.
   */
  changeOrderLimit(id: string, body: LimitChange, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ method: 'POST', path: `/v1/orders/${encodeURIComponent(id)}/limit`, body, options });
  }

  /** Give up an order that bought nothing.
   *
   * Refused while the service may have bought for it, or keeps money for it.
   *
   * Scope: `orders:operate`.
   */
  abandonOrder(id: string, body: OperatorAct, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ method: 'POST', path: `/v1/orders/${encodeURIComponent(id)}/abandon`, body, options });
  }

  /** Judge a case of an order.
   *
   * Says what is true where neither the service nor the wallet could prove it. Look at the service's console first: after `not_bought` it is bought anew.
   *
   * Scope: `orders:operate`.
   */
  resolveOrderCase(id: string, body: OrderCaseResolution, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ method: 'POST', path: `/v1/orders/${encodeURIComponent(id)}/resolve`, body, options });
  }

  /** List top-ups, newest first.
   *
   * Scope: `topups:read`.
   */
  listTopups(query: ListTopupsQuery = {}, options: CallOptions = {}): Paged<Topup> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/topups', query: { ...query, ...cursor }, options }));
  }

  /** Recharge an eSIM.
   *
   * Stores the top-up and answers at once; it is carried out afterwards. The package must be one of the top-up options of the eSIM; they are read again before anything is bought. One top-up of an eSIM is under way at a time: a further one is held until the first has ended. The same Idempotency-Key with the same body gets the same answer again.
   *
   * Scope: `topups:write`.
   */
  createTopup(body: TopupInput, options: WriteOptions = {}): Promise<Topup> {
    return this.transport.json({ method: 'POST', path: '/v1/topups', body, keyed: true, options });
  }

  /** Retry, release or abandon many top-ups.
   *
   * Each is an act of its own, with its own record; one that is refused does not stop the others. Look first with `dry_run`. Without it an Idempotency-Key is needed: the same call again is about the same, and changes nothing more.
   *
   * Scope: `topups:operate`.
   */
  actOnManyTopups(body: TopupBulkAction, options: WriteOptions = {}): Promise<TopupBulkResult> {
    return this.transport.json({ method: 'POST', path: '/v1/topups/bulk-actions', body, keyed: true, options });
  }

  /** Read a top-up.
   *
   * Scope: `topups:read`.
   */
  getTopup(id: string, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ method: 'GET', path: `/v1/topups/${encodeURIComponent(id)}`, options });
  }

  /** Read what happened to a top-up, oldest first.
   *
   * Scope: `topups:read`.
   */
  getTopupTimeline(id: string, query: GetTopupTimelineQuery = {}, options: CallOptions = {}): Paged<TimelineEntry> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: `/v1/topups/${encodeURIComponent(id)}/timeline`, query: { ...query, ...cursor }, options }));
  }

  /** Try again now what is held or parked.
   *
   * Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants one more.
   *
   * Scope: `topups:operate`.
   */
  retryTopup(id: string, body: OperatorAct, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ method: 'POST', path: `/v1/topups/${encodeURIComponent(id)}/retry`, body, options });
  }

  /** Let through the purchase gate now what is held.
   *
   * Past a pause and an open circuit, whose canary it then is; not past the wallet, the daily limits or `max_price`. Refused unless it is held. One that was released and has not gone through yet stays released.
   *
   * Scope: `topups:operate`.
   */
  releaseTopup(id: string, body: OperatorAct, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ method: 'POST', path: `/v1/topups/${encodeURIComponent(id)}/release`, body, options });
  }

  /** Change the most that the service may charge.
   *
   * A top-up that is held because of its price is tried again at once.
   *
   * Scope: `topups:operate`.
   */
  changeTopupLimit(id: string, body: LimitChange, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ method: 'POST', path: `/v1/topups/${encodeURIComponent(id)}/limit`, body, options });
  }

  /** Give up a top-up that bought nothing.
   *
   * Refused while the service may have bought for it, or keeps money for it.
   *
   * Scope: `topups:operate`.
   */
  abandonTopup(id: string, body: OperatorAct, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ method: 'POST', path: `/v1/topups/${encodeURIComponent(id)}/abandon`, body, options });
  }

  /** Judge a case of a top-up.
   *
   * Says what is true where neither the service nor the wallet could prove it. Look at the service's console first: after `not_bought` it is bought anew.
   *
   * Scope: `topups:operate`.
   */
  resolveTopupCase(id: string, body: TopupCaseResolution, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ method: 'POST', path: `/v1/topups/${encodeURIComponent(id)}/resolve`, body, options });
  }

  /** List VPN plans and their prices, by id.
   *
   * Read from the service at this moment.
   *
   * Scope: `vpn:read`.
   */
  listVpnPlans(options: CallOptions = {}): Promise<VpnPlans> {
    return this.transport.json({ method: 'GET', path: '/v1/vpn/plans', options });
  }

  /** List VPN subscriptions, newest first.
   *
   * Scope: `vpn:read`.
   */
  listVpnSubscriptions(query: ListVpnSubscriptionsQuery = {}, options: CallOptions = {}): Paged<VpnSubscription> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/vpn/subscriptions', query: { ...query, ...cursor }, options }));
  }

  /** Order a VPN subscription.
   *
   * Stores the order and answers at once; it is carried out afterwards, and followed until the subscription is cancelled or expires. The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.
   *
   * Scope: `vpn:write`.
   */
  createVpnSubscription(body: VpnSubscriptionInput, options: WriteOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ method: 'POST', path: '/v1/vpn/subscriptions', body, keyed: true, options });
  }

  /** Retry, release or abandon many VPN subscriptions.
   *
   * Each is an act of its own, with its own record; one that is refused does not stop the others. Look first with `dry_run`. Without it an Idempotency-Key is needed: the same call again is about the same, and changes nothing more.
   *
   * Scope: `vpn:operate`.
   */
  actOnManyVpnSubscriptions(body: VpnSubscriptionBulkAction, options: WriteOptions = {}): Promise<VpnSubscriptionBulkResult> {
    return this.transport.json({ method: 'POST', path: '/v1/vpn/subscriptions/bulk-actions', body, keyed: true, options });
  }

  /** Read a VPN subscription.
   *
   * Scope: `vpn:read`.
   */
  getVpnSubscription(id: string, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ method: 'GET', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}`, options });
  }

  /** Read what happened to a VPN subscription, oldest first.
   *
   * Scope: `vpn:read`.
   */
  getVpnSubscriptionTimeline(id: string, query: GetVpnSubscriptionTimelineQuery = {}, options: CallOptions = {}): Paged<TimelineEntry> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/timeline`, query: { ...query, ...cursor }, options }));
  }

  /** Get what the customer's device needs.
   *
   * Needs the scope `vpn:reveal`. Each read is written to the audit log, and no cache keeps it.
   *
   * Scope: `vpn:reveal`.
   */
  getVpnAccess(id: string, options: CallOptions = {}): Promise<VpnAccess> {
    return this.transport.json({ method: 'GET', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/access`, options });
  }

  /** End a VPN subscription for its customer.
   *
   * The service is asked to cancel it; nothing is refunded. Asking again changes nothing.
   *
   * Scope: `vpn:write`.
   */
  cancelVpnSubscription(id: string, body: VpnCancellation, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/cancel`, body, options });
  }

  /** Try again now what is held or parked.
   *
   * Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants one more.
   *
   * Scope: `vpn:operate`.
   */
  retryVpnSubscription(id: string, body: OperatorAct, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/retry`, body, options });
  }

  /** Let through the purchase gate now what is held.
   *
   * Past a pause and an open circuit, whose canary it then is; not past the wallet, the daily limits or `max_price`. Refused unless it is held. One that was released and has not gone through yet stays released.
   *
   * Scope: `vpn:operate`.
   */
  releaseVpnSubscription(id: string, body: OperatorAct, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/release`, body, options });
  }

  /** Change the most that the service may charge.
   *
   * A VPN subscription that is held because of its price is tried again at once.
   *
   * Scope: `vpn:operate`.
   */
  changeVpnSubscriptionLimit(id: string, body: LimitChange, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/limit`, body, options });
  }

  /** Give up a VPN subscription that bought nothing.
   *
   * Refused while the service may have bought for it, or keeps money for it.
   *
   * Scope: `vpn:operate`.
   */
  abandonVpnSubscription(id: string, body: OperatorAct, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/abandon`, body, options });
  }

  /** Judge a case of a VPN subscription.
   *
   * Says what is true where neither the service nor the wallet could prove it. Look at the service's console first: after `not_bought` it is bought anew.
   *
   * Scope: `vpn:operate`.
   */
  resolveVpnSubscriptionCase(id: string, body: VpnSubscriptionCaseResolution, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/resolve`, body, options });
  }

  /** List cancellations, newest first.
   *
   * Scope: `cancellations:read`.
   */
  listCancellations(query: ListCancellationsQuery = {}, options: CallOptions = {}): Paged<Cancellation> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/cancellations', query: { ...query, ...cursor }, options }));
  }

  /** Cancel an eSIM.
   *
   * Stores the cancellation and answers at once; it is carried out afterwards. It is sent only if all five conditions of the refund are met, or with `accept_without_refund`. It is completed once the eSIM is cancelled and the money is found in the wallet. One cancellation of an eSIM is made; a further one only after it was refused or given up. A customer who installs the eSIM meanwhile may be faster: what the service answers decides.
   *
   * Scope: `cancellations:write`.
   */
  createCancellation(body: CancellationInput, options: WriteOptions = {}): Promise<Cancellation> {
    return this.transport.json({ method: 'POST', path: '/v1/cancellations', body, keyed: true, options });
  }

  /** Retry, release or abandon many cancellations.
   *
   * Each is an act of its own, with its own record; one that is refused does not stop the others. Look first with `dry_run`. Without it an Idempotency-Key is needed: the same call again is about the same, and changes nothing more.
   *
   * Scope: `cancellations:operate`.
   */
  actOnManyCancellations(body: CancellationBulkAction, options: WriteOptions = {}): Promise<CancellationBulkResult> {
    return this.transport.json({ method: 'POST', path: '/v1/cancellations/bulk-actions', body, keyed: true, options });
  }

  /** Read a cancellation.
   *
   * Scope: `cancellations:read`.
   */
  getCancellation(id: string, options: CallOptions = {}): Promise<Cancellation> {
    return this.transport.json({ method: 'GET', path: `/v1/cancellations/${encodeURIComponent(id)}`, options });
  }

  /** Read what happened to a cancellation, oldest first.
   *
   * Scope: `cancellations:read`.
   */
  getCancellationTimeline(id: string, query: GetCancellationTimelineQuery = {}, options: CallOptions = {}): Paged<TimelineEntry> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: `/v1/cancellations/${encodeURIComponent(id)}/timeline`, query: { ...query, ...cursor }, options }));
  }

  /** Try again now what is held or parked.
   *
   * Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants one more.
   *
   * Scope: `cancellations:operate`.
   */
  retryCancellation(id: string, body: OperatorAct, options: CallOptions = {}): Promise<Cancellation> {
    return this.transport.json({ method: 'POST', path: `/v1/cancellations/${encodeURIComponent(id)}/retry`, body, options });
  }

  /** Give up a cancellation that bought nothing.
   *
   * Refused while the service may have bought for it, or keeps money for it.
   *
   * Scope: `cancellations:operate`.
   */
  abandonCancellation(id: string, body: OperatorAct, options: CallOptions = {}): Promise<Cancellation> {
    return this.transport.json({ method: 'POST', path: `/v1/cancellations/${encodeURIComponent(id)}/abandon`, body, options });
  }

  /** Judge a case of a cancellation.
   *
   * Says what is true where neither the service nor the wallet could prove it. Look at the service's console first: after `not_bought` it is bought anew.
   *
   * Scope: `cancellations:operate`.
   */
  resolveCancellationCase(id: string, body: CancellationCaseResolution, options: CallOptions = {}): Promise<Cancellation> {
    return this.transport.json({ method: 'POST', path: `/v1/cancellations/${encodeURIComponent(id)}/resolve`, body, options });
  }

  /** List refunds, newest first.
   *
   * Scope: `cancellations:read`.
   */
  listRefunds(query: ListRefundsQuery = {}, options: CallOptions = {}): Paged<Refund> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/refunds', query: { ...query, ...cursor }, options }));
  }

  /** Read a refund.
   *
   * Scope: `cancellations:read`.
   */
  getRefund(id: string, options: CallOptions = {}): Promise<Refund> {
    return this.transport.json({ method: 'GET', path: `/v1/refunds/${encodeURIComponent(id)}`, options });
  }

  /** List open cases, oldest first.
   *
   * Scope: `cases:operate`.
   */
  listCases(query: ListCasesQuery = {}, options: CallOptions = {}): Paged<Case> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/cases', query: { ...query, ...cursor }, options }));
  }

  /** Close a case about a webhook delivery.
   *
   * For cases whose `subject_kind` is `delivery`: whoever closes one has found out who can send to the webhook address. A case about work is judged with it, by its `/resolve`. What is closed already stays as it is.
   *
   * Scope: `cases:operate`.
   */
  dismissCase(id: string, body: CaseDismissal, options: CallOptions = {}): Promise<Case> {
    return this.transport.json({ method: 'POST', path: `/v1/cases/${encodeURIComponent(id)}/dismiss`, body, options });
  }

  /** Read what holds purchases up, and what is reserved and spent.
   *
   * Scope: `gate:read`.
   */
  getPurchaseGate(options: CallOptions = {}): Promise<PurchaseGate> {
    return this.transport.json({ method: 'GET', path: '/v1/purchase-gate', options });
  }

  /** Pause buying: all of it, of one kind, or after one failure class.
   *
   * Nothing that the pause covers is sent from now on; what is being sent at this moment ends. Paused work is held, and fails at its deadline as other held work does. Where the same is paused already, the answer is that pause (200).
   *
   * Scope: `gate:operate`.
   */
  pauseBuying(body: PauseInput, options: WriteOptions = {}): Promise<Pause> {
    return this.transport.json({ method: 'POST', path: '/v1/purchase-gate/pauses', body, keyed: true, options });
  }

  /** End a pause; what it held goes on at a set rate, oldest first.
   *
   * One that has ended stays as it is.
   *
   * Scope: `gate:operate`.
   */
  releasePause(id: string, body: PauseRelease, options: CallOptions = {}): Promise<Pause> {
    return this.transport.json({ method: 'POST', path: `/v1/purchase-gate/pauses/${encodeURIComponent(id)}/release`, body, options });
  }

  /** List eSIMs, newest first.
   *
   * Scope: `esims:read`.
   */
  listEsims(query: ListEsimsQuery = {}, options: CallOptions = {}): Paged<Esim> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/esims', query: { ...query, ...cursor }, options }));
  }

  /** Read how much data an eSIM has used.
   *
   * Read from the service at this moment; `measured_at` says of when the figure is.
   *
   * Scope: `esims:read`.
   */
  getEsimUsage(id: string, options: CallOptions = {}): Promise<EsimUsage> {
    return this.transport.json({ method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/usage`, options });
  }

  /** Read an eSIM and its installation facts.
   *
   * Scope: `esims:read`.
   */
  getEsim(id: string, options: CallOptions = {}): Promise<Esim> {
    return this.transport.json({ method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}`, options });
  }

  /** List the packages that an eSIM can be recharged with.
   *
   * Read from the service at this moment. `POST /v1/topups` takes one of them.
   *
   * Scope: `esims:read`.
   */
  listTopupOptions(id: string, options: CallOptions = {}): Promise<TopupOptions> {
    return this.transport.json({ method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/topup-options`, options });
  }

  /** Read what a phone needs to install the eSIM.
   *
   * Needs the scope `esims:reveal`. Each read is written to the audit log, and no cache keeps it.
   *
   * Scope: `esims:reveal`.
   */
  getEsimActivation(id: string, options: CallOptions = {}): Promise<EsimActivation> {
    return this.transport.json({ method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/activation`, options });
  }

  /** Get the activation code as a QR code, SVG.
   *
   * Needs the scope `esims:reveal`. Each read is written to the audit log, and no cache keeps it.
   *
   * Scope: `esims:reveal`.
   */
  getEsimQrSvg(id: string, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/qr.svg`, options });
  }

  /** Get the activation code as a QR code, PNG.
   *
   * Needs the scope `esims:reveal`. Each read is written to the audit log, and no cache keeps it.
   *
   * Scope: `esims:reveal`.
   */
  getEsimQrPng(id: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.transport.bytes({ method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/qr.png`, options });
  }

  /** See whether the cancellation of an eSIM would be refunded.
   *
   * Reads the five conditions of an automatic refund at this moment. What cannot be read is `unknown`, with the reason. Nothing is changed and nothing is spent.
   *
   * Scope: `esims:read`.
   */
  getCancellationPreflight(id: string, options: CallOptions = {}): Promise<CancellationPreflight> {
    return this.transport.json({ method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/cancellation-preflight`, options });
  }

  /** List packages and their prices, by id.
   *
   * Scope: `packages:read`.
   */
  listPackages(query: ListPackagesQuery = {}, options: CallOptions = {}): Paged<Package> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/packages', query: { ...query, ...cursor }, options }));
  }

  /** Read a package and its price.
   *
   * Scope: `packages:read`.
   */
  getPackage(id: string, options: CallOptions = {}): Promise<PackageWithAge> {
    return this.transport.json({ method: 'GET', path: `/v1/packages/${encodeURIComponent(id)}`, options });
  }

  /** Read the balance at the service.
   *
   * Scope: `wallet:read`.
   */
  getWallet(options: CallOptions = {}): Promise<Wallet> {
    return this.transport.json({ method: 'GET', path: '/v1/wallet', options });
  }

  /** List movements of the wallet with what they are for, newest first.
   *
   * Our journal, each row with the movement that the service has shown for it. With `cause=none` what the service has moved and nothing here is the cause of. Movements are read by the scheduled reconciliation, not at this moment.
   *
   * Scope: `wallet:read`.
   */
  listWalletTransactions(query: ListWalletTransactionsQuery = {}, options: CallOptions = {}): Paged<WalletTransaction> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/wallet/transactions', query: { ...query, ...cursor }, options }));
  }

  /** Say what a movement without a cause is.
   *
   * Books it as an adjustment, so that it is reported no longer. For a purchase that was made by hand at the service, a fee, and the like. One that has a cause already stays as it is.
   *
   * Scope: `cases:operate`.
   */
  explainWalletTransaction(id: string, body: WalletTransactionExplanation, options: CallOptions = {}): Promise<WalletTransaction> {
    return this.transport.json({ method: 'POST', path: `/v1/wallet/transactions/${encodeURIComponent(id)}/explain`, body, options });
  }

  /** List comparisons of our books with the wallet, newest first.
   *
   * Scope: `wallet:read`.
   */
  listReconciliations(query: ListReconciliationsQuery = {}, options: CallOptions = {}): Paged<ReconciliationSummary> {
    return new Paged((cursor) => this.transport.json({ method: 'GET', path: '/v1/wallet/reconciliations', query: { ...query, ...cursor }, options }));
  }

  /** Read a comparison of our books with the wallet.
   *
   * Scope: `wallet:read`.
   */
  getReconciliation(id: string, options: CallOptions = {}): Promise<Reconciliation> {
    return this.transport.json({ method: 'GET', path: `/v1/wallet/reconciliations/${encodeURIComponent(id)}`, options });
  }

  /** Check for an update of the storefront application.
   *
   * Asked of the service at this moment.
   *
   * Scope: `updates:read`.
   */
  getLatestUpdate(query: GetLatestUpdateQuery, options: CallOptions = {}): Promise<LatestUpdate> {
    return this.transport.json({ method: 'GET', path: '/v1/updates/latest', query, options });
  }

  /** Have the service make its first webhook secret.
   *
   * It is stored encrypted at the moment the service shows it, which it does once, and it never leaves us. Every API process verifies deliveries with it within seconds; secrets of the configuration verify beside it.
   *
   * Scope: `service:admin`.
   */
  createServiceWebhookSecret(options: WriteOptions = {}): Promise<WebhookSecretStatus> {
    return this.transport.json({ method: 'POST', path: '/v1/service/webhook-secret', keyed: true, options });
  }

  /** Have the service replace its webhook secret.
   *
   * It is stored encrypted at the moment the service shows it, which it does once, and it never leaves us. Every API process verifies deliveries with it within seconds; secrets of the configuration verify beside it.
   *
   * Scope: `service:admin`.
   */
  rotateServiceWebhookSecret(body: WebhookSecretRotation, options: WriteOptions = {}): Promise<WebhookSecretStatus> {
    return this.transport.json({ method: 'POST', path: '/v1/service/webhook-secret/rotate', body, keyed: true, options });
  }
}
