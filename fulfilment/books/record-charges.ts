import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import { workOf } from '#db/work/attempts.ts';
import { lockWork } from '#db/work/rows.ts';
import type { Money } from '#domain/money/money.ts';
import { reportCharge } from '#fulfilment/books/report-charge.ts';
import { updateWork } from '#fulfilment/work/change.ts';

/** A debit that the wallet shows for an attempt. */
export interface ShownDebit {
  readonly attemptId: string;
  readonly money: Money;
}

/**
 * Stores the cost of purchases whose price the service never reported, such as those that an operator marked as bought.
 * A reported price stays; a different amount in the wallet is a finding of the books.
 */
export async function noteShownCharges(tx: Executor, debits: readonly ShownDebit[], now: Date): Promise<void> {
  if (debits.length === 0) return;
  const ids = debits.map(({ attemptId }) => attemptId);
  const unsaid = await tx
    .select()
    .from(attempts)
    .where(and(inArray(attempts.id, ids), eq(attempts.state, 'completed'), isNull(attempts.chargedAmount)));
  const moneyOf = new Map(debits.map(({ attemptId, money }) => [attemptId, money]));
  for (const attempt of unsaid) {
    const { id } = attempt;
    const money = moneyOf.get(id);
    if (money === undefined) continue;
    const work = workOf(attempt);
    const row = await lockWork(tx, work);
    const charged = { chargedAmount: money.amount, chargedCurrency: money.currency };
    await tx.update(attempts).set(charged).where(eq(attempts.id, id));
    await updateWork(tx, work, row, { ...charged, updatedAt: now });
    await reportCharge(tx, attempt, money, now);
  }
}
