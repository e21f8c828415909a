import type { WorkRow } from '#db/work/kinds.ts';
import { plainText, type Money } from '#domain/money/money.ts';
import { isWithin, type PriceLimit } from '#domain/purchase/price-limit.ts';
import { isDefinite } from '#domain/work/failure.ts';
import type { Listing } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/** The caller's present price limit. */
export function priceLimit({
  maxPriceAmount: amount,
  maxPriceCurrency: currency,
}: Pick<WorkRow, 'maxPriceAmount' | 'maxPriceCurrency'>): PriceLimit {
  return amount === null || currency === null ? null : { amount, currency };
}

/**
 * Compares the price with the caller's limit at the moment of the send; the limit may have changed since the offer was
 * read.
 * @param price undefined: not known.
 * @param isFresh true when the price was read for this send.
 * @returns why it is not sent; undefined when it may be sent.
 */
export function priceObjection(
  limit: PriceLimit,
  price: Money | undefined,
  isFresh: boolean,
): ServiceFailure | undefined {
  if (limit === null) return undefined;
  if (price === undefined || !isFresh)
    return refusal('not_sent', 'A price limit was set at this moment, so nothing was sent before the price is read.');
  if (isWithin(limit, price)) return undefined;
  if (price.currency !== limit.currency) {
    return refusal('price_above_limit', `The price is in ${price.currency}, the limit in ${limit.currency}.`);
  }
  return refusal('price_above_limit', `The price is ${plainText(price)}, above the limit of ${plainText(limit)}.`);
}

/**
 * The refusal when the offer could not be read.
 * @param what subject of the sentence, such as `The price`.
 */
export function unreadOffer(failure: ServiceFailure, what: string): ServiceFailure {
  return isDefinite(failure.failure)
    ? failure
    : refusal('not_sent', `${what} could not be read, so nothing was sent. ${failure.detail}`);
}

/**
 * The refusal when a list of offers lacks an item. Only a complete list proves that it is not offered.
 * @param proven failure and sentence when the list is complete.
 */
export function notListed({ complete }: Listing<unknown>, ...proven: Parameters<typeof refusal>): ServiceFailure {
  if (complete) return refusal(...proven);
  const detail = 'The list of the service does not show it, and is not known to be complete; nothing was sent.';
  return refusal('not_sent', detail);
}

/** A reason not to send, in the form of a failure of the service. */
export function refusal(failure: ServiceFailure['failure'], detail: string): ServiceFailure {
  return { ok: false, kind: 'failure', failure, detail };
}
