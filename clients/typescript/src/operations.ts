// Generated from /openapi.json by `npm run generate:api`; manual changes are lost.

import { Paged } from './paged.ts';
import type { CallOptions, Transport, WriteOptions } from './transport.ts';
import type {
  AttentionReason,
  AuditEntry,
  AuditPage,
  Cancellation,
  CancellationBulkAction,
  CancellationBulkResult,
  CancellationCaseResolution,
  CancellationInput,
  CancellationPage,
  CancellationPreflight,
  Case,
  CaseDismissal,
  CasePage,
  CreatedShareLink,
  CreatedWebhookEndpoint,
  DeadLetter,
  DeadLetterAction,
  DeadLetterPage,
  DeletedWebhookEndpoint,
  DriftStop,
  EndpointSecretRotation,
  Esim,
  EsimActivation,
  EsimChange,
  EsimPage,
  EsimSimulation,
  EsimUsage,
  Event,
  EventPage,
  EventPattern,
  FailureClass,
  LatestUpdate,
  LimitChange,
  NewPricingRule,
  OperatorAction,
  Order,
  OrderBatch,
  OrderBatchCancellation,
  OrderBatchInput,
  OrderBatchPage,
  OrderBulkAction,
  OrderBulkResult,
  OrderCaseResolution,
  OrderInput,
  OrderPage,
  OwnKey,
  Package,
  PackagePage,
  PackageWithAge,
  Pause,
  PauseInput,
  PausePage,
  PricingRule,
  PricingRuleChange,
  PricingRulePage,
  PricingRuleVersion,
  PricingRuleVersionPage,
  PurchaseGate,
  Quote,
  QuoteInput,
  Reconciliation,
  ReconciliationPage,
  ReconciliationSummary,
  Refund,
  RefundPage,
  RetryPolicyChange,
  RotatedWebhookSecret,
  SalesSummary,
  ShareLink,
  ShareLinkInput,
  ShareLinkPage,
  Timeline,
  TimelineEntry,
  Topup,
  TopupBulkAction,
  TopupBulkResult,
  TopupCaseResolution,
  TopupInput,
  TopupOptions,
  TopupPage,
  VpnAccess,
  VpnCancellation,
  VpnPlan,
  VpnPlanPage,
  VpnPlanWithAge,
  VpnSubscription,
  VpnSubscriptionBulkAction,
  VpnSubscriptionBulkResult,
  VpnSubscriptionCaseResolution,
  VpnSubscriptionInput,
  VpnSubscriptionPage,
  Wallet,
  WalletRunway,
  WalletTransaction,
  WalletTransactionExplanation,
  WalletTransactionPage,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointEnabling,
  WebhookEndpointInput,
  WebhookEndpointPage,
  WebhookReplay,
  WebhookReplayResult,
  WebhookSecretRotation,
  WebhookSecretStatus,
  WebhookTestResult,
  WhatIf,
  WhatIfInput,
} from './types.ts';

/** Final statuses: work in one of these does not change any more. */
export const FINAL_STATUSES: readonly string[] = ['completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused'];

/** No event announces these statuses, so no call can wait for them. */
export type UnannouncedStatus = 'submitting';

/** The call that reads work, by the prefix of its id, and whether that call can wait for a change. */
export const WORK_READS: Readonly<Record<string, { readonly operation: string; readonly path: string; readonly waits: boolean }>> = {
  ord: { operation: 'getOrder', path: '/v1/orders', waits: true },
  top: { operation: 'getTopup', path: '/v1/topups', waits: true },
  vpn: { operation: 'getVpnSubscription', path: '/v1/vpn/subscriptions', waits: true },
  can: { operation: 'getCancellation', path: '/v1/cancellations', waits: true },
  bat: { operation: 'getOrderBatch', path: '/v1/order-batches', waits: false },
};

/** One value, or several of which any matches. */
export type OneOrMore<Value> = Value | readonly Value[];

export interface ListOrdersQuery {
  /** Only the order with your reference; ask for one with a comma alone. Up to 100. */
  readonly external_order_id?: OneOrMore<string>;
  readonly package_id?: number;
  readonly esim_id?: string;
  /** Only the orders of this batch. */
  readonly batch_id?: string;
  /** Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log. */
  readonly customer_reference?: string;
  /** Only those with this id. Up to 100. */
  readonly id?: OneOrMore<string>;
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`orders:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`). */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'esim'
    | 'activation'
  >;
  /** One status, or several. */
  readonly status?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned'
  >;
  /** Why it is held, or why it failed. */
  readonly failure_class?: FailureClass;
  /** Why it needs attention. */
  readonly attention?: AttentionReason;
  readonly created_by?: string;
  /** Only those with all of these pairs in their metadata, each written as `metadata[key]=value`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Changed later than this. */
  readonly updated_after?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface CreateOrderQuery {
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`orders:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`). Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait. */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'esim'
    | 'activation'
  >;
}

export interface ExportOrdersQuery {
  /** Only the order with your reference; ask for one with a comma alone. Up to 100. */
  readonly external_order_id?: OneOrMore<string>;
  readonly package_id?: number;
  readonly esim_id?: string;
  /** Only the orders of this batch. */
  readonly batch_id?: string;
  /** Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log. */
  readonly customer_reference?: string;
  /** Only those with this id. Up to 100. */
  readonly id?: OneOrMore<string>;
  /** One status, or several. */
  readonly status?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned'
  >;
  /** Why it is held, or why it failed. */
  readonly failure_class?: FailureClass;
  /** Why it needs attention. */
  readonly attention?: AttentionReason;
  readonly created_by?: string;
  /** Only those with all of these pairs in their metadata, each written as `metadata[key]=value`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Changed later than this. */
  readonly updated_after?: string;
  /** `true`: the file begins with a byte order mark, so that Excel reads it as UTF-8. */
  readonly bom?: boolean;
}

export interface GetOrderQuery {
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`orders:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`). */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'esim'
    | 'activation'
  >;
  /** Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default). */
  readonly wait?: number;
  /** With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a person. */
  readonly until?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned'
  >;
}

export interface GetOrderTimelineQuery {
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListTopupsQuery {
  readonly esim_id?: string;
  /** Only the top-up with your reference; ask for one with a comma alone. Up to 100. */
  readonly external_topup_id?: OneOrMore<string>;
  readonly package_id?: number;
  /** Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log. */
  readonly customer_reference?: string;
  /** Only those with this id. Up to 100. */
  readonly id?: OneOrMore<string>;
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`topups:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`). */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'esim'
    | 'activation'
  >;
  /** One status, or several. */
  readonly status?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned'
  >;
  /** Why it is held, or why it failed. */
  readonly failure_class?: FailureClass;
  /** Why it needs attention. */
  readonly attention?: AttentionReason;
  readonly created_by?: string;
  /** Only those with all of these pairs in their metadata, each written as `metadata[key]=value`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Changed later than this. */
  readonly updated_after?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface CreateTopupQuery {
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`topups:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`). Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait. */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'esim'
    | 'activation'
  >;
}

export interface ExportTopupsQuery {
  readonly esim_id?: string;
  /** Only the top-up with your reference; ask for one with a comma alone. Up to 100. */
  readonly external_topup_id?: OneOrMore<string>;
  readonly package_id?: number;
  /** Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log. */
  readonly customer_reference?: string;
  /** Only those with this id. Up to 100. */
  readonly id?: OneOrMore<string>;
  /** One status, or several. */
  readonly status?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned'
  >;
  /** Why it is held, or why it failed. */
  readonly failure_class?: FailureClass;
  /** Why it needs attention. */
  readonly attention?: AttentionReason;
  readonly created_by?: string;
  /** Only those with all of these pairs in their metadata, each written as `metadata[key]=value`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Changed later than this. */
  readonly updated_after?: string;
  /** `true`: the file begins with a byte order mark, so that Excel reads it as UTF-8. */
  readonly bom?: boolean;
}

export interface GetTopupQuery {
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`topups:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). `activation`: the activation data, as `GET /v1/esims/{id}/activation` shows them; null until there are some. Each eSIM whose data are shown is written to the audit log (`esims:reveal`). */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'esim'
    | 'activation'
  >;
  /** Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default). */
  readonly wait?: number;
  /** With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a person. */
  readonly until?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned'
  >;
}

export interface GetTopupTimelineQuery {
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListVpnSubscriptionsQuery {
  /** Only the VPN subscription with your reference; ask for one with a comma alone. Up to 100. */
  readonly external_subscription_id?: OneOrMore<string>;
  readonly vpn_plan_id?: number;
  /** Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log. */
  readonly customer_reference?: string;
  /** Only those with this id. Up to 100. */
  readonly id?: OneOrMore<string>;
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`vpn:operate`). `access`: the access data, as `GET /v1/vpn/subscriptions/{id}/access` shows them; null until there are some. Each subscription whose data are shown is written to the audit log (`vpn:reveal`). */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'access'
  >;
  /** One status, or several. */
  readonly status?: OneOrMore<
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
    | 'abandoned'
  >;
  /** Why it is held, or why it failed. */
  readonly failure_class?: FailureClass;
  /** Why it needs attention. */
  readonly attention?: AttentionReason;
  readonly created_by?: string;
  /** Only those with all of these pairs in their metadata, each written as `metadata[key]=value`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Changed later than this. */
  readonly updated_after?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface CreateVpnSubscriptionQuery {
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`vpn:operate`). `access`: the access data, as `GET /v1/vpn/subscriptions/{id}/access` shows them; null until there are some. Each subscription whose data are shown is written to the audit log (`vpn:reveal`). Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait. */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'access'
  >;
}

export interface ExportVpnSubscriptionsQuery {
  /** Only the VPN subscription with your reference; ask for one with a comma alone. Up to 100. */
  readonly external_subscription_id?: OneOrMore<string>;
  readonly vpn_plan_id?: number;
  /** Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log. */
  readonly customer_reference?: string;
  /** Only those with this id. Up to 100. */
  readonly id?: OneOrMore<string>;
  /** One status, or several. */
  readonly status?: OneOrMore<
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
    | 'abandoned'
  >;
  /** Why it is held, or why it failed. */
  readonly failure_class?: FailureClass;
  /** Why it needs attention. */
  readonly attention?: AttentionReason;
  readonly created_by?: string;
  /** Only those with all of these pairs in their metadata, each written as `metadata[key]=value`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Changed later than this. */
  readonly updated_after?: string;
  /** `true`: the file begins with a byte order mark, so that Excel reads it as UTF-8. */
  readonly bom?: boolean;
}

export interface GetVpnSubscriptionQuery {
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`vpn:operate`). `access`: the access data, as `GET /v1/vpn/subscriptions/{id}/access` shows them; null until there are some. Each subscription whose data are shown is written to the audit log (`vpn:reveal`). */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'access'
  >;
  /** Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default). */
  readonly wait?: number;
  /** With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a person. */
  readonly until?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'processing'
    | 'needs_attention'
    | 'active'
    | 'cancelling'
    | 'cancelled'
    | 'expired'
    | 'failed'
    | 'abandoned'
  >;
}

export interface GetVpnSubscriptionTimelineQuery {
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface CancelEsimQuery {
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`cancellations:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). Only with `Prefer: wait=N`. Absent when the work is accepted but cannot be read at the end of the wait. */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'esim'
  >;
}

export interface ListCancellationsQuery {
  readonly esim_id?: string;
  /** Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log. */
  readonly customer_reference?: string;
  /** Only those with this id. Up to 100. */
  readonly id?: OneOrMore<string>;
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`cancellations:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'esim'
  >;
  /** One status, or several. */
  readonly status?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'refused'
    | 'abandoned'
  >;
  /** Why it is held, or why it failed. */
  readonly failure_class?: FailureClass;
  /** Why it needs attention. */
  readonly attention?: AttentionReason;
  readonly created_by?: string;
  /** Only those with all of these pairs in their metadata, each written as `metadata[key]=value`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Changed later than this. */
  readonly updated_after?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ExportCancellationsQuery {
  readonly esim_id?: string;
  /** Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log. */
  readonly customer_reference?: string;
  /** Only those with this id. Up to 100. */
  readonly id?: OneOrMore<string>;
  /** One status, or several. */
  readonly status?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'refused'
    | 'abandoned'
  >;
  /** Why it is held, or why it failed. */
  readonly failure_class?: FailureClass;
  /** Why it needs attention. */
  readonly attention?: AttentionReason;
  readonly created_by?: string;
  /** Only those with all of these pairs in their metadata, each written as `metadata[key]=value`. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Changed later than this. */
  readonly updated_after?: string;
  /** `true`: the file begins with a byte order mark, so that Excel reads it as UTF-8. */
  readonly bom?: boolean;
}

export interface GetCancellationQuery {
  /** What the answer contains in addition: one value or several. Each needs a scope. `operations`: attempts, retry policy and what an operator needs (`cancellations:operate`). `esim`: the eSIM, as `GET /v1/esims/{id}` shows it; null until there is one (`esims:read`). */
  readonly expand?: OneOrMore<
    | 'operations'
    | 'esim'
  >;
  /** Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default). */
  readonly wait?: number;
  /** With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a person. */
  readonly until?: OneOrMore<
    | 'accepted'
    | 'held'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'refused'
    | 'abandoned'
  >;
}

export interface GetCancellationTimelineQuery {
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListOrderBatchesQuery {
  readonly external_batch_id?: string;
  readonly status?: OneOrMore<
    | 'in_progress'
    | 'completed'
  >;
  readonly created_by?: string;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListRefundsQuery {
  /** One status, or several. */
  readonly status?: OneOrMore<
    | 'expected'
    | 'manual_review'
    | 'completed'
    | 'failed'
    | 'needs_attention'
  >;
  readonly esim_id?: string;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Changed later than this. */
  readonly updated_after?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListEventsQuery {
  /** Types of events; `order.*` selects all events of orders. */
  readonly type?: OneOrMore<EventPattern>;
  /** Kinds of subjects. */
  readonly subject_kind?: OneOrMore<
    | 'order'
    | 'topup'
    | 'vpn_subscription'
    | 'cancellation'
    | 'order_batch'
    | 'refund'
    | 'esim'
    | 'package'
    | 'vpn_plan'
    | 'wallet'
    | 'webhook_endpoint'
  >;
  /** Id of one subject, such as `ord_…`. */
  readonly subject_id?: string;
  /** Without a cursor: starts with the first event later than this. Default: the oldest stored event. */
  readonly created_after?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page, or the `id` field of the stream (not the id of the event itself). Valid while the events after it are stored. */
  readonly cursor?: string;
  /** Maximum wait in seconds, limited by the API (`waiting.max`, 50 by default). */
  readonly wait?: number;
}

export interface ListCasesQuery {
  readonly reason?: AttentionReason;
  /** `true`: only cases about ended work, which the Temporal UI does not show; `false`: only all others. */
  readonly work_ended?: boolean;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListDeadLettersQuery {
  readonly queue?:
    | 'inbox'
    | 'outbox';
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListPausesQuery {
  /** Only pauses of exactly this kind of work. */
  readonly kind?:
    | 'order'
    | 'topup'
    | 'vpn_subscription'
    | 'cancellation';
  /** Only pauses after exactly this failure class. */
  readonly failure_class?: FailureClass;
  /** `true`: also ended pauses. */
  readonly ended?: boolean;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface EndPauseQuery {
  /** The reason; shown in the timeline. Do not include personal data. */
  readonly reason: string;
}

export interface StartAfterDriftQuery {
  /** The reason; shown in the timeline. Do not include personal data. */
  readonly reason: string;
}

export interface ListEsimsQuery {
  /** Only those with this id. Up to 100. */
  readonly id?: OneOrMore<string>;
  /** Status at the service, such as `installed`, or several, separated by commas. */
  readonly status?: string;
  readonly order_id?: string;
  /** Only the order with your reference; ask for one with a comma alone. Up to 100. */
  readonly external_order_id?: OneOrMore<string>;
  /** Your exact reference of the customer. Compared by a keyed hash. It is part of the URL, which proxies may log. */
  readonly customer_reference?: string;
  /** Serial number of the SIM profile. */
  readonly iccid?: string;
  readonly package_id?: number;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Its status or one of its times changed later than this. */
  readonly updated_after?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListShareLinksQuery {
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListAllShareLinksQuery {
  readonly status?:
    | 'active'
    | 'expired'
    | 'revoked';
  readonly created_by?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListPackagesQuery {
  /** Only packages whose name contains this text, in upper or lower case. */
  readonly q?: string;
  /** `true`: only packages that the service sells now; `false`: only others. */
  readonly available?: boolean;
  /** Only packages for at least these days. */
  readonly min_days?: number;
  /** Only packages for at most these days. */
  readonly max_days?: number;
  /** Only packages whose price is in this currency (ISO 4217). */
  readonly currency?: string;
  /** Only packages whose `price_for_reseller` is at least this amount, in their own currency. */
  readonly min_price?: string;
  /** Only packages whose `price_for_reseller` is at most this amount, in their own currency. */
  readonly max_price?: string;
  /** Only packages that changed after this time, exclusive. With the `read_at` of the first page of an earlier list: all changes since. */
  readonly updated_after?: string;
  /** `true`: also packages that the service no longer lists. */
  readonly include_removed?: boolean;
  /** Only packages that are valid in each of these countries (ISO 3166-1 alpha-2). */
  readonly country?: OneOrMore<string>;
  /** Only packages that are valid in at least one country of this region: `africa`, `asia`, `europe`, `north_america`, `oceania`, `south_america`. */
  readonly region?:
    | 'africa'
    | 'asia'
    | 'europe'
    | 'north_america'
    | 'oceania'
    | 'south_america';
  /** `true`: only packages without a data limit; `false`: only packages with one. */
  readonly unlimited?: boolean;
  /** Only packages with at least these megabytes, or without a data limit. */
  readonly min_data_mb?: number;
  /** Only packages with at most these megabytes. */
  readonly max_data_mb?: number;
  /** The order; `-` reverses it. Prices are ordered by currency first. Packages without a known value are last, and an unlimited package has the most data. */
  readonly sort?:
    | 'id'
    | 'price'
    | '-price'
    | 'data'
    | '-data'
    | 'days'
    | '-days';
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListVpnPlansQuery {
  /** Only plans whose name contains this text, in upper or lower case. */
  readonly q?: string;
  /** `true`: only plans that the service sells now; `false`: only others. */
  readonly available?: boolean;
  /** Only plans for at least these days. */
  readonly min_days?: number;
  /** Only plans for at most these days. */
  readonly max_days?: number;
  /** Only plans whose price is in this currency (ISO 4217). */
  readonly currency?: string;
  /** Only plans whose `price_for_reseller` is at least this amount, in their own currency. */
  readonly min_price?: string;
  /** Only plans whose `price_for_reseller` is at most this amount, in their own currency. */
  readonly max_price?: string;
  /** Only plans that changed after this time, exclusive. With the `read_at` of the first page of an earlier list: all changes since. */
  readonly updated_after?: string;
  /** `true`: also plans that the service no longer lists. */
  readonly include_removed?: boolean;
  /** The order; `-` reverses it. Prices are ordered by currency first. Plans without a known value are last. */
  readonly sort?:
    | 'id'
    | 'price'
    | '-price'
    | 'days'
    | '-days';
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListPricingRulesQuery {
  /** Only rules for this kind of target. */
  readonly target?:
    | 'default'
    | 'country'
    | 'package'
    | 'vpn_plan';
  readonly currency?: string;
  /** `true`: also ended rules. */
  readonly ended?: boolean;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface EndPricingRuleQuery {
  /** The reason; shown with the versions of the rule. */
  readonly reason: string;
  /** The version that you have read. If the rule has another version now, nothing is changed (409). */
  readonly version?: number;
}

export interface ListPricingRuleVersionsQuery {
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListWalletTransactionsQuery {
  /** Only movements with this kind of cause; `none`: movements without a cause in our journal. */
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
  /** Only debits and credits of this order. */
  readonly order_id?: string;
  /** Only debits and credits of this eSIM and its top-ups. */
  readonly esim_id?: string;
  /** Only recorded later than this. */
  readonly created_after?: string;
  /** Only recorded earlier than this. */
  readonly created_before?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ExportWalletTransactionsQuery {
  /** Only movements with this kind of cause; `none`: movements without a cause in our journal. */
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
  /** Only debits and credits of this order. */
  readonly order_id?: string;
  /** Only debits and credits of this eSIM and its top-ups. */
  readonly esim_id?: string;
  /** Only recorded later than this. */
  readonly created_after?: string;
  /** Only recorded earlier than this. */
  readonly created_before?: string;
  /** `true`: the file begins with a byte order mark, so that Excel reads it as UTF-8. */
  readonly bom?: boolean;
}

export interface GetSalesQuery {
  /** First day. */
  readonly from_day: string;
  /** Last day, included; at most 366 days in all. */
  readonly to_day: string;
  /** IANA name of the time zone in which the days are. */
  readonly time_zone?: string;
  /** Groups the sums by `day`, `kind` of purchase, `package` (with VPN plans), `country`, or several. Without it there is one sum for each currency. */
  readonly group_by?: OneOrMore<
    | 'day'
    | 'kind'
    | 'package'
    | 'country'
  >;
}

export interface ExportSalesQuery {
  /** First day. */
  readonly from_day: string;
  /** Last day, included; at most 366 days in all. */
  readonly to_day: string;
  /** IANA name of the time zone in which the days are. */
  readonly time_zone?: string;
  /** Groups the sums by `day`, `kind` of purchase, `package` (with VPN plans), `country`, or several. Without it there is one sum for each currency. */
  readonly group_by?: OneOrMore<
    | 'day'
    | 'kind'
    | 'package'
    | 'country'
  >;
  /** `true`: the file begins with a byte order mark, so that Excel reads it as UTF-8. */
  readonly bom?: boolean;
}

export interface ListReconciliationsQuery {
  /** One status, or several. */
  readonly status?: OneOrMore<
    | 'complete'
    | 'incomplete'
    | 'unsupported'
    | 'unavailable'
  >;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface GetLatestUpdateQuery {
  /** Installed version of the storefront, dotted numbers. */
  readonly current_version: string;
  /** Release channel. */
  readonly channel?: string;
}

export interface ListWebhookEndpointsQuery {
  readonly created_by?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListWebhookDeliveriesQuery {
  readonly status?:
    | 'pending'
    | 'delivered'
    | 'failed';
  readonly event_id?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface ListAuditLogQuery {
  /** Id of an API key, `command/<account>`, or `share_link/<id>`. */
  readonly actor?: string;
  /** This action only, such as `vpn.access_revealed`. */
  readonly action?: string;
  /** Such as `order`, `esim` or `api_key`. */
  readonly subject_kind?: string;
  readonly subject_id?: string;
  /** Later than this. */
  readonly created_after?: string;
  /** Earlier than this. */
  readonly created_before?: string;
  /** Maximum number of items, 1 to 100. */
  readonly limit?: number;
  /** `next_cursor` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

/** All calls of the API that need an API key. */
export class Operations {
  protected readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** List orders, newest first.
   *
   * Scope: `orders:read`.
   */
  listOrders(query: ListOrdersQuery = {}, options: CallOptions = {}): Paged<Order, OrderPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listOrders', method: 'GET', path: '/v1/orders', query: { ...query, ...cursor }, options }));
  }

  /** Buy an eSIM package.
   *
   * Stores the order and answers at once; the purchase follows. Read the order, or its timeline, to follow it. The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.
   *
   * Scope: `orders:write`.
   */
  createOrder(body: OrderInput, { expand, ...options }: CreateOrderQuery & WriteOptions = {}): Promise<Order> {
    return this.transport.json({ operation: 'createOrder', method: 'POST', path: '/v1/orders', query: { expand }, body, keyed: true, prefers: true, options });
  }

  /** Get all orders that match as CSV, newest first.
   *
   * Scope: `orders:read`.
   */
  exportOrders(query: ExportOrdersQuery = {}, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ operation: 'exportOrders', method: 'GET', path: '/v1/orders.csv', query, options });
  }

  /** Perform one action on many orders.
   *
   * Each action is separate, with its own audit entry; a refused one does not stop the others. Try it first with `dry_run`, which evaluates each action and changes nothing. Without it an Idempotency-Key is required: a repeated call covers the same work and changes nothing more.
   *
   * Scope: `orders:operate`.
   */
  actOnManyOrders(body: OrderBulkAction, options: WriteOptions = {}): Promise<OrderBulkResult> {
    return this.transport.json({ operation: 'actOnManyOrders', method: 'POST', path: '/v1/orders/bulk-actions', body, keyed: true, options });
  }

  /** Read an order.
   *
   * With `wait=N` the answer comes when it is finished (or has a status of `until`), at the latest after N seconds; its form is the same. Check `status`. If the wait ended without the result, `Retry-After` says when to call again, and `Preference-Applied` that the API has waited.
   *
   * Scope: `orders:read`.
   */
  getOrder(id: string, query: GetOrderQuery = {}, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ operation: 'getOrder', method: 'GET', path: `/v1/orders/${encodeURIComponent(id)}`, query, options });
  }

  /** Read the timeline and the current state of an order.
   *
   * Oldest first. With each page, in `current_state`: its state in a sentence, why it waits, what happens next and when, and whether submitting again would be safe.
   *
   * Scope: `orders:read`.
   */
  getOrderTimeline(id: string, query: GetOrderTimelineQuery = {}, options: CallOptions = {}): Paged<TimelineEntry, Timeline> {
    return new Paged((cursor) => this.transport.json({ operation: 'getOrderTimeline', method: 'GET', path: `/v1/orders/${encodeURIComponent(id)}/timeline`, query: { ...query, ...cursor }, options }));
  }

  /** Retry now work that is held or needs attention.
   *
   * Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants one more.
   *
   * Scope: `orders:operate`.
   */
  retryOrder(id: string, body: OperatorAction, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ operation: 'retryOrder', method: 'POST', path: `/v1/orders/${encodeURIComponent(id)}/retry`, body, options });
  }

  /** Release held work through the purchase gate now.
   *
   * It passes a pause and an open circuit (as its canary), but not the wallet, the daily limits or `max_price`. Refused unless it is held. A release remains valid until the gate is passed.
   *
   * Scope: `orders:operate`.
   */
  releaseOrder(id: string, body: OperatorAction, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ operation: 'releaseOrder', method: 'POST', path: `/v1/orders/${encodeURIComponent(id)}/release`, body, options });
  }

  /** Change the maximum that the service may charge.
   *
   * An order held because of its price is tried again at once.
   *
   * Scope: `orders:operate`.
   */
  changeOrderLimit(id: string, body: LimitChange, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ operation: 'changeOrderLimit', method: 'PATCH', path: `/v1/orders/${encodeURIComponent(id)}/limit`, body, options });
  }

  /** Change the retry policy: attempts, waits and deadline.
   *
   * Omitted fields are not changed; `null` removes a change. A running wait is computed again from its start. It does not decide whether another attempt is safe: that is checked as always. Refused once the order has ended.
   *
   * Scope: `orders:operate`.
   */
  changeOrderRetryPolicy(id: string, body: RetryPolicyChange, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ operation: 'changeOrderRetryPolicy', method: 'PATCH', path: `/v1/orders/${encodeURIComponent(id)}/retry-policy`, body, options });
  }

  /** Abandon an order that bought nothing.
   *
   * Refused while it may have bought something, or the service keeps money for it.
   *
   * Scope: `orders:operate`.
   */
  abandonOrder(id: string, body: OperatorAction, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ operation: 'abandonOrder', method: 'POST', path: `/v1/orders/${encodeURIComponent(id)}/abandon`, body, options });
  }

  /** Resolve a case of an order.
   *
   * States the outcome when neither the service nor the wallet could prove it. Check the service's console first: after `not_bought` it is bought again.
   *
   * Scope: `orders:operate`.
   */
  resolveOrderCase(id: string, body: OrderCaseResolution, options: CallOptions = {}): Promise<Order> {
    return this.transport.json({ operation: 'resolveOrderCase', method: 'POST', path: `/v1/orders/${encodeURIComponent(id)}/resolve`, body, options });
  }

  /** List top-ups, newest first.
   *
   * Scope: `topups:read`.
   */
  listTopups(query: ListTopupsQuery = {}, options: CallOptions = {}): Paged<Topup, TopupPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listTopups', method: 'GET', path: '/v1/topups', query: { ...query, ...cursor }, options }));
  }

  /** Recharge an eSIM.
   *
   * Stores the top-up and answers at once; the purchase follows. The package must be one of the top-up options of the eSIM; they are read again before the purchase. One top-up of an eSIM is in progress at a time: another one is held until the first has ended. The same Idempotency-Key with the same body gets the same answer again.
   *
   * Scope: `topups:write`.
   */
  createTopup(body: TopupInput, { expand, ...options }: CreateTopupQuery & WriteOptions = {}): Promise<Topup> {
    return this.transport.json({ operation: 'createTopup', method: 'POST', path: '/v1/topups', query: { expand }, body, keyed: true, prefers: true, options });
  }

  /** Get all top-ups that match as CSV, newest first.
   *
   * Scope: `topups:read`.
   */
  exportTopups(query: ExportTopupsQuery = {}, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ operation: 'exportTopups', method: 'GET', path: '/v1/topups.csv', query, options });
  }

  /** Perform one action on many top-ups.
   *
   * Each action is separate, with its own audit entry; a refused one does not stop the others. Try it first with `dry_run`, which evaluates each action and changes nothing. Without it an Idempotency-Key is required: a repeated call covers the same work and changes nothing more.
   *
   * Scope: `topups:operate`.
   */
  actOnManyTopups(body: TopupBulkAction, options: WriteOptions = {}): Promise<TopupBulkResult> {
    return this.transport.json({ operation: 'actOnManyTopups', method: 'POST', path: '/v1/topups/bulk-actions', body, keyed: true, options });
  }

  /** Read a top-up.
   *
   * With `wait=N` the answer comes when it is finished (or has a status of `until`), at the latest after N seconds; its form is the same. Check `status`. If the wait ended without the result, `Retry-After` says when to call again, and `Preference-Applied` that the API has waited.
   *
   * Scope: `topups:read`.
   */
  getTopup(id: string, query: GetTopupQuery = {}, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ operation: 'getTopup', method: 'GET', path: `/v1/topups/${encodeURIComponent(id)}`, query, options });
  }

  /** Read the timeline and the current state of a top-up.
   *
   * Oldest first. With each page, in `current_state`: its state in a sentence, why it waits, what happens next and when, and whether submitting again would be safe.
   *
   * Scope: `topups:read`.
   */
  getTopupTimeline(id: string, query: GetTopupTimelineQuery = {}, options: CallOptions = {}): Paged<TimelineEntry, Timeline> {
    return new Paged((cursor) => this.transport.json({ operation: 'getTopupTimeline', method: 'GET', path: `/v1/topups/${encodeURIComponent(id)}/timeline`, query: { ...query, ...cursor }, options }));
  }

  /** Retry now work that is held or needs attention.
   *
   * Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants one more.
   *
   * Scope: `topups:operate`.
   */
  retryTopup(id: string, body: OperatorAction, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ operation: 'retryTopup', method: 'POST', path: `/v1/topups/${encodeURIComponent(id)}/retry`, body, options });
  }

  /** Release held work through the purchase gate now.
   *
   * It passes a pause and an open circuit (as its canary), but not the wallet, the daily limits or `max_price`. Refused unless it is held. A release remains valid until the gate is passed.
   *
   * Scope: `topups:operate`.
   */
  releaseTopup(id: string, body: OperatorAction, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ operation: 'releaseTopup', method: 'POST', path: `/v1/topups/${encodeURIComponent(id)}/release`, body, options });
  }

  /** Change the maximum that the service may charge.
   *
   * A top-up held because of its price is tried again at once.
   *
   * Scope: `topups:operate`.
   */
  changeTopupLimit(id: string, body: LimitChange, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ operation: 'changeTopupLimit', method: 'PATCH', path: `/v1/topups/${encodeURIComponent(id)}/limit`, body, options });
  }

  /** Change the retry policy: attempts, waits and deadline.
   *
   * Omitted fields are not changed; `null` removes a change. A running wait is computed again from its start. It does not decide whether another attempt is safe: that is checked as always. Refused once the top-up has ended.
   *
   * Scope: `topups:operate`.
   */
  changeTopupRetryPolicy(id: string, body: RetryPolicyChange, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ operation: 'changeTopupRetryPolicy', method: 'PATCH', path: `/v1/topups/${encodeURIComponent(id)}/retry-policy`, body, options });
  }

  /** Abandon a top-up that bought nothing.
   *
   * Refused while it may have bought something, or the service keeps money for it.
   *
   * Scope: `topups:operate`.
   */
  abandonTopup(id: string, body: OperatorAction, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ operation: 'abandonTopup', method: 'POST', path: `/v1/topups/${encodeURIComponent(id)}/abandon`, body, options });
  }

  /** Resolve a case of a top-up.
   *
   * States the outcome when neither the service nor the wallet could prove it. Check the service's console first: after `not_bought` it is bought again.
   *
   * Scope: `topups:operate`.
   */
  resolveTopupCase(id: string, body: TopupCaseResolution, options: CallOptions = {}): Promise<Topup> {
    return this.transport.json({ operation: 'resolveTopupCase', method: 'POST', path: `/v1/topups/${encodeURIComponent(id)}/resolve`, body, options });
  }

  /** List VPN subscriptions, newest first.
   *
   * Scope: `vpn:read`.
   */
  listVpnSubscriptions(query: ListVpnSubscriptionsQuery = {}, options: CallOptions = {}): Paged<VpnSubscription, VpnSubscriptionPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listVpnSubscriptions', method: 'GET', path: '/v1/vpn/subscriptions', query: { ...query, ...cursor }, options }));
  }

  /** Order a VPN subscription.
   *
   * Stores the order and answers at once; the purchase follows. The subscription is then tracked until it is cancelled or expires. The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.
   *
   * Scope: `vpn:write`.
   */
  createVpnSubscription(body: VpnSubscriptionInput, { expand, ...options }: CreateVpnSubscriptionQuery & WriteOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ operation: 'createVpnSubscription', method: 'POST', path: '/v1/vpn/subscriptions', query: { expand }, body, keyed: true, prefers: true, options });
  }

  /** Get all VPN subscriptions that match as CSV, newest first.
   *
   * Scope: `vpn:read`.
   */
  exportVpnSubscriptions(query: ExportVpnSubscriptionsQuery = {}, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ operation: 'exportVpnSubscriptions', method: 'GET', path: '/v1/vpn/subscriptions.csv', query, options });
  }

  /** Perform one action on many VPN subscriptions.
   *
   * Each action is separate, with its own audit entry; a refused one does not stop the others. Try it first with `dry_run`, which evaluates each action and changes nothing. Without it an Idempotency-Key is required: a repeated call covers the same work and changes nothing more.
   *
   * Scope: `vpn:operate`.
   */
  actOnManyVpnSubscriptions(body: VpnSubscriptionBulkAction, options: WriteOptions = {}): Promise<VpnSubscriptionBulkResult> {
    return this.transport.json({ operation: 'actOnManyVpnSubscriptions', method: 'POST', path: '/v1/vpn/subscriptions/bulk-actions', body, keyed: true, options });
  }

  /** Read a VPN subscription.
   *
   * With `wait=N` the answer comes when it is finished (or has a status of `until`), at the latest after N seconds; its form is the same. Check `status`. If the wait ended without the result, `Retry-After` says when to call again, and `Preference-Applied` that the API has waited.
   *
   * Scope: `vpn:read`.
   */
  getVpnSubscription(id: string, query: GetVpnSubscriptionQuery = {}, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ operation: 'getVpnSubscription', method: 'GET', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}`, query, options });
  }

  /** Read the timeline and the current state of a VPN subscription.
   *
   * Oldest first. With each page, in `current_state`: its state in a sentence, why it waits, what happens next and when, and whether submitting again would be safe.
   *
   * Scope: `vpn:read`.
   */
  getVpnSubscriptionTimeline(id: string, query: GetVpnSubscriptionTimelineQuery = {}, options: CallOptions = {}): Paged<TimelineEntry, Timeline> {
    return new Paged((cursor) => this.transport.json({ operation: 'getVpnSubscriptionTimeline', method: 'GET', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/timeline`, query: { ...query, ...cursor }, options }));
  }

  /** Get the access data for the customer's device.
   *
   * Needs the scope `vpn:reveal`. Each read is written to the audit log, and no cache stores it.
   *
   * Scope: `vpn:reveal`.
   */
  getVpnAccess(id: string, options: CallOptions = {}): Promise<VpnAccess> {
    return this.transport.json({ operation: 'getVpnAccess', method: 'GET', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/access`, options });
  }

  /** End a VPN subscription for its customer.
   *
   * Its cancellation is requested at the service; nothing is refunded. A repeated request changes nothing. Refused (`action_not_possible`) while it is not active yet, and once it has ended in another way: `expired`, `failed` or `abandoned`.
   *
   * Scope: `vpn:write`.
   */
  cancelVpnSubscription(id: string, body: VpnCancellation = {}, options: WriteOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ operation: 'cancelVpnSubscription', method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/cancel`, body, prefers: true, options });
  }

  /** Retry now work that is held or needs attention.
   *
   * Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants one more.
   *
   * Scope: `vpn:operate`.
   */
  retryVpnSubscription(id: string, body: OperatorAction, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ operation: 'retryVpnSubscription', method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/retry`, body, options });
  }

  /** Release held work through the purchase gate now.
   *
   * It passes a pause and an open circuit (as its canary), but not the wallet, the daily limits or `max_price`. Refused unless it is held. A release remains valid until the gate is passed.
   *
   * Scope: `vpn:operate`.
   */
  releaseVpnSubscription(id: string, body: OperatorAction, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ operation: 'releaseVpnSubscription', method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/release`, body, options });
  }

  /** Change the maximum that the service may charge.
   *
   * A VPN subscription held because of its price is tried again at once.
   *
   * Scope: `vpn:operate`.
   */
  changeVpnSubscriptionLimit(id: string, body: LimitChange, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ operation: 'changeVpnSubscriptionLimit', method: 'PATCH', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/limit`, body, options });
  }

  /** Change the retry policy: attempts, waits and deadline.
   *
   * Omitted fields are not changed; `null` removes a change. A running wait is computed again from its start. It does not decide whether another attempt is safe: that is checked as always. Refused once the VPN subscription has ended.
   *
   * Scope: `vpn:operate`.
   */
  changeVpnSubscriptionRetryPolicy(id: string, body: RetryPolicyChange, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ operation: 'changeVpnSubscriptionRetryPolicy', method: 'PATCH', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/retry-policy`, body, options });
  }

  /** Abandon a VPN subscription that bought nothing.
   *
   * Refused while it may have bought something, or the service keeps money for it.
   *
   * Scope: `vpn:operate`.
   */
  abandonVpnSubscription(id: string, body: OperatorAction, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ operation: 'abandonVpnSubscription', method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/abandon`, body, options });
  }

  /** Resolve a case of a VPN subscription.
   *
   * States the outcome when neither the service nor the wallet could prove it. Check the service's console first: after `not_bought` it is bought again.
   *
   * Scope: `vpn:operate`.
   */
  resolveVpnSubscriptionCase(id: string, body: VpnSubscriptionCaseResolution, options: CallOptions = {}): Promise<VpnSubscription> {
    return this.transport.json({ operation: 'resolveVpnSubscriptionCase', method: 'POST', path: `/v1/vpn/subscriptions/${encodeURIComponent(id)}/resolve`, body, options });
  }

  /** Cancel an eSIM.
   *
   * Stores a cancellation and answers with it at once; it is processed afterwards. If a condition of the refund is not met, `on_unmet_conditions` decides whether it is sent. It is completed once the eSIM is cancelled and the money is found in the wallet. One cancellation of an eSIM is made; another one is possible only after it was refused or abandoned. A customer who installs the eSIM meanwhile may be faster: the answer of the service decides.
   *
   * Scope: `cancellations:write`.
   */
  cancelEsim(id: string, body: CancellationInput = {}, { expand, ...options }: CancelEsimQuery & WriteOptions = {}): Promise<Cancellation> {
    return this.transport.json({ operation: 'cancelEsim', method: 'POST', path: `/v1/esims/${encodeURIComponent(id)}/cancel`, query: { expand }, body, keyed: true, prefers: true, options });
  }

  /** List cancellations, newest first.
   *
   * Scope: `cancellations:read`.
   */
  listCancellations(query: ListCancellationsQuery = {}, options: CallOptions = {}): Paged<Cancellation, CancellationPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listCancellations', method: 'GET', path: '/v1/cancellations', query: { ...query, ...cursor }, options }));
  }

  /** Get all cancellations that match as CSV, newest first.
   *
   * Scope: `cancellations:read`.
   */
  exportCancellations(query: ExportCancellationsQuery = {}, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ operation: 'exportCancellations', method: 'GET', path: '/v1/cancellations.csv', query, options });
  }

  /** Perform one action on many cancellations.
   *
   * Each action is separate, with its own audit entry; a refused one does not stop the others. Try it first with `dry_run`, which evaluates each action and changes nothing. Without it an Idempotency-Key is required: a repeated call covers the same work and changes nothing more.
   *
   * Scope: `cancellations:operate`.
   */
  actOnManyCancellations(body: CancellationBulkAction, options: WriteOptions = {}): Promise<CancellationBulkResult> {
    return this.transport.json({ operation: 'actOnManyCancellations', method: 'POST', path: '/v1/cancellations/bulk-actions', body, keyed: true, options });
  }

  /** Read a cancellation.
   *
   * With `wait=N` the answer comes when it is finished (or has a status of `until`), at the latest after N seconds; its form is the same. Check `status`. If the wait ended without the result, `Retry-After` says when to call again, and `Preference-Applied` that the API has waited.
   *
   * Scope: `cancellations:read`.
   */
  getCancellation(id: string, query: GetCancellationQuery = {}, options: CallOptions = {}): Promise<Cancellation> {
    return this.transport.json({ operation: 'getCancellation', method: 'GET', path: `/v1/cancellations/${encodeURIComponent(id)}`, query, options });
  }

  /** Read the timeline and the current state of a cancellation.
   *
   * Oldest first. With each page, in `current_state`: its state in a sentence, why it waits, what happens next and when, and whether submitting again would be safe.
   *
   * Scope: `cancellations:read`.
   */
  getCancellationTimeline(id: string, query: GetCancellationTimelineQuery = {}, options: CallOptions = {}): Paged<TimelineEntry, Timeline> {
    return new Paged((cursor) => this.transport.json({ operation: 'getCancellationTimeline', method: 'GET', path: `/v1/cancellations/${encodeURIComponent(id)}/timeline`, query: { ...query, ...cursor }, options }));
  }

  /** Retry now work that is held or needs attention.
   *
   * Ends the present wait; the same rules decide what is sent. After all attempts were used up it grants one more.
   *
   * Scope: `cancellations:operate`.
   */
  retryCancellation(id: string, body: OperatorAction, options: CallOptions = {}): Promise<Cancellation> {
    return this.transport.json({ operation: 'retryCancellation', method: 'POST', path: `/v1/cancellations/${encodeURIComponent(id)}/retry`, body, options });
  }

  /** Change the retry policy: attempts, waits and deadline.
   *
   * Omitted fields are not changed; `null` removes a change. A running wait is computed again from its start. It does not decide whether another attempt is safe: that is checked as always. Refused once the cancellation has ended.
   *
   * Scope: `cancellations:operate`.
   */
  changeCancellationRetryPolicy(id: string, body: RetryPolicyChange, options: CallOptions = {}): Promise<Cancellation> {
    return this.transport.json({ operation: 'changeCancellationRetryPolicy', method: 'PATCH', path: `/v1/cancellations/${encodeURIComponent(id)}/retry-policy`, body, options });
  }

  /** Abandon a cancellation that bought nothing.
   *
   * Refused while it may have bought something, or the service keeps money for it.
   *
   * Scope: `cancellations:operate`.
   */
  abandonCancellation(id: string, body: OperatorAction, options: CallOptions = {}): Promise<Cancellation> {
    return this.transport.json({ operation: 'abandonCancellation', method: 'POST', path: `/v1/cancellations/${encodeURIComponent(id)}/abandon`, body, options });
  }

  /** Resolve a case of a cancellation.
   *
   * States the outcome when neither the service nor the wallet could prove it. Check the service's console first: after `not_bought` it is bought again.
   *
   * Scope: `cancellations:operate`.
   */
  resolveCancellationCase(id: string, body: CancellationCaseResolution, options: CallOptions = {}): Promise<Cancellation> {
    return this.transport.json({ operation: 'resolveCancellationCase', method: 'POST', path: `/v1/cancellations/${encodeURIComponent(id)}/resolve`, body, options });
  }

  /** List batches of orders, newest first.
   *
   * Scope: `orders:read`.
   */
  listOrderBatches(query: ListOrderBatchesQuery = {}, options: CallOptions = {}): Paged<OrderBatch, OrderBatchPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listOrderBatches', method: 'GET', path: '/v1/order-batches', query: { ...query, ...cursor }, options }));
  }

  /** Buy up to 1,000 eSIMs in one call.
   *
   * Stores all orders or none of them, and answers at once; the purchases follow. Each eSIM is an ordinary order with `batch_id`, in the order of the items: `GET /v1/orders?batch_id=…`. Its `external_order_id` is that of the batch, a hyphen and its position with four digits. The same Idempotency-Key with the same body gets the same answer again, and nothing is bought twice.
   *
   * Scope: `orders:write`.
   */
  createOrderBatch(body: OrderBatchInput, options: WriteOptions = {}): Promise<OrderBatch> {
    return this.transport.json({ operation: 'createOrderBatch', method: 'POST', path: '/v1/order-batches', body, keyed: true, options });
  }

  /** Read a batch with the counts of its orders.
   *
   * Scope: `orders:read`.
   */
  getOrderBatch(id: string, options: CallOptions = {}): Promise<OrderBatch> {
    return this.transport.json({ operation: 'getOrderBatch', method: 'GET', path: `/v1/order-batches/${encodeURIComponent(id)}`, options });
  }

  /** Cancel what a batch has not bought.
   *
   * Each order that has provably bought nothing is abandoned, at once or when it would be sent next. An order that may have been sent continues. `counts` shows what is left; delivered eSIMs are cancelled by `POST /v1/esims/{id}/cancel`. A repeated request continues the same cancellation. It changes nothing in a batch that is completed.
   *
   * Scope: `orders:write`.
   */
  cancelOrderBatch(id: string, body: OrderBatchCancellation, options: CallOptions = {}): Promise<OrderBatch> {
    return this.transport.json({ operation: 'cancelOrderBatch', method: 'POST', path: `/v1/order-batches/${encodeURIComponent(id)}/cancel`, body, options });
  }

  /** Get the QR codes of a batch as a ZIP archive of PNG images.
   *
   * Contains the eSIMs that are delivered so far, by position. Needs the scope `esims:reveal`. Each eSIM is written to the audit log as one read of its QR code, and no cache stores the file.
   *
   * Scope: `esims:reveal`.
   */
  getOrderBatchQrArchive(id: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.transport.bytes({ operation: 'getOrderBatchQrArchive', method: 'GET', path: `/v1/order-batches/${encodeURIComponent(id)}/qr-codes.zip`, options });
  }

  /** Get the QR codes of a batch as sheets to print, PDF.
   *
   * Contains the eSIMs that are delivered so far, by position. Needs the scope `esims:reveal`. Each eSIM is written to the audit log as one read of its QR code, and no cache stores the file.
   *
   * Scope: `esims:reveal`.
   */
  getOrderBatchQrSheet(id: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.transport.bytes({ operation: 'getOrderBatchQrSheet', method: 'GET', path: `/v1/order-batches/${encodeURIComponent(id)}/qr-codes.pdf`, options });
  }

  /** List refunds, newest first.
   *
   * Scope: `cancellations:read`.
   */
  listRefunds(query: ListRefundsQuery = {}, options: CallOptions = {}): Paged<Refund, RefundPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listRefunds', method: 'GET', path: '/v1/refunds', query: { ...query, ...cursor }, options }));
  }

  /** Read a refund.
   *
   * Scope: `cancellations:read`.
   */
  getRefund(id: string, options: CallOptions = {}): Promise<Refund> {
    return this.transport.json({ operation: 'getRefund', method: 'GET', path: `/v1/refunds/${encodeURIComponent(id)}`, options });
  }

  /** Read events, oldest first.
   *
   * The feed: store `next_cursor` and continue from it at any time. No event is skipped or repeated while events are stored (30 days by default). With `wait=N` an empty page waits for events, at most N seconds: `Preference-Applied` says that it did. An event reports a change; read `subject.href` for the current state.
   *
   * Scope: `events:read`.
   */
  listEvents(query: ListEventsQuery = {}, options: CallOptions = {}): Paged<Event, EventPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listEvents', method: 'GET', path: '/v1/events', query: { ...query, ...cursor }, options }));
  }

  /** Read an event.
   *
   * Scope: `events:read`.
   */
  getEvent(id: string, options: CallOptions = {}): Promise<Event> {
    return this.transport.json({ operation: 'getEvent', method: 'GET', path: `/v1/events/${encodeURIComponent(id)}`, options });
  }

  /** List open cases, oldest first.
   *
   * Scope: `cases:operate`.
   */
  listCases(query: ListCasesQuery = {}, options: CallOptions = {}): Paged<Case, CasePage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listCases', method: 'GET', path: '/v1/cases', query: { ...query, ...cursor }, options }));
  }

  /** Read a case, open or closed.
   *
   * Scope: `cases:operate`.
   */
  getCase(id: string, options: CallOptions = {}): Promise<Case> {
    return this.transport.json({ operation: 'getCase', method: 'GET', path: `/v1/cases/${encodeURIComponent(id)}`, options });
  }

  /** Dismiss a case about a webhook delivery.
   *
   * For cases whose `subject_kind` is `delivery`. Find out first who can send to the webhook address. A case about work is resolved with `/resolve` of that work. A closed case is not changed.
   *
   * Scope: `cases:operate`.
   */
  dismissCase(id: string, body: CaseDismissal, options: CallOptions = {}): Promise<Case> {
    return this.transport.json({ operation: 'dismissCase', method: 'POST', path: `/v1/cases/${encodeURIComponent(id)}/dismiss`, body, options });
  }

  /** List dead letters of a queue, oldest first.
   *
   * Reports of the service and requests to workflows that failed all tries. Those about known work have a case `message_quarantined`, and that work makes no new purchase until they are requeued or dismissed.
   *
   * Scope: `cases:operate`.
   */
  listDeadLetters(query: ListDeadLettersQuery = {}, options: CallOptions = {}): Paged<DeadLetter, DeadLetterPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listDeadLetters', method: 'GET', path: '/v1/dead-letters', query: { ...query, ...cursor }, options }));
  }

  /** Requeue a dead letter.
   *
   * After its cause was corrected. It gets as many tries as a new one; if it fails again, it returns to the list with a new case. Its case closes when nothing else of the same work is quarantined.
   *
   * Scope: `cases:operate`.
   */
  requeueDeadLetter(id: string, body: DeadLetterAction, options: CallOptions = {}): Promise<DeadLetter> {
    return this.transport.json({ operation: 'requeueDeadLetter', method: 'POST', path: `/v1/dead-letters/${encodeURIComponent(id)}/requeue`, body, options });
  }

  /** Dismiss a dead letter.
   *
   * It is never processed, and no longer prevents purchases. Check the purchase at the service first: a dismissed report has no effect, even if it reports a purchase. A report stays stored; a request of the outbox is deleted.
   *
   * Scope: `cases:operate`.
   */
  dismissDeadLetter(id: string, body: DeadLetterAction, options: CallOptions = {}): Promise<DeadLetter> {
    return this.transport.json({ operation: 'dismissDeadLetter', method: 'POST', path: `/v1/dead-letters/${encodeURIComponent(id)}/dismiss`, body, options });
  }

  /** Read why purchases are held, and what is reserved and spent.
   *
   * Scope: `gate:read`.
   */
  getPurchaseGate(options: CallOptions = {}): Promise<PurchaseGate> {
    return this.transport.json({ operation: 'getPurchaseGate', method: 'GET', path: '/v1/purchase-gate', options });
  }

  /** List pauses of buying, newest first.
   *
   * Active pauses; with `ended=true` also ended ones: who paused buying, when and why, and who released it.
   *
   * Scope: `gate:read`.
   */
  listPauses(query: ListPausesQuery = {}, options: CallOptions = {}): Paged<Pause, PausePage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listPauses', method: 'GET', path: '/v1/purchase-gate/pauses', query: { ...query, ...cursor }, options }));
  }

  /** Pause buying: all of it, of one kind, or after one failure class.
   *
   * From now on nothing that the pause covers is sent; a running send ends. Paused work is held, and fails at its deadline like other held work. If the same is paused already, the answer is that pause (200).
   *
   * Scope: `gate:operate`.
   */
  pauseBuying(body: PauseInput, options: WriteOptions = {}): Promise<Pause> {
    return this.transport.json({ operation: 'pauseBuying', method: 'POST', path: '/v1/purchase-gate/pauses', body, keyed: true, options });
  }

  /** Read a pause of buying.
   *
   * Scope: `gate:read`.
   */
  getPause(id: string, options: CallOptions = {}): Promise<Pause> {
    return this.transport.json({ operation: 'getPause', method: 'GET', path: `/v1/purchase-gate/pauses/${encodeURIComponent(id)}`, options });
  }

  /** End a pause; held work continues at a limited rate, oldest first.
   *
   * An ended pause is not changed. Releasing a pause of the origin `first_purchase_check` means buying although the shapes of the service's answers were not seen.
   *
   * Scope: `gate:operate`.
   */
  endPause(id: string, query: EndPauseQuery, options: CallOptions = {}): Promise<Pause> {
    return this.transport.json({ operation: 'endPause', method: 'DELETE', path: `/v1/purchase-gate/pauses/${encodeURIComponent(id)}`, query, options });
  }

  /** Let one purchase of a stopped kind go.
   *
   * The next purchase of the kind is sent, also one of a stopped product if no other waits. It spends money: if it is delivered whole, the others follow; otherwise the kind is stopped again. A purchase that was sent before and shows no result is not waited for any more.
   *
   * Scope: `gate:operate`.
   */
  startAfterDrift(kind: string, query: StartAfterDriftQuery, options: CallOptions = {}): Promise<DriftStop> {
    return this.transport.json({ operation: 'startAfterDrift', method: 'DELETE', path: `/v1/purchase-gate/drift-stops/${encodeURIComponent(kind)}`, query, options });
  }

  /** Read the scopes and limits of your API key.
   *
   * Any valid key.
   */
  getOwnKey(options: CallOptions = {}): Promise<OwnKey> {
    return this.transport.json({ operation: 'getOwnKey', method: 'GET', path: '/v1/key', options });
  }

  /** List eSIMs, newest first.
   *
   * Scope: `esims:read`.
   */
  listEsims(query: ListEsimsQuery = {}, options: CallOptions = {}): Paged<Esim, EsimPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listEsims', method: 'GET', path: '/v1/esims', query: { ...query, ...cursor }, options }));
  }

  /** Read the data usage of an eSIM.
   *
   * Read from the service at each call; `measured_at` is the time of the measurement. If the service cannot be read, the newest stored value (`source`: `stored`), with its age.
   *
   * Scope: `esims:read`.
   */
  getEsimUsage(id: string, options: CallOptions = {}): Promise<EsimUsage> {
    return this.transport.json({ operation: 'getEsimUsage', method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/usage`, options });
  }

  /** Read an eSIM and its installation facts.
   *
   * Scope: `esims:read`.
   */
  getEsim(id: string, options: CallOptions = {}): Promise<Esim> {
    return this.transport.json({ operation: 'getEsim', method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}`, options });
  }

  /** Change the customer reference of an eSIM.
   *
   * The eSIM has the reference of its order until then. The order keeps its own. A change is written to the audit log, without the reference; later top-ups take the new one.
   *
   * Scope: `esims:write`.
   */
  updateEsim(id: string, body: EsimChange, options: CallOptions = {}): Promise<Esim> {
    return this.transport.json({ operation: 'updateEsim', method: 'PATCH', path: `/v1/esims/${encodeURIComponent(id)}`, body, options });
  }

  /** Simulate that a phone installs, activates or uses up an eSIM, in the sandbox.
   *
   * For tests of usage, events and refunds: the service behaves as after the act of a phone. What is new is stored and announced. Refused in production. The audit log contains each call.
   *
   * Scope: `esims:write`.
   */
  simulateEsim(id: string, body: EsimSimulation, options: CallOptions = {}): Promise<Esim> {
    return this.transport.json({ operation: 'simulateEsim', method: 'POST', path: `/v1/esims/${encodeURIComponent(id)}/simulate`, body, options });
  }

  /** List the top-up options of an eSIM.
   *
   * Read from the service at each call. `POST /v1/topups` accepts one of them.
   *
   * Scope: `esims:read`.
   */
  listTopupOptions(id: string, options: CallOptions = {}): Promise<TopupOptions> {
    return this.transport.json({ operation: 'listTopupOptions', method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/topup-options`, options });
  }

  /** Read the activation data of an eSIM.
   *
   * Needs the scope `esims:reveal`. Each read is written to the audit log, and no cache stores it.
   *
   * Scope: `esims:reveal`.
   */
  getEsimActivation(id: string, options: CallOptions = {}): Promise<EsimActivation> {
    return this.transport.json({ operation: 'getEsimActivation', method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/activation`, options });
  }

  /** Get the activation code as a QR code, SVG.
   *
   * Needs the scope `esims:reveal`. Each read is written to the audit log, and no cache stores it.
   *
   * Scope: `esims:reveal`.
   */
  getEsimQrSvg(id: string, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ operation: 'getEsimQrSvg', method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/qr.svg`, options });
  }

  /** Get the activation code as a QR code, PNG.
   *
   * Needs the scope `esims:reveal`. Each read is written to the audit log, and no cache stores it.
   *
   * Scope: `esims:reveal`.
   */
  getEsimQrPng(id: string, options: CallOptions = {}): Promise<Uint8Array> {
    return this.transport.bytes({ operation: 'getEsimQrPng', method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/qr.png`, options });
  }

  /** List the share links of an eSIM, newest first.
   *
   * With ended ones. No answer contains their secrets.
   *
   * Scope: `esims:read`.
   */
  listShareLinks(id: string, query: ListShareLinksQuery = {}, options: CallOptions = {}): Paged<ShareLink, ShareLinkPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listShareLinks', method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/share-links`, query: { ...query, ...cursor }, options }));
  }

  /** Make a link with which your customer installs an eSIM.
   *
   * The page shows the QR code, one-tap installation, the codes and the steps, in the language of the customer. It needs no API key: anybody with the link can install the eSIM. `url` is in this answer only (a repetition with the same Idempotency-Key shows it again). The link ends by itself, or when it is revoked.
   *
   * Scope: `esims:reveal`.
   */
  createShareLink(id: string, body: ShareLinkInput = {}, options: WriteOptions = {}): Promise<CreatedShareLink> {
    return this.transport.json({ operation: 'createShareLink', method: 'POST', path: `/v1/esims/${encodeURIComponent(id)}/share-links`, body, keyed: true, options });
  }

  /** List the share links of all eSIMs, newest first.
   *
   * With ended ones. No answer contains their secrets.
   *
   * Scope: `esims:read`.
   */
  listAllShareLinks(query: ListAllShareLinksQuery = {}, options: CallOptions = {}): Paged<ShareLink, ShareLinkPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listAllShareLinks', method: 'GET', path: '/v1/share-links', query: { ...query, ...cursor }, options }));
  }

  /** Read a share link and how often it was viewed.
   *
   * Scope: `esims:read`.
   */
  getShareLink(id: string, options: CallOptions = {}): Promise<ShareLink> {
    return this.transport.json({ operation: 'getShareLink', method: 'GET', path: `/v1/share-links/${encodeURIComponent(id)}`, options });
  }

  /** Revoke a share link: its page is gone at once.
   *
   * The link can still be read. A revoked link is not changed.
   *
   * Scope: `esims:reveal`.
   */
  revokeShareLink(id: string, options: CallOptions = {}): Promise<ShareLink> {
    return this.transport.json({ operation: 'revokeShareLink', method: 'DELETE', path: `/v1/share-links/${encodeURIComponent(id)}`, options });
  }

  /** Forecast whether the cancellation of an eSIM would be refunded.
   *
   * Reads the five conditions of an automatic refund now. A condition that cannot be read is `unknown`, with the reason. Nothing is changed and nothing is spent. Once the eSIM is being cancelled, its cancellation has the answer.
   *
   * Scope: `esims:read`.
   */
  getCancellationPreflight(id: string, options: CallOptions = {}): Promise<CancellationPreflight> {
    return this.transport.json({ operation: 'getCancellationPreflight', method: 'GET', path: `/v1/esims/${encodeURIComponent(id)}/cancellation-preflight`, options });
  }

  /** List packages with their prices and your suggested prices.
   *
   * As last read from the service, every five minutes by default; also while the service cannot be reached. `read_at` and `age_seconds` tell how old they are. The filters are combined. A cursor continues a list with the same filters and the same order.
   *
   * Scope: `packages:read`.
   */
  listPackages(query: ListPackagesQuery = {}, options: CallOptions = {}): Paged<Package, PackagePage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listPackages', method: 'GET', path: '/v1/packages', query: { ...query, ...cursor }, options }));
  }

  /** Read a package with its price and your suggested price.
   *
   * As last read from the service. A package that the service no longer lists has `removed_at`.
   *
   * Scope: `packages:read`.
   */
  getPackage(id: string | number, options: CallOptions = {}): Promise<PackageWithAge> {
    return this.transport.json({ operation: 'getPackage', method: 'GET', path: `/v1/packages/${encodeURIComponent(id)}`, options });
  }

  /** List VPN plans with their prices and your suggested prices.
   *
   * As last read from the service, every five minutes by default; also while the service cannot be reached. `read_at` and `age_seconds` tell how old they are. The filters are combined.
   *
   * Scope: `vpn:read`.
   */
  listVpnPlans(query: ListVpnPlansQuery = {}, options: CallOptions = {}): Paged<VpnPlan, VpnPlanPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listVpnPlans', method: 'GET', path: '/v1/vpn/plans', query: { ...query, ...cursor }, options }));
  }

  /** Read a VPN plan with its price and your suggested price.
   *
   * As last read from the service. A plan that the service no longer lists has `removed_at`.
   *
   * Scope: `vpn:read`.
   */
  getVpnPlan(id: string | number, options: CallOptions = {}): Promise<VpnPlanWithAge> {
    return this.transport.json({ operation: 'getVpnPlan', method: 'GET', path: `/v1/vpn/plans/${encodeURIComponent(id)}`, options });
  }

  /** Ask what an order, top-up or VPN subscription would cost now.
   *
   * Shows the price, your suggested price, and the known reasons for which the purchase would be refused or held. Nothing is bought, stored or reserved, so no Idempotency-Key is needed, and the state may change until the purchase. With the `id` of the quote as `quote_id`, the quoted price is the `max_price` of the purchase. `esim_id` needs the scope `esims:read`.
   *
   * Scope: `packages:read`.
   */
  createQuote(body: QuoteInput, options: CallOptions = {}): Promise<Quote> {
    return this.transport.json({ operation: 'createQuote', method: 'POST', path: '/v1/quotes', body, options });
  }

  /** List pricing rules, newest first.
   *
   * Scope: `pricing:read`.
   */
  listPricingRules(query: ListPricingRulesQuery = {}, options: CallOptions = {}): Paged<PricingRule, PricingRulePage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listPricingRules', method: 'GET', path: '/v1/pricing/rules', query: { ...query, ...cursor }, options }));
  }

  /** Create a pricing rule.
   *
   * For one package, country or VPN plan, or as the default, in one currency. A second rule with the same target and currency is refused (409). Suggestions use the rule at once.
   *
   * Scope: `pricing:write`.
   */
  createPricingRule(body: NewPricingRule, options: WriteOptions = {}): Promise<PricingRule> {
    return this.transport.json({ operation: 'createPricingRule', method: 'POST', path: '/v1/pricing/rules', body, keyed: true, options });
  }

  /** Try other rules or another price list.
   *
   * Shows the old and the new suggestion of each package and plan with their margins, and which would fall below the minimum if its selling price did not change. Nothing is stored or changed, so no Idempotency-Key is needed.
   *
   * Scope: `pricing:read`.
   */
  tryPricing(body: WhatIfInput = {}, options: CallOptions = {}): Promise<WhatIf> {
    return this.transport.json({ operation: 'tryPricing', method: 'POST', path: '/v1/pricing/what-if', body, options });
  }

  /** Read a pricing rule.
   *
   * Scope: `pricing:read`.
   */
  getPricingRule(id: string, options: CallOptions = {}): Promise<PricingRule> {
    return this.transport.json({ operation: 'getPricingRule', method: 'GET', path: `/v1/pricing/rules/${encodeURIComponent(id)}`, options });
  }

  /** Change the terms of a pricing rule.
   *
   * Replaces all terms. The target cannot be changed: end the rule and create another one.
   *
   * Scope: `pricing:write`.
   */
  changePricingRule(id: string, body: PricingRuleChange, options: CallOptions = {}): Promise<PricingRule> {
    return this.transport.json({ operation: 'changePricingRule', method: 'PATCH', path: `/v1/pricing/rules/${encodeURIComponent(id)}`, body, options });
  }

  /** End a pricing rule.
   *
   * Suggestions use the next less specific rule from now on. The rule and its versions can still be read.
   *
   * Scope: `pricing:write`.
   */
  endPricingRule(id: string, query: EndPricingRuleQuery, options: CallOptions = {}): Promise<PricingRule> {
    return this.transport.json({ operation: 'endPricingRule', method: 'DELETE', path: `/v1/pricing/rules/${encodeURIComponent(id)}`, query, options });
  }

  /** List the versions of a pricing rule, newest first, with author and reason.
   *
   * Scope: `pricing:read`.
   */
  listPricingRuleVersions(id: string, query: ListPricingRuleVersionsQuery = {}, options: CallOptions = {}): Paged<PricingRuleVersion, PricingRuleVersionPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listPricingRuleVersions', method: 'GET', path: `/v1/pricing/rules/${encodeURIComponent(id)}/versions`, query: { ...query, ...cursor }, options }));
  }

  /** Read the balance at the service.
   *
   * Scope: `wallet:read`.
   */
  getWallet(options: CallOptions = {}): Promise<Wallet> {
    return this.transport.json({ operation: 'getWallet', method: 'GET', path: '/v1/wallet', options });
  }

  /** Read how long the wallet lasts.
   *
   * Computed from completed sales of recent days and from reserved and held amounts. An unknown value is null, with the reason.
   *
   * Scope: `wallet:read`.
   */
  getWalletRunway(options: CallOptions = {}): Promise<WalletRunway> {
    return this.transport.json({ operation: 'getWalletRunway', method: 'GET', path: '/v1/wallet/runway', options });
  }

  /** List movements of the wallet with their causes, newest first.
   *
   * Our journal, each row with the movement that the service has shown for it. With `cause=none`: movements of the service without a cause in our journal. The scheduled reconciliation reads the movements; this call does not.
   *
   * Scope: `wallet:read`.
   */
  listWalletTransactions(query: ListWalletTransactionsQuery = {}, options: CallOptions = {}): Paged<WalletTransaction, WalletTransactionPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listWalletTransactions', method: 'GET', path: '/v1/wallet/transactions', query: { ...query, ...cursor }, options }));
  }

  /** Get all movements of the wallet that match as CSV, newest first.
   *
   * Scope: `wallet:read`.
   */
  exportWalletTransactions(query: ExportWalletTransactionsQuery = {}, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ operation: 'exportWalletTransactions', method: 'GET', path: '/v1/wallet/transactions.csv', query, options });
  }

  /** Explain a movement without a cause.
   *
   * Books it as an adjustment, so that it is no longer reported. For a purchase made by hand at the service, a fee, and the like. A movement that has a cause is not changed.
   *
   * Scope: `cases:operate`.
   */
  explainWalletTransaction(id: string, body: WalletTransactionExplanation, options: CallOptions = {}): Promise<WalletTransaction> {
    return this.transport.json({ operation: 'explainWalletTransaction', method: 'POST', path: `/v1/wallet/transactions/${encodeURIComponent(id)}/explain`, body, options });
  }

  /** Sum up sales by day, kind, package and country.
   *
   * Sums of our journal for the given days. Amounts of different currencies are never added: each currency has its own sums. The margin needs `customer_price` of the orders, top-ups and VPN subscriptions.
   *
   * Scope: `wallet:read`.
   */
  getSales(query: GetSalesQuery, options: CallOptions = {}): Promise<SalesSummary> {
    return this.transport.json({ operation: 'getSales', method: 'GET', path: '/v1/sales', query, options });
  }

  /** Get the sums of sales as CSV.
   *
   * Scope: `wallet:read`.
   */
  exportSales(query: ExportSalesQuery, options: CallOptions = {}): Promise<string> {
    return this.transport.text({ operation: 'exportSales', method: 'GET', path: '/v1/sales.csv', query, options });
  }

  /** List comparisons of our books with the wallet, newest first.
   *
   * Scope: `wallet:read`.
   */
  listReconciliations(query: ListReconciliationsQuery = {}, options: CallOptions = {}): Paged<ReconciliationSummary, ReconciliationPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listReconciliations', method: 'GET', path: '/v1/wallet/reconciliations', query: { ...query, ...cursor }, options }));
  }

  /** Read a comparison of our books with the wallet.
   *
   * Scope: `wallet:read`.
   */
  getReconciliation(id: string, options: CallOptions = {}): Promise<Reconciliation> {
    return this.transport.json({ operation: 'getReconciliation', method: 'GET', path: `/v1/wallet/reconciliations/${encodeURIComponent(id)}`, options });
  }

  /** Check for an update of the storefront application.
   *
   * Read from the service at each call.
   *
   * Scope: `updates:read`.
   */
  getLatestUpdate(query: GetLatestUpdateQuery, options: CallOptions = {}): Promise<LatestUpdate> {
    return this.transport.json({ operation: 'getLatestUpdate', method: 'GET', path: '/v1/updates/latest', query, options });
  }

  /** List webhook endpoints, newest first.
   *
   * Scope: `webhook_endpoints:read`.
   */
  listWebhookEndpoints(query: ListWebhookEndpointsQuery = {}, options: CallOptions = {}): Paged<WebhookEndpoint, WebhookEndpointPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listWebhookEndpoints', method: 'GET', path: '/v1/webhook-endpoints', query: { ...query, ...cursor }, options }));
  }

  /** Create a webhook endpoint.
   *
   * Deliveries are signed by Standard Webhooks with the `secret` of this answer, which no other call shows (a repetition with the same Idempotency-Key shows it again). They arrive at least once and in no particular order; docs/how-to/webhooks-out.md shows a receiver.
   *
   * Scope: `webhook_endpoints:write`.
   */
  createWebhookEndpoint(body: WebhookEndpointInput, options: WriteOptions = {}): Promise<CreatedWebhookEndpoint> {
    return this.transport.json({ operation: 'createWebhookEndpoint', method: 'POST', path: '/v1/webhook-endpoints', body, keyed: true, options });
  }

  /** Read a webhook endpoint and its state.
   *
   * Scope: `webhook_endpoints:read`.
   */
  getWebhookEndpoint(id: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.json({ operation: 'getWebhookEndpoint', method: 'GET', path: `/v1/webhook-endpoints/${encodeURIComponent(id)}`, options });
  }

  /** Change the address, the filter or the description of a webhook endpoint.
   *
   * Omitted fields are not changed. Queued deliveries go to the new address, at once if the former one only failed.
   *
   * Scope: `webhook_endpoints:write`.
   */
  updateWebhookEndpoint(id: string, body: WebhookEndpointChange, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.json({ operation: 'updateWebhookEndpoint', method: 'PATCH', path: `/v1/webhook-endpoints/${encodeURIComponent(id)}`, body, options });
  }

  /** Delete a webhook endpoint.
   *
   * Nothing more is sent to it. Its secrets are deleted at once, and its log is no longer shown.
   *
   * Scope: `webhook_endpoints:write`.
   */
  deleteWebhookEndpoint(id: string, options: CallOptions = {}): Promise<DeletedWebhookEndpoint> {
    return this.transport.json({ operation: 'deleteWebhookEndpoint', method: 'DELETE', path: `/v1/webhook-endpoints/${encodeURIComponent(id)}`, options });
  }

  /** Give a webhook endpoint a new secret.
   *
   * During the overlap every delivery has a signature of each secret, so a receiver that knows either accepts it. The new secret is shown in this answer only.
   *
   * Scope: `webhook_endpoints:write`.
   */
  rotateWebhookEndpointSecret(id: string, body: EndpointSecretRotation = {}, options: WriteOptions = {}): Promise<RotatedWebhookSecret> {
    return this.transport.json({ operation: 'rotateWebhookEndpointSecret', method: 'POST', path: `/v1/webhook-endpoints/${encodeURIComponent(id)}/rotate-secret`, body, keyed: true, options });
  }

  /** List the deliveries of a webhook endpoint with each try, newest first.
   *
   * Ended deliveries are stored for some weeks.
   *
   * Scope: `webhook_endpoints:read`.
   */
  listWebhookDeliveries(id: string, query: ListWebhookDeliveriesQuery = {}, options: CallOptions = {}): Paged<WebhookDelivery, WebhookDeliveryPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listWebhookDeliveries', method: 'GET', path: `/v1/webhook-endpoints/${encodeURIComponent(id)}/deliveries`, query: { ...query, ...cursor }, options }));
  }

  /** Stop sending events to a webhook endpoint.
   *
   * Waiting deliveries end as failed; `/enable` can send them later. For an endpoint that we have disabled, it records that you know it, which ends the alert.
   *
   * Scope: `webhook_endpoints:write`.
   */
  disableWebhookEndpoint(id: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.json({ operation: 'disableWebhookEndpoint', method: 'POST', path: `/v1/webhook-endpoints/${encodeURIComponent(id)}/disable`, options });
  }

  /** Send events to a webhook endpoint again.
   *
   * With `replay_missed` also missed events: the first 10,000 are queued at once, the others while these are delivered. `missed_since` shows the start of the remaining ones until all are queued. An enabled endpoint is not changed.
   *
   * Scope: `webhook_endpoints:write`.
   */
  enableWebhookEndpoint(id: string, body: WebhookEndpointEnabling = {}, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.json({ operation: 'enableWebhookEndpoint', method: 'POST', path: `/v1/webhook-endpoints/${encodeURIComponent(id)}/enable`, body, options });
  }

  /** Send a test event to a webhook endpoint.
   *
   * An event `webhook_endpoint.test` is sent like every event, to this endpoint only, also if its filter does not select it, and also while it fails. The delivery with its `event_id` shows the result.
   *
   * Scope: `webhook_endpoints:write`.
   */
  testWebhookEndpoint(id: string, options: WriteOptions = {}): Promise<WebhookTestResult> {
    return this.transport.json({ operation: 'testWebhookEndpoint', method: 'POST', path: `/v1/webhook-endpoints/${encodeURIComponent(id)}/test`, keyed: true, options });
  }

  /** Replay events to a webhook endpoint.
   *
   * One event, one delivery, or events since a time: all, failed or missed ones. They have their former `webhook-id`, so a receiver that ignores known ids does nothing twice.
   *
   * Scope: `webhook_endpoints:write`.
   */
  replayWebhooks(id: string, body: WebhookReplay, options: WriteOptions = {}): Promise<WebhookReplayResult> {
    return this.transport.json({ operation: 'replayWebhooks', method: 'POST', path: `/v1/webhook-endpoints/${encodeURIComponent(id)}/replay`, body, keyed: true, options });
  }

  /** Make the service create its first webhook secret.
   *
   * The service shows it once. It is stored encrypted at once and never shown. Every API process accepts it within seconds; secrets of the configuration remain valid too.
   *
   * Scope: `service:admin`.
   */
  createServiceWebhookSecret(options: WriteOptions = {}): Promise<WebhookSecretStatus> {
    return this.transport.json({ operation: 'createServiceWebhookSecret', method: 'POST', path: '/v1/service/webhook-secret', keyed: true, options });
  }

  /** Make the service replace its webhook secret.
   *
   * The service shows it once. It is stored encrypted at once and never shown. Every API process accepts it within seconds; secrets of the configuration remain valid too.
   *
   * Scope: `service:admin`.
   */
  rotateServiceWebhookSecret(body: WebhookSecretRotation = {}, options: WriteOptions = {}): Promise<WebhookSecretStatus> {
    return this.transport.json({ operation: 'rotateServiceWebhookSecret', method: 'POST', path: '/v1/service/webhook-secret/rotate', body, keyed: true, options });
  }

  /** List the audit log, newest first.
   *
   * Every reveal of an activation code, QR code or VPN access data, every action of an operator, and every change of an API key, a share link, a webhook endpoint, a webhook secret or a pause, by the API or by a command.
   *
   * Scope: `audit:read`.
   */
  listAuditLog(query: ListAuditLogQuery = {}, options: CallOptions = {}): Paged<AuditEntry, AuditPage> {
    return new Paged((cursor) => this.transport.json({ operation: 'listAuditLog', method: 'GET', path: '/v1/audit-log', query: { ...query, ...cursor }, options }));
  }
}
