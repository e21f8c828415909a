import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  daysLookedAt,
  isRunwayLow,
  runwayOf,
  thresholdDays,
  type KnownRunway,
  type RunwayKnowledge,
} from '#domain/money/runway.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { assertForAll } from '#test/support/for-all.ts';
import { eur } from '#test/support/pricing-terms.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2030, 0, 31, 12);
const policy = DEFAULT_POLICY.runway;
const cents = (max: number, min = 0) => fc.integer({ min, max }).map((units) => (units / 100).toFixed(2));
const sums = fc.array(cents(1_000_00), { minLength: policy.windowDays, maxLength: policy.windowDays });

function knowledge(some: Partial<RunwayKnowledge> & { readonly sums?: readonly string[] } = {}): RunwayKnowledge {
  const { sums: daily = Array.from({ length: 14 }, () => '10.00'), ...rest } = some;
  return {
    wallet: { balance: eur('100.00'), readAt: NOW },
    reserved: eur('0'),
    held: eur('0'),
    heldWithoutPrice: 0,
    firstSaleAt: NOW - 30 * DAY,
    salesByAge: new Map(daily.map((sum, age) => [age, sum])),
    soldInOtherCurrency: false,
    now: NOW,
    ...rest,
  };
}

const runwayWith = (some: Parameters<typeof knowledge>[0] = {}) => runwayOf(knowledge(some), policy);

function known(some: Parameters<typeof knowledge>[0] = {}): KnownRunway {
  const runway = runwayWith(some);
  if (runway.kind === 'unknown') throw new Error(runway.reason);
  return runway;
}

describe('the runway of the wallet', () => {
  it('is the available amount divided by the daily mean', () => {
    expect(known()).toEqual({
      kind: 'known',
      available: eur('100.00'),
      sales: { mean: eur('10.00'), deviation: eur('0.00'), days: 14 },
      days: 10,
      earliestDays: 10,
      latestDays: 10,
    });
    const usedUp = known({ reserved: eur('30.000000'), held: eur('20.50') });
    expect(usedUp).toMatchObject({ available: eur('49.50'), days: 5 });
    // Fourteen days: ten without a sale, four with 35.
    const varied = known({ sums: ['35', '0', '35', '0', '35', '0', '35'] });
    expect(varied).toMatchObject({ sales: { mean: eur('10.00'), deviation: eur('16.408253') }, days: 10 });
  });

  it('has a range that grows with the variation of the days', () => {
    assertForAll(sums, cents(100_000_00, 1), (daily, balance) => {
      fc.pre(daily.some((sum) => Number(sum) > 0));
      const wallet = { balance: eur(balance), readAt: NOW };
      const { days, earliestDays, latestDays, sales } = known({ sums: daily, wallet });
      const [mean, deviation] = [Number(sales.mean.amount), Number(sales.deviation.amount)];
      expect(earliestDays).toBeLessThanOrEqual(days);
      expect(latestDays).toBeGreaterThanOrEqual(days);
      // At the last day, days times the mean, plus or minus the deviation for each root of a day, equals the
      // available amount.
      for (const [at, sign] of [
        [earliestDays, 1],
        [latestDays, -1],
      ] as const) {
        const used = at * mean + sign * Math.sqrt(at) * deviation;
        const slack = 0.06 * mean + (Math.sqrt(at + 0.06) - Math.sqrt(Math.max(0, at - 0.06))) * deviation + 0.01;
        expect(Math.abs(used - Number(balance))).toBeLessThanOrEqual(slack);
      }
    });
  });

  it('is zero, and never negative, when more is reserved than available', () => {
    const overspent = { available: eur('-150.00'), days: 0, earliestDays: 0, latestDays: 0 };
    expect(known({ held: eur('250.00') })).toMatchObject(overspent);
  });

  it('ignores days before the first sale, and is unknown with too few days', () => {
    const lookedAt = (days: number) => daysLookedAt(NOW - days * DAY, NOW, policy);
    expect([0.5, 1, 3.9, 14, 400].map(lookedAt)).toEqual([0, 1, 3, 14, 14]);
    const { sales } = known({ firstSaleAt: NOW - 3.9 * DAY, sums: ['10', '20', '30', '999'] });
    expect(sales).toMatchObject({ mean: eur('20.00'), days: 3 });
    const young = runwayWith({ firstSaleAt: NOW - 2.9 * DAY });
    expect(young).toMatchObject({ kind: 'unknown', reason: 'history_too_short' });
  });

  it.each<[string, Partial<RunwayKnowledge> & { sums?: string[] }]>([
    ['no_wallet_reading', { wallet: undefined }],
    ['wallet_reading_old', { wallet: { balance: eur('100.00'), readAt: NOW - policy.balanceAgeMs - 1 } }],
    ['no_sales', { firstSaleAt: undefined }],
    ['no_sales', { sums: [] }],
    ['other_currency', { sums: [], soldInOtherCurrency: true }],
  ])('is unknown, with the reason %s', (reason, some) => {
    expect(runwayWith(some)).toMatchObject({ kind: 'unknown', reason });
  });
});

describe('a low runway', () => {
  const lasting = (days: number) => runwayWith({ wallet: { balance: eur((days * 10).toFixed(2)), readAt: NOW } });

  it('begins below the threshold, and ends a fifth above it', () => {
    const days = [3, 2.9, 3, 3.5, 3.6, 3.5, 3, 2.9];
    let isLow = false;
    const lows = days.map((each) => (isLow = isRunwayLow(lasting(each), isLow, policy) ?? isLow));
    expect(lows).toEqual([false, true, true, true, false, false, false, true]);
    expect(thresholdDays(policy)).toBe(3);
  });

  it('keeps its state while the runway is unknown', () => {
    expect(isRunwayLow(runwayWith({ wallet: undefined }), true, policy)).toBeUndefined();
  });
});
