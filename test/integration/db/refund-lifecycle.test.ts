import { describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { refunds } from '#db/schema.ts';
import { findRefund } from '#db/work/cancellations.ts';
import { REFUND_STATUSES, type CancellationReport, type RefundStatus } from '#domain/cancellation/refund.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { storeCancellationReport, undoCancelled } from '#fulfilment/work/cancellation.ts';
import { markRefundNeedsAttention, settleRefund } from '#fulfilment/work/refunds.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestCancellation } from '#test/support/work/order-rows.ts';

const { database } = disposedAtEnd(await openTestDatabase());

const NOW = new Date('2030-01-31T12:00:00Z');

type RefundStatusOrNone = RefundStatus | 'none';

/** A cancellation with this refund status. */
async function cancellationWith(status: RefundStatusOrNone): Promise<WorkRef> {
  const { id, ...of } = await acceptTestCancellation(database);
  if (status !== 'none')
    await database.run((db) => db.insert(refunds).values({ id: newId('refund'), cancellationId: id, ...of, status }));
  return { kind: 'cancellation', id };
}

type Operation = (work: WorkRef) => Promise<unknown>;

const reported =
  (refund: CancellationReport['refund']): Operation =>
  (work) =>
    database.transaction((tx) => storeCancellationReport(tx, work, { refund }, NOW));
const settled =
  (isPaid: boolean): Operation =>
  ({ id }) =>
    database.transaction((tx) => settleRefund(tx, id, isPaid, NOW));

const OPERATIONS = {
  expected: reported({ state: 'processing' }),
  manual_review: reported({ state: 'processing', review: 'manual_review' }),
  failed: reported({ state: 'failed' }),
  paid: settled(true),
  given_up: settled(false),
  case_opened: ({ id }) => database.transaction((tx) => markRefundNeedsAttention(tx, id, NOW)),
  undone: (work) => database.transaction((tx) => undoCancelled(tx, work)),
} as const satisfies Readonly<Record<string, Operation>>;

function statusAfter(before: RefundStatusOrNone, operation: keyof typeof OPERATIONS): RefundStatusOrNone {
  switch (operation) {
    // A completed refund is in the wallet. No report of the service changes that, and no operator must act.
    case 'expected':
    case 'manual_review':
    case 'failed':
      return before === 'completed' ? before : operation;
    case 'case_opened':
      return before === 'completed' || before === 'none' ? before : 'needs_attention';
    // An unknown refund cannot be settled.
    case 'paid':
      return before === 'none' ? before : 'completed';
    case 'given_up':
      return before === 'none' || before === 'completed' ? before : 'failed';
    case 'undone':
      return 'none';
  }
}

describe('the row of a refund', () => {
  it.each(Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[])(
    'has the right status after %s, from every status',
    async (operation) => {
      for (const before of ['none', ...REFUND_STATUSES] as const) {
        const work = await cancellationWith(before);
        await OPERATIONS[operation](work);
        const row = await database.run((db) => findRefund(db, work.id));
        expect(row?.status ?? 'none', `${before}, ${operation}`).toBe(statusAfter(before, operation));
      }
    },
  );
});
