/** What a movement of the service's wallet is for. */
import type { Money } from '#domain/money/money.ts';
import type { Movement } from '#domain/money/movements.ts';
import type { WalletTransaction } from '#upstream/contract.ts';

/**
 * Clocks of the two sides may differ by this much; what is looked for may carry a time so long before our first send.
 */
export const CLOCK_SKEW_MS = 10 * 60_000;

/** How the service and we name a purchase; null where one of us has no name for it. */
interface Named {
  readonly serviceId: string | null;
  readonly reference: string | null;
}

/** True when a movement is for this order. */
export function isOfOrder(
  { serviceId, reference }: Named,
  { order_id: id, external_order_id: named }: WalletTransaction,
): boolean {
  return (id != null && id === serviceId) || (named != null && named === reference);
}

/** Final states of a movement, in the usual words. */
const FINAL = new Set(['completed', 'complete', 'posted', 'settled', 'booked', 'success', 'succeeded', 'paid']);

/** The money of a movement, without the sign that a debit may have. */
export function moneyOf({ amount, currency }: WalletTransaction): Money {
  return { amount: amount.replace(/^-/, ''), currency };
}

/** True for a credit that has come, and for every debit: one that is pending may still be booked. */
export function countsInWallet({ type, status }: WalletTransaction): boolean {
  return type === 'debit' || status == null || FINAL.has(status);
}

/** True when a movement says of nothing what it is for: it may be anybody's. */
export function namesNothing(transaction: WalletTransaction): boolean {
  const { order_id: order, topup_id: topup, vpn_subscription_id: subscription } = transaction;
  const { external_order_id: orderReference, external_subscription_id: subscriptionReference } = transaction;
  return [order, topup, subscription, orderReference, subscriptionReference].every(isNoName);
}

/** Some services write an empty text or a zero for "none". */
function isNoName(name: string | null | undefined): boolean {
  return name == null || name.trim() === '' || /^0+$/.test(name);
}

/**
 * A movement as our books see it. Its words are cut to what a text column takes: none of ours is longer or has a NUL.
 */
export function movementOf(transaction: WalletTransaction): Movement & { readonly refundId: string | null } {
  const { id, type, reason, created_at: at } = transaction;
  return {
    id,
    direction: type,
    money: moneyOf(transaction),
    reason: storable(reason),
    occurredAt: Date.parse(at),
    names: {
      orderId: transaction.order_id ?? null,
      orderReference: transaction.external_order_id == null ? null : storable(transaction.external_order_id),
      topupId: transaction.topup_id ?? null,
      subscriptionId: transaction.vpn_subscription_id ?? null,
      subscriptionReference:
        transaction.external_subscription_id == null ? null : storable(transaction.external_subscription_id),
      esimId: transaction.esim_id ?? null,
    },
    refundId: transaction.refund_id ?? null,
  };
}

function storable(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed().slice(0, 256);
}
