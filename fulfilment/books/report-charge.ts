import { limitOf, workOf } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import { openCase } from '#db/work/cases.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { plainText, type Money } from '#domain/money/money.ts';
import { isWithin } from '#domain/purchase/price-limit.ts';

/** Opens a case when the service charged more than the limit at the time of the send, or in another currency. */
export async function reportCharge(tx: Executor, attempt: AttemptRow, charged: Money | undefined): Promise<void> {
  if (charged === undefined || isWithin(limitOf(attempt), charged)) return;
  const work = workOf(attempt);
  const detail = `The service charged ${plainText(charged)}, more than the limit allows; a case is open.`;
  await openCase(tx, work, 'charged_above_limit', detail);
  const event = `${work.kind}.charged_above_limit`;
  await addTimelineEntry(tx, work, { event, message: detail, dedupKey: event });
}
