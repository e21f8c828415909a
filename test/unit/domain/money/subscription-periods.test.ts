import { describe, expect, it } from 'vitest';
import { subscriptionPeriods, subscriptionTimes } from '#domain/money/subscription-periods.ts';
import { usd } from '#test/support/work/books/reconciliation.ts';

const day = (number: number) => new Date(Date.UTC(2030, 0, 1) + number * 86_400_000);

/** Each period as `start-end: charged`, in days. */
function periods(renewedOn: number[], end: number | null, debits: [day: number, amount: string][] = []): string[] {
  const number = (time: Date) => (time.getTime() - day(0).getTime()) / 86_400_000;
  const costs = { charged: usd('2.9'), debits: debits.map(([at, amount]) => ({ at: day(at), money: usd(amount) })) };
  const found = subscriptionPeriods(day(0), renewedOn.map(day), end === null ? null : day(end), costs);
  return found.all.map(({ start, end: until, charged }) =>
    [`${number(start)}-${until === null ? '?' : number(until)}:`, charged?.amount ?? 'unknown'].join(' '),
  );
}

describe('the periods of a subscription', () => {
  const twoDebits = [30, 60].map((day): [number, string] => [day, '3.1']);

  it.each([
    ['the first one, with its charge', periods([], 30), ['0-30: 2.90']],
    ['of a service that states no end', periods([], null), ['0-?: 2.90']],
    [
      'each renewal, with the debit around its start, and never a price without a debit',
      periods([30, 60], 90, [[60.5, '3.1']]),
      ['0-30: 2.90', '30-60: unknown', '60-90: 3.10'],
    ],
    ['a debit before the start', periods([30], 60, [[29, '3.1']]), ['0-30: 2.90', '30-60: 3.10']],
    ['a renewal that was missed: both debits', periods([30], 90, twoDebits), ['0-30: 2.90', '30-90: 6.20']],
    ['a debit that no report explains', periods([], 30, [[30, '3.1']]), ['0-30: 2.90', '30-?: 3.10']],
    ['a debit without any end', periods([], null, [[30, '3.1']]), ['0-?: 2.90', '30-?: 3.10']],
    ['a renewal that the service took back', periods([30], 30), ['0-30: 2.90']],
  ])('are %s', (_name, found, expected) => {
    expect(found).toEqual(expected);
  });
});

describe('the end of a subscription', () => {
  it.each([
    ['expired', day(30), null, day(30), null],
    ['expired', null, null, day(31), null],
    ['cancelled', day(40), null, day(31), day(31)],
    ['cancelled', day(30), day(20), day(30), day(20)],
  ])('%s with its time until %s', (status, expiresAt, cancelAcceptedAt, endedAt, cancelledAt) => {
    const row = { status, expiresAt, cancelAcceptedAt };
    expect(subscriptionTimes(row, day(31))).toEqual({ endedAt, cancelledAt });
  });
});
