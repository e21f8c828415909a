import type { Executor } from '#db/connection/database.ts';
import type { WorkRow } from '#db/work/rows.ts';
import { moneyOf, plainText, type Money } from '#domain/money/money.ts';
import { isWithin, type PriceLimit } from '#domain/purchase/send-claim.ts';
import { isDefinite, type FailureDetail } from '#domain/work/failure.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { CachedRead } from '#upstream/cached-read.ts';
import type { Listing } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

export interface Offer {
  /** Undefined when it may be sent. */
  readonly objection?: ServiceFailure | undefined;
  /** Undefined when it is not known. */
  readonly price?: Money | undefined;
  /**
   * Runs in the transaction that claims the send: other work of the same eSIM may have ended since. Absent when the
   * offer did not depend on our rows.
   */
  readonly recheck?: (tx: Executor) => Promise<ServiceFailure | undefined>;
}

export function priceLimit({ maxPriceAmount, maxPriceCurrency }: WorkRow): PriceLimit {
  return moneyOf(maxPriceAmount, maxPriceCurrency) ?? null;
}

/** The limit may have changed since the offer was read. `isPriceFresh`: the price was read for this send. */
export function priceObjection(
  limit: PriceLimit,
  price: Money | undefined,
  isPriceFresh: boolean,
): ServiceFailure | undefined {
  if (limit === null) return undefined;
  if (price === undefined || !isPriceFresh)
    return refusal('not_sent', 'A price limit was set at this moment, so nothing was sent before the price is read.');
  if (isWithin(limit, price)) return undefined;
  if (price.currency !== limit.currency) {
    return refusal('price_above_limit', `The price is in ${price.currency}, the limit in ${limit.currency}.`);
  }
  return refusal('price_above_limit', `The price is ${plainText(price)}, above the limit of ${plainText(limit)}.`);
}

/** `what` is the subject of the sentence, such as `The price`. */
export function unreadOffer(failure: ServiceFailure, what: string): ServiceFailure {
  return isDefinite(failure.failure)
    ? failure
    : refusal('not_sent', `${what} could not be read, so nothing was sent. ${failure.detail}`);
}

/** Only a complete list proves that the item is not offered: then `proven` is the refusal. */
export function notListed({ complete }: Listing<unknown>, ...proven: Parameters<typeof refusal>): ServiceFailure {
  if (complete) return refusal(...proven);
  const detail = 'The list of the service does not show it, and is not known to be complete; nothing was sent.';
  return refusal('not_sent', detail);
}

/** In the form of a failure of the service. */
export function refusal(failure: ServiceFailure['failure'], detail: string): ServiceFailure {
  return { ok: false, kind: 'failure', failure, detail };
}

export function failureNote({ failure, detail, serviceMessage }: ServiceFailure): FailureDetail {
  return { class: failure, detail, ...(serviceMessage !== undefined && { serviceMessage }) };
}

/** After a failed read, purchases do not read the list again for this long. */
const RETRY_AFTER_MS = 5_000;

/** By the id of the package; undefined when the list could not be read. */
type Prices = ReadonlyMap<number, Money> | undefined;

export type PriceList = CachedRead<Prices>;

/** For reserving money and counting daily limits. A missing price stops no purchase. */
export function priceList({ service, gate, now }: Pick<WorkDependencies, 'service' | 'gate' | 'now'>): PriceList {
  const maxAgeMs = gate.priceAgeMs;
  const read = async (): Promise<Prices> => {
    const packages = await service.listPackages();
    if (!packages.ok) return undefined;
    return new Map(
      packages.value.items.map(({ id, price_for_reseller: amount, currency }) => [id, { amount, currency }]),
    );
  };
  const ageOf = (prices: Prices) => (prices === undefined ? Math.min(RETRY_AFTER_MS, maxAgeMs) : maxAgeMs);
  return new CachedRead(read, { maxAgeMs: ageOf, now });
}
