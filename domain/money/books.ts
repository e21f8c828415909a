import {
  addMoney,
  compareMoney,
  negateMoney,
  paddedAmount,
  plainAmount,
  subtractMoney,
  sumByCurrency,
  type Money,
} from '#domain/money/money.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';

/**
 * Each movement has exactly one cause. `subscription_period`: id `<id of the subscription>/<number>`, from 2 on.
 * `adjustment`: the opening balance, a debit too many, a corrected amount, or what an operator has explained.
 */
export const CAUSE_KINDS = ['attempt', 'subscription_period', 'refund', 'deposit', 'adjustment'] as const;
export type CauseKind = (typeof CAUSE_KINDS)[number];

export interface Cause {
  readonly kind: CauseKind;
  readonly id: string;
}

export const DIRECTIONS = ['debit', 'credit'] as const;
export type Direction = (typeof DIRECTIONS)[number];

export interface Entry {
  readonly direction: Direction;
  readonly money: Money;
  readonly cause: Cause;
}

/** The balance of the wallet when our journal began. No id of the service contains a space. */
export const OPENING: Cause = { kind: 'adjustment', id: 'opening balance' };

export function slotOf({ cause, direction }: Pick<Entry, 'cause' | 'direction'>): string {
  return `${cause.kind} ${cause.id} ${direction}`;
}

export function periodCause(subscriptionId: string, number: number): Cause {
  return { kind: 'subscription_period', id: `${subscriptionId}/${number}` };
}

/** The journal is append-only: the difference corrects a wrong amount. */
export function corrections(reported: Money, movement: Pick<Movement, 'id' | 'direction' | 'money'>): Entry[] {
  const { id, direction, money } = movement;
  const cause: Cause = { kind: 'adjustment', id };
  const opposite = direction === 'debit' ? 'credit' : 'debit';
  if (reported.currency !== money.currency) {
    return [
      { direction: opposite, money: reported, cause },
      { direction, money, cause },
    ];
  }
  const difference = subtractMoney(money, reported);
  return compareMoney(money, reported) > 0
    ? [{ direction, money: difference, cause }]
    : [{ direction: opposite, money: negateMoney(difference), cause }];
}

export const FINDING_KINDS = {
  debited_twice: 'The service debited one purchase more than once.',
  charge_not_refunded: 'The service kept the money of a failed purchase.',
  amount_differs: 'The amount in the wallet differs from the amount that was expected.',
  movement_missing: 'Our journal has a movement that the service does not show.',
  balance_differs: 'The balance at the service is not the sum of its movements.',
  unnamed_movement: 'A movement in the wallet names no purchase.',
  orphan_movement: 'A movement in the wallet names a purchase that is not ours.',
  credited_twice: 'The service credited one purchase more than once.',
} as const;

export type FindingKind = keyof typeof FINDING_KINDS;

/** `once`: a finding that persists opens one case, not one in each run. */
export const FINDING_CASES = {
  debited_twice: { once: false },
  amount_differs: { once: false },
  charge_not_refunded: { once: true },
  movement_missing: { once: true },
} as const satisfies Partial<Record<FindingKind & AttentionReason, { readonly once: boolean }>>;

export function isFindingCase(kind: FindingKind | AttentionReason): kind is keyof typeof FINDING_CASES {
  return kind in FINDING_CASES;
}

export const findingKinds = Object.keys(FINDING_KINDS) as readonly FindingKind[];

/** `incomplete`: the service has more movements than could be read. `unsupported`: it shows none. */
export const RECONCILIATION_STATUSES = ['complete', 'incomplete', 'unsupported', 'unavailable'] as const;
export type ReconciliationStatus = (typeof RECONCILIATION_STATUSES)[number];

/**
 * `pending`: too recent to be judged. `unmatched`: movements without a cause. `outstanding`: rows without a movement.
 */
export type ReconciliationCounts = Readonly<
  Record<'read' | 'new' | 'matched' | 'booked' | 'pending' | 'unmatched' | 'outstanding' | 'findings', number>
>;

/** `outstanding`: not shown by the service yet. `unmatched`: movements that are not in the journal. */
export type CurrencySums = Readonly<
  Record<'currency' | 'debits' | 'credits' | 'journal' | 'outstanding' | 'unmatched', string>
>;

export interface JournalSum {
  readonly currency: string;
  readonly direction: Direction;
  readonly sum: string;
}

export function addSums(...parts: readonly (readonly JournalSum[])[]): JournalSum[] {
  return DIRECTIONS.flatMap((direction) => {
    const own = parts.flat().filter((each) => each.direction === direction);
    const sums = sumByCurrency(own.map(({ currency, sum }) => ({ currency, amount: sum })));
    return sums.map(({ currency, amount }) => ({ currency, direction, sum: amount }));
  });
}

export function sumsOf(
  journal: readonly JournalSum[],
  outstanding: readonly Moved[],
  unmatched: readonly Moved[],
): CurrencySums[] {
  const currencies = [
    ...new Set([
      ...journal.map(({ currency }) => currency),
      ...[...outstanding, ...unmatched].map(({ money }) => money.currency),
    ]),
  ];
  return currencies.toSorted().map((currency) => {
    const of = (direction: Direction) =>
      plainAmount(journal.find((each) => each.currency === currency && each.direction === direction)?.sum ?? '0.00');
    const debits = of('debit');
    const credits = of('credit');
    return {
      currency,
      debits,
      credits,
      journal: paddedAmount(subtractMoney({ amount: credits, currency }, { amount: debits, currency }).amount),
      outstanding: paddedAmount(netOf(outstanding, currency).amount),
      unmatched: paddedAmount(netOf(unmatched, currency).amount),
    };
  });
}

export function expectedBalance(sums: readonly CurrencySums[], currency: string): Money {
  const own = sums.find((each) => each.currency === currency) ?? { journal: '0', outstanding: '0', unmatched: '0' };
  const money = (amount: string): Money => ({ amount, currency });
  return addMoney(subtractMoney(money(own.journal), money(own.outstanding)), money(own.unmatched));
}

type Moved = Pick<Entry, 'direction' | 'money'>;

export function netOf(moved: readonly Moved[], currency: string): Money {
  return moved
    .filter(({ money }) => money.currency === currency)
    .reduce((sum, { direction, money }) => (direction === 'debit' ? subtractMoney(sum, money) : addMoney(sum, money)), {
      amount: '0',
      currency,
    });
}

export type MovementNames = Readonly<
  Record<
    'orderId' | 'orderReference' | 'topupId' | 'subscriptionId' | 'subscriptionReference' | 'esimId',
    string | null
  >
>;

export interface Movement extends Moved {
  readonly id: string;
  /** In the words of the service: `order`, `refund`, `deposit`, … */
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly occurredAt: number;
  readonly names: MovementNames;
}

export interface Purchase {
  readonly attemptId: string;
  readonly work: WorkRef;
  readonly reference: string | null;
  readonly serviceId: string | null;
  readonly serviceEsimId: string | null;
  readonly state: AttemptState;
  /** No workflow looks into its costs any more. */
  readonly isOver: boolean;
  /** End of the paid period of a subscription, as far as it is known; with `endedAt` in epoch milliseconds. */
  readonly paidUntil?: number | undefined;
  /** End of a subscription. */
  readonly endedAt?: number | undefined;
}

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

export function namesSomething({ names }: Movement): boolean {
  return Object.values(names).some((name) => name !== null);
}

/** Reasons of movements without a purchase. Assumed, like the field itself. */
const ADJUSTMENT_REASONS: ReadonlySet<string> = new Set(['adjustment', 'correction']);

export function ownCause({ id, direction, reason }: Movement): Cause | undefined {
  if (reason === 'deposit' && direction === 'credit') return { kind: 'deposit', id };
  return ADJUSTMENT_REASONS.has(reason) ? { kind: 'adjustment', id } : undefined;
}

export function byAge(one: Movement, other: Movement): number {
  return one.occurredAt - other.occurredAt || compare(one.id, other.id);
}

export function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
