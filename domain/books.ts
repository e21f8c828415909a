/**
 * Words of the books: our journal of the wallet at the service, and what each of its movements is for. The rules that
 * match the two are in `reconciliation.ts`.
 */
import type { Money } from '#domain/money.ts';

/**
 * What a movement of the wallet can be for; each movement has exactly one cause.
 *
 * - `attempt`: what an attempt of ours cost, and what came back because it failed; its id is the attempt's.
 * - `subscription_period`: a later period of a VPN subscription; `<id of the subscription>/<number>`, from 2 on.
 * - `refund`: what came back of something that was bought.
 * - `deposit`: money that was paid in; its id is that of the movement at the service.
 * - `adjustment`: whatever else makes our sum right: what the wallet held before us, what was debited once too often, the
 *   difference to an amount that we had otherwise, and what a person has explained. Its id is that of the movement too.
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

/** What a reconciliation can find. */
export const FINDING_KINDS = {
  orphan_movement: 'The service moved money for something that it names, and that is not ours.',
  unnamed_movement: 'The service moved money and does not say for what.',
  movement_missing: 'Our journal has a movement that the service does not show.',
  amount_differs: 'The service moved another amount than it had told us.',
  debited_twice: 'The service debited more often than it sold.',
  credited_twice: 'The service credited more often than there was a reason to.',
  debited_for_nothing: 'The service kept the money for a purchase that came to nothing.',
  balance_differs: 'The balance at the service is not the sum of its movements.',
  low_balance: 'The balance is below what was set as its least.',
} as const;

export type FindingKind = keyof typeof FINDING_KINDS;
export const findingKinds = Object.keys(FINDING_KINDS) as readonly FindingKind[];
