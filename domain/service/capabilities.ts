/**
 * Abilities that the service may or may not have, because the specification does not say. Each has a fallback. The
 * product stays money-safe without any of them: work with an unknown result then needs attention.
 */
export const CAPABILITIES = {
  key_replay: 'A repeated Idempotency-Key returns the stored result. Without it, nothing is sent twice.',
  order_read: 'GET /orders/{id} exists. Without it, only webhooks report the result of an order.',
  order_list:
    'GET /orders can be filtered by external_order_id. Without it, an order without an id cannot be looked up.',
  wallet_transactions:
    'GET /wallet/transactions exists. Without it, there is no evidence of a debit: failures need attention.',
  public_packages: 'GET /public/packages exists. Without it, the public price of a package is not shown.',
  esim_usage:
    'GET /esims/{id}/usage exists. Without it, usage is unknown, and so is one condition of a refund; the service ' +
    'decides.',
  topup_read: 'GET /topups/{id} exists. Without it, only webhooks report the result of a top-up.',
  topup_list: 'GET /topups can be filtered by esim_id. Without it, a top-up whose answer was lost needs attention.',
  refund_read: 'GET /refunds/{id} exists. Without it, only webhooks report the result of a refund.',
  refund_list:
    'GET /refunds can be filtered by esim_id. Without it, a refund whose id is unknown keeps the status `expected`.',
  vpn_subscription_read:
    'GET /vpn/subscriptions/{id} exists. Without it, only webhooks report the state, and access data comes with the ' +
    'answer to the order or not at all.',
  vpn_subscription_list:
    'GET /vpn/subscriptions can be filtered by external_subscription_id. Without it, a VPN order whose answer was ' +
    'lost needs attention.',
  openapi_download:
    'The OpenAPI document can be downloaded by a call. Without it, a person gives the file to the contract check.',
  sandbox_simulation: 'The sandbox simulation can be called. Without it, the sandbox tour leaves the refund paths out.',
  webhook_secret:
    'The webhook secret can be created and rotated by a call. Without it, that is done at the service, and the ' +
    'secret is entered by hand.',
} as const;

export type Capability = keyof typeof CAPABILITIES;
export const capabilities = Object.keys(CAPABILITIES) as readonly Capability[];
export type Capabilities = Readonly<Record<Capability, boolean>>;

export const ALL_CAPABILITIES: Capabilities = {
  key_replay: true,
  order_read: true,
  order_list: true,
  wallet_transactions: true,
  public_packages: true,
  esim_usage: true,
  topup_read: true,
  topup_list: true,
  refund_read: true,
  refund_list: true,
  vpn_subscription_read: true,
  vpn_subscription_list: true,
  openapi_download: true,
  sandbox_simulation: true,
  webhook_secret: true,
};
