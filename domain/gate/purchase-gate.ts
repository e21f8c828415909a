import { circuitNames, type CircuitName } from '#domain/gate/circuit.ts';
import { compareMoney, plainText, subtractMoney, type Money } from '#domain/money/money.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';

/** Where work is held: a circuit, a pause (by its id), the drift stop of its kind, the daily limits or the wallet. */
export type Barrier = `circuit:${CircuitName}` | `pause:${string}` | `drift:${PurchaseKind}` | 'spend_limit' | 'wallet';

/** `first_purchase_check`: before the service's answers have been seen. `amounts`: its amounts cannot be understood. */
export const PAUSE_ORIGINS = ['operator', 'first_purchase_check', 'amounts'] as const;

export function pauseScope(kind: string | null, failureClass: string | null): string {
  return `${kind ?? 'all buying'}${failureClass === null ? '' : ` that failed with ${failureClass}`}`;
}

export interface GateStop {
  readonly barrier: Barrier;
  readonly failure: FailureClass;
  readonly detail: string;
  /** Milliseconds before the work asks the gate again, if it is not woken before. */
  readonly recheckMs: number;
}

export function circuitOf(barrier: string): CircuitName | undefined {
  return circuitNames.find((name) => barrier === `circuit:${name}`);
}

export function pauseOf(barrier: string): string | undefined {
  return barrier.startsWith('pause:') ? barrier.slice('pause:'.length) : undefined;
}

export function driftStopOf(barrier: string): PurchaseKind | undefined {
  return PURCHASE_KINDS.find((kind) => barrier === `drift:${kind}`);
}

/** `other_currency`: not comparable, so nothing is reserved. @param funds.reserved purchases in flight may debit it. */
export function judgeReservation(
  price: Money,
  { balance, reserved }: { readonly balance: Money; readonly reserved: Money },
): { readonly kind: 'enough' | 'other_currency' } | { readonly kind: 'short'; readonly detail: string } {
  if (price.currency !== balance.currency) return { kind: 'other_currency' };
  const available = subtractMoney(balance, reserved);
  if (compareMoney(price, available) <= 0) return { kind: 'enough' };
  const detail =
    `The price is ${plainText(price)}; of the ${plainText(balance)} in the wallet, ` +
    `${plainText(reserved)} are reserved for purchases under way.`;
  return { kind: 'short', detail };
}

/** @param lastAt epoch milliseconds; null: never. */
export function releasable(lastAt: number | null, now: number, perSecond: number): number {
  if (lastAt === null) return 1;
  // At most one second's worth, so that a gate that was down for long does not release all at once.
  return Math.floor((Math.min(Math.max(now - lastAt, 0), 1_000) * perSecond) / 1_000);
}
