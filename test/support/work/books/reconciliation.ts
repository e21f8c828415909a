import type { Cause, Direction, Movement, MovementNames, Purchase } from '#domain/money/books.ts';
import type { Outstanding } from '#domain/money/findings.ts';
import type { Money } from '#domain/money/money.ts';
import {
  reconcile,
  type BooksRules,
  type Judgement,
  type Knowledge,
  type Placed,
} from '#domain/money/reconciliation.ts';

export const NOW = Date.UTC(2030, 0, 31, 12);
export const HOUR = 3_600_000;
export const RULES: BooksRules = { graceMs: HOUR, shortestPeriodMs: 24 * HOUR };
/** Of a movement that names nothing. */
export const NAMELESS: MovementNames = {
  orderId: null,
  orderReference: null,
  topupId: null,
  subscriptionId: null,
  subscriptionReference: null,
  esimId: null,
};
const OF_ORDER: MovementNames = { ...NAMELESS, orderId: 'so_1', orderReference: 'shop-1' };
export const OF_SUBSCRIPTION: MovementNames = { ...NAMELESS, subscriptionId: 'sv_1' };

export const order: Purchase = {
  attemptId: 'att_1',
  work: { kind: 'order', id: 'ord_1' },
  reference: 'shop-1',
  serviceId: 'so_1',
  serviceEsimId: 'se_1',
  state: 'completed',
  isOver: true,
};
/** The same order, after its attempt failed. */
export const failed: Purchase = { ...order, state: 'failed' };
export const otherOrder: Purchase = {
  ...order,
  attemptId: 'att_2',
  work: { kind: 'order', id: 'ord_2' },
  reference: 'shop-2',
  serviceId: 'so_2',
  serviceEsimId: 'se_2',
};
/** A top-up of the eSIM of the first order. */
export const topup: Purchase = {
  ...order,
  attemptId: 'att_3',
  work: { kind: 'topup', id: 'top_1' },
  reference: null,
  serviceId: 'st_1',
  serviceEsimId: 'se_1',
};
export const subscription: Purchase = {
  ...order,
  attemptId: 'att_4',
  work: { kind: 'vpn_subscription', id: 'vpn_1' },
  reference: 'vpn-1',
  serviceId: 'sv_1',
  serviceEsimId: null,
};
/** One purchase of each kind, and a second order. */
export const ALL = [order, otherOrder, topup, subscription];

export const usd = (amount: string): Money => ({ amount, currency: 'USD' });

/** A movement with the price of an order, this many hours ago. */
export function moved(direction: Direction, hoursAgo: number, id: string, more: Partial<Movement> = {}): Movement {
  return {
    id,
    direction,
    money: usd('2.40'),
    reason: 'order',
    occurredAt: NOW - hoursAgo * HOUR,
    names: OF_ORDER,
    ...more,
  };
}
export const debit = (hoursAgo: number, id: string, more?: Partial<Movement>) => moved('debit', hoursAgo, id, more);
export const credit = (hoursAgo: number, id: string, more?: Partial<Movement>) => moved('credit', hoursAgo, id, more);
/** A debit that names the subscription, this many hours ago. */
export const vpnDebit = (hoursAgo: number, id: string, more: Partial<Movement> = {}) =>
  debit(hoursAgo, id, { names: OF_SUBSCRIPTION, ...more });

/** A row of the journal without its movement, five hours old. */
export function reported(money: Money, more: Partial<Outstanding> = {}): Outstanding {
  return {
    direction: 'debit',
    money,
    cause: { kind: 'attempt', id: 'att_1' },
    recordedAt: NOW - 5 * HOUR,
    work: order.work,
    attemptId: 'att_1',
    ...more,
  };
}
/** A movement that the books already have. */
export const placed = (movement: Movement, cause: Cause, attemptId: string | null): Placed => ({
  movement,
  cause,
  attemptId,
});

/** The reconciliation of these facts, with one bought order unless told otherwise. */
export function judge(known: Partial<Knowledge>): Judgement {
  return reconcile(
    { movements: [], placed: [], purchases: [order], outstanding: [], complete: true, now: NOW, ...known },
    RULES,
  );
}
/** The result for each movement by its id, the oldest first, such as `a: attempt att_1, b: pending`. */
export const causes = ({ places }: Judgement) =>
  places
    .map((place) => [place.movement.id, place.kind === 'booked' ? `${place.cause.kind} ${place.cause.id}` : place.kind])
    .map(([id, result]) => `${id}: ${result}`)
    .join(', ');
export const kinds = ({ findings }: Judgement) => findings.map(({ kind }) => kind);
export const details = ({ findings }: Judgement) => findings.map(({ detail }) => detail);
