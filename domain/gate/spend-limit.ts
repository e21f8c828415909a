/** The daily spending limits: of one API key, and of all keys together. */
import { addMoney, compareMoney, plainText, type Money } from '#domain/money/money.ts';
import { DAY } from '#domain/policy/settings.ts';

/** Undefined when no limit is exceeded. @param spend.whose the owner of the limit in a sentence: `of this API key`. */
export function spendProblem(
  price: Money,
  { limit, spent, whose }: { readonly limit: Money; readonly spent: Money; readonly whose: string },
): string | undefined {
  if (price.currency !== limit.currency) {
    return `The price is in ${price.currency}, the daily limit ${whose} in ${limit.currency}.`;
  }
  if (compareMoney(addMoney(spent, price), limit) <= 0) return undefined;
  if (compareMoney(price, limit) > 0) {
    return (
      `The price of ${plainText(price)} alone is above the daily limit ${whose} of ${plainText(limit)}. ` +
      'It never fits into a day: the limit must be raised.'
    );
  }
  return (
    `The price is ${plainText(price)}; of the daily limit ${whose} of ${plainText(limit)}, ` +
    `${plainText(spent)} are spent.`
  );
}

/** As `2030-01-31`; the day begins at midnight UTC. */
export function spendDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/** Milliseconds. */
export function untilNextDay(now: number): number {
  return DAY - (now % DAY);
}
