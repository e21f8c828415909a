import type { EndpointName } from '#upstream/contract.ts';
import type { Dialect } from '#simulator/dialect.ts';

/** False for calls that the dialect's service does not have. */
export function isServed(name: EndpointName, dialect: Dialect): boolean {
  if (name === 'getOrder') return dialect.has_order_read;
  if (name === 'listOrders') return dialect.has_order_list;
  if (name === 'listWalletTransactions') return dialect.has_wallet_transactions;
  return true;
}
