// Made from /openapi.json by `npm run generate:api`; changes by hand are lost.

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
   * The most that the service may charge. While it asks for more, the order is held.
   */
  max_price?: MoneyInput;
  /**
   * What is still held then fails without having bought. In the future. Default: 24 hours.
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
  action: 'retry' | 'release' | 'abandon';
  /**
   * Which orders: all that meet every condition named here.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: [string, ...string[]];
    status?:
      'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
    failure_class?:
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
    attention?:
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
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
  /**
   * Only say which it would be. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface OperatorAct {
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
}
export interface LimitChange {
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
  /**
   * `null` takes the limit away.
   */
  max_price: MoneyInput | null;
}
export interface OrderCaseResolution {
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
  /**
   * The reason of the open case, as `attention.reason` shows it.
   */
  case:
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
   * The most that the service may charge. While it asks for more, the top-up is held.
   */
  max_price?: MoneyInput;
  /**
   * What is still held then fails without having bought. In the future. Default: 24 hours.
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
  action: 'retry' | 'release' | 'abandon';
  /**
   * Which top-ups: all that meet every condition named here.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: [string, ...string[]];
    status?:
      'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned';
    failure_class?:
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
    attention?:
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
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
  /**
   * Only say which it would be. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface TopupCaseResolution {
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
  /**
   * The reason of the open case, as `attention.reason` shows it.
   */
  case:
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
   * The most that the service may charge. While it asks for more, the VPN subscription is held.
   */
  max_price?: MoneyInput;
  /**
   * What is still held then fails without having bought. In the future. Default: 24 hours.
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
  action: 'retry' | 'release' | 'abandon';
  /**
   * Which VPN subscriptions: all that meet every condition named here.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: [string, ...string[]];
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
    failure_class?:
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
    attention?:
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
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
  /**
   * Only say which it would be. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface VpnCancellation {
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
}
export interface VpnSubscriptionCaseResolution {
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
  /**
   * The reason of the open case, as `attention.reason` shows it.
   */
  case:
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
   * What is still held then is refused without having been sent. In the future. Default: 24 hours.
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
  action: 'retry' | 'release' | 'abandon';
  /**
   * Which cancellations: all that meet every condition named here.
   */
  filter: {
    /**
     * @minItems 1
     * @maxItems 100
     */
    ids?: [string, ...string[]];
    status?:
      'accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned';
    failure_class?:
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
    attention?:
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
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
  /**
   * Only say which it would be. Needs no Idempotency-Key.
   */
  dry_run?: boolean;
}
export interface CancellationCaseResolution {
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
  /**
   * The reason of the open case, as `attention.reason` shows it.
   */
  case:
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
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
}
export interface PauseInput {
  kind?: 'order' | 'topup' | 'vpn_subscription' | 'cancellation';
  failure_class?:
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
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
}
export interface PauseRelease {
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
}
export interface WalletTransactionExplanation {
  /**
   * Why, for whoever reads the timeline. Keep personal data out.
   */
  why: string;
}
export interface WebhookSecretRotation {
  /**
   * How long former secrets still verify; as the configuration says when left out. 0 after one has leaked: then none of them does from now on.
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
   * Why it failed, or what holds it at present.
   */
  failure: {
    class:
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
    detail: string | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * What it waits for a person for.
   */
  attention: {
    reason:
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
    meaning: string;
    advice: string;
  } | null;
  /**
   * Whether submitting the same again, under another reference of yours, would be safe. `not_needed`: it is bought, or goes on. `no`: it may have been bought, and both would be paid. `yes`: nothing was bought and nothing will be.
   */
  submit_again: {
    verdict: 'not_needed' | 'no' | 'yes';
    why: string;
  };
  /**
   * When time brings the next step, if time does.
   */
  next_step_at: string | null;
  deadline: string | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * How often it was tried to buy.
   */
  attempts: number;
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
    | 'route_not_found'
    | 'order_not_found'
    | 'topup_not_found'
    | 'cancellation_not_found'
    | 'refund_not_found'
    | 'vpn_subscription_not_found'
    | 'access_data_not_there'
    | 'case_not_found'
    | 'pause_not_found'
    | 'esim_not_found'
    | 'wallet_transaction_not_found'
    | 'reconciliation_not_found'
    | 'package_not_found'
    | 'problem_not_found'
    | 'method_not_allowed'
    | 'external_order_id_taken'
    | 'external_topup_id_taken'
    | 'external_subscription_id_taken'
    | 'cancellation_exists'
    | 'action_not_possible'
    | 'idempotency_in_progress'
    | 'webhook_secret_exists'
    | 'webhook_secret_missing'
    | 'webhook_secret_busy'
    | 'payload_too_large'
    | 'unsupported_media_type'
    | 'unsupported_encoding'
    | 'idempotency_key_reused'
    | 'internal_error'
    | 'service_lacks_call'
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
   * With `missing_scope`.
   */
  missing_scope?: string;
  /**
   * With `external_…_id_taken`: what exists already.
   */
  existing?: {
    id: string;
    href: string;
  };
  /**
   * With `action_not_possible`: a stable code for what stands against it.
   */
  refusal?: string;
  /**
   * With `service_…`: what came of asking the service.
   */
  failure_class?: string;
  /**
   * Names this request in our log.
   */
  request_id: string;
}
export interface FieldError {
  in: 'body' | 'query' | 'path';
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
   * How many meet the filter.
   */
  matched: number;
  /**
   * How many of them this call is not about: one call acts on 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Before the act; null where it is not known any more.
     */
    status:
      | ('accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned')
      | null;
    failure_class:
      | (
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
          | 'worker_lost'
        )
      | null;
    attention:
      | (
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
          | 'webhook_conflict'
        )
      | null;
    result: 'would_act' | 'applied' | 'unchanged' | 'refused' | 'not_found';
    /**
     * Why it is refused, as of the single act.
     */
    refusal: string | null;
    detail: string | null;
  }[];
}
export interface TimelinePage {
  data: TimelineEntry[];
  /**
   * Goes into `cursor` for the next page; null on the last.
   */
  next_cursor: string | null;
}
export interface TimelineEntry {
  /**
   * RFC 3339 time.
   */
  at: string;
  /**
   * Stable name.
   */
  event: string;
  /**
   * A sentence for people.
   */
  message: string;
  detail: {
    [k: string]: string | number | boolean | null;
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
   * Why it failed, or what holds it at present.
   */
  failure: {
    class:
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
    detail: string | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * What it waits for a person for.
   */
  attention: {
    reason:
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
    meaning: string;
    advice: string;
  } | null;
  /**
   * Whether submitting the same again, under another reference of yours, would be safe. `not_needed`: it is bought, or goes on. `no`: it may have been bought, and both would be paid. `yes`: nothing was bought and nothing will be.
   */
  submit_again: {
    verdict: 'not_needed' | 'no' | 'yes';
    why: string;
  };
  /**
   * When time brings the next step, if time does.
   */
  next_step_at: string | null;
  deadline: string | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * How often it was tried to buy.
   */
  attempts: number;
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
   * How many meet the filter.
   */
  matched: number;
  /**
   * How many of them this call is not about: one call acts on 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Before the act; null where it is not known any more.
     */
    status:
      | ('accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'failed' | 'abandoned')
      | null;
    failure_class:
      | (
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
          | 'worker_lost'
        )
      | null;
    attention:
      | (
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
          | 'webhook_conflict'
        )
      | null;
    result: 'would_act' | 'applied' | 'unchanged' | 'refused' | 'not_found';
    /**
     * Why it is refused, as of the single act.
     */
    refusal: string | null;
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
   * When its time is over, where the service says so.
   */
  expires_at: string | null;
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
   * Why it failed, or what holds it at present.
   */
  failure: {
    class:
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
    detail: string | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * What it waits for a person for.
   */
  attention: {
    reason:
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
    meaning: string;
    advice: string;
  } | null;
  /**
   * Whether submitting the same again, under another reference of yours, would be safe. `not_needed`: it is bought, or goes on. `no`: it may have been bought, and both would be paid. `yes`: nothing was bought and nothing will be.
   */
  submit_again: {
    verdict: 'not_needed' | 'no' | 'yes';
    why: string;
  };
  /**
   * When time brings the next step, if time does.
   */
  next_step_at: string | null;
  deadline: string | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * How often it was tried to buy.
   */
  attempts: number;
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
   * How many meet the filter.
   */
  matched: number;
  /**
   * How many of them this call is not about: one call acts on 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Before the act; null where it is not known any more.
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
    failure_class:
      | (
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
          | 'worker_lost'
        )
      | null;
    attention:
      | (
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
          | 'webhook_conflict'
        )
      | null;
    result: 'would_act' | 'applied' | 'unchanged' | 'refused' | 'not_found';
    /**
     * Why it is refused, as of the single act.
     */
    refusal: string | null;
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
   * Why it failed, or what holds it at present.
   */
  failure: {
    class:
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
    detail: string | null;
    meaning: string;
    advice: string;
  } | null;
  /**
   * What it waits for a person for.
   */
  attention: {
    reason:
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
    meaning: string;
    advice: string;
  } | null;
  /**
   * When time brings the next step, if time does.
   */
  next_step_at: string | null;
  deadline: string | null;
  metadata: {
    [k: string]: string;
  };
  /**
   * How often it was tried to buy.
   */
  attempts: number;
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
export interface RefundCondition {
  name: 'usage_is_zero' | 'never_installed' | 'never_activated' | 'no_completed_topup' | 'debit_verified';
  result: 'pass' | 'fail' | 'unknown';
  /**
   * A sentence for people.
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
   * What the review at the service came to, if it says so.
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
   * How many meet the filter.
   */
  matched: number;
  /**
   * How many of them this call is not about: one call acts on 100, the oldest first. Call again with another key.
   */
  remaining: number;
  data: {
    id: string;
    /**
     * Before the act; null where it is not known any more.
     */
    status:
      | ('accepted' | 'held' | 'submitting' | 'processing' | 'needs_attention' | 'completed' | 'refused' | 'abandoned')
      | null;
    failure_class:
      | (
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
          | 'worker_lost'
        )
      | null;
    attention:
      | (
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
          | 'webhook_conflict'
        )
      | null;
    result: 'would_act' | 'applied' | 'unchanged' | 'refused' | 'not_found';
    /**
     * Why it is refused, as of the single act.
     */
    refusal: string | null;
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
  reason:
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
  /**
   * `order`, `topup`, `vpn_subscription`, `cancellation` or `delivery` (a webhook).
   */
  subject_kind: string;
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
    failure_classes: (
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
      | 'worker_lost'
    )[];
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
    failure_class:
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
   * The kind of work that is paused; null: every kind.
   */
  kind: ('order' | 'topup' | 'vpn_subscription' | 'cancellation') | null;
  /**
   * Only work that failed with this last is paused; null: all buying.
   */
  failure_class:
    | (
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
        | 'worker_lost'
      )
    | null;
  why: string;
  /**
   * Who: the id of an API key.
   */
  paused_by: string;
  /**
   * RFC 3339 time.
   */
  paused_at: string;
  released_at: string | null;
  released_by: string | null;
  release_why: string | null;
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
  facts_read_at: string;
  /**
   * How long ago that was.
   */
  facts_age_seconds: number;
  /**
   * RFC 3339 time.
   */
  created_at: string;
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
   * Megabytes; null means unlimited.
   */
  data_mb: number | null;
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
   * What the conditions come to. A forecast: the answer of the service to the cancellation decides.
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
   * Megabytes; null means unlimited.
   */
  data_mb: number | null;
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
   * When this was read from the service.
   */
  read_at: string;
  /**
   * How long ago that was.
   */
  age_seconds: number;
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
   * What it is for; null where nothing of ours is its cause.
   */
  cause: {
    kind: 'attempt' | 'subscription_period' | 'refund' | 'deposit' | 'adjustment';
    id: string;
  } | null;
  /**
   * `order`, `topup` or `vpn_subscription`.
   */
  subject_kind: string | null;
  /**
   * Id of the order, top-up or VPN subscription, where it is about one.
   */
  subject_id: string | null;
  /**
   * When it was written down here.
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
   * The service’s word for it.
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
  order_id: string | null;
  external_order_id: string | null;
  esim_id: string | null;
  topup_id: string | null;
  refund_id: string | null;
  vpn_subscription_id: string | null;
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
   * What its movements come to; null where that cannot be said.
   */
  expected_balance: Money | null;
  counts: {
    read: number;
    new: number;
    matched: number;
    booked: number;
    pending: number;
    orphans: number;
    awaited: number;
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
    awaited: string;
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
   * What its movements come to; null where that cannot be said.
   */
  expected_balance: Money | null;
  counts: {
    read: number;
    new: number;
    matched: number;
    booked: number;
    pending: number;
    orphans: number;
    awaited: number;
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
    awaited: string;
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
    | 'debited_for_nothing'
    | 'amount_differs'
    | 'movement_missing'
    | 'balance_differs'
    | 'low_balance'
    | 'unnamed_movement'
    | 'orphan_movement'
    | 'credited_twice';
  meaning: string;
  detail: string;
  /**
   * The service’s id of the movement, where it is about one.
   */
  service_transaction_id: string | null;
  subject_kind: string | null;
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
   * What holds purchases up although this API takes requests: what the service last said to orders that are held for it, such as `not_approved`. Never a reason to send requests elsewhere.
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
