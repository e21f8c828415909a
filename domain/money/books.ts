/**
 * Words of the books: our journal of the wallet at the service, and what each of its movements is for. The rules that
 * match the two are in `reconciliation.ts`.
 */
import { addMoney, paddedAmount, plainAmount, subtractMoney, type Money } from '#domain/money/money.ts';

/**
 * What a movement of the wallet can be for; each movement has exactly one cause.
 *
 * - `attempt`: what an attempt of ours cost, and what came back because it failed; its id is the attempt's.
 * - `subscription_period`: a later period of a VPN subscription; `<id of the subscription>/<number>`, from 2 on.
 * - `refund`: what came back of something that was bought.
 * - `deposit`: money that was paid in; its id is that of the movement at the service.
 * - `adjustment`: whatever else makes our sum right: what the wallet held before us, what was debited once too often,
 *   the difference to an amount that we had otherwise, and what a person has explained. Its id is that of the movement
 *   too.
 */
export const CAUSE_KINDS = ['attempt', 'subscription_period', 'refund', 'deposit', 'adjustment'] as const;
export type CauseKind = (typeof CAUSE_KINDS)[number];

export interface Cause {
  readonly kind: CauseKind;
  readonly id: string;
}

export const DIRECTIONS = ['debit', 'credit'] as const;
/** A debit takes money out of the wallet, a credit puts some in. */
export type Direction = (typeof DIRECTIONS)[number];

/** One row of the journal. */
export interface Entry {
  readonly direction: Direction;
  readonly money: Money;
  readonly cause: Cause;
}

/** What the wallet held when our journal began. No id of the service has a space. */
export const OPENING: Cause = { kind: 'adjustment', id: 'opening balance' };

/** Names a place in the books: there is one row for each cause and direction. */
export function slotOf({ cause, direction }: Pick<Entry, 'cause' | 'direction'>): string {
  return `${cause.kind} ${cause.id} ${direction}`;
}

/** The cause of the `number`-th period of a subscription. The first is what its attempt has bought. */
export function periodCause(subscriptionId: string, number: number): Cause {
  return { kind: 'subscription_period', id: `${subscriptionId}/${number}` };
}

/** What a reconciliation can find, the worst first. */
export const FINDING_KINDS = {
  debited_twice: 'The service debited more often than it sold.',
  debited_for_nothing: 'The service kept the money for a purchase that came to nothing.',
  amount_differs: 'The service moved another amount than it had told us.',
  movement_missing: 'Our journal has a movement that the service does not show.',
  balance_differs: 'The balance at the service is not the sum of its movements.',
  unnamed_movement: 'The service moved money and does not say for what.',
  orphan_movement: 'The service moved money for something that it names, and that is not ours.',
  credited_twice: 'The service credited more often than there was a reason to.',
} as const;

export type FindingKind = keyof typeof FINDING_KINDS;
export const findingKinds = Object.keys(FINDING_KINDS) as readonly FindingKind[];

/**
 * How far a reconciliation came. `incomplete`: the service has more movements than could be read; `unsupported`: it
 * shows none; `unavailable`: it did not answer.
 */
export const RECONCILIATION_STATUSES = ['complete', 'incomplete', 'unsupported', 'unavailable'] as const;
export type ReconciliationStatus = (typeof RECONCILIATION_STATUSES)[number];

/** Counts of one reconciliation. */
export interface ReconciliationCounts {
  /** Movements that the service showed. */
  readonly read: number;
  /** Of those, seen for the first time. */
  readonly new: number;
  /** Movements whose cause was found. */
  readonly matched: number;
  /** Rows written into the journal. */
  readonly booked: number;
  /** Movements too young to be judged. */
  readonly pending: number;
  /** Movements without a cause here, all that are known. */
  readonly orphans: number;
  /** Rows of the journal that the service shows no movement for, the young ones included. */
  readonly awaited: number;
  /** Findings, also those that are too many to be listed. */
  readonly findings: number;
}

/** The books in one currency. */
export interface CurrencySums {
  readonly currency: string;
  /** Sums of the journal; their difference is what it makes of the wallet. */
  readonly debits: string;
  readonly credits: string;
  readonly journal: string;
  /** Of it, what the service has not shown yet. */
  readonly awaited: string;
  /** What the service has shown, and the journal has not. */
  readonly unmatched: string;
}

/** Sums up by currency. @param journal sums of the journal by currency and direction. */
export function sumsOf(
  journal: readonly { readonly currency: string; readonly direction: Direction; readonly sum: string }[],
  awaited: readonly Moved[],
  unmatched: readonly Moved[],
): CurrencySums[] {
  const currencies = [
    ...new Set([
      ...journal.map(({ currency }) => currency),
      ...[...awaited, ...unmatched].map(({ money }) => money.currency),
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
      awaited: paddedAmount(netOf(awaited, currency).amount),
      unmatched: paddedAmount(netOf(unmatched, currency).amount),
    };
  });
}

/** What the service's balance should be, if our books and what it has shown of its movements are right. */
export function expectedBalance(sums: readonly CurrencySums[], currency: string): Money {
  const own = sums.find((each) => each.currency === currency) ?? { journal: '0', awaited: '0', unmatched: '0' };
  const money = (amount: string): Money => ({ amount, currency });
  return addMoney(subtractMoney(money(own.journal), money(own.awaited)), money(own.unmatched));
}

/** Something that moves the wallet. */
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
