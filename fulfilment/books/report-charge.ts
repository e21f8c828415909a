import { cataloguePrice } from '#db/catalogue/catalogue.ts';
import type { Executor } from '#db/connection/database.ts';
import { limitOf, priceAtSend, workOf } from '#db/work/attempts.ts';
import { openCase } from '#db/work/cases.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { compareAmounts, isOtherMoney } from '#domain/money/compare-amounts.ts';
import { plainText, type Money } from '#domain/money/money.ts';
import { isWithin } from '#domain/purchase/send-claim.ts';
import { reportAmount, type DifferentAmount } from '#fulfilment/books/report-amount.ts';

/**
 * Compares what the service charged with the limit and with the price at the time of the send. A charge above the limit
 * is a case of its purchase, another price one of its product.
 */
export async function reportCharge(
  tx: Executor,
  attempt: AttemptRow,
  charged: Money | undefined,
  now: Date,
): Promise<void> {
  if (charged === undefined) return;
  const isAboveLimit = !isWithin(limitOf(attempt), charged);
  if (isAboveLimit) {
    const work = workOf(attempt);
    const detail = `The service charged ${plainText(charged)}, more than the limit allows; a case is open.`;
    await openCase(tx, work, 'charged_above_limit', detail);
    const event = `${work.kind}.charged_above_limit`;
    await addTimelineEntry(tx, work, { event, message: detail, dedupKey: event });
  }
  const difference = await differenceToPrice(tx, attempt, charged);
  // A higher charge needs no second case, unless it stops buying.
  if (difference === undefined || (isAboveLimit && !isOtherMoney(difference.comparison))) return;
  await reportAmount(tx, difference, now);
  const { work, detail } = difference;
  const event = `${work.kind}.charged_otherwise`;
  await addTimelineEntry(tx, work, { event, message: detail, dedupKey: event });
}

/** How a charge differs from the listed price; undefined: it does not, or no price proves it. */
async function differenceToPrice(
  tx: Executor,
  attempt: AttemptRow,
  charged: Money,
): Promise<DifferentAmount | undefined> {
  const atSend = priceAtSend(attempt);
  if (atSend !== undefined && compareAmounts(atSend, charged) === 'equal') return undefined;
  const work = workOf(attempt);
  const today = await cataloguePrice(tx, work);
  // The price may have changed after it was read for the send.
  if (today !== undefined && compareAmounts(today, charged) === 'equal') return undefined;
  const price = atSend ?? today;
  if (price === undefined) return undefined;
  const comparison = compareAmounts(price, charged);
  // The price of today proves only another unit or currency: the price at the send is not known.
  if (atSend === undefined && !isOtherMoney(comparison)) return undefined;
  const detail = `The service charged ${plainText(charged)} for a listed price of ${plainText(price)}.`;
  return { work, attemptId: attempt.id, comparison, detail };
}
