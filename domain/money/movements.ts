/** Movements of the service's wallet, and how a movement names one of our purchases. */
import type { Cause, Direction } from '#domain/money/books.ts';
import type { Money } from '#domain/money/money.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';

/** The ids and references that a movement names; null where it names none. */
export interface MovementNames {
  readonly orderId: string | null;
  readonly orderReference: string | null;
  readonly topupId: string | null;
  readonly subscriptionId: string | null;
  readonly subscriptionReference: string | null;
  readonly esimId: string | null;
}

/** One movement of the service's wallet. */
export interface Movement {
  /** The service's id of the movement. */
  readonly id: string;
  readonly direction: Direction;
  readonly money: Money;
  /** The reason as the service names it: `order`, `refund`, `deposit`, … */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  readonly names: MovementNames;
}

/** An attempt, as the books need it. */
export interface Purchase {
  readonly attemptId: string;
  readonly work: WorkRef;
  readonly reference: string | null;
  readonly serviceId: string | null;
  readonly serviceEsimId: string | null;
  readonly state: AttemptState;
  /** True when no workflow looks into its costs any more: it is settled, superseded, or its work has ended. */
  readonly isOver: boolean;
  /** When a subscription ended, in epoch milliseconds. */
  readonly endedAt?: number | undefined;
  /** The id under which its refund is booked. */
  readonly refundId: string;
}

/** Returns a function that finds the one purchase that a movement names. */
export function purchaseFinder(
  purchases: readonly Purchase[],
): (names: MovementNames) => Purchase | 'unknown' | 'ambiguous' {
  const index = new Map<string, Purchase>();
  for (const purchase of purchases) {
    const { work, serviceId, reference, serviceEsimId } = purchase;
    if (serviceId !== null) index.set(`${work.kind} id ${serviceId}`, purchase);
    if (reference !== null) index.set(`${work.kind} reference ${reference}`, purchase);
    if (KINDS[work.kind].esim === 'delivered' && serviceEsimId !== null) index.set(`esim ${serviceEsimId}`, purchase);
  }
  return (names) => {
    const keys = keysOf(names);
    const found = new Set(keys.flatMap((key) => index.get(key) ?? []));
    const [purchase] = found;
    if (purchase === undefined) return 'unknown';
    return found.size === 1 ? purchase : 'ambiguous';
  };
}

/** The most specific names first: a top-up may also name the order of its eSIM, a refund may name only the eSIM. */
function keysOf(names: MovementNames): string[] {
  const { orderId, orderReference, topupId, subscriptionId, subscriptionReference, esimId } = names;
  const key = (kind: string, name: string | null) => (name === null ? [] : [`${kind} ${name}`]);
  if (topupId !== null) return key('topup id', topupId);
  const subscription = [
    ...key('vpn_subscription id', subscriptionId),
    ...key('vpn_subscription reference', subscriptionReference),
  ];
  if (subscription.length > 0) return subscription;
  const order = [...key('order id', orderId), ...key('order reference', orderReference)];
  return order.length > 0 ? order : key('esim', esimId);
}

/** True when the movement names a purchase, an eSIM or a refund. */
export function namesSomething({ names }: Movement): boolean {
  return Object.values(names).some((name) => name !== null);
}

/** Reasons of movements without a purchase. Assumed, like the field itself. */
const ADJUSTMENT_REASONS: ReadonlySet<string> = new Set(['adjustment', 'correction']);

/** The cause of a movement that names no purchase but gives its reason. */
export function ownCause({ id, direction, reason }: Movement): Cause | undefined {
  if (reason === 'deposit' && direction === 'credit') return { kind: 'deposit', id };
  return ADJUSTMENT_REASONS.has(reason) ? { kind: 'adjustment', id } : undefined;
}

/** Order of movements: by time, then by id. */
export function byAge(one: Movement, other: Movement): number {
  return one.occurredAt - other.occurredAt || compare(one.id, other.id);
}

/** Order of texts by code units, the same on every machine. */
export function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
