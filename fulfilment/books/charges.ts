import { and, eq, inArray, isNull } from 'drizzle-orm';
import { cataloguePrice } from '#db/catalogue/catalogue.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import { limitOf, priceAtSend, workOf } from '#db/work/attempts.ts';
import { openCase } from '#db/work/cases.ts';
import { type AttemptRow, lockWork } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { compareAmounts, isOtherMoney, plainText, type Money, type AmountComparison } from '#domain/money/money.ts';
import { isWithin } from '#domain/purchase/send-claim.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { orderedProduct } from '#fulfilment/attempts/report.ts';
import { addPause } from '#fulfilment/gate/pauses.ts';
import { changeWork } from '#fulfilment/work/change.ts';

/** A charge above the limit is a case of its purchase, another price one of its product. */
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

/** Undefined: it does not differ, or no price proves it. */
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

interface DifferentAmount {
  readonly work: WorkRef;
  readonly attemptId: string;
  readonly comparison: AmountComparison;
  /** Names no work, so that the same difference of a product has the same text. */
  readonly detail: string;
}

/**
 * One case for a product, not one for each order. Amounts in another unit or currency cannot be understood: buying of
 * the kind is paused until an operator has compared them. A judged difference does not pause it again.
 */
export async function reportAmount(
  tx: Executor,
  { work, attemptId, comparison, detail }: DifferentAmount,
  now: Date,
): Promise<void> {
  const product = await orderedProduct(tx, work);
  const isNew = await openCase(tx, work, 'amount_differs', detail, attemptId, { once: true, product });
  if (!isNew || !isOtherMoney(comparison)) return;
  const reason = `The amounts of the service cannot be understood. ${detail} ${ADVICE}`;
  await addPause(tx, { origin: 'amounts', kind: work.kind, failureClass: null, reason, actor: 'worker' }, now);
}

const ADVICE =
  'Compare the wallet with the price list and correct `amounts` in upstream/contract/variants.ts; ' +
  'then release the pause with `npx reseller gate release`.';

/**
 * For purchases whose price the service never reported. A reported price stays; a different amount in the wallet is a
 * finding of the books. `debits` by id of the attempt.
 */
export async function noteShownCharges(
  tx: Executor,
  debits: readonly { readonly id: string; readonly money: Money }[],
  now: Date,
): Promise<void> {
  const moneyOf = new Map(debits.map(({ id, money }) => [id, money]));
  const unsaid = await tx
    .select()
    .from(attempts)
    .where(
      and(inArray(attempts.id, [...moneyOf.keys()]), eq(attempts.state, 'completed'), isNull(attempts.chargedAmount)),
    );
  for (const attempt of unsaid) {
    const money = moneyOf.get(attempt.id);
    if (money === undefined) continue;
    const work = workOf(attempt);
    const row = await lockWork(tx, work);
    const charged = { chargedAmount: money.amount, chargedCurrency: money.currency };
    await tx.update(attempts).set(charged).where(eq(attempts.id, attempt.id));
    await changeWork(tx, work, row, { set: charged }, now);
    await reportCharge(tx, attempt, money, now);
  }
}
