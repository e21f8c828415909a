import type { Executor } from '#db/connection/database.ts';
import { openCaseOfProduct, openCaseOnce } from '#db/work/cases.ts';
import { isOtherMoney, type AmountComparison } from '#domain/money/compare-amounts.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { orderedProduct } from '#fulfilment/attempts/report.ts';
import { addPause } from '#fulfilment/gate/pauses.ts';

/** A charge or a debit that is not the expected one. */
export interface DifferentAmount {
  readonly work: WorkRef;
  readonly attemptId: string;
  readonly comparison: AmountComparison;
  /** A sentence that names no work, so that the same difference of a product has the same text. */
  readonly detail: string;
}

/**
 * Opens one case for a product, not one for each order of it. In another unit or currency the amounts of the service
 * cannot be understood: buying of the kind is paused until an operator has compared them. The pause is not set again
 * for a difference that a person has judged.
 *
 * @returns true when the case is new.
 */
export async function reportAmount(
  tx: Executor,
  { work, attemptId, comparison, detail }: DifferentAmount,
  now: Date,
): Promise<boolean> {
  const product = await orderedProduct(tx, work);
  const isNew =
    product === undefined
      ? await openCaseOnce(tx, work, 'amount_differs', detail, attemptId)
      : await openCaseOfProduct(tx, work, product, 'amount_differs', detail, attemptId);
  if (isNew && isOtherMoney(comparison)) {
    const reason = `The amounts of the service cannot be understood. ${detail} ${ADVICE}`;
    const pause = { origin: 'amounts', kind: work.kind, failureClass: null, reason, actor: 'worker' } as const;
    await addPause(tx, pause, now);
  }
  return isNew;
}

const ADVICE =
  'Compare the wallet with the price list and correct `amounts` in upstream/contract/variants.ts; ' +
  'then release the pause with `npx reseller gate release`.';
