/**
 * Terms of the books: our journal of the wallet at the service, and the cause of each of its movements. The rules that
 * match the two are in `reconciliation.ts`.
 */
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
import type { AttentionReason } from '#domain/work/attention.ts';

/**
 * Causes of a wallet movement; each movement has exactly one.
 *
 * - `attempt`: the cost of an attempt, and the credit when it failed; the id is that of the attempt.
 * - `subscription_period`: a later period of a VPN subscription; id `<id of the subscription>/<number>`, from 2 on.
 * - `refund`: the credit for something that was bought.
 * - `deposit`: money paid in; the id is that of the movement at the service.
 * - `adjustment`: everything else: the opening balance, a debit too many, the difference to an amount that we had
 *   recorded, and what an operator has explained. The id is that of the movement.
 */
export const CAUSE_KINDS = ['attempt', 'subscription_period', 'refund', 'deposit', 'adjustment'] as const;
export type CauseKind = (typeof CAUSE_KINDS)[number];

export interface Cause {
  readonly kind: CauseKind;
  readonly id: string;
}

export const DIRECTIONS = ['debit', 'credit'] as const;
/** A debit takes money out of the wallet, a credit puts money in. */
export type Direction = (typeof DIRECTIONS)[number];

/** One row of the journal. */
export interface Entry {
  readonly direction: Direction;
  readonly money: Money;
  readonly cause: Cause;
}

/** The balance of the wallet when our journal began. No id of the service contains a space. */
export const OPENING: Cause = { kind: 'adjustment', id: 'opening balance' };

/** The unique key of a journal row: one row for each cause and direction. */
export function slotOf({ cause, direction }: Pick<Entry, 'cause' | 'direction'>): string {
  return `${cause.kind} ${cause.id} ${direction}`;
}

/** The cause of the `number`-th period of a subscription. The first period has its attempt as cause. */
export function periodCause(subscriptionId: string, number: number): Cause {
  return { kind: 'subscription_period', id: `${subscriptionId}/${number}` };
}

/** True when two causes are the same. */
export function sameCause(one: Cause, other: Cause): boolean {
  return one.kind === other.kind && one.id === other.id;
}

/** The journal is append-only: the difference corrects a wrong amount. */
export function corrections(
  reported: Money,
  { id, direction, money }: Pick<Entry, 'direction' | 'money'> & { readonly id: string },
): Entry[] {
  const cause: Cause = { kind: 'adjustment', id };
  if (reported.currency !== money.currency) {
    return [
      { direction: opposite(direction), money: reported, cause },
      { direction, money, cause },
    ];
  }
  const difference = subtractMoney(money, reported);
  const isMore = compareMoney(money, reported) > 0;
  return [
    isMore
      ? { direction, money: difference, cause }
      : { direction: opposite(direction), money: negateMoney(difference), cause },
  ];
}

function opposite(direction: Direction): Direction {
  return direction === 'debit' ? 'credit' : 'debit';
}

/** Kinds of finding of a reconciliation, the worst first. */
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

/** Findings about work that open a case. `once`: a finding that persists opens one case, not one in each run. */
export const FINDING_CASES = {
  debited_twice: { once: false },
  amount_differs: { once: false },
  charge_not_refunded: { once: true },
  movement_missing: { once: true },
} as const satisfies Partial<Record<FindingKind & AttentionReason, { readonly once: boolean }>>;

/** True for a finding, or the reason of a case, with an entry in {@link FINDING_CASES}. */
export function isFindingCase(kind: FindingKind | AttentionReason): kind is keyof typeof FINDING_CASES {
  return kind in FINDING_CASES;
}

export const findingKinds = Object.keys(FINDING_KINDS) as readonly FindingKind[];

/**
 * How complete a reconciliation is. `incomplete`: the service has more movements than could be read. `unsupported`: it
 * shows no movements. `unavailable`: it did not answer.
 */
export const RECONCILIATION_STATUSES = ['complete', 'incomplete', 'unsupported', 'unavailable'] as const;
export type ReconciliationStatus = (typeof RECONCILIATION_STATUSES)[number];

/** Counts of one reconciliation. */
export interface ReconciliationCounts {
  /** Movements read from the service. */
  readonly read: number;
  /** Movements read for the first time. */
  readonly new: number;
  /** Movements whose cause was found. */
  readonly matched: number;
  /** Rows added to the journal. */
  readonly booked: number;
  /** Movements that are too recent to be judged. */
  readonly pending: number;
  /** All known movements without a cause. */
  readonly unmatched: number;
  /** Journal rows without a movement at the service, recent ones included. */
  readonly outstanding: number;
  /** Findings, including those beyond the listed maximum. */
  readonly findings: number;
}

/** The books in one currency. */
export interface CurrencySums {
  readonly currency: string;
  /** Sums of the journal; `journal` is credits less debits. */
  readonly debits: string;
  readonly credits: string;
  readonly journal: string;
  /** The part of `journal` that the service has not shown yet. */
  readonly outstanding: string;
  /** Movements of the service that are not in the journal. */
  readonly unmatched: string;
}

/** A sum of the journal. */
export interface JournalSum {
  readonly currency: string;
  readonly direction: Direction;
  readonly sum: string;
}

/** Adds sums of different parts of the journal: one for each currency and direction. */
export function addSums(...parts: readonly (readonly JournalSum[])[]): JournalSum[] {
  return DIRECTIONS.flatMap((direction) => {
    const own = parts.flat().filter((each) => each.direction === direction);
    const sums = sumByCurrency(own.map(({ currency, sum }) => ({ currency, amount: sum })));
    return sums.map(({ currency, amount }) => ({ currency, direction, sum: amount }));
  });
}

/** Sums by currency. @param journal sums of the journal by currency and direction. */
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

/** The balance that the service should have if our books are complete. */
export function expectedBalance(sums: readonly CurrencySums[], currency: string): Money {
  const own = sums.find((each) => each.currency === currency) ?? { journal: '0', outstanding: '0', unmatched: '0' };
  const money = (amount: string): Money => ({ amount, currency });
  return addMoney(subtractMoney(money(own.journal), money(own.outstanding)), money(own.unmatched));
}

/** An amount that moves the wallet. */
interface Moved {
  readonly direction: Direction;
  readonly money: Money;
}

function netOf(moved: readonly Moved[], currency: string): Money {
  return moved
    .filter(({ money }) => money.currency === currency)
    .reduce((sum, { direction, money }) => (direction === 'debit' ? subtractMoney(sum, money) : addMoney(sum, money)), {
      amount: '0',
      currency,
    });
}
