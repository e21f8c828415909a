// Generated from /openapi.json by `npm run generate:api`; manual changes are lost.

/**
 * An event as webhooks bring it: the same bytes at every try.
 */
export type WebhookEvent = Event & {
  /**
   * When it happened: `created_at` under the name of Standard Webhooks. RFC 3339.
   */
  timestamp: string;
};
/**
 * `type` says what `data` holds. A later version may announce further types, and say more in `data`: pass over a `type` that you do not know, and do not refuse it.
 */
export type Event =
  | OrderEvent
  | TopupEvent
  | VpnSubscriptionEvent
  | VpnSubscriptionExpiringEvent
  | CancellationEvent
  | RefundEvent
  | EsimDataLowEvent
  | EsimExpiringEvent
  | WalletBalanceEvent
  | WalletRunwayEvent
  | WebhookEndpointDisabledEvent
  | WebhookEndpointTestEvent;
/**
 * `invalid_request`: The service refused the request as malformed or not allowed. `topup_not_offered`: The service does not offer this package as a top-up of the eSIM. `cancellation_refused`: The service refuses the cancellation. `refund_not_expected`: A condition of the automatic refund is not met, so nothing was sent. `refund_uncertain`: This service shows too little to tell whether the conditions of the refund are met, so nothing was sent. `deadline_passed`: The deadline passed while it was held; nothing was bought. `key_or_reference_used`: The service says that this key or reference is already used. `supplier_failed`: The service accepted the purchase and then reported it as failed. `timeout`: The service did not answer in time; it may have done what was asked. `connection_lost`: The connection broke after the request was sent; the service may have done what was asked. `server_error`: The service answered with a server error; it may have done what was asked. `unreadable_answer`: The answer of the service could not be read (not JSON, too large, a redirect, or an unexpected status). `contract_drift`: The answer of the service lacks something that we need; its interface may have changed. `worker_lost`: The process that sent the request died before it recorded the answer; the service may have done what was asked. `package_unavailable`: The service does not sell this package at the moment. `price_above_limit`: The price charged to the reseller is above the max_price that the caller set. `margin_too_low`: The service charges the reseller more than the customer pays. `esim_busy`: Another top-up or a cancellation of the same eSIM is not settled yet; only one may be under way. `insufficient_balance`: The wallet at the service does not cover the price. `not_approved`: The service has not approved this reseller for production yet. `unauthorized`: The service refuses our token even after a fresh login, or refuses the login. `rate_limited`: The service asks us to slow down. `not_sent`: No connection to the service could be opened, so nothing was sent. `service_down`: The service did not answer others just before, so nothing was sent. `spend_limit_reached`: What may be spent in a day is spent. `purchases_paused`: Buying is paused: by an operator, or by the product until the shapes of the answers have been seen.
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
  | 'purchases_paused';
/**
 * `outcome_unknown`: The service may have bought, and neither sending again nor asking has settled it. `failed_but_charged`: The service reports a failure, but its wallet shows a debit for it and no credit. `evidence_unavailable`: The service reports a failure, and the wallet could not be read to prove that nothing was charged. `attempts_used_up`: Every allowed attempt failed, each provably without a charge. `records_lost`: PostgreSQL has lost what was recorded of it: it may have been bought, and the service does not say so. `service_not_answering`: The service could not be asked what became of it, or answers no send of it. It is asked again by itself. `stalled`: It does not move because of ourselves: its sends do not begin, or what the service said is not judged. It is tried again by itself. `contradiction`: The service said something that contradicts what is known already, or the end that was reached. `contract_drift`: The service delivered something that we cannot read. `delivery_unavailable`: It is bought, but what was bought could not be read from the service for a long time. `charged_above_limit`: The service charged more than the max_price that the caller set. `debited_twice`: The wallet shows a debit too many for it: twice for one purchase, or after a subscription had ended. Money was lost. `charge_not_refunded`: It came to nothing, and the wallet shows a debit for it that was not given back. `amount_differs`: The service moved another amount in the wallet than it had told us. `movement_missing`: Our books have a movement for it that the wallet at the service does not show. `cancellation_refused`: The service does not cancel the subscription. `refund_failed`: The eSIM is cancelled, and the service says that its refund failed. `refund_missing`: The refund was not decided for a long time, or its money is not in the wallet. `message_quarantined`: A report of the service about it, or a request to start or wake its workflow, cannot be processed and was put aside. `webhook_conflict`: Two different bodies came under one delivery id.
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
  | 'wallet.*'
  | 'esim.*'
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
  | 'refund.expected'
  | 'refund.manual_review'
  | 'refund.completed'
  | 'refund.failed'
  | 'refund.needs_attention'
  | 'wallet.balance_low'
  | 'wallet.balance_restored'
  | 'esim.data_low'
  | 'esim.expiring'
  | 'vpn_subscription.expiring'
  | 'wallet.runway_low'
  | 'wallet.runway_restored'
  | 'webhook_endpoint.disabled'
  | 'webhook_endpoint.test';
/**
 * A scope of an API key.
 */
export type ApiScope =
  | 'orders:read'
  | 'orders:write'
  | 'orders:operate'
  | 'topups:read'
  | 'topups:write'
  | 'topups:operate'
  | 'cancellations:read'
  | 'cancellations:write'
  | 'cancellations:operate'
  | 'vpn:read'
  | 'vpn:write'
  | 'vpn:operate'
  | 'vpn:reveal'
  | 'gate:read'
  | 'gate:operate'
  | 'cases:operate'
  | 'audit:read'
  | 'esims:read'
  | 'esims:reveal'
  | 'packages:read'
  | 'pricing:read'
  | 'pricing:write'
  | 'events:read'
  | 'wallet:read'
  | 'updates:read'
  | 'webhook_endpoints:read'
  | 'webhook_endpoints:write'
  | 'service:admin';
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
   * Id of the event.
   */
  id: string;
  /**
   * `order.accepted`: The order was accepted and stored. `order.held`: The order waits for something that passes by itself. `order.processing`: The order was taken up by the service. `order.needs_attention`: The order waits for a person. `order.completed`: The order is completed. `order.failed`: The order has failed; nothing was bought. `order.abandoned`: The order was given up by an operator.
   */
  type:
    | 'order.accepted'
    | 'order.held'
    | 'order.processing'
    | 'order.needs_attention'
    | 'order.completed'
    | 'order.failed'
    | 'order.abandoned';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'order';
    /**
     * Id of the order.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * The status that it has from now on: that in the type.
     */
    status: 'accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
    /**
     * The status that was announced before; null where there was none, or where that event is not kept any more.
     */
    previous_status:
      ('accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned') | null;
    /**
     * Your own reference of the order.
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
     * Why it failed, or what holds it at present; null where neither is so. As `failure.class` of the resource.
     */
    failure_class: FailureClass | null;
    /**
     * What it waits for a person for; null where it does not. As `attention.reason` of the resource.
     */
    attention_reason: AttentionReason | null;
    /**
     * What the service charged; null until that is known.
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
export interface TopupEvent {
  /**
   * Id of the event.
   */
  id: string;
  /**
   * `topup.accepted`: The top-up was accepted and stored. `topup.held`: The top-up waits for something that passes by itself. `topup.processing`: The top-up was taken up by the service. `topup.needs_attention`: The top-up waits for a person. `topup.completed`: The top-up is completed. `topup.failed`: The top-up has failed; nothing was bought. `topup.abandoned`: The top-up was given up by an operator.
   */
  type:
    | 'topup.accepted'
    | 'topup.held'
    | 'topup.processing'
    | 'topup.needs_attention'
    | 'topup.completed'
    | 'topup.failed'
    | 'topup.abandoned';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'topup';
    /**
     * Id of the top-up.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * The status that it has from now on: that in the type.
     */
    status: 'accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
    /**
     * The status that was announced before; null where there was none, or where that event is not kept any more.
     */
    previous_status:
      ('accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned') | null;
    /**
     * Your own reference of the top-up; null where you gave none.
     */
    external_topup_id: string | null;
    /**
     * Id of a package at the service.
     */
    package_id: number;
    /**
     * Id of the eSIM that is recharged.
     */
    esim_id: string;
    /**
     * Why it failed, or what holds it at present; null where neither is so. As `failure.class` of the resource.
     */
    failure_class: FailureClass | null;
    /**
     * What it waits for a person for; null where it does not. As `attention.reason` of the resource.
     */
    attention_reason: AttentionReason | null;
    /**
     * What the service charged; null until that is known.
     */
    charged: Money | null;
  };
}
export interface VpnSubscriptionEvent {
  /**
   * Id of the event.
   */
  id: string;
  /**
   * `vpn_subscription.accepted`: The VPN subscription was accepted and stored. `vpn_subscription.held`: The VPN subscription waits for something that passes by itself. `vpn_subscription.processing`: The VPN subscription was taken up by the service. `vpn_subscription.needs_attention`: The VPN subscription waits for a person. `vpn_subscription.active`: The VPN subscription is active. `vpn_subscription.cancelling`: The VPN subscription is being cancelled. `vpn_subscription.cancelled`: The VPN subscription is cancelled. `vpn_subscription.expired`: The VPN subscription has expired. `vpn_subscription.failed`: The VPN subscription has failed; nothing was bought. `vpn_subscription.abandoned`: The VPN subscription was given up by an operator.
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
    | 'vpn_subscription.abandoned';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'vpn_subscription';
    /**
     * Id of the VPN subscription.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * The status that it has from now on: that in the type.
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
      | 'abandoned';
    /**
     * The status that was announced before; null where there was none, or where that event is not kept any more.
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
        )
      | null;
    /**
     * Your own reference of the VPN subscription.
     */
    external_subscription_id: string;
    /**
     * Id of a VPN plan at the service.
     */
    vpn_plan_id: number;
    /**
     * Why it failed, or what holds it at present; null where neither is so. As `failure.class` of the resource.
     */
    failure_class: FailureClass | null;
    /**
     * What it waits for a person for; null where it does not. As `attention.reason` of the resource.
     */
    attention_reason: AttentionReason | null;
    /**
     * What the service charged; null until that is known.
     */
    charged: Money | null;
  };
}
export interface VpnSubscriptionExpiringEvent {
  /**
   * Id of the event.
   */
  id: string;
  /**
   * `vpn_subscription.expiring`: The time of the VPN subscription is about to end. Once for each threshold and period.
   */
  type: 'vpn_subscription.expiring';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'vpn_subscription';
    /**
     * Id of the VPN subscription.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * Your own reference of the VPN subscription. Absent in older events, from before they told it.
     */
    external_subscription_id?: string;
    /**
     * When the period that is paid for ends. RFC 3339.
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
   * Id of the event.
   */
  id: string;
  /**
   * `cancellation.accepted`: The cancellation was accepted and stored. `cancellation.held`: The cancellation waits for something that passes by itself. `cancellation.processing`: The cancellation was taken up by the service. `cancellation.needs_attention`: The cancellation waits for a person. `cancellation.completed`: The cancellation is completed. `cancellation.refused`: The cancellation was refused; the eSIM stays as it was. `cancellation.abandoned`: The cancellation was given up by an operator.
   */
  type:
    | 'cancellation.accepted'
    | 'cancellation.held'
    | 'cancellation.processing'
    | 'cancellation.needs_attention'
    | 'cancellation.completed'
    | 'cancellation.refused'
    | 'cancellation.abandoned';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'cancellation';
    /**
     * Id of the cancellation.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * The status that it has from now on: that in the type.
     */
    status: 'accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned';
    /**
     * The status that was announced before; null where there was none, or where that event is not kept any more.
     */
    previous_status:
      ('accepted' | 'held' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned') | null;
    /**
     * Whether it is to be cancelled also where no refund is expected.
     */
    accept_without_refund: boolean;
    /**
     * Id of the eSIM that is to be cancelled.
     */
    esim_id: string;
    /**
     * Why it failed, or what holds it at present; null where neither is so. As `failure.class` of the resource.
     */
    failure_class: FailureClass | null;
    /**
     * What it waits for a person for; null where it does not. As `attention.reason` of the resource.
     */
    attention_reason: AttentionReason | null;
  };
}
export interface RefundEvent {
  /**
   * Id of the event.
   */
  id: string;
  /**
   * `refund.expected`: The refund is expected. `refund.manual_review`: The refund is reviewed by a person at the service. `refund.completed`: The refund is in the wallet. `refund.failed`: The refund will not come. `refund.needs_attention`: The refund waits for a person.
   */
  type: 'refund.expected' | 'refund.manual_review' | 'refund.completed' | 'refund.failed' | 'refund.needs_attention';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'refund';
    /**
     * Id of the refund.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * The status that it has from now on: that in the type.
     */
    status: 'expected' | 'manual_review' | 'completed' | 'failed' | 'needs_attention';
    /**
     * The status that was announced before; null where there was none, or where that event is not kept any more.
     */
    previous_status: ('expected' | 'manual_review' | 'completed' | 'failed' | 'needs_attention') | null;
    /**
     * Id of the cancellation that it follows.
     */
    cancellation_id: string;
    /**
     * Id of the order whose price comes back.
     */
    order_id: string;
    /**
     * Id of the eSIM that was cancelled.
     */
    esim_id: string;
    /**
     * What comes back; null until that is known.
     */
    amount: Money | null;
  };
}
export interface EsimDataLowEvent {
  /**
   * Id of the event.
   */
  id: string;
  /**
   * `esim.data_low`: The data of the eSIM that is left has come down to a threshold. Once for each threshold, and again after a top-up.
   */
  type: 'esim.data_low';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'esim';
    /**
     * Id of the eSIM.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * Id of the order that delivered the eSIM. Absent in older events, from before they told it.
     */
    order_id?: string;
    /**
     * Your own reference of the order. Absent in older events, from before they told it.
     */
    external_order_id?: string;
    /**
     * Megabytes that were used.
     */
    data_used_mb: number;
    /**
     * Megabytes in all.
     */
    data_total_mb: number;
    /**
     * Megabytes that are left.
     */
    data_left_mb: number;
    /**
     * The share that is left, from 0 to 1, to four decimal places: 0.1992 is 19.92 %.
     */
    share_left: number;
    /**
     * The threshold that was reached, as a share from 0 to 1: the tightest, where several were.
     */
    threshold_share: number;
    /**
     * When the supplier measured it; null where the service does not say. RFC 3339.
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
   * Id of the event.
   */
  id: string;
  /**
   * `esim.expiring`: The time of the eSIM is about to end. Once for each threshold, and again after a top-up.
   */
  type: 'esim.expiring';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'esim';
    /**
     * Id of the eSIM.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * Id of the order that delivered the eSIM. Absent in older events, from before they told it.
     */
    order_id?: string;
    /**
     * Your own reference of the order. Absent in older events, from before they told it.
     */
    external_order_id?: string;
    /**
     * When the eSIM ends, as the service last said. RFC 3339.
     */
    expires_at: string;
    /**
     * Seconds before the end: the threshold that was reached.
     */
    threshold_seconds: number;
  };
}
export interface WalletBalanceEvent {
  /**
   * Id of the event.
   */
  id: string;
  /**
   * `wallet.balance_low`: The balance of the wallet is below the least that was set. `wallet.balance_restored`: The balance of the wallet is no longer below the least that was set.
   */
  type: 'wallet.balance_low' | 'wallet.balance_restored';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'wallet';
    /**
     * Id of the wallet: there is one.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * What the wallet held when it was read.
     */
    balance: Money;
    /**
     * The least that was set (`POLICY_LOW_BALANCE`); null when it was taken away, which restores the balance.
     */
    threshold: Money | null;
  };
}
export interface WalletRunwayEvent {
  /**
   * Id of the event.
   */
  id: string;
  /**
   * `wallet.runway_low`: At the pace of recent sales, the wallet lasts shorter than was set as its least. `wallet.runway_restored`: At the pace of recent sales, the wallet lasts long enough again.
   */
  type: 'wallet.runway_low' | 'wallet.runway_restored';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'wallet';
    /**
     * Id of the wallet: there is one.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * How long the wallet lasts at the mean of recent sales. Days, to one decimal place.
     */
    days: number;
    /**
     * The same with one standard deviation of bad luck. Days, to one decimal place.
     */
    earliest_days: number;
    /**
     * The same with one standard deviation of good luck. Days, to one decimal place.
     */
    latest_days: number;
    /**
     * The least that was set (`POLICY_RUNWAY_LOW`). Days, to one decimal place.
     */
    threshold_days: number;
    /**
     * The balance less what is reserved and held; may be below zero.
     */
    available: Money;
    /**
     * The mean of what was sold on a day of 24 hours.
     */
    daily_sales: Money;
  };
}
export interface WebhookEndpointDisabledEvent {
  /**
   * Id of the event.
   */
  id: string;
  /**
   * `webhook_endpoint.disabled`: A webhook endpoint was disabled by us: it had failed for too long, or was gone.
   */
  type: 'webhook_endpoint.disabled';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'webhook_endpoint';
    /**
     * Id of the webhook endpoint.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
   */
  data: {
    /**
     * `gone`: It answered 410 (gone): it wants no more deliveries. `failing`: It had failed for too long.
     */
    reason: 'gone' | 'failing';
    /**
     * What came of the last try, in words.
     */
    detail: string;
    /**
     * When the first of the tries was that failed in a row. RFC 3339.
     */
    failing_since: string | null;
  };
}
export interface WebhookEndpointTestEvent {
  /**
   * Id of the event.
   */
  id: string;
  /**
   * `webhook_endpoint.test`: Somebody asked for a test of a webhook endpoint. Sent to that endpoint alone.
   */
  type: 'webhook_endpoint.test';
  /**
   * When it happened. RFC 3339.
   */
  created_at: string;
  subject: {
    kind: 'webhook_endpoint';
    /**
     * Id of the webhook endpoint.
     */
    id: string;
    /**
     * Where it is read as it is now.
     */
    href: string;
  };
  /**
   * Facts of the moment. What it is like now is read from `subject.href`.
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
   * Your own reference, unique for ever: one order is made for it, however often you ask.
   */
  external_order_id: string;
  /**
   * IMEI of the device: 14 to 16 digits. Stored encrypted, given to the service, never returned.
   */
  device_imei?: string;
  /**
   * The most that the service may charge, in the currency of its price. While it asks for more, the order is held; so it is with a limit in another currency, which allows no price, until the limit is changed.
   */
  max_price?: MoneyInput;
  /**
   * What is still held then fails without having bought. In the future. Without it, and at the latest: 24 hours after it was accepted (`POLICY_HOLD_DEADLINE`, and `POLICY_RETRY_RULES` for single classes of failure).
   */
  deadline?: string;
  /**
   * Your own notes, returned as they are. Not encrypted: keep personal data out.
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
  action: 'retry' | 'release' | 'abandon' | 'limit' | 'resolve';
  /**
   * Which orders: all that meet every condition named here. Without `ids`, `status` and `attention` only those that have not ended.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: string[];
    status?:
      'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
    failure_class?: FailureClass;
    attention?: AttentionReason;
    /**
     * Only what was made with this API key; of one that was rotated, the id of the first of its line.
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
   * With `limit`, and needed there; `null` takes the limit away.
   */
  max_price?: MoneyInput | null;
  /**
   * With `resolve`, and needed there: the reason of the open case.
   */
  case?: AttentionReason;
  /**
   * With `resolve`, and needed there: the verdict for all of them.
   */
  verdict?: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy anew (the default), or give it up.
   */
  next?: 'continue' | 'abandon';
  /**
   * Only report the result that each would have. Needs no Idempotency-Key.
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
   * `null` takes the limit away.
   */
  max_price: MoneyInput | null;
}
export interface RetryPolicyChange {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * Attempts in all, those that were made included. With fewer than were made no further one follows.
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
   * In place of the deadline that the caller named and of the configured one; in the future, and 92 days ahead at most.
   */
  deadline?: string | null;
}
export interface OrderCaseResolution {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * The reason of the open case, as `attention.reason` shows it.
   */
  case: AttentionReason;
  /**
   * `bought`: The service has sold it, under the id that is named: it is delivered. `not_bought`: The service sold nothing and keeps no money for this attempt: it may be bought anew. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct: the work goes on from what is stored.
   */
  verdict: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy anew (the default), or give it up.
   */
  next?: 'continue' | 'abandon';
  /**
   * With `bought`: the order at the service, where it is not known yet.
   */
  service_order_id?: string;
  /**
   * With `bought`: the eSIM at the service. Without it the service is asked.
   */
  service_esim_id?: string;
}
export interface TopupInput {
  /**
   * Id of the esim.
   */
  esim_id: string;
  /**
   * One of the eSIM's top-up options.
   */
  package_id: number;
  /**
   * Your own reference, unique for ever: one top-up is made for it, however often you ask.
   */
  external_topup_id?: string;
  /**
   * The most that the service may charge, in the currency of its price. While it asks for more, the top-up is held; so it is with a limit in another currency, which allows no price, until the limit is changed.
   */
  max_price?: MoneyInput;
  /**
   * What is still held then fails without having bought. In the future. Without it, and at the latest: 24 hours after it was accepted (`POLICY_HOLD_DEADLINE`, and `POLICY_RETRY_RULES` for single classes of failure).
   */
  deadline?: string;
  /**
   * Your own notes, returned as they are. Not encrypted: keep personal data out.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface TopupBulkAction {
  action: 'retry' | 'release' | 'abandon' | 'limit' | 'resolve';
  /**
   * Which top-ups: all that meet every condition named here. Without `ids`, `status` and `attention` only those that have not ended.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: string[];
    status?:
      'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
    failure_class?: FailureClass;
    attention?: AttentionReason;
    /**
     * Only what was made with this API key; of one that was rotated, the id of the first of its line.
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
   * With `limit`, and needed there; `null` takes the limit away.
   */
  max_price?: MoneyInput | null;
  /**
   * With `resolve`, and needed there: the reason of the open case.
   */
  case?: AttentionReason;
  /**
   * With `resolve`, and needed there: the verdict for all of them.
   */
  verdict?: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy anew (the default), or give it up.
   */
  next?: 'continue' | 'abandon';
  /**
   * Only report the result that each would have. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface TopupCaseResolution {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * The reason of the open case, as `attention.reason` shows it.
   */
  case: AttentionReason;
  /**
   * `bought`: The service has sold it, under the id that is named: it is delivered. `not_bought`: The service sold nothing and keeps no money for this attempt: it may be bought anew. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct: the work goes on from what is stored.
   */
  verdict: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy anew (the default), or give it up.
   */
  next?: 'continue' | 'abandon';
  /**
   * With `bought`: the top-up at the service, where it is not known yet.
   */
  service_topup_id?: string;
}
export interface VpnSubscriptionInput {
  /**
   * Id of a VPN plan at the service.
   */
  vpn_plan_id: number;
  /**
   * Your own reference, unique for ever: one VPN subscription is made for it, however often you ask.
   */
  external_subscription_id: string;
  /**
   * Your reference to the customer. Stored encrypted, given to the service, never returned.
   */
  customer_reference: string;
  /**
   * What the customer pays, in the currency of the plan. While the service charges more, the order is held.
   */
  customer_price: string;
  /**
   * The most that the service may charge, in the currency of its price. While it asks for more, the VPN subscription is held; so it is with a limit in another currency, which allows no price, until the limit is changed.
   */
  max_price?: MoneyInput;
  /**
   * What is still held then fails without having bought. In the future. Without it, and at the latest: 24 hours after it was accepted (`POLICY_HOLD_DEADLINE`, and `POLICY_RETRY_RULES` for single classes of failure).
   */
  deadline?: string;
  /**
   * Your own notes, returned as they are. Not encrypted: keep personal data out.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface VpnSubscriptionBulkAction {
  action: 'retry' | 'release' | 'abandon' | 'limit' | 'resolve';
  /**
   * Which VPN subscriptions: all that meet every condition named here. Without `ids`, `status` and `attention` only those that have not ended.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: string[];
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
    failure_class?: FailureClass;
    attention?: AttentionReason;
    /**
     * Only what was made with this API key; of one that was rotated, the id of the first of its line.
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
   * With `limit`, and needed there; `null` takes the limit away.
   */
  max_price?: MoneyInput | null;
  /**
   * With `resolve`, and needed there: the reason of the open case.
   */
  case?: AttentionReason;
  /**
   * With `resolve`, and needed there: the verdict for all of them.
   */
  verdict?: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy anew (the default), or give it up.
   */
  next?: 'continue' | 'abandon';
  /**
   * Only report the result that each would have. Needs no Idempotency-Key.
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
   * The reason of the open case, as `attention.reason` shows it.
   */
  case: AttentionReason;
  /**
   * `bought`: The service has sold it, under the id that is named: it is delivered. `not_bought`: The service sold nothing and keeps no money for this attempt: it may be bought anew. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct: the work goes on from what is stored.
   */
  verdict: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy anew (the default), or give it up.
   */
  next?: 'continue' | 'abandon';
  /**
   * With `bought`: the subscription at the service, where it is not known yet.
   */
  service_subscription_id?: string;
}
export interface CancellationInput {
  /**
   * Id of the esim.
   */
  esim_id: string;
  /**
   * Your own note of why. Not encrypted: keep personal data out.
   */
  reason?: string;
  /**
   * Cancel it even where no refund is to be expected. Without it nothing is sent unless all five conditions of the refund are met.
   */
  accept_without_refund?: boolean;
  /**
   * What is still held then is refused without having been sent. In the future. Without it, and at the latest: 24 hours after it was accepted (`POLICY_HOLD_DEADLINE`, and `POLICY_RETRY_RULES` for single classes of failure).
   */
  deadline?: string;
  /**
   * Your own notes, returned as they are. Not encrypted: keep personal data out.
   */
  metadata?: {
    [k: string]: string;
  };
}
export interface CancellationBulkAction {
  action: 'retry' | 'abandon' | 'resolve';
  /**
   * Which cancellations: all that meet every condition named here. Without `ids`, `status` and `attention` only those that have not ended.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: string[];
    status?:
      'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned';
    failure_class?: FailureClass;
    attention?: AttentionReason;
    /**
     * Only what was made with this API key; of one that was rotated, the id of the first of its line.
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
   * With `limit`, and needed there; `null` takes the limit away.
   */
  max_price?: MoneyInput | null;
  /**
   * With `resolve`, and needed there: the reason of the open case.
   */
  case?: AttentionReason;
  /**
   * With `resolve`, and needed there: the verdict for all of them.
   */
  verdict?: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy anew (the default), or give it up.
   */
  next?: 'continue' | 'abandon';
  /**
   * Only report the result that each would have. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface CancellationCaseResolution {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
  /**
   * The reason of the open case, as `attention.reason` shows it.
   */
  case: AttentionReason;
  /**
   * `bought`: The service has sold it, under the id that is named: it is delivered. `not_bought`: The service sold nothing and keeps no money for this attempt: it may be bought anew. `refunded`: The money of the cancelled eSIM is back in the wallet. `dismissed`: There is nothing to correct: the work goes on from what is stored.
   */
  verdict: 'bought' | 'not_bought' | 'refunded' | 'dismissed';
  /**
   * With `not_bought`: buy anew (the default), or give it up.
   */
  next?: 'continue' | 'abandon';
  /**
   * With `bought` (it is cancelled): its refund at the service, where it is not known yet.
   */
  service_refund_id?: string;
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
  kind?: 'order' | 'topup' | 'vpn_subscription' | 'cancellation';
  failure_class?: FailureClass;
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
}
export interface PauseRelease {
  /**
   * The reason; shown in the timeline. Do not include personal data.
   */
  reason: string;
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
   * No suggestion is below it.
   */
  minimum_price?: string | null;
  /**
   * Null: up to the smallest unit of the currency.
   */
  rounding?: PriceRounding | null;
  /**
   * How much more than at present the service may charge, in percent: `max_price` of the suggestion.
   */
  max_price_drift_percent?: string;
}
/**
 * What is added to `price_for_reseller`: the percentage, and the amount.
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
 * No suggestion leaves less than either of the two.
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
   * Never below the minimum, either way.
   */
  direction?: 'up' | 'nearest';
}
export interface WhatIfInput {
  /**
   * Only these. Without this and `vpn_plan_ids`: everything.
   *
   * @maxItems 5000
   *
   * Items: Id of a package at the service.
   */
  package_ids?: number[];
  /**
   * Only these.
   *
   * @maxItems 5000
   *
   * Items: Id of a VPN plan at the service.
   */
  vpn_plan_ids?: number[];
  /**
   * Rules to try. None of them is stored.
   *
   * @maxItems 500
   */
  rules?: PricingRuleInput[];
  /**
   * `same`: each takes the place of the rule in force for the same target and currency, if there is one. `all`: they count alone.
   */
  rules_replace?: 'same' | 'all';
  /**
   * What the service would charge. What is not in it stays at its present price.
   *
   * @maxItems 5000
   */
  price_list?: TriedCost[];
  /**
   * What you ask for now, where that is not what the rules suggest.
   *
   * @maxItems 5000
   */
  selling_prices?: PresentSellingPrice[];
}
/**
 * Applies to what is priced in its currency, and to nothing else.
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
  kind: 'package' | 'vpn_plan';
  /**
   * Id of the package or plan at the service.
   */
  id: number;
  /**
   * Exact decimal amount.
   */
  price_for_reseller: string;
  /**
   * ISO 4217 code.
   */
  currency?: string;
}
export interface PresentSellingPrice {
  kind: 'package' | 'vpn_plan';
  /**
   * Id of the package or plan at the service.
   */
  id: number;
  /**
   * Exact decimal amount.
   */
  amount: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
}
export interface PricingRuleChange {
  terms: PricingTermsInput;
  /**
   * The reason; shown with the versions of the rule.
   */
  reason: string;
  /**
   * The version that you have read. Where the rule has another by now, nothing is changed (409).
   */
  version?: number;
}
export interface PricingRuleEnd {
  /**
   * The reason; shown with the versions of the rule.
   */
  reason: string;
  /**
   * The version that you have read. Where the rule has another by now, nothing is changed (409).
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
   * Where events are sent: `https://`, no user name or password in it, no fragment, and a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private, and be reached by `http://`. Judged again at every delivery.
   */
  url: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  event_types?: EventPattern[];
  /**
   * For people.
   */
  description?: string | null;
}
export interface WebhookEndpointChange {
  /**
   * Where events are sent: `https://`, no user name or password in it, no fragment, and a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private, and be reached by `http://`. Judged again at every delivery.
   */
  url?: string;
  /**
   * @minItems 1
   * @maxItems 100
   */
  event_types?: EventPattern[];
  /**
   * For people.
   */
  description?: string | null;
}
export interface EndpointSecretRotation {
  /**
   * How long former secrets sign beside the new one; as the configuration says when left out. 0 after one has leaked.
   */
  overlap_seconds?: number;
}
export interface WebhookEndpointEnabling {
  /**
   * True to have sent what it missed since `missed_since`.
   */
  replay_missed?: boolean;
}
export interface WebhookReplay {
  /**
   * One event, whatever the filter of the endpoint says.
   */
  event_id?: string;
  /**
   * One delivery.
   */
  delivery_id?: string;
  /**
   * Events that happened from then on.
   */
  since?: string;
  /**
   * With `since`: events that happened up to then.
   */
  until?: string;
  /**
   * With `since`: `all` that its filter selects (when left out), what was `failed` for good, or what it `missed`: that, and what was never sent because it was disabled or not yet there.
   */
  which?: 'all' | 'failed' | 'missed';
}
export interface WebhookSecretRotation {
  /**
   * How long former secrets still verify; as the configuration says when left out. 0 after one has leaked: then none that is stored does from now on; those of `SERVICE_WEBHOOK_SECRETS` do until they are taken out.
   */
  overlap_seconds?: number;
}
export interface Order {
  /**
   * Id of the order.
   */
  id: string;
  /**
   * Id of a package at the service.
   */
  package_id: number;
  external_order_id: string;
  esim_id: string | null;
  /**
   * Id of the order at the service.
   */
  service_order_id: string | null;
  /**
   * `accepted`: stored, not begun. `held`: waits for something that passes by itself. `submitting`: being bought. `processing`: the service works on it. `needs_attention`: waits for a person. `completed`, `failed` and `abandoned` are final; `failed` means definitely not bought.
   */
  status: 'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
  max_price: Money | null;
  /**
   * What the service charged, once it is known.
   */
  charged: Money | null;
  /**
   * Why it failed, or why it is held at present.
   */
  failure: {
    class: FailureClass;
    detail: string | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Why it waits for a person.
   */
  attention: {
    reason: AttentionReason;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Whether submitting the same again, under another reference of yours, would be safe. `not_needed`: it is bought, or goes on. `no`: it may have been bought, and both would be paid. `yes`: nothing was bought and nothing will be, or what was bought has ended.
   */
  resubmission: {
    verdict: 'not_needed' | 'no' | 'yes';
    reason: string;
  };
  /**
   * The time of the next step, if it is known.
   */
  next_step_at: string | null;
  /**
   * When what is held ends, as the caller named it. `null`: 24 hours after it was accepted (`POLICY_HOLD_DEADLINE`), which bounds a later one as well. `retry_policy.gives_up_at` is what counts.
   */
  deadline: string | null;
  retry_policy: RetryPolicy;
  metadata: {
    [k: string]: string;
  };
  /**
   * Attempts made, whether or not they were sent: held work has its first.
   */
  attempts: number;
  /**
   * Id of the API key that it was made with; of one that was rotated, the id of the first of its line. The audit log says what was done with it since.
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
   * When it was bought or carried out; null until then, and for what failed, was refused or abandoned.
   */
  completed_at: string | null;
}
/**
 * By what it is tried again, for what holds it now or failed last. `null`: as configured, which its workflow says once it begins. What the purchase gate holds goes on when that is over, whatever the waits are.
 */
export interface RetryPolicy {
  /**
   * Attempts in all, those that operators have granted included. `attempts` of the work says how many were made.
   */
  attempts: number | null;
  /**
   * First wait before it is tried again; doubled each time. A time that the service names goes first.
   */
  first_wait_seconds: number | null;
  /**
   * Longest such wait.
   */
  longest_wait_seconds: number | null;
  /**
   * What is still held then ends. What may have been bought never ends by this.
   */
  gives_up_at: string | null;
  /**
   * What an operator has set for this one; empty: all is as configured.
   */
  changed: ('attempts' | 'first_wait' | 'longest_wait' | 'deadline')[];
}
/**
 * RFC 9457.
 */
export interface Problem {
  /**
   * Address of a page about this problem, relative to this API.
   */
  type: string;
  /**
   * Stable; switch on this.
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
    | 'refund_not_found'
    | 'access_data_unavailable'
    | 'case_not_found'
    | 'dead_letter_not_found'
    | 'pause_not_found'
    | 'pricing_rule_not_found'
    | 'esim_not_found'
    | 'wallet_transaction_not_found'
    | 'reconciliation_not_found'
    | 'package_not_found'
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
    | 'cancellation_exists'
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
    | 'rate_limited'
    | 'too_many_streams'
    | 'internal_error'
    | 'service_does_not_offer'
    | 'service_failed'
    | 'service_unavailable'
    | 'database_unavailable'
    | 'service_timeout';
  title: string;
  status: number;
  /**
   * About this occurrence.
   */
  detail?: string;
  /**
   * With `validation_failed`: what is wrong, field by field.
   */
  errors?: FieldError[];
  /**
   * With `missing_scope`: the one that is needed.
   */
  missing_scope?: ApiScope;
  /**
   * With `external_…_id_taken`, `cancellation_exists` and `pricing_rule_exists`: what exists already; absent where the key may not see it.
   */
  existing?: {
    id: string;
    href: string;
  };
  /**
   * With `action_not_possible`: what stands against it. `already_ended`: It has ended; nothing can be done with it any more. `not_waiting`: Only what is held or needs attention can be tried again: this is being worked on. `may_be_bought`: The service may have bought, or keeps money, for it: that has to be settled first, by the service or with `resolve`. `not_compared`: PostgreSQL was restarted or restored since its workflow compared what it knows with what is stored. It has been asked to: try again in a moment. `wallet_not_read`: The wallet has to show what it cost before it is given up: set its `attempts` to those made, `resolve` without `next`, then `abandon`. `contradiction_open`: The service contradicted itself about it: a person must judge that with `resolve` first. `service_says_bought`: The service says that it sold it: what it says counts, and it is being delivered. `observations_pending`: The service said something that is being judged at this moment: look again in a few seconds. A report that is quarantined has a case `message_quarantined`: requeue or dismiss it first. `later_attempt_open`: A later attempt may be bought as well. `dismissed` lets that one go on; what was bought besides is for the service to credit. `case_not_open`: No case with this reason is open for it. `verdict_not_possible`: This verdict does not fit a case of this reason. `not_cancelled`: The eSIM is not known to be cancelled: say with `bought` that it is, or with `not_bought` that it is not. `nothing_is_charged`: A cancellation spends nothing: it has no limit, and no purchase gate holds it. `not_held`: Only what is held can be released: this is not held at the moment. `deadline_not_possible`: The deadline must lie in the future, and 92 days ahead at most. `not_active`: It is not active yet: there is nothing to cancel. `abandon` gives it up while nothing is bought. `service_id_taken`: The service's id that is named belongs to another attempt: look at its timeline before anything else.
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
    | 'nothing_is_charged'
    | 'not_held'
    | 'deadline_not_possible'
    | 'not_active'
    | 'service_id_taken';
  /**
   * With `service_…`: what came of asking the service.
   */
  failure_class?: FailureClass;
  /**
   * Identifies this request in our log.
   */
  request_id: string;
}
export interface FieldError {
  in: 'body' | 'query' | 'path' | 'header';
  /**
   * Dotted path; empty when it is the whole.
   */
  field: string;
  message: string;
}
export interface OrderPage {
  data: Order[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface OrderBulkResult {
  dry_run: boolean;
  /**
   * How many match the filter.
   */
  matched: number;
  /**
   * How many of them this call did not cover: one call covers 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Before the action; null when the work is not stored any more.
     */
    status:
      | ('accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned')
      | null;
    failure_class: FailureClass | null;
    attention: AttentionReason | null;
    result: 'would_act' | 'applied' | 'unchanged' | 'refused' | 'not_found';
    /**
     * Why it is refused, as in the answer to the single action.
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
          | 'nothing_is_charged'
          | 'not_held'
          | 'deadline_not_possible'
          | 'not_active'
          | 'service_id_taken'
        )
      | null;
    detail: string | null;
  }[];
}
export interface Timeline {
  data: TimelineEntry[];
  /**
   * Goes into `cursor` for the next page; null on the last.
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
   * Where it stands, in a sentence.
   */
  now: string;
  /**
   * What it waits for, or why it failed.
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
    verdict: 'not_needed' | 'no' | 'yes';
    reason: string;
  };
}
export interface Topup {
  /**
   * Id of the topup.
   */
  id: string;
  /**
   * Id of the esim.
   */
  esim_id: string;
  /**
   * Id of a package at the service.
   */
  package_id: number;
  external_topup_id: string | null;
  /**
   * Id of the top-up at the service.
   */
  service_topup_id: string | null;
  /**
   * `accepted`: stored, not begun. `held`: waits for something that passes by itself. `submitting`: being bought. `processing`: the service works on it. `needs_attention`: waits for a person. `completed`, `failed` and `abandoned` are final; `failed` means definitely not bought.
   */
  status: 'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
  max_price: Money | null;
  /**
   * What the service charged, once it is known.
   */
  charged: Money | null;
  /**
   * Why it failed, or why it is held at present.
   */
  failure: {
    class: FailureClass;
    detail: string | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Why it waits for a person.
   */
  attention: {
    reason: AttentionReason;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Whether submitting the same again, under another reference of yours, would be safe. `not_needed`: it is bought, or goes on. `no`: it may have been bought, and both would be paid. `yes`: nothing was bought and nothing will be, or what was bought has ended.
   */
  resubmission: {
    verdict: 'not_needed' | 'no' | 'yes';
    reason: string;
  };
  /**
   * The time of the next step, if it is known.
   */
  next_step_at: string | null;
  /**
   * When what is held ends, as the caller named it. `null`: 24 hours after it was accepted (`POLICY_HOLD_DEADLINE`), which bounds a later one as well. `retry_policy.gives_up_at` is what counts.
   */
  deadline: string | null;
  retry_policy: RetryPolicy;
  metadata: {
    [k: string]: string;
  };
  /**
   * Attempts made, whether or not they were sent: held work has its first.
   */
  attempts: number;
  /**
   * Id of the API key that it was made with; of one that was rotated, the id of the first of its line. The audit log says what was done with it since.
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
   * When it was bought or carried out; null until then, and for what failed, was refused or abandoned.
   */
  completed_at: string | null;
}
export interface TopupPage {
  data: Topup[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface TopupBulkResult {
  dry_run: boolean;
  /**
   * How many match the filter.
   */
  matched: number;
  /**
   * How many of them this call did not cover: one call covers 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Before the action; null when the work is not stored any more.
     */
    status:
      | ('accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned')
      | null;
    failure_class: FailureClass | null;
    attention: AttentionReason | null;
    result: 'would_act' | 'applied' | 'unchanged' | 'refused' | 'not_found';
    /**
     * Why it is refused, as in the answer to the single action.
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
          | 'nothing_is_charged'
          | 'not_held'
          | 'deadline_not_possible'
          | 'not_active'
          | 'service_id_taken'
        )
      | null;
    detail: string | null;
  }[];
}
export interface VpnPlans {
  data: VpnPlan[];
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * How long ago that was.
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
   * What the service charges the reseller.
   */
  price_for_reseller: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
  /**
   * False while the service does not sell it.
   */
  available: boolean;
  /**
   * Null where no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
}
/**
 * A suggestion of your own rules: what the customer pays is yours to decide.
 */
export interface SuggestedPrice {
  amount: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
  margin: Margin;
  /**
   * Pass it as `max_price` when you sell at this price. Should the service charge more by then, the purchase is held and not made at a loss.
   */
  max_price: Money;
  /**
   * The rule that counts.
   */
  rule: {
    /**
     * Null: a rule of the request.
     */
    id: string | null;
    version: number | null;
    target: 'default' | 'country' | 'package' | 'vpn_plan';
  };
  /**
   * How the price comes about, step by step.
   */
  explanation: {
    step: 'cost' | 'margin_percent' | 'margin_amount' | 'minimum_margin' | 'minimum_price' | 'rounding';
    /**
     * The price after this step.
     */
    amount: string;
    text: string;
  }[];
}
export interface Margin {
  /**
   * The price less `price_for_reseller`.
   */
  amount: string;
  /**
   * Of `price_for_reseller`; null where that is nothing.
   */
  percent: string | null;
}
export interface VpnSubscription {
  /**
   * Id of the vpn_subscription.
   */
  id: string;
  /**
   * Id of a VPN plan at the service.
   */
  vpn_plan_id: number;
  external_subscription_id: string;
  /**
   * Id of the subscription at the service.
   */
  service_subscription_id: string | null;
  customer_price: string;
  /**
   * True once `/access` has something to show.
   */
  has_access_data: boolean;
  started_at: string | null;
  /**
   * When the subscription ends, if the service gives a time.
   */
  expires_at: string | null;
  /**
   * When its customer has ended it; `cancelling` follows, then `cancelled`.
   */
  cancel_requested_at: string | null;
  /**
   * `accepted`: stored, not begun. `held`: waits for something that passes by itself. `submitting`: being bought. `processing`: the service works on it. `needs_attention`: waits for a person. `active`: bought. `cancelling`: its customer has ended it. `cancelled`, `expired`, `failed` and `abandoned` are final; `failed` means definitely not bought.
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
    | 'abandoned';
  max_price: Money | null;
  /**
   * What the service charged, once it is known.
   */
  charged: Money | null;
  /**
   * Why it failed, or why it is held at present.
   */
  failure: {
    class: FailureClass;
    detail: string | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Why it waits for a person.
   */
  attention: {
    reason: AttentionReason;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Whether submitting the same again, under another reference of yours, would be safe. `not_needed`: it is bought, or goes on. `no`: it may have been bought, and both would be paid. `yes`: nothing was bought and nothing will be, or what was bought has ended.
   */
  resubmission: {
    verdict: 'not_needed' | 'no' | 'yes';
    reason: string;
  };
  /**
   * The time of the next step, if it is known.
   */
  next_step_at: string | null;
  /**
   * When what is held ends, as the caller named it. `null`: 24 hours after it was accepted (`POLICY_HOLD_DEADLINE`), which bounds a later one as well. `retry_policy.gives_up_at` is what counts.
   */
  deadline: string | null;
  retry_policy: RetryPolicy;
  metadata: {
    [k: string]: string;
  };
  /**
   * Attempts made, whether or not they were sent: held work has its first.
   */
  attempts: number;
  /**
   * Id of the API key that it was made with; of one that was rotated, the id of the first of its line. The audit log says what was done with it since.
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
   * When it was bought or carried out; null until then, and for what failed, was refused or abandoned.
   */
  completed_at: string | null;
}
export interface VpnSubscriptionPage {
  data: VpnSubscription[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface VpnSubscriptionBulkResult {
  dry_run: boolean;
  /**
   * How many match the filter.
   */
  matched: number;
  /**
   * How many of them this call did not cover: one call covers 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Before the action; null when the work is not stored any more.
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
        )
      | null;
    failure_class: FailureClass | null;
    attention: AttentionReason | null;
    result: 'would_act' | 'applied' | 'unchanged' | 'refused' | 'not_found';
    /**
     * Why it is refused, as in the answer to the single action.
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
          | 'nothing_is_charged'
          | 'not_held'
          | 'deadline_not_possible'
          | 'not_active'
          | 'service_id_taken'
        )
      | null;
    detail: string | null;
  }[];
}
export interface VpnAccess {
  /**
   * Id of the vpn_subscription.
   */
  subscription_id: string;
  username: string;
  password: string;
  server: string | null;
  /**
   * For the customer's app, or an address to fetch one from.
   */
  configuration: string | null;
}
export interface Cancellation {
  /**
   * Id of the cancellation.
   */
  id: string;
  /**
   * Id of the esim.
   */
  esim_id: string;
  reason: string | null;
  accept_without_refund: boolean;
  /**
   * When the eSIM was first known to be cancelled.
   */
  cancelled_at: string | null;
  /**
   * The conditions of the refund as they were judged just before the newest send; `null` before the first.
   */
  preflight: RefundCondition[] | null;
  refund: Refund | null;
  /**
   * `accepted`: stored, not begun. `held`: waits for something that passes by itself. `submitting`: being asked for. `processing`: the service works on it. `needs_attention`: waits for a person. `completed`, `refused` and `abandoned` are final; after the last two the eSIM is as it was.
   */
  status: 'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned';
  /**
   * Why it failed, or why it is held at present.
   */
  failure: {
    class: FailureClass;
    detail: string | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Why it waits for a person.
   */
  attention: {
    reason: AttentionReason;
    meaning: string;
    advice: string;
  } | null;
  /**
   * Whether submitting the same again, under another reference of yours, would be safe. `not_needed`: it is bought, or goes on. `no`: it may have been bought, and both would be paid. `yes`: nothing was bought and nothing will be, or what was bought has ended.
   */
  resubmission: {
    verdict: 'not_needed' | 'no' | 'yes';
    reason: string;
  };
  /**
   * The time of the next step, if it is known.
   */
  next_step_at: string | null;
  /**
   * When what is held ends, as the caller named it. `null`: 24 hours after it was accepted (`POLICY_HOLD_DEADLINE`), which bounds a later one as well. `retry_policy.gives_up_at` is what counts.
   */
  deadline: string | null;
  retry_policy: RetryPolicy;
  metadata: {
    [k: string]: string;
  };
  /**
   * Attempts made, whether or not they were sent: held work has its first.
   */
  attempts: number;
  /**
   * Id of the API key that it was made with; of one that was rotated, the id of the first of its line. The audit log says what was done with it since.
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
   * When it was bought or carried out; null until then, and for what failed, was refused or abandoned.
   */
  completed_at: string | null;
}
export interface RefundCondition {
  name: 'usage_is_zero' | 'never_installed' | 'never_activated' | 'no_completed_topup' | 'debit_verified';
  result: 'pass' | 'fail' | 'unknown';
  /**
   * A human-readable sentence.
   */
  evidence: string;
  /**
   * Of when the evidence is.
   */
  as_of: string | null;
  /**
   * How long ago that was.
   */
  age_seconds: number | null;
}
export interface Refund {
  /**
   * Id of the refund.
   */
  id: string;
  /**
   * Id of the cancellation.
   */
  cancellation_id: string;
  /**
   * Id of the esim.
   */
  esim_id: string;
  /**
   * The order whose price comes back.
   */
  order_id: string;
  /**
   * Id of the refund at the service.
   */
  service_refund_id: string | null;
  /**
   * `expected`: not decided, or paid and not in the wallet yet. `manual_review`: a person at the service decides. `completed`: its money is in the wallet. `failed`: no money comes. `needs_attention`: waits for a person here.
   */
  status: 'expected' | 'manual_review' | 'completed' | 'failed' | 'needs_attention';
  /**
   * The result of the review at the service, if it is known.
   */
  review: ('accepted' | 'refused' | 'manual_review') | null;
  /**
   * What comes back, as the service says.
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
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface CancellationBulkResult {
  dry_run: boolean;
  /**
   * How many match the filter.
   */
  matched: number;
  /**
   * How many of them this call did not cover: one call covers 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Before the action; null when the work is not stored any more.
     */
    status:
      | ('accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned')
      | null;
    failure_class: FailureClass | null;
    attention: AttentionReason | null;
    result: 'would_act' | 'applied' | 'unchanged' | 'refused' | 'not_found';
    /**
     * Why it is refused, as in the answer to the single action.
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
          | 'nothing_is_charged'
          | 'not_held'
          | 'deadline_not_possible'
          | 'not_active'
          | 'service_id_taken'
        )
      | null;
    detail: string | null;
  }[];
}
export interface RefundPage {
  data: Refund[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface EventPage {
  data: Event[];
  /**
   * Goes into `cursor` to go on from here, also later, when there is more. Never null.
   */
  next_cursor: string;
  /**
   * Whether there is a further page at this moment.
   */
  has_more: boolean;
}
export interface CasePage {
  data: Case[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface Case {
  /**
   * Id of the case.
   */
  id: string;
  reason: AttentionReason;
  /**
   * What it is about: work, or a `delivery` (a webhook).
   */
  subject_kind: 'order' | 'topup' | 'vpn_subscription' | 'cancellation' | 'delivery';
  /**
   * Id of the work, or of the delivery.
   */
  subject_id: string;
  detail: string;
  meaning: string;
  advice: string;
  /**
   * RFC 3339 time.
   */
  opened_at: string;
  closed_at: string | null;
  /**
   * How it was closed.
   */
  resolution: string | null;
}
export interface DeadLetterPage {
  data: DeadLetter[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface DeadLetter {
  /**
   * The queue and the number of the row.
   */
  id: string;
  /**
   * `inbox`: a report of the service. `outbox`: a request to start or wake the workflow of a piece of work.
   */
  queue: 'inbox' | 'outbox';
  /**
   * The event of the service, or what was asked of the workflow.
   */
  message: string;
  /**
   * The kind of work, or `delivery` when the webhook belongs to no known work.
   */
  subject_kind: 'order' | 'topup' | 'vpn_subscription' | 'cancellation' | 'delivery';
  /**
   * Id of the work, or of the delivery.
   */
  subject_id: string;
  /**
   * Why it cannot be processed.
   */
  error: string;
  /**
   * How often it was tried; 0 for what could not be read when it came.
   */
  tries: number;
  /**
   * RFC 3339 time.
   */
  received_at: string;
}
export interface PurchaseGate {
  circuits: {
    name: 'service_down' | 'not_approved' | 'unauthorized' | 'rate_limited' | 'insufficient_balance';
    /**
     * `closed`: purchases go through. `open`: they are held without a call to the service. `probing`: one of them is let through to find out. `releasing`: new ones go through, those that were held follow at a set rate, oldest first.
     */
    state: 'closed' | 'open' | 'probing' | 'releasing';
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
     * What the service last said.
     */
    detail: string | null;
    opened_at: string | null;
    /**
     * When the next purchase is let through to find out.
     */
    probe_at: string | null;
    /**
     * The purchase that is finding out.
     */
    canary: {
      kind: 'order' | 'topup' | 'vpn_subscription' | 'cancellation';
      id: string;
    } | null;
  }[];
  /**
   * In force, oldest first.
   */
  pauses: Pause[];
  /**
   * What is held at the gate. What the service refused to one purchase alone is held by its own timer, and not here.
   */
  held: {
    /**
     * `circuit:<name>`, `pause:<id>`, `spend_limit` or `wallet`.
     */
    held_at: string;
    failure_class: FailureClass;
    count: number;
    oldest: {
      kind: 'order' | 'topup' | 'vpn_subscription' | 'cancellation';
      id: string;
      /**
       * RFC 3339 time.
       */
      accepted_at: string;
    };
  }[];
  /**
   * As it was last read for a purchase; null when it is not known.
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
     * Since when the balance is below POLICY_LOW_BALANCE.
     */
    low_since: string | null;
  } | null;
  spend: {
    /**
     * The day (UTC).
     */
    day: string;
    /**
     * Spent today, or perhaps spent; one amount for each currency.
     */
    spent: Money[];
    limits: {
      /**
       * Null: of all keys together.
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
   * Id of the pause.
   */
  id: string;
  /**
   * `operator`: somebody paused buying. `first_contact`: the product did before the first purchase in production, since the shapes of the service's answers have not been seen. It ends by itself when they have, and is not set again once it was released.
   */
  origin: 'operator' | 'first_contact';
  /**
   * The kind of work that is paused; null: every kind.
   */
  kind: ('order' | 'topup' | 'vpn_subscription' | 'cancellation') | null;
  /**
   * Only work that failed with this last is paused; null: all buying.
   */
  failure_class: FailureClass | null;
  reason: string;
  /**
   * Who: the id of an API key; `worker` where the product did.
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
export interface PausePage {
  data: Pause[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface OwnKey {
  /**
   * Id of the apiKey.
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
   * What is made with this key carries this id as `created_by`: that of the first key of its line.
   */
  created_by: string;
  /**
   * RFC 3339 time.
   */
  created_at: string;
  expires_at: string | null;
  /**
   * Of each API process by itself; null: not limited. Ten seconds' worth may come at once, which is what the `RateLimit` headers count.
   */
  requests_per_minute: number | null;
  /**
   * The key's own limit of a day; null where it has none. A limit of all keys together stands in `GET /v1/purchase-gate`.
   */
  spend: {
    /**
     * The day (UTC).
     */
    day: string;
    limit: Money;
    /**
     * Spent today, or perhaps spent.
     */
    spent: Money;
    /**
     * The limit less that; what costs more is held until the next day.
     */
    left: Money;
  } | null;
}
export interface EsimPage {
  data: Esim[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface Esim {
  /**
   * Id of the esim.
   */
  id: string;
  /**
   * Id of the order.
   */
  order_id: string;
  /**
   * Your own reference of the order.
   */
  external_order_id: string;
  /**
   * Id of the eSIM at the service.
   */
  service_esim_id: string;
  /**
   * Serial number of the SIM profile.
   */
  iccid: string;
  /**
   * Id of a package at the service.
   */
  package_id: number;
  /**
   * As the service calls it.
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
   * How long ago that was.
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
export interface EsimUsage {
  /**
   * Id of the esim.
   */
  esim_id: string;
  /**
   * Megabytes.
   */
  data_used_mb: number;
  /**
   * Megabytes; null where it is unlimited or not said.
   */
  data_total_mb: number | null;
  /**
   * Megabytes; null where there is no total.
   */
  data_left_mb: number | null;
  /**
   * True when the service says that there is no limit; null when it says nothing.
   */
  unlimited: boolean | null;
  /**
   * When the supplier measured it, if the service says so.
   */
  measured_at: string | null;
  /**
   * `stored`: the service could not be asked just now; this is the newest reading that we have.
   */
  source: 'service' | 'stored';
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * How long ago that was.
   */
  age_seconds: number;
}
export interface TopupOptions {
  data: Package[];
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * How long ago that was.
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
   * Megabytes; null where it is unlimited or not known.
   */
  data_mb: number | null;
  /**
   * Has no limit of data; null where the service does not say.
   */
  unlimited: boolean | null;
  validity_days: number | null;
  /**
   * What the service charges the reseller.
   */
  price_for_reseller: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
  /**
   * False while the service does not sell it.
   */
  available: boolean;
  /**
   * What the public pays at the service, to compare a margin with; null where it does not show that.
   */
  public_price: Money | null;
  /**
   * Null where no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
}
export interface EsimActivation {
  /**
   * Id of the esim.
   */
  esim_id: string;
  iccid: string;
  /**
   * The LPA string, which a QR code carries.
   */
  activation_code: string;
  /**
   * SM-DP+ address, for typing it in by hand.
   */
  smdp_address: string;
  /**
   * For typing it in by hand.
   */
  matching_id: string;
  /**
   * True when the user is asked for a further code.
   */
  confirmation_code_required: boolean;
  /**
   * Open the installation on the phone itself.
   */
  install_links: {
    ios: string;
    android: string;
  };
}
export interface CancellationPreflight {
  /**
   * Id of the esim.
   */
  esim_id: string;
  /**
   * What the service says of the eSIM at this moment; null where it could not be read. What is `cancelled` already brings no refund.
   */
  esim_status: string | null;
  /**
   * The forecast from the conditions. The answer of the service to the cancellation decides.
   */
  forecast: 'refund_expected' | 'no_refund_expected' | 'unknown';
  conditions: RefundCondition[];
}
export interface PackagePage {
  data: Package[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * How long ago that was.
   */
  age_seconds: number;
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
   * Megabytes; null where it is unlimited or not known.
   */
  data_mb: number | null;
  /**
   * Has no limit of data; null where the service does not say.
   */
  unlimited: boolean | null;
  validity_days: number | null;
  /**
   * What the service charges the reseller.
   */
  price_for_reseller: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
  /**
   * False while the service does not sell it.
   */
  available: boolean;
  /**
   * What the public pays at the service, to compare a margin with; null where it does not show that.
   */
  public_price: Money | null;
  /**
   * Null where no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * How long ago that was.
   */
  age_seconds: number;
}
export interface PricingRulePage {
  data: PricingRule[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface PricingRule {
  /**
   * Id of the pricingRule.
   */
  id: string;
  target: PricingTargetOutput;
  /**
   * ISO 4217 code.
   */
  currency: string;
  terms: PricingTerms;
  /**
   * Counts its changes, from 1.
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
    direction: 'up' | 'nearest';
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
   * All that was asked for: packages, then plans, by id.
   */
  data: WhatIfLine[];
  summary: {
    items: number;
    changed: number;
    /**
     * No new rule applies to them.
     */
    without_suggestion: number;
    /**
     * Would fall below the minimum at their present selling price.
     */
    below_minimum: number;
    /**
     * Would be sold below what the service charges.
     */
    at_loss: number;
  };
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * How long ago that was.
   */
  age_seconds: number;
}
export interface WhatIfLine {
  kind: 'package' | 'vpn_plan';
  /**
   * Id of the package or plan at the service.
   */
  id: number;
  name: string;
  old: PriceBefore;
  new: PriceAfter;
  /**
   * True when the two suggest different prices, or only one of them suggests any.
   */
  changed: boolean;
  /**
   * What comes of it when the present selling price stays. Null where there is none in the currency of the new cost.
   */
  if_kept: {
    /**
     * The selling price of the request, else what the rules suggest now.
     */
    price: Money;
    margin: Margin;
    /**
     * What the new rule asks for at least; the new cost where none applies.
     */
    minimum: Money;
    below_minimum: boolean;
    at_loss: boolean;
  } | null;
}
export interface PriceBefore {
  price_for_reseller: Money;
  /**
   * Null where no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
}
export interface PriceAfter {
  price_for_reseller: Money;
  /**
   * Null where no pricing rule applies.
   */
  suggested_price: SuggestedPrice | null;
}
export interface PricingRuleVersionPage {
  data: PricingRuleVersion[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface PricingRuleVersion {
  version: number;
  change: 'created' | 'changed' | 'ended';
  /**
   * As they were from then on; those of a rule that ended are its last.
   */
  terms: PricingTerms;
  /**
   * Who: the id of an API key.
   */
  changed_by: string;
  reason: string;
  /**
   * RFC 3339 time.
   */
  at: string;
}
export interface Wallet {
  /**
   * What the wallet at the service holds.
   */
  balance: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
  /**
   * When this was read from the service.
   */
  read_at: string;
  /**
   * How long ago that was.
   */
  age_seconds: number;
}
export interface WalletRunway {
  status: 'known' | 'unknown';
  /**
   * Why it is not known.
   */
  reason: ('no_wallet_reading' | 'wallet_reading_old' | 'history_too_short' | 'no_sales' | 'other_currency') | null;
  /**
   * The same in a sentence.
   */
  detail: string | null;
  /**
   * How many days the wallet lasts at the mean of recent sales, without growth.
   */
  days: number | null;
  /**
   * One standard deviation of bad luck: days of sales taken as independent.
   */
  earliest_days: number | null;
  /**
   * One of good luck.
   */
  latest_days: number | null;
  daily_sales: {
    mean: Money;
    deviation: Money;
    /**
     * So many days of 24 hours were looked at.
     */
    days: number;
  } | null;
  /**
   * As it was last read for a purchase or a comparison of the books; null when it is not known.
   */
  wallet: {
    balance: Money;
    /**
     * What purchases under way may still take.
     */
    reserved: Money;
    /**
     * What is held at the purchase gate, at a known price.
     */
    held: Money;
    /**
     * The balance less both; below zero where more is wanted than is there.
     */
    available: Money;
    /**
     * RFC 3339 time.
     */
    read_at: string;
    age_seconds: number;
  } | null;
  /**
   * Purchases held whose price is not known; they are not in the figures.
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
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface WalletTransaction {
  /**
   * `jrn_…` is a row of our journal, `mov_…` a movement without one.
   */
  id: string;
  /**
   * `debit`: money left the wallet at the service; `credit`: money came in.
   */
  direction: 'debit' | 'credit';
  /**
   * Exact decimal amount in our journal.
   */
  amount: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
  /**
   * What it is for; null when it has no cause in our journal.
   */
  cause: {
    kind: 'attempt' | 'subscription_period' | 'refund' | 'deposit' | 'adjustment';
    id: string;
  } | null;
  /**
   * Of what kind it is, where it is about an order, a top-up or a VPN subscription.
   */
  subject_kind: ('order' | 'topup' | 'vpn_subscription' | 'cancellation') | null;
  /**
   * Id of the order, top-up or VPN subscription, where it is about one.
   */
  subject_id: string | null;
  /**
   * When it was recorded here.
   */
  recorded_at: string;
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
  /**
   * Exact decimal amount.
   */
  amount: string;
  /**
   * ISO 4217 code.
   */
  currency: string;
  /**
   * The reason, as the service names it.
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
   * Id of the order at the service, where it names one.
   */
  service_order_id: string | null;
  /**
   * The reference under which we ordered, as the service has it: yours, or with `~` and a number that of a further attempt.
   */
  external_order_id: string | null;
  /**
   * Id of the eSIM at the service, where it names one.
   */
  service_esim_id: string | null;
  /**
   * Id of the top-up at the service, where it names one.
   */
  service_topup_id: string | null;
  /**
   * Id of the refund at the service, where it names one.
   */
  service_refund_id: string | null;
  /**
   * Id of the VPN subscription at the service, where it names one.
   */
  service_subscription_id: string | null;
  /**
   * The same of a VPN subscription.
   */
  external_subscription_id: string | null;
}
export interface ReconciliationPage {
  data: ReconciliationSummary[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface ReconciliationSummary {
  /**
   * Id of the reconciliation.
   */
  id: string;
  /**
   * `incomplete`: the wallet has more than could be read; `unsupported`: the service shows no movements; `unavailable`: it did not answer.
   */
  status: 'complete' | 'incomplete' | 'unsupported' | 'unavailable';
  detail: string;
  /**
   * RFC 3339 time.
   */
  started_at: string;
  /**
   * RFC 3339 time.
   */
  finished_at: string;
  /**
   * Movements since then were read.
   */
  read_since: string;
  /**
   * What the service says the wallet holds.
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
  sums: {
    /**
     * ISO 4217 code.
     */
    currency: string;
    debits: string;
    credits: string;
    /**
     * Credits less debits of our journal.
     */
    journal: string;
    /**
     * Of it, what the service has not shown yet.
     */
    outstanding: string;
    /**
     * What the service has shown, and our journal has not.
     */
    unmatched: string;
  }[];
  /**
   * How many findings there are of each kind.
   */
  finding_counts: {
    [k: string]: number;
  };
}
export interface Reconciliation {
  /**
   * Id of the reconciliation.
   */
  id: string;
  /**
   * `incomplete`: the wallet has more than could be read; `unsupported`: the service shows no movements; `unavailable`: it did not answer.
   */
  status: 'complete' | 'incomplete' | 'unsupported' | 'unavailable';
  detail: string;
  /**
   * RFC 3339 time.
   */
  started_at: string;
  /**
   * RFC 3339 time.
   */
  finished_at: string;
  /**
   * Movements since then were read.
   */
  read_since: string;
  /**
   * What the service says the wallet holds.
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
  sums: {
    /**
     * ISO 4217 code.
     */
    currency: string;
    debits: string;
    credits: string;
    /**
     * Credits less debits of our journal.
     */
    journal: string;
    /**
     * Of it, what the service has not shown yet.
     */
    outstanding: string;
    /**
     * What the service has shown, and our journal has not.
     */
    unmatched: string;
  }[];
  /**
   * How many findings there are of each kind.
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
  kind:
    | 'debited_twice'
    | 'charge_not_refunded'
    | 'amount_differs'
    | 'movement_missing'
    | 'balance_differs'
    | 'unnamed_movement'
    | 'orphan_movement'
    | 'credited_twice';
  meaning: string;
  detail: string;
  /**
   * The service’s id of the movement, where it is about one.
   */
  service_transaction_id: string | null;
  subject_kind: ('order' | 'topup' | 'vpn_subscription' | 'cancellation') | null;
  /**
   * Id of the order, top-up or VPN subscription, where it is about one.
   */
  subject_id: string | null;
  direction: ('debit' | 'credit') | null;
  money: Money | null;
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
   * How long ago that was.
   */
  age_seconds: number;
}
export interface CreatedWebhookEndpoint {
  /**
   * Id of the webhookEndpoint.
   */
  id: string;
  /**
   * Where events are sent: `https://`, no user name or password in it, no fragment, and a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private, and be reached by `http://`. Judged again at every delivery.
   */
  url: string;
  event_types: EventPattern[];
  /**
   * For people.
   */
  description: string | null;
  status: 'enabled' | 'disabled';
  /**
   * `request`: It was disabled by request. `gone`: It answered 410 (gone): it wants no more deliveries. `failing`: It had failed for too long.
   */
  disabled_reason: ('request' | 'gone' | 'failing') | null;
  disabled_at: string | null;
  /**
   * While it is disabled: when the oldest event happened that it has missed. `/enable` can replay from there; of more than 10,000 events it then says from when on they are not queued yet, and is null again once all are.
   */
  missed_since: string | null;
  /**
   * When the first of the tries was that have failed in a row.
   */
  failing_since: string | null;
  /**
   * Tries in a row that failed, over all deliveries.
   */
  failures: number;
  /**
   * What came of the last of them, in words.
   */
  last_failure: string | null;
  last_delivered_at: string | null;
  /**
   * True when it was made by a key that is limited to its own work: it gets events about that work only.
   */
  own_work_only: boolean;
  /**
   * Id of the API key that it was made with; of one that was rotated, the id of the first of its line. The audit log says what was done with it since.
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
   * Signs every delivery; shown in this answer and in no other. Keep it where the receiver reads it.
   */
  secret: string;
}
export interface WebhookEndpointPage {
  data: WebhookEndpoint[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface WebhookEndpoint {
  /**
   * Id of the webhookEndpoint.
   */
  id: string;
  /**
   * Where events are sent: `https://`, no user name or password in it, no fragment, and a public address. Networks that WEBHOOK_ALLOWED_ADDRESSES names may be private, and be reached by `http://`. Judged again at every delivery.
   */
  url: string;
  event_types: EventPattern[];
  /**
   * For people.
   */
  description: string | null;
  status: 'enabled' | 'disabled';
  /**
   * `request`: It was disabled by request. `gone`: It answered 410 (gone): it wants no more deliveries. `failing`: It had failed for too long.
   */
  disabled_reason: ('request' | 'gone' | 'failing') | null;
  disabled_at: string | null;
  /**
   * While it is disabled: when the oldest event happened that it has missed. `/enable` can replay from there; of more than 10,000 events it then says from when on they are not queued yet, and is null again once all are.
   */
  missed_since: string | null;
  /**
   * When the first of the tries was that have failed in a row.
   */
  failing_since: string | null;
  /**
   * Tries in a row that failed, over all deliveries.
   */
  failures: number;
  /**
   * What came of the last of them, in words.
   */
  last_failure: string | null;
  last_delivered_at: string | null;
  /**
   * True when it was made by a key that is limited to its own work: it gets events about that work only.
   */
  own_work_only: boolean;
  /**
   * Id of the API key that it was made with; of one that was rotated, the id of the first of its line. The audit log says what was done with it since.
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
   * Id of the webhookEndpoint.
   */
  id: string;
  deleted: true;
}
export interface RotatedWebhookSecret {
  /**
   * Id of the webhookEndpoint.
   */
  id: string;
  /**
   * Signs every delivery; shown in this answer and in no other. Keep it where the receiver reads it.
   */
  secret: string;
  /**
   * Until then deliveries are signed with the former secret too.
   */
  former_signs_until: string;
}
export interface WebhookDeliveryPage {
  data: WebhookDelivery[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface WebhookDelivery {
  /**
   * Id of the webhookDelivery.
   */
  id: string;
  /**
   * Id of the webhookEndpoint.
   */
  endpoint_id: string;
  /**
   * Sent as `webhook-id`: the same at every try.
   */
  event_id: string;
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
    | 'refund.expected'
    | 'refund.manual_review'
    | 'refund.completed'
    | 'refund.failed'
    | 'refund.needs_attention'
    | 'wallet.balance_low'
    | 'wallet.balance_restored'
    | 'esim.data_low'
    | 'esim.expiring'
    | 'vpn_subscription.expiring'
    | 'wallet.runway_low'
    | 'wallet.runway_restored'
    | 'webhook_endpoint.disabled'
    | 'webhook_endpoint.test';
  /**
   * `pending`: waits for its (next) try. `delivered`: was answered 2xx. `failed`: given up; replay it.
   */
  status: 'pending' | 'delivered' | 'failed';
  /**
   * How often it was tried.
   */
  tries: number;
  /**
   * From when on it is tried (again): not before the endpoint as a whole gets something again, which has failed or asked for a pause. Null when it has ended.
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
   * HTTP status of the answer; null where there was none.
   */
  status: number | null;
  /**
   * Why there was none. `address_refused`: its address is none that webhooks may be sent to. `host_unknown`: its host name is not known. `connection_failed`: no connection could be opened, or it broke. `tls_failed`: its certificate was not accepted, or TLS failed otherwise. `timeout`: it did not answer in time. `unreadable_answer`: its answer is not valid HTTP.
   */
  failure:
    ('address_refused' | 'host_unknown' | 'connection_failed' | 'tls_failed' | 'timeout' | 'unreadable_answer') | null;
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
   * There were more than one call takes: call again with this `since`. Null when all are queued.
   */
  next_since: string | null;
  /**
   * Id of the event that is sent: its `webhook-id`, and the `event_id` of its delivery.
   */
  event_id: string;
}
export interface WebhookReplayResult {
  /**
   * Number of queued deliveries.
   */
  queued: number;
  /**
   * There were more than one call takes: call again with this `since`. Null when all are queued.
   */
  next_since: string | null;
}
/**
 * When a secret was stored. The secret itself is never shown.
 */
export interface WebhookSecretStatus {
  /**
   * Of the service, where the secret signs.
   */
  environment: 'sandbox' | 'production';
  /**
   * From when it verifies.
   */
  stored_at: string;
  /**
   * Until when the one before it still verifies; null when none was stored.
   */
  former_verifies_until: string | null;
  /**
   * How many secrets of `SERVICE_WEBHOOK_SECRETS` this API process still accepts beside it. A rotation does not end them: one that has leaked is taken out of the environment, and the API restarted.
   */
  configured_secrets: number;
}
export interface AuditPage {
  data: AuditEntry[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface AuditEntry {
  /**
   * RFC 3339 time.
   */
  at: string;
  /**
   * Who: the id of an API key, or `command/<account>` for a command and the account that ran it.
   */
  actor: string;
  /**
   * The API key that acted, where it was one.
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
   * The kind of object that it was done to.
   */
  subject_kind: string;
  subject_id: string;
  /**
   * Why, in the actor's words, where a reason is asked for; of an API key or a webhook endpoint what was set or changed.
   */
  reason: string | null;
}
export interface WebhookReceipt {
  result: 'accepted' | 'quarantined' | 'duplicate' | 'replayed';
}
export interface Health {
  status: 'ok';
}
export interface Readiness {
  status: 'ready' | 'not ready';
  checks: {
    [k: string]: {
      ok: boolean;
      detail?: string;
    };
  };
  /**
   * What holds purchases up although this API takes requests: what the service last said to orders that are held for it, such as `not_approved`; open circuits of the purchase gate, such as `service_down`; `purchases_paused`; `other_header_prefix` where webhooks of the service are refused for the names of their headers; `webhooks_missed`; and `relay_behind_outbox`, `relay_behind_inbox` or `relay_behind_events` where rows wait for longer than they should. Never a reason to send requests elsewhere.
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
