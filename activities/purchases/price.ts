import { compareMoney, type Money } from '#domain/money.ts';
import type { WorkRow } from '#db/work-tables.ts';
import type { ServiceFailure } from '#upstream/error-mapping.ts';

type Limited = Pick<WorkRow, 'maxPriceAmount' | 'maxPriceCurrency'>;

/** The most that the caller lets the service charge; undefined without a limit. */
export function priceLimit({ maxPriceAmount: amount, maxPriceCurrency: currency }: Limited): Money | undefined {
  return amount === null || currency === null ? undefined : { amount, currency };
}

/** Holds an offered price against the caller's limit. @returns the refusal, or undefined when the price is fine. */
export function priceAboveLimit(limit: Money | undefined, price: Money): ServiceFailure | undefined {
  if (limit === undefined) return undefined;
  if (price.currency !== limit.currency) {
    return refusal('price_above_limit', `The price is in ${price.currency}, the limit in ${limit.currency}.`);
  }
  if (compareMoney(price, limit) <= 0) return undefined;
  return refusal('price_above_limit', `The price is ${price.amount} ${price.currency}, above the limit of ${limit.amount}.`);
}

/** True when the service charged more than the caller allowed, or in another currency. */
export function exceedsLimit(limit: Money | undefined, charged: Money): boolean {
  return priceAboveLimit(limit, charged) !== undefined;
}

/** Why nothing is sent, in the form of a failure of the service. */
export function refusal(failure: ServiceFailure['failure'], detail: string): ServiceFailure {
  return { ok: false, kind: 'failure', failure, detail };
}
