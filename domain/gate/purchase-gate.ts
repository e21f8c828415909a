/** What the purchase gate holds a price against: the wallet and the limits of the day. */
import { circuitNames, type CircuitName } from '#domain/gate/circuit.ts';
import { addMoney, compareMoney, plainText, subtractMoney, type Money } from '#domain/money/money.ts';
import type { FailureClass } from '#domain/work/failure.ts';

/** What a piece of work is held at: a circuit, a pause (by its id), the limits of the day or the wallet. */
export type Barrier = `circuit:${CircuitName}` | `pause:${string}` | 'spend_limit' | 'wallet';

/**
 * Who paused buying: an operator, or the product itself, because the shapes of the service's answers have not been seen
 * yet (see `domain/gate/first-contact.ts`).
 */
export const PAUSE_ORIGINS = ['operator', 'first_contact'] as const;
export type PauseOrigin = (typeof PAUSE_ORIGINS)[number];

/** Why the gate does not let work through. */
export interface GateStop {
  readonly barrier: Barrier;
  readonly failure: FailureClass;
  /** A sentence. */
  readonly detail: string;
  /** When the work asks by itself, should it not be woken before. */
  readonly recheckMs: number;
}

/** Of `circuit:service_down`, the circuit. */
export function circuitOf(barrier: string): CircuitName | undefined {
  return circuitNames.find((name) => barrier === `circuit:${name}`);
}

/** Of `pause:pause_…`, the id of the pause. */
export function pauseOf(barrier: string): string | undefined {
  return barrier.startsWith('pause:') ? barrier.slice('pause:'.length) : undefined;
}

/** What is known of the wallet when a price is to be reserved. */
export interface WalletFunds {
  readonly balance: Money;
  /** What purchases in flight may still take from that balance. */
  readonly reserved: Money;
}

/** `other_currency`: the two cannot be compared, so nothing is reserved. */
export type ReservationAnswer =
  | { readonly kind: 'enough' | 'other_currency' }
  | { readonly kind: 'short'; readonly detail: string };

/** Whether a balance covers a price, beside what is reserved already. */
export function judgeReservation(price: Money, { balance, reserved }: WalletFunds): ReservationAnswer {
  if (price.currency !== balance.currency) return { kind: 'other_currency' };
  const available = subtractMoney(balance, reserved);
  if (compareMoney(price, available) <= 0) return { kind: 'enough' };
  const detail =
    `The price is ${plainText(price)}; of the ${plainText(balance)} in the wallet, ` +
    `${plainText(reserved)} are reserved for purchases under way.`;
  return { kind: 'short', detail };
}

/** A limit of the day, and what was spent under it. */
export interface DailySpend {
  readonly limit: Money;
  readonly spent: Money;
  /** Whose limit it is, for a sentence: `of this API key`. */
  readonly whose: string;
}

/** @returns why a price exceeds a limit, in a sentence; undefined when it does not. */
export function spendProblem(price: Money, { limit, spent, whose }: DailySpend): string | undefined {
  if (price.currency !== limit.currency) {
    return `The price is in ${price.currency}, the daily limit ${whose} in ${limit.currency}.`;
  }
  if (compareMoney(addMoney(spent, price), limit) <= 0) return undefined;
  return (
    `The price is ${plainText(price)}; of the daily limit ${whose} of ${plainText(limit)}, ` +
    `${plainText(spent)} are spent.`
  );
}

/** The day (UTC) whose limits count, such as `2030-01-31`. @param now epoch milliseconds. */
export function spendDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** How long until the next day (UTC), in milliseconds. */
export function untilNextDay(now: number): number {
  return DAY_MS - (now % DAY_MS);
}

const DAY_MS = 86_400_000;

/** How many may be let go now at a set rate. @param lastAt when some last were; null: never. */
export function releasable(lastAt: number | null, now: number, perSecond: number): number {
  if (lastAt === null) return 1;
  // A second's worth at most: who was away for long does not let all go at once.
  return Math.floor((Math.min(Math.max(now - lastAt, 0), 1_000) * perSecond) / 1_000);
}
