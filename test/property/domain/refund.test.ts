import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cancellationOutcome,
  isCancelled,
  judgeRefund,
  REFUND_REVIEWS,
  REFUND_STATES,
  REFUND_STATUSES,
  refundOfCredit,
  refundStatusOf,
  mergeReports,
  type CancellationReport,
  type RefundOfOrder,
  type RefundStatus,
  type RefundReport,
} from '#domain/cancellation/refund.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { assertForAll } from '#test/support/for-all.ts';

const refundReport: fc.Arbitrary<RefundReport> = fc.record({
  state: fc.constantFrom(...REFUND_STATES),
  review: fc.option(fc.constantFrom(...REFUND_REVIEWS), { nil: undefined }),
});
const report: fc.Arbitrary<CancellationReport> = fc.record({
  esim: fc.constantFrom('processing', 'cancelled', 'refused', undefined),
  refund: fc.option(refundReport, { nil: undefined }),
});

const refund = (state: RefundReport['state'], review?: RefundReport['review']): CancellationReport => ({
  refund: { state, ...(review !== undefined && { review }) },
});
const CANCELLED: CancellationReport = { esim: 'cancelled' };
const REVIEWED = refund('processing', 'manual_review');

describe('a report about a cancellation', () => {
  // Sequences of reports that the service can truthfully make about one cancellation.
  it.each<[string, ObservedOutcome, ...CancellationReport[]]>([
    ['cancelled and paid', 'completed', CANCELLED, refund('processing', 'accepted'), refund('completed', 'accepted')],
    ['reviewed, then paid', 'completed', { esim: 'processing', ...REVIEWED }, CANCELLED, refund('completed')],
    ['cancelled, and the refund failed', 'completed', CANCELLED, refund('failed')],
    ['refused in review', 'failed', REVIEWED, refund('failed', 'refused')],
    ['refused at once', 'failed', { esim: 'refused' }],
  ])('%s has the same outcome in any order of its reports, and with reports repeated', (_name, end, ...reports) => {
    const shuffled = fc.shuffledSubarray([...reports, ...reports], { minLength: reports.length });
    assertForAll(shuffled, (order) => {
      fc.pre(reports.every((each) => order.includes(each)));
      expect(cancellationOutcome(order.reduce(mergeReports, {}))).toBe(end);
    });
  });

  it('that the eSIM is cancelled never means that the cancellation was refused', () => {
    assertForAll(report, (said) => {
      fc.pre(isCancelled(said) && said.esim !== 'refused');
      expect(cancellationOutcome(said)).not.toBe('failed');
    });
  });

  it('about a refund is new once, and a paid refund stays paid', () => {
    assertForAll(fc.option(refundReport, { nil: undefined }), refundReport, (known, said) => {
      const takesBack = known?.state === 'completed' && said.state === 'failed';
      expect(judgeRefund(known, said) === 'contradiction').toBe(takesBack);
      // The same report changes nothing the second time.
      expect(judgeRefund(said, said)).toBe('known');
    });
  });
});

describe('the states and reviews of a refund', () => {
  it('are those of the specification; the statuses are those of our API', () => {
    expect(REFUND_STATES).toEqual(['processing', 'completed', 'failed']);
    expect(REFUND_REVIEWS).toEqual(['accepted', 'refused', 'manual_review']);
    expect(REFUND_STATUSES).toEqual(['expected', 'manual_review', 'completed', 'failed', 'needs_attention']);
  });

  it.each<[CancellationReport, ObservedOutcome]>([
    [{}, 'processing'],
    [{ esim: 'processing' }, 'processing'],
    [{ esim: 'cancelled' }, 'processing'],
    [{ esim: 'refused' }, 'failed'],
    [{ esim: 'refused', refund: { state: 'completed', review: 'accepted' } }, 'failed'],
    [{ refund: { state: 'processing', review: 'accepted' } }, 'processing'],
    [{ refund: { state: 'processing', review: 'refused' } }, 'processing'],
    [{ esim: 'cancelled', refund: { state: 'processing', review: 'accepted' } }, 'processing'],
    [{ refund: { state: 'completed' } }, 'completed'],
    [{ refund: { state: 'failed', review: 'accepted' } }, 'completed'],
    [{ esim: 'cancelled', refund: { state: 'failed', review: 'refused' } }, 'completed'],
    [{ refund: { state: 'failed', review: 'refused' } }, 'failed'],
    [{ refund: { state: 'failed', review: 'manual_review' } }, 'processing'],
    [{ esim: 'processing', refund: { state: 'failed' } }, 'processing'],
  ])('%j means %s for the attempt', (said, outcome) => {
    expect(cancellationOutcome(said)).toBe(outcome);
  });

  it.each<[CancellationReport, boolean]>([
    [{}, false],
    [{ esim: 'cancelled' }, true],
    [{ esim: 'processing' }, false],
    [{ esim: 'refused' }, false],
    [{ esim: 'processing', refund: { state: 'completed' } }, true],
    [{ refund: { state: 'completed', review: 'refused' } }, true],
    [{ refund: { state: 'processing', review: 'accepted' } }, true],
    [{ esim: 'processing', refund: { state: 'processing', review: 'accepted' } }, false],
    [{ refund: { state: 'processing' } }, false],
    [{ refund: { state: 'failed', review: 'refused' } }, false],
  ])('%j reports the eSIM as cancelled: %s', (said, cancelled) => {
    expect(isCancelled(said)).toBe(cancelled);
  });

  it.each<[RefundReport | undefined, RefundReport | undefined, ReturnType<typeof judgeRefund>]>([
    [undefined, undefined, 'known'],
    [{ state: 'processing' }, undefined, 'known'],
    [undefined, { state: 'processing' }, 'advance'],
    [{ state: 'processing' }, { state: 'processing' }, 'known'],
    [{ state: 'processing' }, { state: 'processing', review: 'manual_review' }, 'advance'],
    [{ state: 'processing', review: 'manual_review' }, { state: 'processing' }, 'known'],
    [{ state: 'processing', review: 'manual_review' }, { state: 'processing', review: 'accepted' }, 'advance'],
    [{ state: 'completed' }, { state: 'completed', review: 'accepted' }, 'advance'],
    [{ state: 'completed' }, { state: 'processing', review: 'accepted' }, 'known'],
    [{ state: 'completed' }, { state: 'failed', review: 'refused' }, 'contradiction'],
    [{ state: 'failed' }, { state: 'completed' }, 'advance'],
    [{ state: 'failed' }, { state: 'processing' }, 'known'],
  ])('%j and then %j is judged as %s', (known, reported, decision) => {
    expect(judgeRefund(known, reported)).toBe(decision);
  });

  it.each<[CancellationReport, CancellationReport, CancellationReport]>([
    [{}, {}, {}],
    [{ esim: 'processing' }, {}, { esim: 'processing' }],
    [{ esim: 'processing' }, { esim: 'cancelled' }, { esim: 'cancelled' }],
    [{ esim: 'cancelled' }, { esim: 'processing' }, { esim: 'cancelled' }],
    [{ esim: 'processing' }, { esim: 'refused' }, { esim: 'refused' }],
    [refund('completed'), {}, refund('completed')],
    [refund('completed'), refund('processing', 'accepted'), refund('completed')],
    [REVIEWED, refund('completed'), refund('completed', 'manual_review')],
    [REVIEWED, refund('failed', 'refused'), refund('failed', 'refused')],
  ])('%j and then %j is merged into %j, and nothing else', (known, reported, report) => {
    expect(mergeReports(known, reported)).toStrictEqual(report);
  });

  it.each<[RefundReport, RefundStatus]>([
    [{ state: 'processing' }, 'expected'],
    [{ state: 'processing', review: 'accepted' }, 'expected'],
    [{ state: 'processing', review: 'manual_review' }, 'manual_review'],
    [{ state: 'completed', review: 'manual_review' }, 'expected'],
    [{ state: 'completed' }, 'expected'],
    [{ state: 'failed' }, 'failed'],
    [{ state: 'failed', review: 'manual_review' }, 'failed'],
  ])('%j is shown as %s', (said, status) => {
    expect(refundStatusOf(said)).toBe(status);
  });
});

describe('the refund that a wallet credit belongs to', () => {
  const money = { amount: '2.40', currency: 'USD' };
  const inForce: RefundOfOrder = { serviceRefundId: 'r_2', reportedAmount: money, isInForce: true };
  const refused: RefundOfOrder = { serviceRefundId: 'r_1', reportedAmount: money, isInForce: false };
  const isOf = (refunds: readonly RefundOfOrder[], refundId: string | null) =>
    refundOfCredit(refunds, { refundId, money });

  it('is the refund with the id of the service, in force or not', () => {
    expect(isOf([refused, inForce], 'r_2')).toBe(inForce);
    expect(isOf([inForce, refused], 'r_1')).toBe(refused);
  });

  it('is the refund in force for a credit without an id, otherwise the first', () => {
    expect(isOf([refused, inForce], null)).toBe(inForce);
    expect(isOf([refused], null)).toBe(refused);
    expect(isOf([], null)).toBeUndefined();
  });

  it('may be a refund whose id is not known yet, but not one with another id', () => {
    const unheard = { ...inForce, serviceRefundId: null };
    expect(isOf([refused, unheard], 'r_2')).toBe(unheard);
    expect(isOf([unheard], null)).toBe(unheard);
    expect(isOf([refused], 'r_2')).toBeUndefined();
  });

  it('is never a refund of another amount, or without a reported amount', () => {
    for (const reportedAmount of [undefined, { ...money, amount: '2.41' }, { ...money, currency: 'EUR' }]) {
      for (const refundId of ['r_2', null]) expect(isOf([{ ...inForce, reportedAmount }], refundId)).toBeUndefined();
    }
    expect(isOf([{ ...inForce, reportedAmount: { ...money, amount: '2.4' } }], 'r_2')).toBeDefined();
  });
});
