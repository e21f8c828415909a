import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  GIVEN_UP_REFUND,
  judgeCredit,
  otherCreditText,
  PAID_REFUND,
  REFUND_NEEDING_ATTENTION,
  REFUND_STATUSES,
  refundStatusAfterReport,
  type CreditVerdict,
} from '#domain/cancellation/refund.ts';
import type { Money } from '#domain/money/money.ts';
import { assertForAll } from '#test/support/for-all.ts';

const money = (text: string): Money => {
  const [amount = '', currency = 'USD'] = text.split(' ');
  return { amount, currency };
};
const expectedOf = (debit: string | undefined, reported: string | undefined) => ({
  debit: debit === undefined ? undefined : money(debit),
  reported: reported === undefined ? undefined : money(reported),
});

describe('a final credit', () => {
  it.each<[credit: string, debit: string | undefined, reported: string | undefined, CreditVerdict]>([
    ['2.40', '2.4', undefined, 'settles'],
    ['2.40', '2.40', '2.40', 'settles'],
    ['2.40', '2.40', '1.00', 'settles'],
    ['1.00', '2.40', '1.00', 'settles_otherwise'],
    ['240', '2.40', '240', 'settles_otherwise'],
    ['1.00', '2.40', undefined, 'other_amount'],
    ['1.00', '2.40', '2.40', 'other_amount'],
    ['0.00', '2.40', undefined, 'other_amount'],
    ['0.00', '2.40', '0.00', 'other_amount'],
    ['2.40 EUR', '2.40', undefined, 'other_amount'],
    ['2.40 EUR', '2.40', '2.40 EUR', 'other_amount'],
    // What it cost is not known.
    ['1.00', undefined, undefined, 'settles'],
    ['1.00', undefined, '1.00', 'settles'],
    ['1.00', undefined, '2.40', 'other_amount'],
    ['0', undefined, undefined, 'other_amount'],
    ['0.00', '0.00', undefined, 'settles'],
  ])('of %s for a debit of %s and a reported refund of %s: %s', (credit, debit, reported, verdict) => {
    expect(judgeCredit(money(credit), expectedOf(debit, reported))).toBe(verdict);
  });

  const any = fc.record({
    amount: fc.constantFrom('0.00', '1.00', '2.4', '2.40', '240'),
    currency: fc.constantFrom('USD', 'EUR'),
  });
  const maybe = fc.option(any, { nil: undefined });

  it('settles without a case only what was debited, or what was reported while the debit is not known', () => {
    assertForAll(any, maybe, maybe, (credit, debit, reported) => {
      if (judgeCredit(credit, { debit, reported }) !== 'settles') return;
      const expected = debit ?? reported ?? credit;
      expect([Number(credit.amount), credit.currency]).toEqual([Number(expected.amount), expected.currency]);
    });
  });

  it('settles nothing in another currency than the debit', () => {
    assertForAll(any, any, maybe, (credit, debit, reported) => {
      fc.pre(credit.currency !== debit.currency);
      expect(judgeCredit(credit, { debit, reported })).toBe('other_amount');
    });
  });

  it.each([
    ['2.40', undefined, 'The service credited 1.00 USD as the refund; the debit was 2.40 USD.'],
    [undefined, '2.40', 'The service credited 1.00 USD as the refund; it reported 2.40 USD.'],
    [undefined, undefined, 'The service credited 1.00 USD as the refund.'],
  ])('for a debit of %s and a reported refund of %s is described as %j', (debit, reported, text) => {
    expect(otherCreditText(money('1.00'), expectedOf(debit, reported))).toBe(text);
  });
});

describe('the status of a refund', () => {
  it('is completed only by its credit: a report changes every other status, and never a completed one', () => {
    for (const reported of ['expected', 'manual_review', 'failed'] as const) {
      expect(refundStatusAfterReport(undefined, reported)).toBe(reported);
      for (const status of REFUND_STATUSES)
        expect(refundStatusAfterReport(status, reported)).toBe(status === 'completed' ? status : reported);
    }
  });

  it('can become paid from every status, and fail or need attention from every unpaid one', () => {
    const unpaid = ['expected', 'manual_review', 'failed', 'needs_attention'];
    expect(PAID_REFUND).toEqual({ status: 'completed', from: REFUND_STATUSES });
    expect(GIVEN_UP_REFUND).toEqual({ status: 'failed', from: unpaid });
    expect(REFUND_NEEDING_ATTENTION).toEqual({ status: 'needs_attention', from: unpaid });
  });
});
