/**
 * What the real service may or may not be able to do, where the specification does not say. Each has a fallback; the
 * product stays money-safe with all of them off: unknown work is then parked.
 */
export const CAPABILITIES = {
  key_replay: 'A repeated Idempotency-Key returns the stored result. Without it nothing is sent twice.',
  order_read: 'GET /orders/{id} exists. Without it only webhooks tell how an order went on.',
  order_list: 'GET /orders can be filtered by external_order_id. Without it an order without an id cannot be looked up.',
  wallet_transactions: 'GET /wallet/transactions exists. Without it there is no evidence of a debit: failures are parked.',
} as const;

export type Capability = keyof typeof CAPABILITIES;
export const capabilities = Object.keys(CAPABILITIES) as readonly Capability[];
export type Capabilities = Readonly<Record<Capability, boolean>>;

export const ALL_CAPABILITIES: Capabilities = {
  key_replay: true,
  order_read: true,
  order_list: true,
  wallet_transactions: true,
};
