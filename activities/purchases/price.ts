import { isDefinite } from '#domain/failure.ts';
import { compareMoney, plainText, type Money } from '#domain/money.ts';
import type { WorkRef } from '#domain/work.ts';
import { openCase } from '#db/cases.ts';
import type { Executor } from '#db/database.ts';
import { addTimelineEntry } from '#db/timeline.ts';
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
  return refusal('price_above_limit', `The price is ${plainText(price)}, above the limit of ${plainText(limit)}.`);
}

/** Why nothing is sent when what is offered could not be read. @param what of the service, for a sentence: `The price`. */
export function unreadOffer(failure: ServiceFailure, what: string): ServiceFailure {
  return isDefinite(failure.failure) ? failure : refusal('not_sent', `${what} could not be read, so nothing was sent. ${failure.detail}`);
}

/** Opens a case when the service charged more than the caller allowed, or in another currency. */
export async function reportCharge(tx: Executor, work: WorkRef, limited: Limited, charged: Money | undefined): Promise<void> {
  if (charged === undefined || priceAboveLimit(priceLimit(limited), charged) === undefined) return;
  const detail = `The service charged ${plainText(charged)}, more than the limit allows; a case is open.`;
  await openCase(tx, work, 'charged_above_limit', detail);
  const event = `${work.kind}.charged_above_limit`;
  await addTimelineEntry(tx, work, { event, message: detail, dedupKey: event });
}

/** Why nothing is sent, in the form of a failure of the service. */
export function refusal(failure: ServiceFailure['failure'], detail: string): ServiceFailure {
  return { ok: false, kind: 'failure', failure, detail };
}
