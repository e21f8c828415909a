// Generated from /openapi.json by `npm run generate:api`; manual changes are lost.

export type WebhookOrderEvent = OrderEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
/**
 * `invalid_request`: The service refused the request as malformed or not allowed. `topup_not_offered`: The service does not offer this package as a top-up of the eSIM. `cancellation_refused`: The service refuses the cancellation. `refund_not_expected`: A condition of the automatic refund is not met, so nothing was sent. `refund_uncertain`: The service does not show whether the conditions of the refund are met, so nothing was sent. `deadline_passed`: The deadline passed before it was sent; nothing was bought. `key_or_reference_used`: The service reports that this key or reference is already used. `supplier_failed`: The service accepted the purchase and then reported it as failed. `timeout`: The service did not answer in time; it may have carried out the request. `connection_lost`: The connection broke after the request was sent; the service may have carried out the request. `server_error`: The service answered with a server error; it may have carried out the request. `unreadable_answer`: The answer of the service could not be read (not JSON, too large, a redirect, or an unexpected status). `contract_drift`: The answer of the service lacks a required field; its interface may have changed. `worker_lost`: The process that sent the request died before it recorded the answer; the service may have carried out the request. `package_unavailable`: The service does not sell this package or VPN plan at the moment. `price_above_limit`: The price charged to the reseller is above the max_price that the caller set. `margin_too_low`: The service charges the reseller more than the customer pays. `esim_busy`: Another top-up or a cancellation of the same eSIM is not settled yet; only one may be under way. `insufficient_balance`: The wallet at the service does not cover the price. `not_approved`: The service answers 403, as it does until it has approved this reseller for production. `unauthorized`: The service refuses our token even after a fresh login, or refuses the login. `rate_limited`: The service limits the rate of our requests. `not_sent`: No connection to the service could be opened, so nothing was sent. `service_down`: The service did not answer earlier requests, so nothing was sent. `spend_limit_reached`: The price is more than what is left of a daily spending limit. `purchases_paused`: Buying is paused: by an operator, or by the product, until the shapes of the answers have been seen or because paid deliveries could not be used. A later version may add values.
 */
export type FailureClass =
  | 'invalid_request'
  | 'topup_not_offered'
  | 'cancellation_refused'
  | 'refund_not_expected'
  | 'refund_uncertain'
  | 'deadline_passed'
  | 'key_or_reference_used'
  | 'supplier_failed'
  | 'timeout'
  | 'connection_lost'
  | 'server_error'
  | 'unreadable_answer'
  | 'contract_drift'
  | 'worker_lost'
  | 'package_unavailable'
  | 'price_above_limit'
  | 'margin_too_low'
  | 'esim_busy'
  | 'insufficient_balance'
  | 'not_approved'
  | 'unauthorized'
  | 'rate_limited'
  | 'not_sent'
  | 'service_down'
  | 'spend_limit_reached'
  | 'purchases_paused'
  | (string & {});
/**
 * `outcome_unknown`: The service may have bought it. Neither a resend nor a look-up has shown the outcome. `failed_but_charged`: The service reports a failure, but its wallet shows a debit for it and no credit. `evidence_unavailable`: The service reports a failure, and the wallet could not be read to prove that nothing was charged. `attempts_used_up`: Every allowed attempt failed, each provably without a charge. `records_lost`: PostgreSQL has lost its records. It may have been bought, and a look-up at the service does not show it. `service_not_answering`: Its look-ups or its sends at the service get no answer. They are repeated automatically. `stalled`: It does not continue for a reason on our side: its sends do not begin, or a report of the service is not processed. It is tried again automatically. `contradiction`: A report of the service contradicts an earlier report or the final status. `contract_drift`: The delivery of the service cannot be read. `delivery_unavailable`: It is bought, but its delivery could not be read from the service for a long time. `iccid_unreadable`: The eSIM was delivered without its ICCID, because the service states it in a form that cannot be read. `charged_above_limit`: The service charged more than the max_price that the caller set. `debited_twice`: The wallet shows one debit too many for it: a second one for one purchase, or one after the end of a subscription. Money was lost. `charge_not_refunded`: It did not succeed, and the wallet shows a debit without a credit for it. `amount_differs`: A charge differs from the listed price, a debit from the charge, or a credit from its debit. `movement_missing`: Our journal has a movement for it that the wallet at the service does not show. `cancellation_refused`: The service does not cancel the subscription. `refund_failed`: The eSIM is cancelled, and the service reports that its refund failed. `refund_missing`: The refund was not decided for a long time, or its money is not in the wallet. `message_quarantined`: A report of the service about it, or a request to start or wake its workflow, cannot be processed and was quarantined. `webhook_conflict`: Two different bodies arrived with one delivery id. A later version may add values.
 */
export type AttentionReason =
  | 'outcome_unknown'
  | 'failed_but_charged'
  | 'evidence_unavailable'
  | 'attempts_used_up'
  | 'records_lost'
  | 'service_not_answering'
  | 'stalled'
  | 'contradiction'
  | 'contract_drift'
  | 'delivery_unavailable'
  | 'iccid_unreadable'
  | 'charged_above_limit'
  | 'debited_twice'
  | 'charge_not_refunded'
  | 'amount_differs'
  | 'movement_missing'
  | 'cancellation_refused'
  | 'refund_failed'
  | 'refund_missing'
  | 'message_quarantined'
  | 'webhook_conflict'
  | (string & {});
export type WebhookOrderBatchEvent = OrderBatchEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookTopupEvent = TopupEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookVpnSubscriptionEvent = VpnSubscriptionEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookVpnSubscriptionRenewedEvent = VpnSubscriptionRenewedEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookVpnSubscriptionExpiringEvent = VpnSubscriptionExpiringEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookCancellationEvent = CancellationEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookRefundEvent = RefundEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookEsimMilestoneEvent = EsimMilestoneEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookEsimDataLowEvent = EsimDataLowEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookEsimExpiringEvent = EsimExpiringEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookPackageEvent = PackageEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookVpnPlanEvent = VpnPlanEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookWalletBalanceEvent = WalletBalanceEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookWalletRunwayEvent = WalletRunwayEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookWebhookEndpointDisabledEvent = WebhookEndpointDisabledEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
export type WebhookWebhookEndpointTestEvent = WebhookEndpointTestEvent & {
  /**
   * Equals `created_at`, with the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
/**
 * An event in a webhook: the same bytes at every try.
 */
export type WebhookEvent =
  | WebhookOrderEvent
  | WebhookOrderBatchEvent
  | WebhookTopupEvent
  | WebhookVpnSubscriptionEvent
  | WebhookVpnSubscriptionRenewedEvent
  | WebhookVpnSubscriptionExpiringEvent
  | WebhookCancellationEvent
  | WebhookRefundEvent
  | WebhookEsimMilestoneEvent
  | WebhookEsimDataLowEvent
  | WebhookEsimExpiringEvent
  | WebhookPackageEvent
  | WebhookVpnPlanEvent
  | WebhookWalletBalanceEvent
  | WebhookWalletRunwayEvent
  | WebhookWebhookEndpointDisabledEvent
  | WebhookWebhookEndpointTestEvent;
/**
 * `invalid_request`: The service refused the request as malformed or not allowed. `topup_not_offered`: The service does not offer this package as a top-up of the eSIM. `cancellation_refused`: The service refuses the cancellation. `refund_not_expected`: A condition of the automatic refund is not met, so nothing was sent. `refund_uncertain`: The service does not show whether the conditions of the refund are met, so nothing was sent. `deadline_passed`: The deadline passed before it was sent; nothing was bought. `key_or_reference_used`: The service reports that this key or reference is already used. `supplier_failed`: The service accepted the purchase and then reported it as failed. `timeout`: The service did not answer in time; it may have carried out the request. `connection_lost`: The connection broke after the request was sent; the service may have carried out the request. `server_error`: The service answered with a server error; it may have carried out the request. `unreadable_answer`: The answer of the service could not be read (not JSON, too large, a redirect, or an unexpected status). `contract_drift`: The answer of the service lacks a required field; its interface may have changed. `worker_lost`: The process that sent the request died before it recorded the answer; the service may have carried out the request. `package_unavailable`: The service does not sell this package or VPN plan at the moment. `price_above_limit`: The price charged to the reseller is above the max_price that the caller set. `margin_too_low`: The service charges the reseller more than the customer pays. `esim_busy`: Another top-up or a cancellation of the same eSIM is not settled yet; only one may be under way. `insufficient_balance`: The wallet at the service does not cover the price. `not_approved`: The service answers 403, as it does until it has approved this reseller for production. `unauthorized`: The service refuses our token even after a fresh login, or refuses the login. `rate_limited`: The service limits the rate of our requests. `not_sent`: No connection to the service could be opened, so nothing was sent. `service_down`: The service did not answer earlier requests, so nothing was sent. `spend_limit_reached`: The price is more than what is left of a daily spending limit. `purchases_paused`: Buying is paused: by an operator, or by the product, until the shapes of the answers have been seen or because paid deliveries could not be used.
 */
export type KnownFailureClass =
  | 'invalid_request'
  | 'topup_not_offered'
  | 'cancellation_refused'
  | 'refund_not_expected'
  | 'refund_uncertain'
  | 'deadline_passed'
  | 'key_or_reference_used'
  | 'supplier_failed'
  | 'timeout'
  | 'connection_lost'
  | 'server_error'
  | 'unreadable_answer'
  | 'contract_drift'
  | 'worker_lost'
  | 'package_unavailable'
  | 'price_above_limit'
  | 'margin_too_low'
  | 'esim_busy'
  | 'insufficient_balance'
  | 'not_approved'
  | 'unauthorized'
  | 'rate_limited'
  | 'not_sent'
  | 'service_down'
  | 'spend_limit_reached'
  | 'purchases_paused';
/**
 * `outcome_unknown`: The service may have bought it. Neither a resend nor a look-up has shown the outcome. `failed_but_charged`: The service reports a failure, but its wallet shows a debit for it and no credit. `evidence_unavailable`: The service reports a failure, and the wallet could not be read to prove that nothing was charged. `attempts_used_up`: Every allowed attempt failed, each provably without a charge. `records_lost`: PostgreSQL has lost its records. It may have been bought, and a look-up at the service does not show it. `service_not_answering`: Its look-ups or its sends at the service get no answer. They are repeated automatically. `stalled`: It does not continue for a reason on our side: its sends do not begin, or a report of the service is not processed. It is tried again automatically. `contradiction`: A report of the service contradicts an earlier report or the final status. `contract_drift`: The delivery of the service cannot be read. `delivery_unavailable`: It is bought, but its delivery could not be read from the service for a long time. `iccid_unreadable`: The eSIM was delivered without its ICCID, because the service states it in a form that cannot be read. `charged_above_limit`: The service charged more than the max_price that the caller set. `debited_twice`: The wallet shows one debit too many for it: a second one for one purchase, or one after the end of a subscription. Money was lost. `charge_not_refunded`: It did not succeed, and the wallet shows a debit without a credit for it. `amount_differs`: A charge differs from the listed price, a debit from the charge, or a credit from its debit. `movement_missing`: Our journal has a movement for it that the wallet at the service does not show. `cancellation_refused`: The service does not cancel the subscription. `refund_failed`: The eSIM is cancelled, and the service reports that its refund failed. `refund_missing`: The refund was not decided for a long time, or its money is not in the wallet. `message_quarantined`: A report of the service about it, or a request to start or wake its workflow, cannot be processed and was quarantined. `webhook_conflict`: Two different bodies arrived with one delivery id.
 */
export type KnownAttentionReason =
  | 'outcome_unknown'
  | 'failed_but_charged'
  | 'evidence_unavailable'
  | 'attempts_used_up'
  | 'records_lost'
  | 'service_not_answering'
  | 'stalled'
  | 'contradiction'
  | 'contract_drift'
  | 'delivery_unavailable'
  | 'iccid_unreadable'
  | 'charged_above_limit'
  | 'debited_twice'
  | 'charge_not_refunded'
  | 'amount_differs'
  | 'movement_missing'
  | 'cancellation_refused'
  | 'refund_failed'
  | 'refund_missing'
  | 'message_quarantined'
  | 'webhook_conflict';
/**
 * The target of a rule. The most specific rule applies: that of the package or plan, else of a country of the package, else the default.
 */
export type PricingTarget =
  | {
      kind: 'default';
    }
  | {
      kind: 'country';
      /**
       * ISO 3166-1 alpha-2 code.
       */
      country: string;
    }
  | {
      kind: 'package';
      /**
       * Id of a package at the service.
       */
      package_id: number;
    }
  | {
      kind: 'vpn_plan';
      /**
       * Id of a VPN plan at the service.
       */
      vpn_plan_id: number;
    };
/**
 * A type, all of one kind (`order.*`), or all (`*`).
 */
export type EventPattern =
  | '*'
  | 'order.*'
  | 'topup.*'
  | 'vpn_subscription.*'
  | 'cancellation.*'
  | 'refund.*'
  | 'order_batch.*'
  | 'wallet.*'
  | 'esim.*'
  | 'package.*'
  | 'vpn_plan.*'
  | 'webhook_endpoint.*'
  | 'order.accepted'
  | 'order.held'
  | 'order.processing'
  | 'order.needs_attention'
  | 'order.completed'
  | 'order.failed'
  | 'order.abandoned'
  | 'topup.accepted'
  | 'topup.held'
  | 'topup.processing'
  | 'topup.needs_attention'
  | 'topup.completed'
  | 'topup.failed'
  | 'topup.abandoned'
  | 'vpn_subscription.accepted'
  | 'vpn_subscription.held'
  | 'vpn_subscription.processing'
  | 'vpn_subscription.needs_attention'
  | 'vpn_subscription.active'
  | 'vpn_subscription.cancelling'
  | 'vpn_subscription.cancelled'
  | 'vpn_subscription.expired'
  | 'vpn_subscription.failed'
  | 'vpn_subscription.abandoned'
  | 'cancellation.accepted'
  | 'cancellation.held'
  | 'cancellation.processing'
  | 'cancellation.needs_attention'
  | 'cancellation.completed'
  | 'cancellation.refused'
  | 'cancellation.abandoned'
  | 'order.in_doubt'
  | 'topup.in_doubt'
  | 'vpn_subscription.in_doubt'
  | 'cancellation.in_doubt'
  | 'refund.expected'
  | 'refund.manual_review'
  | 'refund.completed'
  | 'refund.failed'
  | 'refund.needs_attention'
  | 'order_batch.completed'
  | 'wallet.balance_low'
  | 'wallet.balance_restored'
  | 'esim.installed'
  | 'esim.activated'
  | 'esim.data_low'
  | 'esim.used_up'
  | 'esim.expiring'
  | 'esim.expired'
  | 'vpn_subscription.renewed'
  | 'vpn_subscription.expiring'
  | 'wallet.runway_low'
  | 'wallet.runway_restored'
  | 'package.created'
  | 'package.removed'
  | 'package.unavailable'
  | 'package.available'
  | 'package.price_changed'
  | 'vpn_plan.created'
  | 'vpn_plan.removed'
  | 'vpn_plan.unavailable'
  | 'vpn_plan.available'
  | 'vpn_plan.price_changed'
  | 'webhook_endpoint.disabled'
  | 'webhook_endpoint.test';
/**
 * A scope of an API key. One of `orders:read`, `orders:write`, `orders:operate`, `topups:read`, `topups:write`, `topups:operate`, `vpn:read`, `vpn:write`, `vpn:operate`, `cancellations:read`, `cancellations:write`, `cancellations:operate`, `vpn:reveal`, `gate:read`, `gate:operate`, `cases:operate`, `audit:read`, `esims:read`, `esims:write`, `esims:reveal`, `packages:read`, `pricing:read`, `pricing:write`, `events:read`, `wallet:read`, `updates:read`, `webhook_endpoints:read`, `webhook_endpoints:write`, `service:admin`. A later version may add values.
 */
export type ApiScope =
  | 'orders:read'
  | 'orders:write'
  | 'orders:operate'
  | 'topups:read'
  | 'topups:write'
  | 'topups:operate'
  | 'vpn:read'
  | 'vpn:write'
  | 'vpn:operate'
  | 'cancellations:read'
  | 'cancellations:write'
  | 'cancellations:operate'
  | 'vpn:reveal'
  | 'gate:read'
  | 'gate:operate'
  | 'cases:operate'
  | 'audit:read'
  | 'esims:read'
  | 'esims:write'
  | 'esims:reveal'
  | 'packages:read'
  | 'pricing:read'
  | 'pricing:write'
  | 'events:read'
  | 'wallet:read'
  | 'updates:read'
  | 'webhook_endpoints:read'
  | 'webhook_endpoints:write'
  | 'service:admin'
  | (string & {});
/**
 * `type` determines the content of `data`. A later version may add types, and fields to `data`: ignore a `type` that you do not know, and do not refuse it.
 */
export type Event =
  | OrderEvent
  | OrderBatchEvent
  | TopupEvent
  | VpnSubscriptionEvent
  | VpnSubscriptionRenewedEvent
  | VpnSubscriptionExpiringEvent
  | CancellationEvent
  | RefundEvent
  | EsimMilestoneEvent
  | EsimDataLowEvent
  | EsimExpiringEvent
  | PackageEvent
  | VpnPlanEvent
  | WalletBalanceEvent
  | WalletRunwayEvent
  | WebhookEndpointDisabledEvent
  | WebhookEndpointTestEvent;
/**
 * The target of a rule. The most specific rule applies: that of the package or plan, else of a country of the package, else the default.
 */
export type PricingTargetOutput =
  | {
      kind: 'default';
    }
  | {
      kind: 'country';
      /**
       * ISO 3166-1 alpha-2 code.
       */
      country: string;
    }
  | {
      kind: 'package';
      /**
       * Id of a package at the service.
       */
      package_id: number;
    }
  | {
      kind: 'vpn_plan';
      /**
       * Id of a VPN plan at the service.
       */
      vpn_plan_id: number;
    };

export interface OrderEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `order.accepted`: The order was accepted and stored. `order.held`: The order is held until an obstacle passes. `order.processing`: The order was accepted by the service. `order.needs_attention`: The order waits for a person. `order.completed`: The order is completed. `order.failed`: The order has failed; nothing was bought. `order.abandoned`: The order was abandoned by an operator. `order.in_doubt`: The order had ended, and a later report or a debit of the service contradicts its end; a case is open.
   */
  type:
    | 'order.accepted'
    | 'order.held'
    | 'order.processing'
    | 'order.needs_attention'
    | 'order.completed'
    | 'order.failed'
    | 'order.abandoned'
    | 'order.in_doubt';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'order';
    /**
     * Id of the order.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * The new status, which is also in the type. One of `accepted`, `held`, `processing`, `needs_attention`, `completed`, `failed`, `abandoned`. A later version may add values.
     */
    status:
      'accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned' | (string & {});
    /**
     * The previously announced status; null when there was none, or its event is no longer stored.
     */
    previous_status:
      | ('accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned' | (string & {}))
      | null;
    /**
     * Your reference of the order.
     */
    external_order_id: string;
    /**
     * Id of a package at the service.
     */
    package_id: number;
    /**
     * Id of the eSIM; null until it is delivered.
     */
    esim_id: string | null;
    /**
     * Id of the batch that it was accepted with; null: ordered by itself. Absent in events of earlier versions.
     */
    batch_id?: string | null;
    /**
     * Why it failed or is held; null otherwise. Equals `failure.class` of the resource.
     */
    failure_class: FailureClass | null;
    /**
     * Why it was not tried again. Equals `failure.ended_by` of the resource. Absent in events of earlier versions.
     */
    failure_ended_by?: ('attempts_used_up' | 'deadline_passed' | (string & {})) | null;
    /**
     * The reason in the words of the service, as `failure.service_message` of the resource. Absent in events of earlier versions.
     */
    service_message?: string | null;
    /**
     * Why it needs attention; null when it does not. Equals `operations.attention.reason` of the resource.
     */
    attention_reason: AttentionReason | null;
    /**
     * Amount that the service charged; null until it is known.
     */
    charged: Money | null;
  };
}
/**
 * An exact amount with its currency; never a float.
 */
export interface Money {
  /**
   * Exact decimal amount.
   */
  amount: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
}
export interface OrderBatchEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `order_batch.completed`: The last order of the batch has ended: completed, failed or abandoned.
   */
  type: 'order_batch.completed';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'order_batch';
    /**
     * Id of the batch of orders.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Your reference of the batch.
     */
    external_batch_id: string;
    /**
     * Number of its orders.
     */
    size: number;
    /**
     * Number of orders that ended as `completed`.
     */
    completed: number;
    /**
     * Number of orders that ended as `failed`.
     */
    failed: number;
    /**
     * Number of orders that ended as `abandoned`.
     */
    abandoned: number;
  };
}
export interface TopupEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `topup.accepted`: The top-up was accepted and stored. `topup.held`: The top-up is held until an obstacle passes. `topup.processing`: The top-up was accepted by the service. `topup.needs_attention`: The top-up waits for a person. `topup.completed`: The top-up is completed. `topup.failed`: The top-up has failed; nothing was bought. `topup.abandoned`: The top-up was abandoned by an operator. `topup.in_doubt`: The top-up had ended, and a later report or a debit of the service contradicts its end; a case is open.
   */
  type:
    | 'topup.accepted'
    | 'topup.held'
    | 'topup.processing'
    | 'topup.needs_attention'
    | 'topup.completed'
    | 'topup.failed'
    | 'topup.abandoned'
    | 'topup.in_doubt';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'topup';
    /**
     * Id of the top-up.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * The new status, which is also in the type. One of `accepted`, `held`, `processing`, `needs_attention`, `completed`, `failed`, `abandoned`. A later version may add values.
     */
    status:
      'accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned' | (string & {});
    /**
     * The previously announced status; null when there was none, or its event is no longer stored.
     */
    previous_status:
      | ('accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned' | (string & {}))
      | null;
    /**
     * Your reference of the top-up; null when you gave none.
     */
    external_topup_id: string | null;
    /**
     * Id of a package at the service.
     */
    package_id: number;
    /**
     * Id of the recharged eSIM.
     */
    esim_id: string;
    /**
     * Why it failed or is held; null otherwise. Equals `failure.class` of the resource.
     */
    failure_class: FailureClass | null;
    /**
     * Why it was not tried again. Equals `failure.ended_by` of the resource. Absent in events of earlier versions.
     */
    failure_ended_by?: ('attempts_used_up' | 'deadline_passed' | (string & {})) | null;
    /**
     * The reason in the words of the service, as `failure.service_message` of the resource. Absent in events of earlier versions.
     */
    service_message?: string | null;
    /**
     * Why it needs attention; null when it does not. Equals `operations.attention.reason` of the resource.
     */
    attention_reason: AttentionReason | null;
    /**
     * Amount that the service charged; null until it is known.
     */
    charged: Money | null;
  };
}
export interface VpnSubscriptionEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `vpn_subscription.accepted`: The VPN subscription was accepted and stored. `vpn_subscription.held`: The VPN subscription is held until an obstacle passes. `vpn_subscription.processing`: The VPN subscription was accepted by the service. `vpn_subscription.needs_attention`: The VPN subscription waits for a person. `vpn_subscription.active`: The VPN subscription is active. `vpn_subscription.cancelling`: The VPN subscription is being cancelled. `vpn_subscription.cancelled`: The VPN subscription is cancelled. `vpn_subscription.expired`: The VPN subscription has expired. `vpn_subscription.failed`: The VPN subscription has failed; nothing was bought. `vpn_subscription.abandoned`: The VPN subscription was abandoned by an operator. `vpn_subscription.in_doubt`: The VPN subscription had ended, and a later report or a debit of the service contradicts its end; a case is open.
   */
  type:
    | 'vpn_subscription.accepted'
    | 'vpn_subscription.held'
    | 'vpn_subscription.processing'
    | 'vpn_subscription.needs_attention'
    | 'vpn_subscription.active'
    | 'vpn_subscription.cancelling'
    | 'vpn_subscription.cancelled'
    | 'vpn_subscription.expired'
    | 'vpn_subscription.failed'
    | 'vpn_subscription.abandoned'
    | 'vpn_subscription.in_doubt';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'vpn_subscription';
    /**
     * Id of the VPN subscription.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * The new status, which is also in the type. One of `accepted`, `held`, `processing`, `needs_attention`, `active`, `cancelling`, `cancelled`, `expired`, `failed`, `abandoned`. A later version may add values.
     */
    status:
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
      | (string & {});
    /**
     * The previously announced status; null when there was none, or its event is no longer stored.
     */
    previous_status:
      | (
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
          | (string & {})
        )
      | null;
    /**
     * Your reference of the VPN subscription.
     */
    external_subscription_id: string;
    /**
     * Id of a VPN plan at the service.
     */
    vpn_plan_id: number;
    /**
     * When its paid period ends, if the service gives a time. RFC 3339. Absent in events of earlier versions.
     */
    current_period_end?: string | null;
    /**
     * When it ended; null until then. RFC 3339. Absent in events of earlier versions.
     */
    ended_at?: string | null;
    /**
     * When the service accepted its cancellation, or cancelled it by itself. RFC 3339. Absent in events of earlier versions.
     */
    cancelled_at?: string | null;
    /**
     * Why it failed or is held; null otherwise. Equals `failure.class` of the resource.
     */
    failure_class: FailureClass | null;
    /**
     * Why it was not tried again. Equals `failure.ended_by` of the resource. Absent in events of earlier versions.
     */
    failure_ended_by?: ('attempts_used_up' | 'deadline_passed' | (string & {})) | null;
    /**
     * The reason in the words of the service, as `failure.service_message` of the resource. Absent in events of earlier versions.
     */
    service_message?: string | null;
    /**
     * Why it needs attention; null when it does not. Equals `operations.attention.reason` of the resource.
     */
    attention_reason: AttentionReason | null;
    /**
     * Amount that the service charged; null until it is known.
     */
    charged: Money | null;
  };
}
export interface VpnSubscriptionRenewedEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `vpn_subscription.renewed`: The service has renewed the VPN subscription: its paid period ends later than before.
   */
  type: 'vpn_subscription.renewed';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'vpn_subscription';
    /**
     * Id of the VPN subscription.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Your reference of the VPN subscription.
     */
    external_subscription_id: string;
    /**
     * End of the paid period now. RFC 3339.
     */
    expires_at: string;
    /**
     * End of the paid period before. RFC 3339.
     */
    previous_expires_at: string;
  };
}
export interface VpnSubscriptionExpiringEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `vpn_subscription.expiring`: The paid period of the VPN subscription is about to end. Once for each threshold and period.
   */
  type: 'vpn_subscription.expiring';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'vpn_subscription';
    /**
     * Id of the VPN subscription.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Your reference of the VPN subscription. Absent in events of earlier versions.
     */
    external_subscription_id?: string;
    /**
     * End of the paid period. RFC 3339.
     */
    expires_at: string;
    /**
     * Seconds before the end: the threshold that was reached.
     */
    threshold_seconds: number;
  };
}
export interface CancellationEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `cancellation.accepted`: The cancellation was accepted and stored. `cancellation.held`: The cancellation is held until an obstacle passes. `cancellation.processing`: The cancellation was accepted by the service. `cancellation.needs_attention`: The cancellation waits for a person. `cancellation.completed`: The cancellation is completed. `cancellation.refused`: The cancellation was refused; the eSIM is unchanged. `cancellation.abandoned`: The cancellation was abandoned by an operator. `cancellation.in_doubt`: The cancellation had ended, and a later report or a debit of the service contradicts its end; a case is open.
   */
  type:
    | 'cancellation.accepted'
    | 'cancellation.held'
    | 'cancellation.processing'
    | 'cancellation.needs_attention'
    | 'cancellation.completed'
    | 'cancellation.refused'
    | 'cancellation.abandoned'
    | 'cancellation.in_doubt';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'cancellation';
    /**
     * Id of the cancellation.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * The new status, which is also in the type. One of `accepted`, `held`, `processing`, `needs_attention`, `completed`, `refused`, `abandoned`. A later version may add values.
     */
    status:
      'accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned' | (string & {});
    /**
     * The previously announced status; null when there was none, or its event is no longer stored.
     */
    previous_status:
      | ('accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned' | (string & {}))
      | null;
    /**
     * What the caller wants if a condition of the refund is not met. One of `refuse`, `ask_for_review`, `cancel_without_refund`. A later version may add values.
     */
    on_unmet_conditions: 'refuse' | 'ask_for_review' | 'cancel_without_refund' | (string & {});
    /**
     * Id of the eSIM to cancel.
     */
    esim_id: string;
    /**
     * Why it failed or is held; null otherwise. Equals `failure.class` of the resource.
     */
    failure_class: FailureClass | null;
    /**
     * Why it was not tried again. Equals `failure.ended_by` of the resource. Absent in events of earlier versions.
     */
    failure_ended_by?: ('attempts_used_up' | 'deadline_passed' | (string & {})) | null;
    /**
     * The reason in the words of the service, as `failure.service_message` of the resource. Absent in events of earlier versions.
     */
    service_message?: string | null;
    /**
     * Why it needs attention; null when it does not. Equals `operations.attention.reason` of the resource.
     */
    attention_reason: AttentionReason | null;
  };
}
export interface RefundEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `refund.expected`: The refund is expected. `refund.manual_review`: The refund is reviewed by a person at the service. `refund.completed`: The refund is in the wallet. `refund.failed`: The refund will not come. `refund.needs_attention`: The refund waits for a person.
   */
  type: 'refund.expected' | 'refund.manual_review' | 'refund.completed' | 'refund.failed' | 'refund.needs_attention';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'refund';
    /**
     * Id of the refund.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * The new status, which is also in the type. One of `expected`, `manual_review`, `completed`, `failed`, `needs_attention`. A later version may add values.
     */
    status: 'expected' | 'manual_review' | 'completed' | 'failed' | 'needs_attention' | (string & {});
    /**
     * The previously announced status; null when there was none, or its event is no longer stored.
     */
    previous_status: ('expected' | 'manual_review' | 'completed' | 'failed' | 'needs_attention' | (string & {})) | null;
    /**
     * Id of its cancellation.
     */
    cancellation_id: string;
    /**
     * Id of the refunded order.
     */
    order_id: string;
    /**
     * Id of the cancelled eSIM.
     */
    esim_id: string;
    /**
     * Amount of the refund; null until it is known.
     */
    amount: Money | null;
  };
}
export interface EsimMilestoneEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `esim.installed`: A phone has installed the eSIM. Once for each eSIM. `esim.activated`: The eSIM is in use for the first time. Once for each eSIM. `esim.used_up`: The data of the eSIM is used up. Once for each eSIM, and again after a top-up. `esim.expired`: The eSIM has expired. Once for each eSIM.
   */
  type: 'esim.installed' | 'esim.activated' | 'esim.used_up' | 'esim.expired';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'esim';
    /**
     * Id of the eSIM.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Id of the order that delivered the eSIM.
     */
    order_id: string;
    /**
     * Your reference of the order.
     */
    external_order_id: string;
    /**
     * Time of the installation, as the service reports it; null when it does not say. RFC 3339.
     */
    installed_at: string | null;
    /**
     * Time of the first use, as the service reports it; null when it does not say. RFC 3339.
     */
    activated_at: string | null;
    /**
     * End of the eSIM, as the service reports it; null when it does not say. RFC 3339.
     */
    expires_at: string | null;
    /**
     * Used megabytes; null when they were not read.
     */
    data_used_mb: number | null;
    /**
     * Total megabytes; null when they are unlimited or were not read.
     */
    data_total_mb: number | null;
    /**
     * When it was read from the service. RFC 3339.
     */
    read_at: string;
  };
}
export interface EsimDataLowEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `esim.data_low`: The remaining data of the eSIM has reached a threshold. Once for each threshold, and again after a top-up.
   */
  type: 'esim.data_low';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'esim';
    /**
     * Id of the eSIM.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Id of the order that delivered the eSIM. Absent in events of earlier versions.
     */
    order_id?: string;
    /**
     * Your reference of the order. Absent in events of earlier versions.
     */
    external_order_id?: string;
    /**
     * Used megabytes.
     */
    data_used_mb: number;
    /**
     * Total megabytes.
     */
    data_total_mb: number;
    /**
     * Remaining megabytes.
     */
    data_left_mb: number;
    /**
     * The remaining share, from 0 to 1, with four decimal places: 0.1992 is 19.92 %.
     */
    share_left: number;
    /**
     * The reached threshold, as a share from 0 to 1; the lowest of several.
     */
    threshold_share: number;
    /**
     * When the supplier measured it; null when the service does not say. RFC 3339.
     */
    measured_at: string | null;
    /**
     * When it was read from the service. RFC 3339.
     */
    read_at: string;
  };
}
export interface EsimExpiringEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `esim.expiring`: The eSIM is about to expire. Once for each threshold, and again after a top-up.
   */
  type: 'esim.expiring';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'esim';
    /**
     * Id of the eSIM.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Id of the order that delivered the eSIM. Absent in events of earlier versions.
     */
    order_id?: string;
    /**
     * Your reference of the order. Absent in events of earlier versions.
     */
    external_order_id?: string;
    /**
     * End of the eSIM, as last reported by the service. RFC 3339.
     */
    expires_at: string;
    /**
     * Seconds before the end: the threshold that was reached.
     */
    threshold_seconds: number;
  };
}
export interface PackageEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `package.created`: The service lists the package for the first time, or again. `package.removed`: The service no longer lists the package. `package.unavailable`: The service does not sell the package for now. `package.available`: The service sells the package again. `package.price_changed`: The service charges another price for the package.
   */
  type: 'package.created' | 'package.removed' | 'package.unavailable' | 'package.available' | 'package.price_changed';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'package';
    /**
     * Id of the package at the service.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Name of the package.
     */
    name: string;
    /**
     * Whether the service sells the package now.
     */
    available: boolean;
    /**
     * Price that the service charges the reseller; the last known one when it is removed.
     */
    price_for_reseller: Money;
    /**
     * The price before; equal if it has not changed, null for a new package.
     */
    previous_price_for_reseller: Money | null;
  };
}
export interface VpnPlanEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `vpn_plan.created`: The service lists the VPN plan for the first time, or again. `vpn_plan.removed`: The service no longer lists the VPN plan. `vpn_plan.unavailable`: The service does not sell the VPN plan for now. `vpn_plan.available`: The service sells the VPN plan again. `vpn_plan.price_changed`: The service charges another price for the VPN plan.
   */
  type:
    'vpn_plan.created' | 'vpn_plan.removed' | 'vpn_plan.unavailable' | 'vpn_plan.available' | 'vpn_plan.price_changed';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'vpn_plan';
    /**
     * Id of the VPN plan at the service.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Name of the VPN plan.
     */
    name: string;
    /**
     * Whether the service sells the VPN plan now.
     */
    available: boolean;
    /**
     * Price that the service charges the reseller; the last known one when it is removed.
     */
    price_for_reseller: Money;
    /**
     * The price before; equal if it has not changed, null for a new VPN plan.
     */
    previous_price_for_reseller: Money | null;
  };
}
export interface WalletBalanceEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `wallet.balance_low`: The balance of the wallet is below the threshold. `wallet.balance_restored`: The balance of the wallet is no longer below the threshold.
   */
  type: 'wallet.balance_low' | 'wallet.balance_restored';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'wallet';
    /**
     * Id of the wallet: there is one.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Balance of the wallet when it was read.
     */
    balance: Money;
    /**
     * The threshold (`wallet.low_balance`); null when it was removed, which ends the state.
     */
    threshold: Money | null;
  };
}
export interface WalletRunwayEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `wallet.runway_low`: At the rate of recent sales, the wallet lasts for less time than the threshold. `wallet.runway_restored`: At the rate of recent sales, the wallet lasts at least as long as the threshold again.
   */
  type: 'wallet.runway_low' | 'wallet.runway_restored';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'wallet';
    /**
     * Id of the wallet: there is one.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * Time that the wallet lasts at the mean of recent sales. Days, to one decimal place.
     */
    days: number;
    /**
     * The same with sales one standard deviation above the mean. Days, to one decimal place.
     */
    earliest_days: number;
    /**
     * The same with sales one standard deviation below the mean. Days, to one decimal place.
     */
    latest_days: number;
    /**
     * The threshold (`wallet.runway_low`). Days, to one decimal place.
     */
    threshold_days: number;
    /**
     * The balance less what is reserved and held; may be below zero.
     */
    available: Money;
    /**
     * Mean sales in 24 hours.
     */
    daily_sales: Money;
  };
}
export interface WebhookEndpointDisabledEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `webhook_endpoint.disabled`: We disabled a webhook endpoint because it failed for too long or answered 410 (gone).
   */
  type: 'webhook_endpoint.disabled';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'webhook_endpoint';
    /**
     * Id of the webhook endpoint.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * `gone`: It answered 410 (gone): it wants no more deliveries. `failing`: It had failed for too long. A later version may add values.
     */
    reason: 'gone' | 'failing' | (string & {});
    /**
     * Result of the last try, as text.
     */
    detail: string;
    /**
     * Time of the first of the failed tries in a row. RFC 3339.
     */
    failing_since: string | null;
  };
}
export interface WebhookEndpointTestEvent {
  /**
   * Id of an event.
   */
  id: string;
  /**
   * `webhook_endpoint.test`: A test of a webhook endpoint was requested. It is sent to that endpoint only.
   */
  type: 'webhook_endpoint.test';
  /**
   * Time of the change. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'webhook_endpoint';
    /**
     * Id of the webhook endpoint.
     */
    id: string;
    /**
     * Path of the current state.
     */
    href: string;
  };
  /**
   * Facts at the time of the event. Read `subject.href` for the current state.
   */
  data: {
    /**
     * A human-readable sentence.
     */
    message: string;
  };
}
export interface OrderInput {
  /**
   * Id of a package at the service.
   */
  package_id: number;
  /**
   * Your reference. It gets one order, also after repeated requests. Only after that has ended without buying (`failed` or `abandoned`) the reference can be used again, with another Idempotency-Key.
   */
  external_order_id: string;
  /**
   * IMEI of the device: 14 to 16 digits. Stored encrypted, sent to the service, never returned.
   */
  device_imei?: string;
  /**
   * Maximum that the service may charge, in the currency of its price. While its price is higher, the order is held. A limit in another currency is refused with 422; if the currency of the price is not known when the order is accepted, it is held until the limit is changed.
   */
  max_price?: MoneyInput;
  /**
   * Price that your customer pays, in the currency of the price of the service. It is for the summary of sales and limits nothing: give `max_price` for that.
   */
  customer_price?: MoneyInput;
  /**
   * The `id` of a quote for the same purchase, at most 15 minutes old: its price becomes the `max_price`, which must then not be given.
   */
  quote_id?: string;
  /**
   * What happens if the service does not sell it at the moment: the order is refused with 422, or it is held until the service sells it or the deadline passes.
   */
  if_unavailable?: 'refuse' | 'hold';
  /**
   * Work that is still held or not sent yet then fails without having bought. Must be in the future. Default and maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of failure).
   */
  deadline?: string;
  /**
   * What follows when every attempt has failed and provably cost nothing: the order fails, or it asks a person (`needs_attention`) until its deadline. Default: `retry.when_attempts_are_used_up`.
   */
  when_attempts_are_used_up?: 'fail' | 'ask';
  /**
   * Your reference of the customer. Stored encrypted; in no event and no log.
   */
  customer_reference?: string;
  /**
   * Your own data, returned unchanged. Not encrypted: do not include personal data.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface MoneyInput {
  /**
   * Exact decimal amount.
   */
  amount: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
}
export interface OrderBulkAction {
  /**
   * The action; each is described at `POST /v1/orders/{id}/…`.
   */
  action: 'retry' | 'release' | 'abandon' | 'limit' | 'resolve';
  /**
   * Which orders: all that match every given condition. Without `ids`, `status` and `attention` only those that have not ended.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: string[];
    /**
     * A status, as an order shows it.
     */
    status?:
      'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
    failure_class?: KnownFailureClass;
    attention?: KnownAttentionReason;
    /**
     * Only resources created with this API key; after rotations the id of the first key of the lineage.
     */
    created_by?: string;
    /**
     * RFC 3339 time.
     */
    created_after?: string;
    /**
     * RFC 3339 time.
     */
    created_before?: string;
  };
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * Required with `limit`; `null` removes the limit.
   */
  max_price?: MoneyInput | null;
  /**
   * Required with `resolve`: the reason of the open case.
   */
  case?: KnownAttentionReason;
  /**
   * Required with `resolve`: the verdict for all of them.
   */
  verdict?: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy again (default), or abandon it.
   */
  next?: 'continue' | 'abandon';
  /**
   * Only report the result for each. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface OperatorAction {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
}
export interface LimitChange {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * `null` removes the limit.
   */
  max_price: MoneyInput | null;
}
export interface RetryPolicyChange {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * Total attempts, including those made. With a lower number than those made, no other one follows.
   */
  attempts?: number | null;
  /**
   * First wait; doubled each time.
   */
  first_wait_seconds?: number | null;
  /**
   * Longest wait.
   */
  longest_wait_seconds?: number | null;
  /**
   * Replaces the deadline of the caller and the configured one; in the future, and at most 92 days ahead.
   */
  deadline?: string | null;
}
export interface OrderCaseResolution {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * The reason of the open case, as `operations.attention.reason` shows it.
   */
  case: KnownAttentionReason;
  /**
   * `bought`: The service sold it, under the given id. It will be delivered. `not_bought`: The service sold nothing and keeps no money for this attempt. It may be bought again. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct. The work continues from its stored state.
   */
  verdict: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy again (default), or abandon it.
   */
  next?: 'continue' | 'abandon';
  /**
   * With `bought`: the order at the service, if it is not known yet.
   */
  service_order_id?: string;
  /**
   * With `bought`: the eSIM at the service. Without it the eSIM is looked up.
   */
  service_esim_id?: string;
}
export interface TopupInput {
  /**
   * Id of an eSIM.
   */
  esim_id: string;
  /**
   * One of the eSIM's top-up options.
   */
  package_id: number;
  /**
   * Your reference. It gets one top-up, also after repeated requests. Only after that has ended without buying (`failed` or `abandoned`) the reference can be used again, with another Idempotency-Key.
   */
  external_topup_id?: string;
  /**
   * Maximum that the service may charge, in the currency of its price. While its price is higher, the top-up is held. A limit in another currency is refused with 422; if the currency of the price is not known when the top-up is accepted, it is held until the limit is changed.
   */
  max_price?: MoneyInput;
  /**
   * Price that your customer pays, in the currency of the price of the service. It is for the summary of sales and limits nothing: give `max_price` for that.
   */
  customer_price?: MoneyInput;
  /**
   * The `id` of a quote for the same purchase, at most 15 minutes old: its price becomes the `max_price`, which must then not be given.
   */
  quote_id?: string;
  /**
   * What happens if the service does not sell it at the moment: the top-up is refused with 422, or it is held until the service sells it or the deadline passes.
   */
  if_unavailable?: 'refuse' | 'hold';
  /**
   * Work that is still held or not sent yet then fails without having bought. Must be in the future. Default and maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of failure).
   */
  deadline?: string;
  /**
   * What follows when every attempt has failed and provably cost nothing: the top-up fails, or it asks a person (`needs_attention`) until its deadline. Default: `retry.when_attempts_are_used_up`.
   */
  when_attempts_are_used_up?: 'fail' | 'ask';
  /**
   * Your reference of the customer. Without it, that of the eSIM. Stored encrypted.
   */
  customer_reference?: string;
  /**
   * Your own data, returned unchanged. Not encrypted: do not include personal data.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface TopupBulkAction {
  /**
   * The action; each is described at `POST /v1/topups/{id}/…`.
   */
  action: 'retry' | 'release' | 'abandon' | 'limit' | 'resolve';
  /**
   * Which top-ups: all that match every given condition. Without `ids`, `status` and `attention` only those that have not ended.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: string[];
    /**
     * A status, as a top-up shows it.
     */
    status?:
      'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
    failure_class?: KnownFailureClass;
    attention?: KnownAttentionReason;
    /**
     * Only resources created with this API key; after rotations the id of the first key of the lineage.
     */
    created_by?: string;
    /**
     * RFC 3339 time.
     */
    created_after?: string;
    /**
     * RFC 3339 time.
     */
    created_before?: string;
  };
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * Required with `limit`; `null` removes the limit.
   */
  max_price?: MoneyInput | null;
  /**
   * Required with `resolve`: the reason of the open case.
   */
  case?: KnownAttentionReason;
  /**
   * Required with `resolve`: the verdict for all of them.
   */
  verdict?: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy again (default), or abandon it.
   */
  next?: 'continue' | 'abandon';
  /**
   * Only report the result for each. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface TopupCaseResolution {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * The reason of the open case, as `operations.attention.reason` shows it.
   */
  case: KnownAttentionReason;
  /**
   * `bought`: The service sold it, under the given id. It will be delivered. `not_bought`: The service sold nothing and keeps no money for this attempt. It may be bought again. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct. The work continues from its stored state.
   */
  verdict: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy again (default), or abandon it.
   */
  next?: 'continue' | 'abandon';
  /**
   * With `bought`: the top-up at the service, if it is not known yet.
   */
  service_topup_id?: string;
}
export interface VpnSubscriptionInput {
  /**
   * Id of a VPN plan at the service.
   */
  vpn_plan_id: number;
  /**
   * Your reference. It gets one VPN subscription, also after repeated requests. Only after that has ended without buying (`failed` or `abandoned`) the reference can be used again, with another Idempotency-Key.
   */
  external_subscription_id: string;
  /**
   * Maximum that the service may charge, in the currency of its price. While its price is higher, the VPN subscription is held. A limit in another currency is refused with 422; if the currency of the price is not known when the VPN subscription is accepted, it is held until the limit is changed.
   */
  max_price?: MoneyInput;
  /**
   * Price that the customer pays, in the currency of the plan. While the service charges more, the order is held.
   */
  customer_price: MoneyInput;
  /**
   * The `id` of a quote for the same purchase, at most 15 minutes old: its price becomes the `max_price`, which must then not be given.
   */
  quote_id?: string;
  /**
   * What happens if the service does not sell it at the moment: the VPN subscription is refused with 422, or it is held until the service sells it or the deadline passes.
   */
  if_unavailable?: 'refuse' | 'hold';
  /**
   * Work that is still held or not sent yet then fails without having bought. Must be in the future. Default and maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of failure).
   */
  deadline?: string;
  /**
   * What follows when every attempt has failed and provably cost nothing: the VPN subscription fails, or it asks a person (`needs_attention`) until its deadline. Default: `retry.when_attempts_are_used_up`.
   */
  when_attempts_are_used_up?: 'fail' | 'ask';
  /**
   * Your reference of the customer. Stored encrypted, and sent to the service.
   */
  customer_reference: string;
  /**
   * Your own data, returned unchanged. Not encrypted: do not include personal data.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface VpnSubscriptionBulkAction {
  /**
   * The action; each is described at `POST /v1/vpn/subscriptions/{id}/…`.
   */
  action: 'retry' | 'release' | 'abandon' | 'limit' | 'resolve';
  /**
   * Which VPN subscriptions: all that match every given condition. Without `ids`, `status` and `attention` only those that have not ended.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: string[];
    /**
     * A status, as a VPN subscription shows it.
     */
    status?:
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
    failure_class?: KnownFailureClass;
    attention?: KnownAttentionReason;
    /**
     * Only resources created with this API key; after rotations the id of the first key of the lineage.
     */
    created_by?: string;
    /**
     * RFC 3339 time.
     */
    created_after?: string;
    /**
     * RFC 3339 time.
     */
    created_before?: string;
  };
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * Required with `limit`; `null` removes the limit.
   */
  max_price?: MoneyInput | null;
  /**
   * Required with `resolve`: the reason of the open case.
   */
  case?: KnownAttentionReason;
  /**
   * Required with `resolve`: the verdict for all of them.
   */
  verdict?: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy again (default), or abandon it.
   */
  next?: 'continue' | 'abandon';
  /**
   * Only report the result for each. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface VpnCancellation {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason?: string;
}
export interface VpnSubscriptionCaseResolution {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * The reason of the open case, as `operations.attention.reason` shows it.
   */
  case: KnownAttentionReason;
  /**
   * `bought`: The service sold it, under the given id. It will be delivered. `not_bought`: The service sold nothing and keeps no money for this attempt. It may be bought again. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct. The work continues from its stored state.
   */
  verdict: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy again (default), or abandon it.
   */
  next?: 'continue' | 'abandon';
  /**
   * With `bought`: the subscription at the service, if it is not known yet.
   */
  service_subscription_id?: string;
}
export interface CancellationInput {
  /**
   * Your reason. Not encrypted: do not include personal data.
   */
  reason?: string;
  /**
   * What you want if a condition of the automatic refund is not met, or is not known. `refuse`: nothing is sent, and the cancellation is refused. `ask_for_review`: it is sent, and the service decides; if it cancels the eSIM without a refund, the cancellation needs attention. `cancel_without_refund`: it is sent, and is completed also if no refund comes. With the last two the service can still refuse.
   */
  on_unmet_conditions?: 'refuse' | 'ask_for_review' | 'cancel_without_refund';
  /**
   * Work that is still held or not sent yet then is refused without having been sent. Must be in the future. Default and maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of failure).
   */
  deadline?: string;
  /**
   * Your own data, returned unchanged. Not encrypted: do not include personal data.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface CancellationBulkAction {
  /**
   * The action; each is described at `POST /v1/cancellations/{id}/…`.
   */
  action: 'retry' | 'abandon' | 'resolve';
  /**
   * Which cancellations: all that match every given condition. Without `ids`, `status` and `attention` only those that have not ended.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: string[];
    /**
     * A status, as a cancellation shows it.
     */
    status?:
      'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned';
    failure_class?: KnownFailureClass;
    attention?: KnownAttentionReason;
    /**
     * Only resources created with this API key; after rotations the id of the first key of the lineage.
     */
    created_by?: string;
    /**
     * RFC 3339 time.
     */
    created_after?: string;
    /**
     * RFC 3339 time.
     */
    created_before?: string;
  };
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * Required with `limit`; `null` removes the limit.
   */
  max_price?: MoneyInput | null;
  /**
   * Required with `resolve`: the reason of the open case.
   */
  case?: KnownAttentionReason;
  /**
   * Required with `resolve`: the verdict for all of them.
   */
  verdict?: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy again (default), or abandon it.
   */
  next?: 'continue' | 'abandon';
  /**
   * Only report the result for each. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface CancellationCaseResolution {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * The reason of the open case, as `operations.attention.reason` shows it.
   */
  case: KnownAttentionReason;
  /**
   * `bought`: The service sold it, under the given id. It will be delivered. `not_bought`: The service sold nothing and keeps no money for this attempt. It may be bought again. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct. The work continues from its stored state.
   */
  verdict: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy again (default), or abandon it.
   */
  next?: 'continue' | 'abandon';
  /**
   * With `bought` (it is cancelled): its refund at the service, if it is not known yet.
   */
  service_refund_id?: string;
}
export interface OrderBatchInput {
  /**
   * Your reference of the batch, permanently unique. Its orders have references that follow from it: `campaign-2030-0001`, `campaign-2030-0002`, …
   */
  external_batch_id: string;
  /**
   * At most 1000 eSIMs in all. Limit, deadline, customer and metadata are of each order.
   *
   * @minItems 1
   * @maxItems 1000
   */
  items: OrderBatchItemInput[];
  /**
   * Your own data of the batch, returned unchanged.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface OrderBatchItemInput {
  /**
   * Id of a package at the service.
   */
  package_id: number;
  /**
   * Number of eSIMs, each of which is an order.
   */
  quantity?: number;
  /**
   * Maximum that the service may charge, in the currency of its price. While its price is higher, the order is held. A limit in another currency is refused with 422; if the currency of the price is not known when the order is accepted, it is held until the limit is changed.
   */
  max_price?: MoneyInput;
  /**
   * Price that your customer pays, in the currency of the price of the service. It is for the summary of sales and limits nothing: give `max_price` for that.
   */
  customer_price?: MoneyInput;
  /**
   * The `id` of a quote for the same purchase, at most 15 minutes old: its price becomes the `max_price`, which must then not be given.
   */
  quote_id?: string;
  /**
   * What happens if the service does not sell it at the moment: the order is refused with 422, or it is held until the service sells it or the deadline passes.
   */
  if_unavailable?: 'refuse' | 'hold';
  /**
   * Work that is still held or not sent yet then fails without having bought. Must be in the future. Default and maximum: 48 hours after it was accepted (`retry.hold_deadline`, and `retry.rules` for single classes of failure).
   */
  deadline?: string;
  /**
   * What follows when every attempt has failed and provably cost nothing: the order fails, or it asks a person (`needs_attention`) until its deadline. Default: `retry.when_attempts_are_used_up`.
   */
  when_attempts_are_used_up?: 'fail' | 'ask';
  /**
   * Your reference of the customer. Stored encrypted; in no event and no log.
   */
  customer_reference?: string;
  /**
   * Your own data, returned unchanged. Not encrypted: do not include personal data.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface OrderBatchCancellation {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
}
export interface CaseDismissal {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
}
export interface DeadLetterAction {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
}
export interface PauseInput {
  /**
   * Kind of work: `order` (order), `topup` (top-up), `vpn_subscription` (VPN subscription), `cancellation` (cancellation).
   */
  kind?: 'order' | 'topup' | 'vpn_subscription' | 'cancellation';
  failure_class?: KnownFailureClass;
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
}
export interface EsimChange {
  /**
   * Your reference of the customer; `null` removes it. Stored encrypted.
   */
  customer_reference: string | null;
}
export interface EsimSimulation {
  /**
   * What the phone does; states never go back.
   */
  state: 'installed' | 'active' | 'consumed';
}
export interface ShareLinkInput {
  /**
   * How long the link can be opened. Default: 7 days.
   */
  expires_in_seconds?: number;
  /**
   * The same as a time, 5 minutes to 90 days after now. Only one of the two may be given.
   */
  expires_at?: string;
  /**
   * Language of the page when the customer chooses none. Default: the language of the browser.
   */
  language?: 'en' | 'de' | 'fr' | 'es' | 'pt' | 'it' | 'ar' | 'zh';
  /**
   * A heading for the customer, shown on the page. Not encrypted: do not include personal data.
   */
  label?: string;
  /**
   * Your own data, returned unchanged. Not encrypted: do not include personal data.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface QuoteInput {
  /**
   * The package of an order or a top-up.
   */
  package_id?: number;
  /**
   * With `package_id`: the eSIM of a top-up.
   */
  esim_id?: string;
  /**
   * The plan of a VPN subscription.
   */
  vpn_plan_id?: number;
  /**
   * The limit that the purchase would have.
   */
  max_price?: MoneyInput;
}
export interface NewPricingRule {
  target: PricingTarget;
  /**
   * ISO 4217 code.
   */
  currency: string;
  terms: PricingTermsInput;
  /**
   * The reason; shown with the versions of the rule.
   */
  reason: string;
}
export interface PricingTermsInput {
  margin?: PricingMargin;
  minimum_margin?: PricingMinimumMargin;
  /**
   * Minimum of a suggested price.
   */
  minimum_price?: string | null;
  /**
   * Null: rounded up to the smallest unit of the currency.
   */
  rounding?: PriceRounding | null;
  /**
   * Percentage by which the price of the service may rise: gives `max_price` of the suggestion.
   */
  max_price_drift_percent?: string;
}
/**
 * Added to `price_for_reseller`: a percentage and an amount.
 */
export interface PricingMargin {
  /**
   * Of `price_for_reseller`, in percent.
   */
  percent?: string;
  /**
   * In the currency of the rule.
   */
  amount?: string;
}
/**
 * Minimum margin of a suggestion: both must be met.
 */
export interface PricingMinimumMargin {
  /**
   * Of `price_for_reseller`, in percent.
   */
  percent?: string;
  /**
   * In the currency of the rule.
   */
  amount?: string;
}
/**
 * Prices end on a multiple of `step`, plus `ending`: .99 is a step of 1 with the ending 0.99.
 */
export interface PriceRounding {
  /**
   * In the currency of the rule.
   */
  step: string;
  /**
   * Less than the step.
   */
  ending?: string;
  /**
   * Never below the minimum in both cases.
   */
  direction?: 'up' | 'nearest';
}
export interface WhatIfInput {
  /**
   * Only these packages. Without this and `vpn_plan_ids`: everything.
   *
   * @maxItems 1000
   *
   * Items: Id of a package at the service.
   */
  package_ids?: number[];
  /**
   * Only these.
   *
   * @maxItems 1000
   *
   * Items: Id of a VPN plan at the service.
   */
  vpn_plan_ids?: number[];
  /**
   * Rules to try; they are not stored.
   *
   * @maxItems 100
   */
  rules?: PricingRuleInput[];
  /**
   * `same`: each replaces the active rule for the same target and currency, if there is one. `all`: only these rules apply.
   */
  rules_replace?: 'same' | 'all';
  /**
   * Prices of the service to try. Other items keep their current price.
   *
   * @maxItems 1000
   */
  price_list?: TriedCost[];
  /**
   * Your current selling prices, if they differ from the suggestions.
   *
   * @maxItems 1000
   */
  selling_prices?: PresentSellingPrice[];
}
/**
 * Applies only to prices in its currency.
 */
export interface PricingRuleInput {
  target: PricingTarget;
  /**
   * ISO 4217 code.
   */
  currency: string;
  terms: PricingTermsInput;
}
export interface TriedCost {
  /**
   * What `id` is the id of.
   */
  kind: 'package' | 'vpn_plan';
  /**
   * Id of the package or plan at the service.
   */
  id: number;
  price_for_reseller: MoneyInput;
}
export interface PresentSellingPrice {
  /**
   * What `id` is the id of.
   */
  kind: 'package' | 'vpn_plan';
  /**
   * Id of the package or plan at the service.
   */
  id: number;
  price: MoneyInput;
}
export interface PricingRuleChange {
  terms: PricingTermsInput;
  /**
   * The reason; shown with the versions of the rule.
   */
  reason: string;
  /**
   * The version that you have read. If the rule has another version now, nothing is changed (409).
   */
  version?: number;
}
export interface WalletTransactionExplanation {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
}
export interface WebhookEndpointInput {
  /**
   * Address for events: `https://`, without user name, password and fragment, at a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private and use `http://`. Checked again at every delivery.
   */
  url: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  event_types?: EventPattern[];
  /**
   * Free text for readers.
   */
  description?: string | null;
}
export interface WebhookEndpointChange {
  /**
   * Address for events: `https://`, without user name, password and fragment, at a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private and use `http://`. Checked again at every delivery.
   */
  url?: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  event_types?: EventPattern[];
  /**
   * Free text for readers.
   */
  description?: string | null;
}
export interface EndpointSecretRotation {
  /**
   * How long former secrets sign in addition to the new one; default: the configured overlap. 0 after one has leaked.
   */
  overlap_seconds?: number;
}
export interface WebhookEndpointEnabling {
  /**
   * True: also send the events missed since `missed_since`.
   */
  replay_missed?: boolean;
}
export interface WebhookReplay {
  /**
   * One event, also if the filter of the endpoint does not select it.
   */
  event_id?: string;
  /**
   * One delivery.
   */
  delivery_id?: string;
  /**
   * Events since this time.
   */
  since?: string;
  /**
   * With `since`: events until this time.
   */
  until?: string;
  /**
   * With `since`: `all` events that its filter selects (default), finally `failed` ones, or `missed` ones: failed ones, and events that were never sent because the endpoint was disabled or did not exist yet.
   */
  which?: 'all' | 'failed' | 'missed';
}
export interface WebhookSecretRotation {
  /**
   * How long former secrets remain valid; default: the configured overlap. With 0, after one has leaked, no former stored one is valid from now on; those of `SERVICE_WEBHOOK_SECRETS` are until they are removed.
   */
  overlap_seconds?: number;
}
export interface Order {
  /**
   * Id of an order.
   */
  id: string;
  /**
   * Id of a package at the service.
   */
  package_id: number;
  external_order_id: string;
  /**
   * Your reference of the customer; null: none.
   */
  customer_reference: string | null;
  /**
   * The batch that it was accepted with; null: ordered by itself.
   */
  batch_id: string | null;
  esim_id: string | null;
  /**
   * Id of the order at the service.
   */
  service_order_id: string | null;
  /**
   * Price that your customer pays, as you gave it; null: not given.
   */
  customer_price: Money | null;
  /**
   * The order that had this reference before and ended without buying; null: none.
   */
  replaces: string | null;
  /**
   * The order that uses this reference again, after this one ended without buying.
   */
  replaced_by: string | null;
  /**
   * `accepted`: stored, not started. `held`: waits for a condition that passes by itself. `submitting`: being bought. `processing`: the service works on it. `needs_attention`: waits for a person. `completed`, `failed` and `abandoned` are final; `failed` means definitely not bought. A later version may add values.
   */
  status:
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned'
    | (string & {});
  max_price: Money | null;
  /**
   * Amount that the service charged, once it is known.
   */
  charged: Money | null;
  /**
   * Why it failed, or why it is held now.
   */
  failure: {
    class: FailureClass;
    detail: string | null;
    /**
     * The reason in the words of the service, on one line of at most 300 characters; null: it gave none. Foreign text: show it as text, and do not compare it.
     */
    service_message: string | null;
    /**
     * What ended it: `attempts_used_up`: All attempts that the retry policy allows failed, and it is proven that none was charged. `deadline_passed`: The deadline passed before it could be carried out, and nothing was charged. Null while it may be tried again, and when the failure is final by itself.
     */
    ended_by: ('attempts_used_up' | 'deadline_passed' | (string & {})) | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Why it needs attention, in words for a shop; `operations.attention` tells an operator.
   */
  attention: {
    reason: AttentionReason;
    meaning: string;
  } | null;
  /**
   * The deadline of the caller for held work. `null`: 48 hours after it was accepted (`retry.hold_deadline`), which also limits a later one. `operations.retry_policy.gives_up_at` is the effective time.
   */
  deadline: string | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * Id of the API key that created it; after rotations the id of the first key of the lineage. The audit log shows later actions.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  updated_at: string;
  /**
   * When it was bought or carried out; null until then, and for failed, refused or abandoned work.
   */
  completed_at: string | null;
  /**
   * With `expand=operations`, and in the answers of operator actions.
   */
  operations?: WorkOperations;
  /**
   * With `expand=esim`; null until there is one.
   */
  esim?: Esim | null;
  /**
   * With `expand=activation`; null until there is an eSIM.
   */
  activation?: EsimActivation | null;
}
export interface WorkOperations {
  /**
   * Number of attempts, sent or not: held work has its first one.
   */
  attempts: number;
  /**
   * Why it needs attention.
   */
  attention: {
    reason: AttentionReason;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Whether submitting the same again would be safe. After `failed` and `abandoned` it may have the same reference.
   */
  resubmission: {
    /**
     * `not_needed`: it is bought, or continues. `no`: it may have been bought, or a person may still let it be bought, so you would pay twice. `yes`: nothing was or will be bought, or the purchase has ended. A later version may add values.
     */
    verdict: 'not_needed' | 'no' | 'yes' | (string & {});
    reason: string;
  };
  /**
   * The time of the next step, if it is known.
   */
  next_step_at: string | null;
  retry_policy: RetryPolicy;
}
/**
 * The retry policy for its current hold reason or last failure. `null`: as configured; its workflow stores the values when it starts. Work held by the purchase gate continues when the gate releases it, independent of the waits.
 */
export interface RetryPolicy {
  /**
   * Total attempts, including those granted by operators. `attempts` of the work counts those made.
   */
  attempts: number | null;
  /**
   * First wait before another try; doubled each time. A time given by the service has precedence.
   */
  first_wait_seconds: number | null;
  /**
   * Longest such wait.
   */
  longest_wait_seconds: number | null;
  /**
   * Held work ends at this time. It never ends work that may have bought.
   */
  gives_up_at: string | null;
  /**
   * Fields that an operator has set for this work; empty: all as configured.
   *
   * Items: One of `attempts`, `first_wait`, `longest_wait`, `deadline`. A later version may add values.
   */
  changed: ('attempts' | 'first_wait' | 'longest_wait' | 'deadline' | (string & {}))[];
}
export interface Esim {
  /**
   * Id of an eSIM.
   */
  id: string;
  /**
   * Id of an order.
   */
  order_id: string;
  /**
   * Your reference of the order.
   */
  external_order_id: string;
  /**
   * Your reference of the customer; null: none.
   */
  customer_reference: string | null;
  /**
   * Id of the eSIM at the service.
   */
  service_esim_id: string;
  /**
   * Serial number of the SIM profile; null when the service states none that can be read.
   */
  iccid: string | null;
  /**
   * Id of a package at the service.
   */
  package_id: number;
  /**
   * Status at the service.
   */
  status: string;
  installed_at: string | null;
  activated_at: string | null;
  expires_at: string | null;
  /**
   * When status and times were last read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  facts_age_seconds: number;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * When its status or one of its times last changed.
   */
  updated_at: string;
}
export interface EsimActivation {
  /**
   * Id of an eSIM.
   */
  esim_id: string;
  /**
   * Serial number of the SIM profile; null when the service states none that can be read.
   */
  iccid: string | null;
  /**
   * The LPA string, the content of a QR code.
   */
  activation_code: string;
  /**
   * SM-DP+ address, for manual input.
   */
  smdp_address: string;
  /**
   * Matching id, for manual input.
   */
  matching_id: string;
  /**
   * True when the user must enter another code.
   */
  confirmation_code_required: boolean;
  /**
   * Links that open the installation on the phone.
   */
  install_links: {
    ios: string;
    android: string;
  };
}
/**
 * RFC 9457.
 */
export interface Problem {
  /**
   * Address of a page about this problem.
   */
  type: string;
  /**
   * Stable; switch on this. One of `validation_failed`, `malformed_json`, `malformed_request`, `idempotency_key_missing`, `idempotency_key_invalid`, `delivery_id_missing`, `unauthenticated`, `invalid_signature`, `missing_scope`, `account_wide_only`, `route_not_found`, `order_not_found`, `topup_not_found`, `vpn_subscription_not_found`, `cancellation_not_found`, `order_batch_not_found`, `refund_not_found`, `access_data_unavailable`, `case_not_found`, `dead_letter_not_found`, `drift_stop_not_found`, `pause_not_found`, `pricing_rule_not_found`, `esim_not_found`, `share_link_not_found`, `wallet_transaction_not_found`, `reconciliation_not_found`, `package_not_found`, `vpn_plan_not_found`, `webhook_endpoint_not_found`, `webhook_delivery_not_found`, `event_not_found`, `problem_not_found`, `method_not_allowed`, `pricing_rule_exists`, `pricing_rule_changed`, `external_order_id_taken`, `external_topup_id_taken`, `external_subscription_id_taken`, `external_batch_id_taken`, `nothing_delivered`, `cancellation_exists`, `esim_ended`, `sandbox_only`, `action_not_possible`, `webhook_endpoint_disabled`, `webhook_endpoint_limit`, `idempotency_in_progress`, `webhook_secret_exists`, `webhook_secret_missing`, `webhook_secret_busy`, `cursor_expired`, `payload_too_large`, `unsupported_media_type`, `unsupported_encoding`, `idempotency_key_reused`, `purchase_not_possible`, `quote_expired`, `rate_limited`, `too_many_streams`, `internal_error`, `service_does_not_offer`, `service_failed`, `service_unavailable`, `database_unavailable`, `service_timeout`. A later version may add values.
   */
  code:
    | 'validation_failed'
    | 'malformed_json'
    | 'malformed_request'
    | 'idempotency_key_missing'
    | 'idempotency_key_invalid'
    | 'delivery_id_missing'
    | 'unauthenticated'
    | 'invalid_signature'
    | 'missing_scope'
    | 'account_wide_only'
    | 'route_not_found'
    | 'order_not_found'
    | 'topup_not_found'
    | 'vpn_subscription_not_found'
    | 'cancellation_not_found'
    | 'order_batch_not_found'
    | 'refund_not_found'
    | 'access_data_unavailable'
    | 'case_not_found'
    | 'dead_letter_not_found'
    | 'drift_stop_not_found'
    | 'pause_not_found'
    | 'pricing_rule_not_found'
    | 'esim_not_found'
    | 'share_link_not_found'
    | 'wallet_transaction_not_found'
    | 'reconciliation_not_found'
    | 'package_not_found'
    | 'vpn_plan_not_found'
    | 'webhook_endpoint_not_found'
    | 'webhook_delivery_not_found'
    | 'event_not_found'
    | 'problem_not_found'
    | 'method_not_allowed'
    | 'pricing_rule_exists'
    | 'pricing_rule_changed'
    | 'external_order_id_taken'
    | 'external_topup_id_taken'
    | 'external_subscription_id_taken'
    | 'external_batch_id_taken'
    | 'nothing_delivered'
    | 'cancellation_exists'
    | 'esim_ended'
    | 'sandbox_only'
    | 'action_not_possible'
    | 'webhook_endpoint_disabled'
    | 'webhook_endpoint_limit'
    | 'idempotency_in_progress'
    | 'webhook_secret_exists'
    | 'webhook_secret_missing'
    | 'webhook_secret_busy'
    | 'cursor_expired'
    | 'payload_too_large'
    | 'unsupported_media_type'
    | 'unsupported_encoding'
    | 'idempotency_key_reused'
    | 'purchase_not_possible'
    | 'quote_expired'
    | 'rate_limited'
    | 'too_many_streams'
    | 'internal_error'
    | 'service_does_not_offer'
    | 'service_failed'
    | 'service_unavailable'
    | 'database_unavailable'
    | 'service_timeout'
    | (string & {});
  title: string;
  status: number;
  /**
   * About this occurrence.
   */
  detail?: string;
  /**
   * With `validation_failed` and `purchase_not_possible`: the errors, field by field.
   */
  errors?: FieldError[];
  /**
   * With `purchase_not_possible`: when the offers were read from the service.
   */
  read_at?: string;
  /**
   * With `missing_scope`: the required scope.
   */
  missing_scope?: ApiScope;
  /**
   * With `external_…_id_taken`, `cancellation_exists` and `pricing_rule_exists`: the existing resource; absent when the key may not see it.
   */
  existing?: {
    id: string;
    href: string;
  };
  /**
   * With `action_not_possible`: why it is refused. `already_ended`: It has ended, so no action is possible. `not_waiting`: Only work that is held or needs attention can be retried; this work is in progress. `may_be_bought`: The service may have bought it or may keep money for it. First the service must report the outcome, or an operator must `resolve` it. `not_compared`: PostgreSQL was restarted or restored, and its workflow has not compared its memory with the stored row yet. The comparison is requested: try again in a moment. `wallet_not_read`: The wallet must show its cost before it is abandoned: set its `attempts` to the number already made, and `resolve` without `next`. It fails when the wallet shows that it cost nothing. `contradiction_open`: The reports of the service contradict each other: `resolve` that case first. `service_says_bought`: The service reports that it sold it. That report counts, and the delivery is in progress. `observations_pending`: A report of the service is being processed at this moment: look again in a few seconds. A report that is quarantined has a case `message_quarantined`: requeue or dismiss it first. `later_attempt_open`: A later attempt may be bought as well. With `dismissed` that attempt continues; ask the service to credit the other purchase. `case_not_open`: No case with this reason is open for it. `verdict_not_possible`: This verdict does not fit a case of this reason. `not_cancelled`: It is not known whether the eSIM is cancelled: choose `bought` if it is, `not_bought` if it is not. `other_currency`: The limit is in another currency than the price, so it would allow no purchase: give it in the currency of `price_for_reseller`. `nothing_is_charged`: A cancellation spends nothing: it has no limit, and no purchase gate holds it. `not_held`: Only held work can be released. This work is not held at the moment; work in progress continues by itself. `deadline_not_possible`: The deadline must lie in the future, and 92 days ahead at most. `not_active`: It is not active yet, so it cannot be cancelled. While nothing is bought, use `abandon`. `service_id_taken`: The given id of the service belongs to another attempt: read the timeline of that attempt first.
   */
  refusal?:
    | 'already_ended'
    | 'not_waiting'
    | 'may_be_bought'
    | 'not_compared'
    | 'wallet_not_read'
    | 'contradiction_open'
    | 'service_says_bought'
    | 'observations_pending'
    | 'later_attempt_open'
    | 'case_not_open'
    | 'verdict_not_possible'
    | 'not_cancelled'
    | 'other_currency'
    | 'nothing_is_charged'
    | 'not_held'
    | 'deadline_not_possible'
    | 'not_active'
    | 'service_id_taken'
    | (string & {});
  /**
   * With `service_…`: the failure class of the call to the service.
   */
  failure_class?: FailureClass;
  /**
   * Identifies this request in our log.
   */
  request_id: string;
}
export interface FieldError {
  /**
   * The part of the request with the error. One of `body`, `query`, `path`, `header`. A later version may add values.
   */
  in: 'body' | 'query' | 'path' | 'header' | (string & {});
  /**
   * Dotted path; empty for the whole body.
   */
  field: string;
  message: string;
}
export interface OrderPage {
  data: Order[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface OrderBulkResult {
  dry_run: boolean;
  /**
   * Number of matches of the filter.
   */
  matched: number;
  /**
   * Number of matches that this call did not cover: one call covers 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Status before the action; null when the work is no longer stored.
     */
    status:
      | (
          | 'accepted'
          | 'held'
          | 'submitting'
          | 'processing'
          | 'needs_attention'
          | 'completed'
          | 'failed'
          | 'abandoned'
          | (string & {})
        )
      | null;
    failure_class: FailureClass | null;
    attention: AttentionReason | null;
    /**
     * `would_apply`: with `dry_run`, the action is possible. `applied`: done. `unchanged`: done before with this Idempotency-Key. `refused`: not possible, see `detail`. `not_found`: no work has this id. A later version may add values.
     */
    result: 'would_apply' | 'applied' | 'unchanged' | 'refused' | 'not_found' | (string & {});
    /**
     * Reason of the refusal, as for a single action.
     */
    refusal:
      | (
          | 'already_ended'
          | 'not_waiting'
          | 'may_be_bought'
          | 'not_compared'
          | 'wallet_not_read'
          | 'contradiction_open'
          | 'service_says_bought'
          | 'observations_pending'
          | 'later_attempt_open'
          | 'case_not_open'
          | 'verdict_not_possible'
          | 'not_cancelled'
          | 'other_currency'
          | 'nothing_is_charged'
          | 'not_held'
          | 'deadline_not_possible'
          | 'not_active'
          | 'service_id_taken'
          | (string & {})
        )
      | null;
    detail: string | null;
  }[];
}
export interface Timeline {
  data: TimelineEntry[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
  current_state: CurrentState;
}
export interface TimelineEntry {
  /**
   * RFC 3339 time.
   */
  at: string;
  /**
   * Stable name of the event.
   */
  event: string;
  /**
   * A human-readable sentence.
   */
  message: string;
  detail: {
    [k: string]: string | number | boolean | null;
  };
}
export interface CurrentState {
  /**
   * The state as a sentence.
   */
  now: string;
  /**
   * The hold reason, or why it failed.
   */
  reason: string | null;
  /**
   * The next step.
   */
  next: string;
  /**
   * The time of the next step, if it is known.
   */
  next_at: string | null;
  /**
   * The same value as in the resource.
   */
  resubmission: {
    /**
     * `not_needed`: it is bought, or continues. `no`: it may have been bought, or a person may still let it be bought, so you would pay twice. `yes`: nothing was or will be bought, or the purchase has ended. A later version may add values.
     */
    verdict: 'not_needed' | 'no' | 'yes' | (string & {});
    reason: string;
  };
}
export interface Topup {
  /**
   * Id of a top-up.
   */
  id: string;
  /**
   * Id of an eSIM.
   */
  esim_id: string;
  /**
   * Id of a package at the service.
   */
  package_id: number;
  external_topup_id: string | null;
  /**
   * Your reference of the customer; null: none.
   */
  customer_reference: string | null;
  /**
   * Id of the top-up at the service.
   */
  service_topup_id: string | null;
  /**
   * Price that your customer pays, as you gave it; null: not given.
   */
  customer_price: Money | null;
  /**
   * The top-up that had this reference before and ended without buying; null: none.
   */
  replaces: string | null;
  /**
   * The top-up that uses this reference again, after this one ended without buying.
   */
  replaced_by: string | null;
  /**
   * `accepted`: stored, not started. `held`: waits for a condition that passes by itself. `submitting`: being bought. `processing`: the service works on it. `needs_attention`: waits for a person. `completed`, `failed` and `abandoned` are final; `failed` means definitely not bought. A later version may add values.
   */
  status:
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'failed'
    | 'abandoned'
    | (string & {});
  max_price: Money | null;
  /**
   * Amount that the service charged, once it is known.
   */
  charged: Money | null;
  /**
   * Why it failed, or why it is held now.
   */
  failure: {
    class: FailureClass;
    detail: string | null;
    /**
     * The reason in the words of the service, on one line of at most 300 characters; null: it gave none. Foreign text: show it as text, and do not compare it.
     */
    service_message: string | null;
    /**
     * What ended it: `attempts_used_up`: All attempts that the retry policy allows failed, and it is proven that none was charged. `deadline_passed`: The deadline passed before it could be carried out, and nothing was charged. Null while it may be tried again, and when the failure is final by itself.
     */
    ended_by: ('attempts_used_up' | 'deadline_passed' | (string & {})) | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Why it needs attention, in words for a shop; `operations.attention` tells an operator.
   */
  attention: {
    reason: AttentionReason;
    meaning: string;
  } | null;
  /**
   * The deadline of the caller for held work. `null`: 48 hours after it was accepted (`retry.hold_deadline`), which also limits a later one. `operations.retry_policy.gives_up_at` is the effective time.
   */
  deadline: string | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * Id of the API key that created it; after rotations the id of the first key of the lineage. The audit log shows later actions.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  updated_at: string;
  /**
   * When it was bought or carried out; null until then, and for failed, refused or abandoned work.
   */
  completed_at: string | null;
  /**
   * With `expand=operations`, and in the answers of operator actions.
   */
  operations?: WorkOperations;
  /**
   * With `expand=esim`; null until there is one.
   */
  esim?: Esim | null;
  /**
   * With `expand=activation`; null until there is an eSIM.
   */
  activation?: EsimActivation | null;
}
export interface TopupPage {
  data: Topup[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface TopupBulkResult {
  dry_run: boolean;
  /**
   * Number of matches of the filter.
   */
  matched: number;
  /**
   * Number of matches that this call did not cover: one call covers 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Status before the action; null when the work is no longer stored.
     */
    status:
      | (
          | 'accepted'
          | 'held'
          | 'submitting'
          | 'processing'
          | 'needs_attention'
          | 'completed'
          | 'failed'
          | 'abandoned'
          | (string & {})
        )
      | null;
    failure_class: FailureClass | null;
    attention: AttentionReason | null;
    /**
     * `would_apply`: with `dry_run`, the action is possible. `applied`: done. `unchanged`: done before with this Idempotency-Key. `refused`: not possible, see `detail`. `not_found`: no work has this id. A later version may add values.
     */
    result: 'would_apply' | 'applied' | 'unchanged' | 'refused' | 'not_found' | (string & {});
    /**
     * Reason of the refusal, as for a single action.
     */
    refusal:
      | (
          | 'already_ended'
          | 'not_waiting'
          | 'may_be_bought'
          | 'not_compared'
          | 'wallet_not_read'
          | 'contradiction_open'
          | 'service_says_bought'
          | 'observations_pending'
          | 'later_attempt_open'
          | 'case_not_open'
          | 'verdict_not_possible'
          | 'not_cancelled'
          | 'other_currency'
          | 'nothing_is_charged'
          | 'not_held'
          | 'deadline_not_possible'
          | 'not_active'
          | 'service_id_taken'
          | (string & {})
        )
      | null;
    detail: string | null;
  }[];
}
export interface VpnSubscription {
  /**
   * Id of a VPN subscription.
   */
  id: string;
  /**
   * Id of a VPN plan at the service.
   */
  vpn_plan_id: number;
  external_subscription_id: string;
  /**
   * Your reference of the customer; null: none.
   */
  customer_reference: string | null;
  /**
   * Id of the subscription at the service.
   */
  service_subscription_id: string | null;
  /**
   * True once `/access` returns data.
   */
  has_access_data: boolean;
  started_at: string | null;
  /**
   * When the subscription ends, if the service gives a time.
   */
  expires_at: string | null;
  /**
   * When its paid period began, the last one once it has ended; null until it is bought.
   */
  current_period_start: string | null;
  /**
   * When this period ends: equals `expires_at`.
   */
  current_period_end: string | null;
  /**
   * Its paid periods, oldest first. `charged` of the top level is what the first one cost. A debit that belongs to no reported period stands last, with its time as `start`.
   */
  periods: VpnSubscriptionPeriod[];
  /**
   * When it ended, as `cancelled` or `expired`: when we learned it, but not later than `expires_at`.
   */
  ended_at: string | null;
  /**
   * When the service accepted its cancellation, or cancelled it by itself.
   */
  cancelled_at: string | null;
  /**
   * When its customer has ended it; `cancelling` follows, then `cancelled`.
   */
  cancel_requested_at: string | null;
  /**
   * Price that your customer pays, as you gave it; null: not given.
   */
  customer_price: Money | null;
  /**
   * The VPN subscription that had this reference before and ended without buying; null: none.
   */
  replaces: string | null;
  /**
   * The VPN subscription that uses this reference again, after this one ended without buying.
   */
  replaced_by: string | null;
  /**
   * `accepted`: stored, not started. `held`: waits for a condition that passes by itself. `submitting`: being bought. `processing`: the service works on it. `needs_attention`: waits for a person. `active`: bought. `cancelling`: its customer has ended it. `cancelled`, `expired`, `failed` and `abandoned` are final; `failed` means definitely not bought. A later version may add values.
   */
  status:
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
    | (string & {});
  max_price: Money | null;
  /**
   * Amount that the service charged, once it is known.
   */
  charged: Money | null;
  /**
   * Why it failed, or why it is held now.
   */
  failure: {
    class: FailureClass;
    detail: string | null;
    /**
     * The reason in the words of the service, on one line of at most 300 characters; null: it gave none. Foreign text: show it as text, and do not compare it.
     */
    service_message: string | null;
    /**
     * What ended it: `attempts_used_up`: All attempts that the retry policy allows failed, and it is proven that none was charged. `deadline_passed`: The deadline passed before it could be carried out, and nothing was charged. Null while it may be tried again, and when the failure is final by itself.
     */
    ended_by: ('attempts_used_up' | 'deadline_passed' | (string & {})) | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Why it needs attention, in words for a shop; `operations.attention` tells an operator.
   */
  attention: {
    reason: AttentionReason;
    meaning: string;
  } | null;
  /**
   * The deadline of the caller for held work. `null`: 48 hours after it was accepted (`retry.hold_deadline`), which also limits a later one. `operations.retry_policy.gives_up_at` is the effective time.
   */
  deadline: string | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * Id of the API key that created it; after rotations the id of the first key of the lineage. The audit log shows later actions.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  updated_at: string;
  /**
   * When it was bought or carried out; null until then, and for failed, refused or abandoned work.
   */
  completed_at: string | null;
  /**
   * With `expand=operations`, and in the answers of operator actions.
   */
  operations?: WorkOperations;
  /**
   * With `expand=access`; null while `has_access_data` is false.
   */
  access?: VpnAccess | null;
}
export interface VpnSubscriptionPeriod {
  /**
   * RFC 3339 time.
   */
  start: string;
  /**
   * Null when the service has not stated it.
   */
  end: string | null;
  /**
   * What the service charged for it; null when no debit is known.
   */
  charged: Money | null;
}
export interface VpnAccess {
  /**
   * Id of a VPN subscription.
   */
  subscription_id: string;
  username: string | null;
  password: string | null;
  server: string | null;
  /**
   * Configuration for the customer's app, or an address to download it from.
   */
  configuration: string | null;
  /**
   * A key for the app, from services that give no user name and password.
   */
  licence_key: string | null;
}
export interface VpnSubscriptionPage {
  data: VpnSubscription[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface VpnSubscriptionBulkResult {
  dry_run: boolean;
  /**
   * Number of matches of the filter.
   */
  matched: number;
  /**
   * Number of matches that this call did not cover: one call covers 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Status before the action; null when the work is no longer stored.
     */
    status:
      | (
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
          | (string & {})
        )
      | null;
    failure_class: FailureClass | null;
    attention: AttentionReason | null;
    /**
     * `would_apply`: with `dry_run`, the action is possible. `applied`: done. `unchanged`: done before with this Idempotency-Key. `refused`: not possible, see `detail`. `not_found`: no work has this id. A later version may add values.
     */
    result: 'would_apply' | 'applied' | 'unchanged' | 'refused' | 'not_found' | (string & {});
    /**
     * Reason of the refusal, as for a single action.
     */
    refusal:
      | (
          | 'already_ended'
          | 'not_waiting'
          | 'may_be_bought'
          | 'not_compared'
          | 'wallet_not_read'
          | 'contradiction_open'
          | 'service_says_bought'
          | 'observations_pending'
          | 'later_attempt_open'
          | 'case_not_open'
          | 'verdict_not_possible'
          | 'not_cancelled'
          | 'other_currency'
          | 'nothing_is_charged'
          | 'not_held'
          | 'deadline_not_possible'
          | 'not_active'
          | 'service_id_taken'
          | (string & {})
        )
      | null;
    detail: string | null;
  }[];
}
export interface Cancellation {
  /**
   * Id of a cancellation.
   */
  id: string;
  /**
   * Id of an eSIM.
   */
  esim_id: string;
  reason: string | null;
  /**
   * One of `refuse`, `ask_for_review`, `cancel_without_refund`. A later version may add values.
   */
  on_unmet_conditions: 'refuse' | 'ask_for_review' | 'cancel_without_refund' | (string & {});
  /**
   * When the eSIM was first known to be cancelled.
   */
  cancelled_at: string | null;
  /**
   * The conditions of the refund, checked just before the newest send; `null` before the first.
   */
  preflight: RefundCondition[] | null;
  refund: Refund | null;
  /**
   * `accepted`: stored, not started. `held`: waits for a condition that passes by itself. `submitting`: being requested. `processing`: the service works on it. `needs_attention`: waits for a person. `completed`, `refused` and `abandoned` are final; after the last two the eSIM is unchanged. A later version may add values.
   */
  status:
    | 'accepted'
    | 'held'
    | 'submitting'
    | 'processing'
    | 'needs_attention'
    | 'completed'
    | 'refused'
    | 'abandoned'
    | (string & {});
  /**
   * Why it failed, or why it is held now.
   */
  failure: {
    class: FailureClass;
    detail: string | null;
    /**
     * The reason in the words of the service, on one line of at most 300 characters; null: it gave none. Foreign text: show it as text, and do not compare it.
     */
    service_message: string | null;
    /**
     * What ended it: `attempts_used_up`: All attempts that the retry policy allows failed, and it is proven that none was charged. `deadline_passed`: The deadline passed before it could be carried out, and nothing was charged. Null while it may be tried again, and when the failure is final by itself.
     */
    ended_by: ('attempts_used_up' | 'deadline_passed' | (string & {})) | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Why it needs attention, in words for a shop; `operations.attention` tells an operator.
   */
  attention: {
    reason: AttentionReason;
    meaning: string;
  } | null;
  /**
   * The deadline of the caller for held work. `null`: 48 hours after it was accepted (`retry.hold_deadline`), which also limits a later one. `operations.retry_policy.gives_up_at` is the effective time.
   */
  deadline: string | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * Id of the API key that created it; after rotations the id of the first key of the lineage. The audit log shows later actions.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  updated_at: string;
  /**
   * When it was bought or carried out; null until then, and for failed, refused or abandoned work.
   */
  completed_at: string | null;
  /**
   * With `expand=operations`, and in the answers of operator actions.
   */
  operations?: WorkOperations;
  /**
   * With `expand=esim`; null until there is one.
   */
  esim?: Esim | null;
}
export interface RefundCondition {
  /**
   * The condition; `evidence` is a sentence about it. One of `usage_is_zero`, `never_installed`, `never_activated`, `no_completed_topup`, `debit_verified`. A later version may add values.
   */
  name:
    'usage_is_zero' | 'never_installed' | 'never_activated' | 'no_completed_topup' | 'debit_verified' | (string & {});
  /**
   * `unknown`: the service does not show it, or could not be read. One of `pass`, `fail`, `unknown`. A later version may add values.
   */
  result: 'pass' | 'fail' | 'unknown' | (string & {});
  /**
   * A human-readable sentence.
   */
  evidence: string;
  /**
   * Time of the evidence.
   */
  as_of: string | null;
  /**
   * Age of the evidence in seconds.
   */
  age_seconds: number | null;
}
export interface Refund {
  /**
   * Id of a refund.
   */
  id: string;
  /**
   * Id of a cancellation.
   */
  cancellation_id: string;
  /**
   * Id of an eSIM.
   */
  esim_id: string;
  /**
   * The refunded order.
   */
  order_id: string;
  /**
   * Id of the refund at the service.
   */
  service_refund_id: string | null;
  /**
   * `expected`: not decided, or paid and not in the wallet yet. `manual_review`: a person at the service decides. `completed`: its money is in the wallet. `failed`: no money comes. `needs_attention`: waits for a person here. A later version may add values.
   */
  status: 'expected' | 'manual_review' | 'completed' | 'failed' | 'needs_attention' | (string & {});
  /**
   * The result of the review at the service, if it is known.
   */
  review: ('accepted' | 'refused' | 'manual_review' | (string & {})) | null;
  /**
   * Amount of the refund, as the service reports it.
   */
  amount: Money | null;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  updated_at: string;
  completed_at: string | null;
}
export interface CancellationPage {
  data: Cancellation[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface CancellationBulkResult {
  dry_run: boolean;
  /**
   * Number of matches of the filter.
   */
  matched: number;
  /**
   * Number of matches that this call did not cover: one call covers 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Status before the action; null when the work is no longer stored.
     */
    status:
      | (
          | 'accepted'
          | 'held'
          | 'submitting'
          | 'processing'
          | 'needs_attention'
          | 'completed'
          | 'refused'
          | 'abandoned'
          | (string & {})
        )
      | null;
    failure_class: FailureClass | null;
    attention: AttentionReason | null;
    /**
     * `would_apply`: with `dry_run`, the action is possible. `applied`: done. `unchanged`: done before with this Idempotency-Key. `refused`: not possible, see `detail`. `not_found`: no work has this id. A later version may add values.
     */
    result: 'would_apply' | 'applied' | 'unchanged' | 'refused' | 'not_found' | (string & {});
    /**
     * Reason of the refusal, as for a single action.
     */
    refusal:
      | (
          | 'already_ended'
          | 'not_waiting'
          | 'may_be_bought'
          | 'not_compared'
          | 'wallet_not_read'
          | 'contradiction_open'
          | 'service_says_bought'
          | 'observations_pending'
          | 'later_attempt_open'
          | 'case_not_open'
          | 'verdict_not_possible'
          | 'not_cancelled'
          | 'other_currency'
          | 'nothing_is_charged'
          | 'not_held'
          | 'deadline_not_possible'
          | 'not_active'
          | 'service_id_taken'
          | (string & {})
        )
      | null;
    detail: string | null;
  }[];
}
export interface OrderBatch {
  /**
   * Id of the batch.
   */
  id: string;
  external_batch_id: string;
  /**
   * `completed`: each of its orders has ended, as `completed`, `failed` or `abandoned`. One of `in_progress`, `completed`. A later version may add values.
   */
  status: 'in_progress' | 'completed' | (string & {});
  /**
   * Number of its orders.
   */
  size: number;
  /**
   * Number of its orders by status.
   */
  counts: {
    accepted: number;
    held: number;
    submitting: number;
    processing: number;
    needs_attention: number;
    completed: number;
    failed: number;
    abandoned: number;
  };
  /**
   * Sum of the amounts that the service charged, for each currency.
   */
  charged: Money[];
  items: OrderBatchItem[];
  metadata: {
    [k: string]: string;
  };
  /**
   * Id of the API key that created it; after rotations the id of the first key of the lineage. The audit log shows later actions.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * When its last order ended.
   */
  completed_at: string | null;
  /**
   * When it was cancelled: since then, no order that has bought nothing is sent.
   */
  cancel_requested_at: string | null;
}
export interface OrderBatchItem {
  /**
   * Id of a package at the service.
   */
  package_id: number;
  quantity: number;
  max_price: Money | null;
  /**
   * Your reference of the customer; null: none.
   */
  customer_reference: string | null;
  metadata: {
    [k: string]: string;
  };
}
export interface OrderBatchPage {
  data: OrderBatch[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface RefundPage {
  data: Refund[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface EventPage {
  data: Event[];
  /**
   * Value of `cursor` to continue from here, now or later. Never null.
   */
  next_cursor: string;
  /**
   * Whether there is another page now.
   */
  has_more: boolean;
}
export interface CasePage {
  data: Case[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface Case {
  /**
   * Id of a case.
   */
  id: string;
  reason: AttentionReason;
  /**
   * Kind of the subject: work, or a `delivery` (a webhook). One of `order`, `topup`, `vpn_subscription`, `cancellation`, `delivery`. A later version may add values.
   */
  subject_kind: 'order' | 'topup' | 'vpn_subscription' | 'cancellation' | 'delivery' | (string & {});
  /**
   * Id of the work, or of the delivery.
   */
  subject_id: string;
  /**
   * Present status of the work; null for a delivery. A case may be open about ended work.
   */
  work_status: string | null;
  /**
   * The verdicts that `/resolve` of the work takes for this reason; about ended work only `dismissed`. Empty: no verdict closes it, see `advice`.
   *
   * Items: One of `bought`, `not_bought`, `refunded`, `dismissed`. A later version may add values.
   */
  verdicts: ('bought' | 'not_bought' | 'refunded' | 'dismissed' | (string & {}))[];
  detail: string;
  meaning: string;
  advice: string;
  /**
   * RFC 3339 time.
   */
  opened_at: string;
  closed_at: string | null;
  /**
   * Result of the case.
   */
  resolution: string | null;
}
export interface DeadLetterPage {
  data: DeadLetter[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface DeadLetter {
  /**
   * The queue and the number of the row.
   */
  id: string;
  /**
   * `inbox`: a report of the service. `outbox`: a request to start or wake the workflow of a piece of work. A later version may add values.
   */
  queue: 'inbox' | 'outbox' | (string & {});
  /**
   * The event of the service, or the request to the workflow.
   */
  message: string;
  /**
   * The kind of work, or `delivery` when the webhook belongs to no known work. One of `order`, `topup`, `vpn_subscription`, `cancellation`, `delivery`. A later version may add values.
   */
  subject_kind: 'order' | 'topup' | 'vpn_subscription' | 'cancellation' | 'delivery' | (string & {});
  /**
   * Id of the work, or of the delivery.
   */
  subject_id: string;
  /**
   * Why it cannot be processed.
   */
  error: string;
  /**
   * Number of tries; 0 when it could not be read on arrival.
   */
  tries: number;
  /**
   * RFC 3339 time.
   */
  received_at: string;
}
export interface PurchaseGate {
  circuits: {
    /**
     * The condition of the service that it watches; `meaning` is a sentence about it. One of `service_down`, `not_approved`, `unauthorized`, `rate_limited`, `insufficient_balance`. A later version may add values.
     */
    name: 'service_down' | 'not_approved' | 'unauthorized' | 'rate_limited' | 'insufficient_balance' | (string & {});
    /**
     * `closed`: purchases are sent. `open`: they are held without a call to the service. `probing`: one of them is sent as a test. `releasing`: new ones are sent, and held ones follow at a limited rate, oldest first. A later version may add values.
     */
    state: 'closed' | 'open' | 'probing' | 'releasing' | (string & {});
    /**
     * Failures that belong to it.
     */
    failure_classes: FailureClass[];
    meaning: string;
    /**
     * Failures in a row while it is closed.
     */
    failures: number;
    /**
     * Last failure of the service.
     */
    detail: string | null;
    opened_at: string | null;
    /**
     * From when on the next purchase is sent as a test.
     */
    probe_at: string | null;
    /**
     * The purchase that is the test.
     */
    canary: {
      /**
       * Kind of work: `order` (order), `topup` (top-up), `vpn_subscription` (VPN subscription), `cancellation` (cancellation). A later version may add values.
       */
      kind: 'order' | 'topup' | 'vpn_subscription' | 'cancellation' | (string & {});
      id: string;
    } | null;
  }[];
  /**
   * In force, oldest first.
   */
  pauses: Pause[];
  /**
   * Kinds of purchase that are stopped in part or as a whole because paid deliveries could not be used, or because only a document has shown the answers of the service.
   */
  drift_stops: DriftStop[];
  /**
   * Work held at the gate. Work that the service refused individually is held by its own timer and is not listed here; nor is `submitting` work, whose outcome is not known yet.
   */
  held: {
    /**
     * `circuit:<name>`, `pause:<id>`, `drift:<kind>`, `spend_limit` or `wallet`.
     */
    held_at: string;
    failure_class: FailureClass;
    count: number;
    /**
     * About how much money it needs: the sum of the known prices, one amount for each currency. The price is the one that the gate compared with the wallet or a daily limit; for work that a circuit or a pause stopped before that, the price in the stored catalogue at that time.
     */
    needed: Money[];
    /**
     * How many have no known price; `needed` lacks them.
     */
    without_price: number;
    oldest: {
      /**
       * Kind of work: `order` (order), `topup` (top-up), `vpn_subscription` (VPN subscription), `cancellation` (cancellation). A later version may add values.
       */
      kind: 'order' | 'topup' | 'vpn_subscription' | 'cancellation' | (string & {});
      id: string;
      /**
       * RFC 3339 time.
       */
      accepted_at: string;
    };
  }[];
  /**
   * The wallet at the last read for a purchase; null before the first.
   */
  wallet: {
    balance: Money;
    reserved: Money;
    available: Money;
    /**
     * RFC 3339 time.
     */
    read_at: string;
    /**
     * False when the gate does not use this balance until it has read it again: the service did not answer, or a purchase at an unknown price was sent.
     */
    current: boolean;
    /**
     * Since when the balance is below wallet.low_balance.
     */
    low_since: string | null;
  } | null;
  spend: {
    /**
     * The day (UTC).
     */
    day: string;
    /**
     * Spent or possibly spent today; one amount for each currency.
     */
    spent: Money[];
    limits: {
      /**
       * Null: the limit of all keys together.
       */
      api_key_id: string | null;
      name: string | null;
      limit: Money;
      spent: Money;
    }[];
  };
}
export interface Pause {
  /**
   * Id of a pause.
   */
  id: string;
  /**
   * `operator`: an operator paused buying. `first_purchase_check`: the product did before the first purchase in production, because the shapes of the service's answers were not seen yet. It ends when they were seen, and is not created again after its release. `amounts`: the product did, because a debit or a charge is in another unit or currency than its price. An operator ends it. A later version may add values.
   */
  origin: 'operator' | 'first_purchase_check' | 'amounts' | (string & {});
  /**
   * The kind of work that is paused; null: every kind.
   */
  kind: ('order' | 'topup' | 'vpn_subscription' | 'cancellation' | (string & {})) | null;
  /**
   * Only work whose last failure has this class is paused; null: all buying.
   */
  failure_class: FailureClass | null;
  reason: string;
  /**
   * Id of an API key; `worker` for the product itself.
   */
  paused_by: string;
  /**
   * RFC 3339 time.
   */
  paused_at: string;
  released_at: string | null;
  released_by: string | null;
  release_reason: string | null;
}
export interface DriftStop {
  /**
   * Kind of work: `order` (order), `topup` (top-up), `vpn_subscription` (VPN subscription), `cancellation` (cancellation). A later version may add values.
   */
  kind: 'order' | 'topup' | 'vpn_subscription' | 'cancellation' | (string & {});
  /**
   * `proving`: one purchase at a time goes first, until one is delivered whole. `product_stopped`: only `stopped_products` are held. `stopped`: nothing of the kind is sent. `open`: nothing is stopped any more. A later version may add values.
   */
  state: 'open' | 'proving' | 'product_stopped' | 'stopped' | (string & {});
  since: string | null;
  /**
   * What was wrong with the last delivery; null: nothing so far.
   */
  detail: string | null;
  /**
   * Ids of packages or VPN plans that are held.
   */
  stopped_products: number[];
  /**
   * Purchases that go first; `sent_at` is null while one is about to be sent.
   */
  canaries: {
    id: string;
    sent_at: string | null;
  }[];
  /**
   * Purchases that are paid and could not be delivered. They are read again automatically.
   */
  parked: {
    product_id: number;
    count: number;
    /**
     * RFC 3339 time.
     */
    since: string;
    /**
     * What they were charged, or their price where no charge is known; one for each currency.
     */
    cost: Money[];
  }[];
  /**
   * What is stopped, in a sentence.
   */
  stops: string;
  /**
   * What ends it, in a sentence.
   */
  end: string;
}
export interface PausePage {
  data: Pause[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface OwnKey {
  /**
   * Id of an API key.
   */
  id: string;
  name: string;
  /**
   * The public part of the key, between its underscores.
   */
  prefix: string;
  /**
   * The scopes of the key.
   */
  scopes: ApiScope[];
  /**
   * True: the key sees and changes only what was created with it.
   */
  own_work_only: boolean;
  /**
   * Resources created with this key have this id as `created_by`: that of the first key of its lineage.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  expires_at: string | null;
  /**
   * Limit of each API process; null: not limited. The requests of ten seconds may come at once, which is what the `RateLimit` headers count.
   */
  requests_per_minute: number | null;
  /**
   * The key's daily limit; null when it has none. The limit of all keys together is in `GET /v1/purchase-gate`.
   */
  spend: {
    /**
     * The day (UTC).
     */
    day: string;
    limit: Money;
    /**
     * Spent or possibly spent today.
     */
    spent: Money;
    /**
     * The remaining amount; a purchase that costs more is held until the next day.
     */
    left: Money;
  } | null;
}
export interface EsimPage {
  data: Esim[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface EsimUsage {
  /**
   * Id of an eSIM.
   */
  esim_id: string;
  /**
   * Megabytes.
   */
  data_used_mb: number;
  /**
   * Megabytes; null when it is unlimited or not reported.
   */
  data_total_mb: number | null;
  /**
   * Megabytes; null without a total.
   */
  data_left_mb: number | null;
  /**
   * True when the service reports no limit; null when it reports nothing.
   */
  unlimited: boolean | null;
  /**
   * When the supplier measured it, if the service reports it.
   */
  measured_at: string | null;
  /**
   * `stored`: the service could not be read; this is our newest stored value. One of `service`, `stored`. A later version may add values.
   */
  source: 'service' | 'stored' | (string & {});
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
export interface TopupOptions {
  data: TopupOption[];
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
export interface TopupOption {
  /**
   * Id of a package at the service.
   */
  id: number;
  name: string;
  /**
   * ISO 3166-1 alpha-2 codes.
   */
  countries: string[];
  /**
   * Megabytes; null when it is unlimited or not known.
   */
  data_mb: number | null;
  /**
   * Has no data limit; null when the service does not say.
   */
  unlimited: boolean | null;
  validity_days: number | null;
  /**
   * Price that the service charges the reseller.
   */
  price_for_reseller: Money;
  /**
   * False while the service does not sell it.
   */
  available: boolean;
  /**
   * Public price at the service, to compare a margin with; null when the service does not show it.
   */
  public_price: Money | null;
  /**
   * Null when no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
}
/**
 * A suggestion of your own rules; you decide what the customer pays.
 */
export interface SuggestedPrice {
  amount: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
  margin: Margin;
  /**
   * Pass it as `max_price` when you sell at this price. If the service charges more then, the purchase is held and makes no loss.
   */
  max_price: Money;
  /**
   * The applied rule.
   */
  rule: {
    /**
     * Null: a rule of the request.
     */
    id: string | null;
    version: number | null;
    /**
     * What the rule is for. One of `default`, `country`, `package`, `vpn_plan`. A later version may add values.
     */
    target: 'default' | 'country' | 'package' | 'vpn_plan' | (string & {});
  };
  /**
   * The calculation of the price, step by step.
   */
  explanation: {
    /**
     * The term of the rule; `cost` is the first step. One of `cost`, `margin_percent`, `margin_amount`, `minimum_margin`, `minimum_price`, `rounding`. A later version may add values.
     */
    step: 'cost' | 'margin_percent' | 'margin_amount' | 'minimum_margin' | 'minimum_price' | 'rounding' | (string & {});
    /**
     * The price after this step.
     */
    amount: Money;
    text: string;
  }[];
}
export interface Margin {
  /**
   * The price less `price_for_reseller`.
   */
  amount: Money;
  /**
   * Percentage of `price_for_reseller`; null when that is zero.
   */
  percent: string | null;
}
export interface CreatedShareLink {
  /**
   * Id of a share link.
   */
  id: string;
  /**
   * Id of an eSIM.
   */
  esim_id: string;
  /**
   * `active`: It can be opened. `expired`: Its time is over. `revoked`: It was revoked. A later version may add values.
   */
  status: 'active' | 'expired' | 'revoked' | (string & {});
  /**
   * Heading of the page.
   */
  label: string | null;
  language: ('en' | 'de' | 'fr' | 'es' | 'pt' | 'it' | 'ar' | 'zh' | (string & {})) | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * How often the page with the codes was shown. Previews by messengers do not count.
   */
  views: number;
  /**
   * Time of the last view. RFC 3339.
   */
  last_viewed_at: string | null;
  /**
   * RFC 3339 time.
   */
  expires_at: string;
  revoked_at: string | null;
  /**
   * Id of the API key that created it; after rotations the id of the first key of the lineage. The audit log shows later actions.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * Address of the page for your customer. It contains the secret, which no other answer shows.
   */
  url: string;
  /**
   * The same without the part from `API_SHARE_LINK_URL`.
   */
  path: string;
}
export interface ShareLinkPage {
  data: ShareLink[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface ShareLink {
  /**
   * Id of a share link.
   */
  id: string;
  /**
   * Id of an eSIM.
   */
  esim_id: string;
  /**
   * `active`: It can be opened. `expired`: Its time is over. `revoked`: It was revoked. A later version may add values.
   */
  status: 'active' | 'expired' | 'revoked' | (string & {});
  /**
   * Heading of the page.
   */
  label: string | null;
  language: ('en' | 'de' | 'fr' | 'es' | 'pt' | 'it' | 'ar' | 'zh' | (string & {})) | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * How often the page with the codes was shown. Previews by messengers do not count.
   */
  views: number;
  /**
   * Time of the last view. RFC 3339.
   */
  last_viewed_at: string | null;
  /**
   * RFC 3339 time.
   */
  expires_at: string;
  revoked_at: string | null;
  /**
   * Id of the API key that created it; after rotations the id of the first key of the lineage. The audit log shows later actions.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
}
export interface CancellationPreflight {
  /**
   * Id of an eSIM.
   */
  esim_id: string;
  /**
   * Current status of the eSIM at the service; null when it could not be read. An eSIM that is `cancelled` already is not refunded.
   */
  esim_status: string | null;
  /**
   * The forecast from the conditions. The answer of the service to the cancellation decides. One of `refund_expected`, `no_refund_expected`, `unknown`. A later version may add values.
   */
  forecast: 'refund_expected' | 'no_refund_expected' | 'unknown' | (string & {});
  conditions: RefundCondition[];
}
export interface PackagePage {
  data: Package[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
export interface Package {
  /**
   * Id of a package at the service.
   */
  id: number;
  name: string;
  /**
   * ISO 3166-1 alpha-2 codes.
   */
  countries: string[];
  /**
   * Megabytes; null when it is unlimited or not known.
   */
  data_mb: number | null;
  /**
   * Has no data limit; null when the service does not say.
   */
  unlimited: boolean | null;
  validity_days: number | null;
  /**
   * Price that the service charges the reseller.
   */
  price_for_reseller: Money;
  /**
   * False while the service does not sell it.
   */
  available: boolean;
  /**
   * Public price at the service, to compare a margin with; null when the service does not show it.
   */
  public_price: Money | null;
  /**
   * Null when no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
  /**
   * When we first read it.
   */
  created_at: string;
  /**
   * When we first read its present state.
   */
  updated_at: string;
  /**
   * When we found that the service no longer lists it; null while it does.
   */
  removed_at: string | null;
}
export interface PackageWithAge {
  /**
   * Id of a package at the service.
   */
  id: number;
  name: string;
  /**
   * ISO 3166-1 alpha-2 codes.
   */
  countries: string[];
  /**
   * Megabytes; null when it is unlimited or not known.
   */
  data_mb: number | null;
  /**
   * Has no data limit; null when the service does not say.
   */
  unlimited: boolean | null;
  validity_days: number | null;
  /**
   * Price that the service charges the reseller.
   */
  price_for_reseller: Money;
  /**
   * False while the service does not sell it.
   */
  available: boolean;
  /**
   * Public price at the service, to compare a margin with; null when the service does not show it.
   */
  public_price: Money | null;
  /**
   * Null when no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
  /**
   * When we first read it.
   */
  created_at: string;
  /**
   * When we first read its present state.
   */
  updated_at: string;
  /**
   * When we found that the service no longer lists it; null while it does.
   */
  removed_at: string | null;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
export interface VpnPlanPage {
  data: VpnPlan[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
export interface VpnPlan {
  /**
   * Id of a VPN plan at the service.
   */
  id: number;
  name: string;
  /**
   * Length of one period.
   */
  duration_days: number | null;
  /**
   * Price that the service charges the reseller.
   */
  price_for_reseller: Money;
  /**
   * False while the service does not sell it.
   */
  available: boolean;
  /**
   * Null when no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
  /**
   * When we first read it.
   */
  created_at: string;
  /**
   * When we first read its present state.
   */
  updated_at: string;
  /**
   * When we found that the service no longer lists it; null while it does.
   */
  removed_at: string | null;
}
export interface VpnPlanWithAge {
  /**
   * Id of a VPN plan at the service.
   */
  id: number;
  name: string;
  /**
   * Length of one period.
   */
  duration_days: number | null;
  /**
   * Price that the service charges the reseller.
   */
  price_for_reseller: Money;
  /**
   * False while the service does not sell it.
   */
  available: boolean;
  /**
   * Null when no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
  /**
   * When we first read it.
   */
  created_at: string;
  /**
   * When we first read its present state.
   */
  updated_at: string;
  /**
   * When we found that the service no longer lists it; null while it does.
   */
  removed_at: string | null;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
/**
 * What would happen with a purchase now. Nothing is bought, stored or reserved.
 */
export interface Quote {
  /**
   * Pass it as `quote_id` of the purchase: the price of the quote is then its `max_price`. Null when it cannot be bought, or costs more than the given `max_price`.
   */
  id: string | null;
  /**
   * The purchase: an order, a top-up, or a VPN subscription. One of `order`, `topup`, `vpn_subscription`. A later version may add values.
   */
  kind: 'order' | 'topup' | 'vpn_subscription' | (string & {});
  package_id: number | null;
  esim_id: string | null;
  vpn_plan_id: number | null;
  /**
   * The package or plan; null when it is unknown.
   */
  name: string | null;
  /**
   * The service sells it now.
   */
  available: boolean;
  /**
   * What the service charges the reseller now.
   */
  price: Money | null;
  /**
   * Null when no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
  /**
   * Why the purchase would be refused with 422 `purchase_not_possible`: all reasons.
   */
  objections: {
    field: string;
    message: string;
  }[];
  /**
   * Why the purchase would be accepted and then held: the known reasons. Empty for a key that may not buy it.
   */
  holds: {
    failure_class: FailureClass;
    meaning: string;
    /**
     * A sentence about this purchase, if there is more to say.
     */
    detail: string | null;
  }[];
  /**
   * Until when `id` can be used.
   */
  expires_at: string | null;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
export interface PricingRulePage {
  data: PricingRule[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface PricingRule {
  /**
   * Id of a pricing rule.
   */
  id: string;
  target: PricingTargetOutput;
  /**
   * ISO 4217 code.
   */
  currency: string;
  terms: PricingTerms;
  /**
   * Number of the version, from 1.
   */
  version: number;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  updated_at: string;
  ended_at: string | null;
}
export interface PricingTerms {
  margin: PricingMarginOutput;
  minimum_margin: PricingMinimumMarginOutput;
  minimum_price: string | null;
  rounding: {
    step: string;
    ending: string;
    /**
     * Never below the minimum in both cases. One of `up`, `nearest`. A later version may add values.
     */
    direction: 'up' | 'nearest' | (string & {});
  } | null;
  max_price_drift_percent: string;
}
export interface PricingMarginOutput {
  percent: string;
  amount: string;
}
export interface PricingMinimumMarginOutput {
  percent: string;
  amount: string;
}
export interface WhatIf {
  /**
   * All requested items: packages, then plans, by id.
   */
  data: WhatIfLine[];
  summary: {
    items: number;
    changed: number;
    /**
     * Number of items without a new rule.
     */
    without_suggestion: number;
    /**
     * Number of items whose current selling price would be below the minimum.
     */
    below_minimum: number;
    /**
     * Number of items that would be sold below the price of the service.
     */
    at_loss: number;
  };
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
export interface WhatIfLine {
  /**
   * What `id` is the id of. One of `package`, `vpn_plan`. A later version may add values.
   */
  kind: 'package' | 'vpn_plan' | (string & {});
  /**
   * Id of the package or plan at the service.
   */
  id: number;
  name: string;
  old: PriceBefore;
  new: PriceAfter;
  /**
   * True when the suggestions differ, or only one exists.
   */
  changed: boolean;
  /**
   * The result with the current selling price. Null when there is none in the currency of the new cost.
   */
  if_kept: {
    /**
     * The selling price of the request, else the current suggestion.
     */
    price: Money;
    margin: Margin;
    /**
     * Minimum price of the new rule; the new cost when none applies.
     */
    minimum: Money;
    below_minimum: boolean;
    at_loss: boolean;
  } | null;
}
export interface PriceBefore {
  price_for_reseller: Money;
  /**
   * Null when no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
}
export interface PriceAfter {
  price_for_reseller: Money;
  /**
   * Null when no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
}
export interface PricingRuleVersionPage {
  data: PricingRuleVersion[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface PricingRuleVersion {
  version: number;
  /**
   * What made this version. One of `created`, `changed`, `ended`. A later version may add values.
   */
  change: 'created' | 'changed' | 'ended' | (string & {});
  /**
   * Terms of this version; those of an ended rule are its last ones.
   */
  terms: PricingTerms;
  /**
   * Id of an API key.
   */
  changed_by: string;
  reason: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
}
export interface Wallet {
  /**
   * Balance of the wallet at the service.
   */
  balance: Money;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
export interface WalletRunway {
  /**
   * `unknown`: there is no number, see `reason`. One of `known`, `unknown`. A later version may add values.
   */
  status: 'known' | 'unknown' | (string & {});
  /**
   * Why the runway is not known.
   */
  reason:
    | ('no_wallet_reading' | 'wallet_reading_old' | 'history_too_short' | 'no_sales' | 'other_currency' | (string & {}))
    | null;
  /**
   * The reason as a sentence.
   */
  detail: string | null;
  /**
   * Number of days that the wallet lasts at the mean of recent sales, without growth.
   */
  days: number | null;
  /**
   * With sales one standard deviation above the mean; days count as independent.
   */
  earliest_days: number | null;
  /**
   * With sales one standard deviation below the mean.
   */
  latest_days: number | null;
  daily_sales: {
    mean: Money;
    deviation: Money;
    /**
     * Number of evaluated days of 24 hours.
     */
    days: number;
  } | null;
  /**
   * The balance at the last read for a purchase or a comparison of the books; null when it is not known.
   */
  wallet: {
    balance: Money;
    /**
     * Amount that running purchases may still take.
     */
    reserved: Money;
    /**
     * Total of purchases held at the purchase gate with a known price.
     */
    held: Money;
    /**
     * The balance less both; may be below zero.
     */
    available: Money;
    /**
     * RFC 3339 time.
     */
    read_at: string;
    age_seconds: number;
  } | null;
  /**
   * Number of held purchases without a known price; the figures do not contain them.
   */
  held_without_price: number;
  /**
   * Below this the event `wallet.runway_low` is announced.
   */
  threshold_days: number;
  low_since: string | null;
}
export interface WalletTransactionPage {
  data: WalletTransaction[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface WalletTransaction {
  /**
   * `jrn_…` is a row of our journal, `mov_…` a movement without one.
   */
  id: string;
  /**
   * `debit`: money left the wallet at the service; `credit`: money came in. A later version may add values.
   */
  direction: 'debit' | 'credit' | (string & {});
  /**
   * Amount in our journal.
   */
  amount: Money;
  /**
   * Its cause; null when it has none in our journal.
   */
  cause: {
    /**
     * `attempt`: the cost of an attempt to buy, or its return. `subscription_period`: a later period of a VPN subscription. `refund`: the credit for something that was bought. `deposit`: money paid in. `adjustment`: everything else. A later version may add values.
     */
    kind: 'attempt' | 'subscription_period' | 'refund' | 'deposit' | 'adjustment' | (string & {});
    id: string;
  } | null;
  /**
   * The kind of work, if it is about an order, a top-up or a VPN subscription.
   */
  subject_kind: ('order' | 'topup' | 'vpn_subscription' | 'cancellation' | (string & {})) | null;
  /**
   * Id of the order, top-up or VPN subscription, if the movement is about one.
   */
  subject_id: string | null;
  /**
   * When it was recorded here.
   */
  created_at: string;
  /**
   * Null until the service has shown it.
   */
  service: ServiceMovement | null;
}
/**
 * A movement of the wallet as the service shows it.
 */
export interface ServiceMovement {
  /**
   * The service’s id of the movement.
   */
  id: string;
  amount: Money;
  /**
   * The reason, in the service’s terms.
   */
  reason: string;
  /**
   * RFC 3339 time.
   */
  occurred_at: string;
  /**
   * When we first read it.
   */
  read_at: string;
  /**
   * Id of the order at the service, if the movement has one.
   */
  service_order_id: string | null;
  /**
   * The reference of the purchase at the service: yours, or with `~` and a number that of a further attempt.
   */
  external_order_id: string | null;
  /**
   * Id of the eSIM at the service, if the movement has one.
   */
  service_esim_id: string | null;
  /**
   * Id of the top-up at the service, if the movement has one.
   */
  service_topup_id: string | null;
  /**
   * Id of the refund at the service, if the movement has one.
   */
  service_refund_id: string | null;
  /**
   * Id of the VPN subscription at the service, if the movement has one.
   */
  service_subscription_id: string | null;
  /**
   * The same for a VPN subscription.
   */
  external_subscription_id: string | null;
}
export interface SalesSummary {
  data: SalesSum[];
  time_zone: string;
}
export interface SalesSum {
  /**
   * Null unless grouped by `day`.
   */
  day: string | null;
  /**
   * Null unless grouped by `kind`.
   */
  kind: ('order' | 'topup' | 'vpn_subscription' | 'cancellation' | (string & {})) | null;
  /**
   * Null unless grouped by `package`.
   */
  package_id: number | null;
  /**
   * The VPN plan, when grouped by `package`.
   */
  vpn_plan_id: number | null;
  /**
   * Null unless grouped by `country`; then null counts packages for several countries, packages that the catalogue does not know, and VPN plans.
   */
  country: string | null;
  /**
   * Purchases that the service charged, and later periods of VPN subscriptions. A purchase that failed and was credited counts minus one on the day of the credit.
   */
  sold: number;
  /**
   * What the service charged for them, less what it credited for failed ones.
   */
  cost: Money;
  /**
   * Refunds of what had been bought.
   */
  refunds: number;
  /**
   * What the service paid back by these refunds.
   */
  refunded: Money;
  /**
   * Sum of their `customer_price`, where it is given in this currency.
   */
  revenue: Money;
  /**
   * How many of `sold` have no `customer_price` in this currency, credits taken off.
   */
  unpriced: number;
  /**
   * `revenue` − `cost` + `refunded`. Null if a charge or a credit among them has no price. What you pay back to your customers is not known here.
   */
  margin: Money | null;
}
export interface ReconciliationPage {
  data: ReconciliationSummary[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface ReconciliationSummary {
  /**
   * Id of a reconciliation.
   */
  id: string;
  /**
   * `incomplete`: the wallet has more than could be read; `unsupported`: the service shows no movements; `unavailable`: it did not answer. One of `complete`, `incomplete`, `unsupported`, `unavailable`. A later version may add values.
   */
  status: 'complete' | 'incomplete' | 'unsupported' | 'unavailable' | (string & {});
  detail: string;
  /**
   * When it began.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  finished_at: string;
  /**
   * Movements since this time were read.
   */
  read_since: string;
  /**
   * Balance of the wallet at the service.
   */
  balance: Money | null;
  /**
   * The sum of its movements; null when it cannot be computed.
   */
  expected_balance: Money | null;
  counts: {
    read: number;
    new: number;
    matched: number;
    booked: number;
    pending: number;
    unmatched: number;
    outstanding: number;
    findings: number;
  };
  /**
   * One entry for each currency.
   */
  sums: {
    debits: Money;
    credits: Money;
    /**
     * Credits less debits of our journal.
     */
    journal: Money;
    /**
     * The part that the service has not shown yet.
     */
    outstanding: Money;
    /**
     * Movements that the service has shown and our journal lacks.
     */
    unmatched: Money;
  }[];
  /**
   * Number of findings of each kind.
   */
  finding_counts: {
    [k: string]: number;
  };
}
export interface Reconciliation {
  /**
   * Id of a reconciliation.
   */
  id: string;
  /**
   * `incomplete`: the wallet has more than could be read; `unsupported`: the service shows no movements; `unavailable`: it did not answer. One of `complete`, `incomplete`, `unsupported`, `unavailable`. A later version may add values.
   */
  status: 'complete' | 'incomplete' | 'unsupported' | 'unavailable' | (string & {});
  detail: string;
  /**
   * When it began.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  finished_at: string;
  /**
   * Movements since this time were read.
   */
  read_since: string;
  /**
   * Balance of the wallet at the service.
   */
  balance: Money | null;
  /**
   * The sum of its movements; null when it cannot be computed.
   */
  expected_balance: Money | null;
  counts: {
    read: number;
    new: number;
    matched: number;
    booked: number;
    pending: number;
    unmatched: number;
    outstanding: number;
    findings: number;
  };
  /**
   * One entry for each currency.
   */
  sums: {
    debits: Money;
    credits: Money;
    /**
     * Credits less debits of our journal.
     */
    journal: Money;
    /**
     * The part that the service has not shown yet.
     */
    outstanding: Money;
    /**
     * Movements that the service has shown and our journal lacks.
     */
    unmatched: Money;
  }[];
  /**
   * Number of findings of each kind.
   */
  finding_counts: {
    [k: string]: number;
  };
  /**
   * The first 200, the worst first.
   */
  findings: ReconciliationFinding[];
}
export interface ReconciliationFinding {
  /**
   * `debited_twice`: The service debited one purchase more than once. `charge_not_refunded`: The service kept the money of a failed purchase. `amount_differs`: The amount in the wallet differs from the amount that was expected. `movement_missing`: Our journal has a movement that the service does not show. `balance_differs`: The balance at the service is not the sum of its movements. `unnamed_movement`: A movement in the wallet names no purchase. `orphan_movement`: A movement in the wallet names a purchase that is not ours. `credited_twice`: The service credited one purchase more than once. A later version may add values.
   */
  kind:
    | 'debited_twice'
    | 'charge_not_refunded'
    | 'amount_differs'
    | 'movement_missing'
    | 'balance_differs'
    | 'unnamed_movement'
    | 'orphan_movement'
    | 'credited_twice'
    | (string & {});
  meaning: string;
  detail: string;
  /**
   * The service’s id of the movement, if the finding is about one.
   */
  service_transaction_id: string | null;
  subject_kind: ('order' | 'topup' | 'vpn_subscription' | 'cancellation' | (string & {})) | null;
  /**
   * Id of the order, top-up or VPN subscription, if the movement is about one.
   */
  subject_id: string | null;
  direction: ('debit' | 'credit' | (string & {})) | null;
  amount: Money | null;
}
export interface LatestUpdate {
  latest_version: string;
  update_available: boolean;
  channel: string | null;
  download_url: string | null;
  checksum_sha256: string | null;
  release_notes: string | null;
  released_at: string | null;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * Age of that read in seconds.
   */
  age_seconds: number;
}
export interface CreatedWebhookEndpoint {
  /**
   * Id of a webhook endpoint.
   */
  id: string;
  /**
   * Address for events: `https://`, without user name, password and fragment, at a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private and use `http://`. Checked again at every delivery.
   */
  url: string;
  event_types: EventPattern[];
  /**
   * Free text for readers.
   */
  description: string | null;
  /**
   * `disabled`: nothing is sent; `disabled_reason` tells why. One of `enabled`, `disabled`. A later version may add values.
   */
  status: 'enabled' | 'disabled' | (string & {});
  /**
   * `request`: It was disabled by request. `gone`: It answered 410 (gone): it wants no more deliveries. `failing`: It had failed for too long.
   */
  disabled_reason: ('request' | 'gone' | 'failing' | (string & {})) | null;
  disabled_at: string | null;
  /**
   * While it is disabled: time of the oldest missed event. `/enable` can replay from there; with more than 10,000 events it then shows the start of those that are not queued yet, and is null when all are queued.
   */
  missed_since: string | null;
  /**
   * Time of the first of the failed tries in a row.
   */
  failing_since: string | null;
  /**
   * Number of failed tries in a row, over all deliveries.
   */
  failures: number;
  /**
   * Result of the last of them, as text.
   */
  last_failure: string | null;
  last_delivered_at: string | null;
  /**
   * Number of deliveries that wait for their (next) try. 10000: that many or more.
   */
  pending_deliveries: number;
  /**
   * True when a key limited to its own work created it: it gets events about that work only.
   */
  own_work_only: boolean;
  /**
   * Id of the API key that created it; after rotations the id of the first key of the lineage. The audit log shows later actions.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  updated_at: string;
  /**
   * Signs every delivery; only this answer shows it. Store it for the receiver.
   */
  secret: string;
}
export interface WebhookEndpointPage {
  data: WebhookEndpoint[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface WebhookEndpoint {
  /**
   * Id of a webhook endpoint.
   */
  id: string;
  /**
   * Address for events: `https://`, without user name, password and fragment, at a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private and use `http://`. Checked again at every delivery.
   */
  url: string;
  event_types: EventPattern[];
  /**
   * Free text for readers.
   */
  description: string | null;
  /**
   * `disabled`: nothing is sent; `disabled_reason` tells why. One of `enabled`, `disabled`. A later version may add values.
   */
  status: 'enabled' | 'disabled' | (string & {});
  /**
   * `request`: It was disabled by request. `gone`: It answered 410 (gone): it wants no more deliveries. `failing`: It had failed for too long.
   */
  disabled_reason: ('request' | 'gone' | 'failing' | (string & {})) | null;
  disabled_at: string | null;
  /**
   * While it is disabled: time of the oldest missed event. `/enable` can replay from there; with more than 10,000 events it then shows the start of those that are not queued yet, and is null when all are queued.
   */
  missed_since: string | null;
  /**
   * Time of the first of the failed tries in a row.
   */
  failing_since: string | null;
  /**
   * Number of failed tries in a row, over all deliveries.
   */
  failures: number;
  /**
   * Result of the last of them, as text.
   */
  last_failure: string | null;
  last_delivered_at: string | null;
  /**
   * Number of deliveries that wait for their (next) try. 10000: that many or more.
   */
  pending_deliveries: number;
  /**
   * True when a key limited to its own work created it: it gets events about that work only.
   */
  own_work_only: boolean;
  /**
   * Id of the API key that created it; after rotations the id of the first key of the lineage. The audit log shows later actions.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * RFC 3339 time.
   */
  updated_at: string;
}
export interface DeletedWebhookEndpoint {
  /**
   * Id of a webhook endpoint.
   */
  id: string;
  deleted: true;
}
export interface RotatedWebhookSecret {
  /**
   * Id of a webhook endpoint.
   */
  id: string;
  /**
   * Signs every delivery; only this answer shows it. Store it for the receiver.
   */
  secret: string;
  /**
   * Until this time deliveries are signed with the former secret too.
   */
  former_signs_until: string;
}
export interface WebhookDeliveryPage {
  data: WebhookDelivery[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface WebhookDelivery {
  /**
   * Id of a webhook delivery.
   */
  id: string;
  /**
   * Id of a webhook endpoint.
   */
  endpoint_id: string;
  /**
   * Sent as `webhook-id`: the same at every try.
   */
  event_id: string;
  /**
   * The type of the event, as in `GET /v1/events`. One of `order.accepted`, `order.held`, `order.processing`, `order.needs_attention`, `order.completed`, `order.failed`, `order.abandoned`, `topup.accepted`, `topup.held`, `topup.processing`, `topup.needs_attention`, `topup.completed`, `topup.failed`, `topup.abandoned`, `vpn_subscription.accepted`, `vpn_subscription.held`, `vpn_subscription.processing`, `vpn_subscription.needs_attention`, `vpn_subscription.active`, `vpn_subscription.cancelling`, `vpn_subscription.cancelled`, `vpn_subscription.expired`, `vpn_subscription.failed`, `vpn_subscription.abandoned`, `cancellation.accepted`, `cancellation.held`, `cancellation.processing`, `cancellation.needs_attention`, `cancellation.completed`, `cancellation.refused`, `cancellation.abandoned`, `order.in_doubt`, `topup.in_doubt`, `vpn_subscription.in_doubt`, `cancellation.in_doubt`, `refund.expected`, `refund.manual_review`, `refund.completed`, `refund.failed`, `refund.needs_attention`, `order_batch.completed`, `wallet.balance_low`, `wallet.balance_restored`, `esim.installed`, `esim.activated`, `esim.data_low`, `esim.used_up`, `esim.expiring`, `esim.expired`, `vpn_subscription.renewed`, `vpn_subscription.expiring`, `wallet.runway_low`, `wallet.runway_restored`, `package.created`, `package.removed`, `package.unavailable`, `package.available`, `package.price_changed`, `vpn_plan.created`, `vpn_plan.removed`, `vpn_plan.unavailable`, `vpn_plan.available`, `vpn_plan.price_changed`, `webhook_endpoint.disabled`, `webhook_endpoint.test`. A later version may add values.
   */
  event_type:
    | 'order.accepted'
    | 'order.held'
    | 'order.processing'
    | 'order.needs_attention'
    | 'order.completed'
    | 'order.failed'
    | 'order.abandoned'
    | 'topup.accepted'
    | 'topup.held'
    | 'topup.processing'
    | 'topup.needs_attention'
    | 'topup.completed'
    | 'topup.failed'
    | 'topup.abandoned'
    | 'vpn_subscription.accepted'
    | 'vpn_subscription.held'
    | 'vpn_subscription.processing'
    | 'vpn_subscription.needs_attention'
    | 'vpn_subscription.active'
    | 'vpn_subscription.cancelling'
    | 'vpn_subscription.cancelled'
    | 'vpn_subscription.expired'
    | 'vpn_subscription.failed'
    | 'vpn_subscription.abandoned'
    | 'cancellation.accepted'
    | 'cancellation.held'
    | 'cancellation.processing'
    | 'cancellation.needs_attention'
    | 'cancellation.completed'
    | 'cancellation.refused'
    | 'cancellation.abandoned'
    | 'order.in_doubt'
    | 'topup.in_doubt'
    | 'vpn_subscription.in_doubt'
    | 'cancellation.in_doubt'
    | 'refund.expected'
    | 'refund.manual_review'
    | 'refund.completed'
    | 'refund.failed'
    | 'refund.needs_attention'
    | 'order_batch.completed'
    | 'wallet.balance_low'
    | 'wallet.balance_restored'
    | 'esim.installed'
    | 'esim.activated'
    | 'esim.data_low'
    | 'esim.used_up'
    | 'esim.expiring'
    | 'esim.expired'
    | 'vpn_subscription.renewed'
    | 'vpn_subscription.expiring'
    | 'wallet.runway_low'
    | 'wallet.runway_restored'
    | 'package.created'
    | 'package.removed'
    | 'package.unavailable'
    | 'package.available'
    | 'package.price_changed'
    | 'vpn_plan.created'
    | 'vpn_plan.removed'
    | 'vpn_plan.unavailable'
    | 'vpn_plan.available'
    | 'vpn_plan.price_changed'
    | 'webhook_endpoint.disabled'
    | 'webhook_endpoint.test'
    | (string & {});
  /**
   * `pending`: waits for its (next) try. `delivered`: was answered 2xx. `failed`: no more tries; replay it. A later version may add values.
   */
  status: 'pending' | 'delivered' | 'failed' | (string & {});
  /**
   * Number of tries.
   */
  tries: number;
  /**
   * Time of the next try: not before the next send to the endpoint as a whole, if that has failed or requested a pause. Null when the delivery has ended.
   */
  next_try_at: string | null;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  ended_at: string | null;
  /**
   * Its tries, oldest first; the last hundred.
   */
  log: WebhookTry[];
}
export interface WebhookTry {
  number: number;
  /**
   * RFC 3339 time.
   */
  at: string;
  duration_ms: number;
  /**
   * HTTP status of the answer; null when there was none.
   */
  status: number | null;
  /**
   * Why there was none. `address_refused`: webhooks may not be sent to its address. `host_unknown`: its host name is not known. `connection_failed`: no connection could be opened, or it broke. `tls_failed`: its certificate was not accepted, or TLS failed otherwise. `timeout`: it did not answer in time. `unreadable_answer`: its answer is not valid HTTP.
   */
  failure:
    | (
        | 'address_refused'
        | 'host_unknown'
        | 'connection_failed'
        | 'tls_failed'
        | 'timeout'
        | 'unreadable_answer'
        | (string & {})
      )
    | null;
  /**
   * The first 1,024 bytes of the answer, as text.
   */
  answer_excerpt: string | null;
}
export interface WebhookTestResult {
  /**
   * Number of queued deliveries.
   */
  queued: number;
  /**
   * There were more than one call can queue: call again with this `since`. Null when all are queued.
   */
  next_since: string | null;
  /**
   * Id of the test event: its `webhook-id`, and the `event_id` of its delivery.
   */
  event_id: string;
}
export interface WebhookReplayResult {
  /**
   * Number of queued deliveries.
   */
  queued: number;
  /**
   * There were more than one call can queue: call again with this `since`. Null when all are queued.
   */
  next_since: string | null;
}
/**
 * When a secret was stored. The secret itself is never shown.
 */
export interface WebhookSecretStatus {
  /**
   * The environment of the service in which the secret signs. One of `sandbox`, `production`. A later version may add values.
   */
  environment: 'sandbox' | 'production' | (string & {});
  /**
   * Start of its validity.
   */
  stored_at: string;
  /**
   * End of the validity of the previous secret; null when none was stored.
   */
  former_verifies_until: string | null;
  /**
   * Number of secrets of `SERVICE_WEBHOOK_SECRETS` that this API process accepts too. A rotation does not end them: remove one that has leaked from the environment, and restart the API.
   */
  configured_secrets: number;
}
export interface AuditPage {
  data: AuditEntry[];
  /**
   * Value of `cursor` for the next page; null on the last page.
   */
  next_cursor: string | null;
}
export interface AuditEntry {
  /**
   * RFC 3339 time.
   */
  created_at: string;
  /**
   * Id of an API key, `command/<account>` for a command and the account that ran it, or `share_link/<id>` for a visitor with that share link.
   */
  actor: string;
  /**
   * The API key of the actor, if it was one.
   */
  api_key: {
    name: string;
    prefix: string;
  } | null;
  /**
   * Stable name of the action.
   */
  action: string;
  /**
   * Kind of the changed or revealed object.
   */
  subject_kind: string;
  subject_id: string;
  /**
   * The actor's reason, if one is required; for an API key or a webhook endpoint the values that were set or changed.
   */
  reason: string | null;
}
export interface WebhookReceipt {
  /**
   * `accepted`: stored. `duplicate`, `replayed`: known already. `quarantined`: stored for a person. A later version may add values.
   */
  result: 'accepted' | 'quarantined' | 'duplicate' | 'replayed' | (string & {});
}
export interface Health {
  status: 'ok';
}
export interface Readiness {
  /**
   * `not ready`: `checks` shows what is missing. One of `ready`, `not ready`. A later version may add values.
   */
  status: 'ready' | 'not ready' | (string & {});
  checks: {
    [k: string]: {
      ok: boolean;
      detail?: string;
    };
  };
  /**
   * Conditions that hold purchases although this API accepts requests: the last failure of held orders, such as `not_approved`; open circuits of the purchase gate, such as `service_down`; `purchases_paused`; `contract_drift` when a product or a kind is stopped because paid deliveries could not be used, and `first_delivery_awaited` when the first purchase of a kind must be delivered before the others; `other_header_prefix` when webhooks of the service are refused because of their header names; `webhooks_missed`; and `relay_behind_outbox`, `relay_behind_inbox` or `relay_behind_events` where rows wait for longer than they should. Never a reason to send requests elsewhere.
   */
  degraded: {
    condition: string;
    detail: string;
  }[];
}
export interface OpenApiDocument {
  [k: string]: unknown;
}
export interface ProblemExplanation {
  type: string;
  code: string;
  status: number;
  title: string;
  meaning: string | null;
  advice: string;
}
