import { paddedMoney, sumByCurrency, type Money } from '#domain/money/money.ts';

interface Period {
  readonly start: Date;
  readonly end: Date | null;
  readonly charged: Money | null;
}

/**
 * A renewal is debited around the start of its period, so a debit belongs to the nearest start. One nearest to the last
 * reported end shows a period that nobody has reported.
 * @param renewedAt former ends, where renewals began further periods.
 */
export function subscriptionPeriods(
  start: Date,
  renewedAt: readonly Date[],
  end: Date | null,
  {
    charged,
    debits,
  }: { readonly charged: Money | null; readonly debits: readonly { readonly at: Date; readonly money: Money }[] },
): { readonly current: Period; readonly all: readonly Period[] } {
  // A service may take a renewal back, by stating an earlier end again.
  const later = renewedAt.map(Number).filter((at) => at > start.getTime() && (end === null || at < end.getTime()));
  const starts = [start.getTime(), ...new Set(later.toSorted((one, other) => one - other))];
  const nearest = (at: number) => {
    const limits = end === null ? starts : [...starts, end.getTime()];
    return limits.reduce((best, limit) => (Math.abs(limit - at) < Math.abs(best - at) ? limit : best));
  };
  const isReported = ({ at }: { readonly at: Date }) => end !== null && nearest(at.getTime()) !== end.getTime();
  const reported = starts.map((each, index): Period => {
    const own = debits.filter((debit) => isReported(debit) && nearest(debit.at.getTime()) === each);
    const [sum, ...sums] = sumByCurrency([
      ...(index === 0 && charged !== null ? [charged] : []),
      ...own.map(({ money }) => money),
    ]);
    const next = starts[index + 1];
    return {
      start: new Date(each),
      end: next === undefined ? end : new Date(next),
      // Amounts of two currencies have no sum.
      charged: sum !== undefined && sums.length === 0 ? paddedMoney(sum) : null,
    };
  });
  const others = debits
    .filter((debit) => !isReported(debit))
    .map(({ at, money }): Period => ({ start: at, end: null, charged: paddedMoney(money) }));
  return { current: reported.at(-1) ?? { start, end, charged }, all: [...reported, ...others] };
}

export function subscriptionTimes(
  {
    status,
    expiresAt,
    cancelAcceptedAt,
  }: { readonly status: string; readonly expiresAt: Date | null; readonly cancelAcceptedAt: Date | null },
  endRecordedAt: Date | null,
): { readonly endedAt: Date | null; readonly cancelledAt: Date | null } {
  const isOver = endRecordedAt !== null && expiresAt !== null && expiresAt < endRecordedAt;
  return {
    endedAt: isOver ? expiresAt : endRecordedAt,
    cancelledAt: cancelAcceptedAt ?? (status === 'cancelled' ? endRecordedAt : null),
  };
}
