/** How long the wallet lasts at the mean of recent sales, with the spread that chance alone causes. */
import Big from 'big.js';
import { paddedAmount, subtractMoney, type Money } from '#domain/money/money.ts';
import { DAY } from '#domain/policy/settings.ts';
import type { RunwayPolicy } from '#domain/policy/upkeep-policy.ts';

export const RUNWAY_UNKNOWNS = {
  no_wallet_reading: 'The balance of the wallet is not known.',
  wallet_reading_old: 'The balance was last read too long ago.',
  history_too_short: 'Sales have been recorded for too short a time.',
  no_sales: 'Nothing was sold in the window.',
  other_currency: 'What was sold was charged in another currency than that of the wallet.',
} as const;

type RunwayUnknown = keyof typeof RUNWAY_UNKNOWNS;

export interface RunwayKnowledge {
  /** `readAt`: epoch milliseconds. Undefined: not known. */
  readonly wallet: { readonly balance: Money; readonly readAt: number } | undefined;
  /** What purchases under way may still debit, and known prices of held work. */
  readonly reserved: Money;
  readonly held: Money;
  readonly heldWithoutPrice: number;
  /** Epoch milliseconds; undefined: none yet. */
  readonly firstSaleAt: number | undefined;
  /** By age in whole days; a day without sales may be missing. */
  readonly salesByAge: ReadonlyMap<number, string>;
  readonly soldInOtherCurrency: boolean;
  readonly now: number;
}

export interface KnownRunway {
  readonly kind: 'known';
  /** The balance less what is reserved and held; may be negative. */
  readonly available: Money;
  readonly sales: { readonly mean: Money; readonly deviation: Money; readonly days: number };
  readonly days: number;
  /** One standard deviation earlier and later; days count as independent. */
  readonly earliestDays: number;
  readonly latestDays: number;
}

export type Runway =
  | KnownRunway
  | { readonly kind: 'unknown'; readonly reason: RunwayUnknown; readonly available: Money | undefined };

const DAY_DIGITS = 1;
const MONEY_DIGITS = 6;

export function daysLookedAt(
  firstSaleAt: number,
  now: number,
  { windowDays }: Pick<RunwayPolicy, 'windowDays'>,
): number {
  return Math.max(0, Math.min(windowDays, Math.floor((now - firstSaleAt) / DAY)));
}

export function runwayOf(
  known: RunwayKnowledge,
  policy: Pick<RunwayPolicy, 'windowDays' | 'minimumDays' | 'balanceAgeMs'>,
): Runway {
  const { wallet, reserved, held, firstSaleAt, salesByAge, now } = known;
  if (wallet === undefined) return { kind: 'unknown', reason: 'no_wallet_reading', available: undefined };
  const { currency } = wallet.balance;
  const left = subtractMoney(subtractMoney(wallet.balance, reserved), held);
  const available = { amount: paddedAmount(left.amount), currency };
  const unknown = (reason: RunwayUnknown): Runway => ({ kind: 'unknown', reason, available });
  if (now - wallet.readAt > policy.balanceAgeMs) return unknown('wallet_reading_old');
  if (firstSaleAt === undefined) return unknown('no_sales');
  const days = daysLookedAt(firstSaleAt, now, policy);
  if (days < policy.minimumDays) return unknown('history_too_short');

  const sums = Array.from({ length: days }, (_, age) => new Big(salesByAge.get(age) ?? '0'));
  const total = sums.reduce((sum, each) => sum.plus(each), new Big(0));
  if (total.lte(0)) return unknown(known.soldInOtherCurrency ? 'other_currency' : 'no_sales');
  const mean = total.div(days);
  const squares = sums.reduce((sum, each) => sum.plus(each.minus(mean).pow(2)), new Big(0));
  const deviation = days < 2 ? new Big(0) : squares.div(days - 1).sqrt();
  const money = (amount: Big): Money => ({ amount: paddedAmount(amount.round(MONEY_DIGITS).toFixed()), currency });
  const [earliestDays, latestDays] = spread(new Big(available.amount), mean, deviation);
  return {
    kind: 'known',
    available,
    sales: { mean: money(mean), deviation: money(deviation), days },
    days: shown(new Big(available.amount).div(mean)),
    earliestDays,
    latestDays,
  };
}

/** Over *d* days: *d* means, plus or minus one deviation times the root of *d*. Solved for that root. */
function spread(available: Big, mean: Big, deviation: Big): [number, number] {
  if (available.lte(0)) return [0, 0];
  const root = deviation.pow(2).plus(mean.times(available).times(4)).sqrt();
  const daysFor = (sum: Big): number => shown(sum.div(mean.times(2)).pow(2));
  return [daysFor(root.minus(deviation)), daysFor(root.plus(deviation))];
}

function shown(days: Big): number {
  return days.lte(0) ? 0 : Number(days.round(DAY_DIGITS).toFixed());
}

/** Above the threshold, so that a runway near it is announced once. */
const RESTORED_AT = 1.2;

/** @returns undefined when the runway is unknown: the state then stays as it was. */
export function isRunwayLow(
  runway: Runway,
  wasLow: boolean,
  { lowMs }: Pick<RunwayPolicy, 'lowMs'>,
): boolean | undefined {
  if (runway.kind === 'unknown') return undefined;
  const threshold = lowMs / DAY;
  return runway.days < (wasLow ? threshold * RESTORED_AT : threshold);
}

export function thresholdDays({ lowMs }: Pick<RunwayPolicy, 'lowMs'>): number {
  return shown(new Big(lowMs).div(DAY));
}
