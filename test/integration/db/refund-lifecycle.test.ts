import { describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { refunds } from '#db/schema.ts';
import { findRefund } from '#db/work/cancellations.ts';
import {
  REFUND_EVENTS,
  REFUND_LIFECYCLE,
  REFUND_STATUSES_OR_NONE,
  type RefundEvent,
  type RefundStatusOrNone,
} from '#domain/cancellation/refund.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { storeCancellationReport, undoCancelled } from '#fulfilment/work/cancellation.ts';
import { markRefundNeedsAttention, settleRefund, type CancellationDetails } from '#fulfilment/work/refunds.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestCancellation } from '#test/support/work/order-rows.ts';

const { database } = disposedAtEnd(await openTestDatabase());

const NOW = new Date('2030-01-31T12:00:00Z');

/** A cancellation with this refund status. */
async function cancellationWith(status: RefundStatusOrNone): Promise<WorkRef> {
  const { id, ...of } = await acceptTestCancellation(database);
  if (status !== 'none')
    await database.run((db) => db.insert(refunds).values({ id: newId('refund'), cancellationId: id, ...of, status }));
  return { kind: 'cancellation', id };
}

type Operation = (work: WorkRef) => Promise<unknown>;

const reported =
  (refund: CancellationDetails['refund']): Operation =>
  (work) =>
    database.transaction((tx) => storeCancellationReport(tx, work, { refund }, NOW));
const settled =
  (isPaid: boolean): Operation =>
  ({ id }) =>
    database.transaction((tx) => settleRefund(tx, id, isPaid, NOW));

/** The operation that causes each event of the table. */
const OPERATIONS: Readonly<Record<RefundEvent, Operation>> = {
  expected: reported({ state: 'processing' }),
  manual_review: reported({ state: 'processing', review: 'manual_review' }),
  failed: reported({ state: 'failed' }),
  paid: settled(true),
  given_up: settled(false),
  case_opened: ({ id }) => database.transaction((tx) => markRefundNeedsAttention(tx, id, NOW)),
  undone: (work) => database.transaction((tx) => undoCancelled(tx, work)),
};

describe('the row of a refund', () => {
  it.each(Object.keys(REFUND_EVENTS) as RefundEvent[])(
    'has the status of the table after %s, from every status',
    async (event) => {
      for (const before of REFUND_STATUSES_OR_NONE) {
        const work = await cancellationWith(before);
        await OPERATIONS[event](work);
        const next = REFUND_LIFECYCLE[event][before];
        const row = await database.run((db) => findRefund(db, work.id));
        expect(row?.status ?? 'none', `${before}, ${event}`).toBe(next === 'unchanged' ? before : next);
      }
    },
  );
});
