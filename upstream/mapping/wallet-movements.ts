import type { Movement } from '#domain/money/books.ts';
import type { Money } from '#domain/money/money.ts';
import { storable } from '#domain/text.ts';
import type { WalletTransaction } from '#upstream/contract.ts';

/** A movement may carry a time this long before our first send. */
export const CLOCK_SKEW_MS = 10 * 60_000;

/** A movement of a top-up may name the order of its eSIM, too. */
export function isOfOrder(
  { serviceId, reference }: { readonly serviceId: string | null; readonly reference: string | null },
  { order_id: id, external_order_id: named, topup_id: topup }: WalletTransaction,
): boolean {
  return isNoName(topup) && ((id != null && id === serviceId) || (named != null && named === reference));
}

/** It never moved money, and never will. */
const DEAD = new Set(['failed', 'rejected', 'declined', 'void', 'voided']);

const FINAL = new Set(['completed', 'complete', 'posted', 'settled', 'booked', 'success', 'succeeded', 'paid']);

export function moneyOf({ amount, currency }: WalletTransaction): Money {
  return { amount: amount.replace(/^-/, ''), currency };
}

/** A pending or failed movement proves no payment. */
export function isFinalMovement({ status }: Pick<WalletTransaction, 'status'>): boolean {
  return status == null || FINAL.has(status);
}

/** It may still become final. */
export function isPending(movement: Pick<WalletTransaction, 'status'>): boolean {
  return !isFinalMovement(movement) && !DEAD.has(movement.status ?? '');
}

/** A final credit, or a debit that is final or may still be booked. */
export function countsInWallet(movement: WalletTransaction): boolean {
  return isFinalMovement(movement) || (movement.type === 'debit' && isPending(movement));
}

/** It may belong to any purchase. */
export function namesNothing(transaction: WalletTransaction): boolean {
  const { order_id: order, topup_id: topup, vpn_subscription_id: subscription } = transaction;
  const { external_order_id: orderReference, external_subscription_id: subscriptionReference } = transaction;
  return [order, topup, subscription, orderReference, subscriptionReference].every(isNoName);
}

/** Some services write an empty text or zeros for "none". */
function isNoName(name: string | null | undefined): boolean {
  return name == null || name.trim() === '' || /^0+$/.test(name);
}

/** Texts are cut to 256 characters and NUL is replaced, for text columns; our own references are never longer. */
export function movementOf(transaction: WalletTransaction): Movement & { readonly refundId: string | null } {
  const { id, type, reason, created_at: at } = transaction;
  return {
    id,
    direction: type,
    money: moneyOf(transaction),
    reason: cut(reason),
    occurredAt: Date.parse(at),
    names: {
      orderId: nameOf(transaction.order_id),
      orderReference: nameOf(transaction.external_order_id),
      topupId: nameOf(transaction.topup_id),
      subscriptionId: nameOf(transaction.vpn_subscription_id),
      subscriptionReference: nameOf(transaction.external_subscription_id),
      esimId: nameOf(transaction.esim_id),
    },
    refundId: transaction.refund_id ?? null,
  };
}

function nameOf(name: string | null | undefined): string | null {
  return name == null || isNoName(name) ? null : cut(name);
}

function cut(text: string): string {
  return storable(text).slice(0, 256);
}
