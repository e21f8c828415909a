import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { circuitNames } from '#domain/gate/circuit.ts';
import {
  circuitOf,
  driftStopOf,
  judgeReservation,
  pauseOf,
  pauseScope,
  releasable,
} from '#domain/gate/purchase-gate.ts';
import { spendDay, spendProblem, untilNextDay } from '#domain/gate/spend-limit.ts';
import { addMoney, compareMoney } from '#domain/money/money.ts';
import { mayHaveCost } from '#domain/operator/operator-actions.ts';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import { resubmission } from '#domain/retry/resubmission.ts';
import { PURCHASE_KINDS, WORK_KINDS } from '#domain/work/kinds.ts';
import { WORK_STATUSES, isFinal } from '#domain/work/lifecycle.ts';
import { assertForAll } from '#test/support/for-all.ts';

const cents = fc.integer({ min: 0, max: 1_000_000 });
const usd = (amount: number) => ({ amount: (amount / 100).toFixed(2), currency: 'USD' });
const attempt = fc.record({ state: fc.constantFrom(...ATTEMPT_STATES), settled: fc.boolean() });

describe('a gate barrier', () => {
  it('contains the name of its circuit, pause or drift stop, and no other', () => {
    const read = (barrier: string) => [circuitOf(barrier), pauseOf(barrier), driftStopOf(barrier)];
    for (const name of circuitNames) expect(read(`circuit:${name}`)).toEqual([name, undefined, undefined]);
    for (const kind of PURCHASE_KINDS) expect(read(`drift:${kind}`)).toEqual([undefined, undefined, kind]);
    expect(read('pause:pause_1')).toEqual([undefined, 'pause_1', undefined]);
    for (const barrier of ['wallet', 'spend_limit', 'a pause:', ...circuitNames, ...PURCHASE_KINDS])
      expect(read(barrier)).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    [null, null, 'all buying'],
    ['order', null, 'order'],
    ['order', 'timeout', 'order that failed with timeout'],
  ])('of a pause of the kind %s after %s is described as: %s', (kind, failure, text) => {
    expect(pauseScope(kind, failure)).toBe(text);
  });
});

describe('a reservation', () => {
  it('may use the last cent, and reports the missing amount', () => {
    expect(judgeReservation(usd(250), { balance: usd(1_000), reserved: usd(750) })).toEqual({ kind: 'enough' });
    const balance = { amount: '10.000000', currency: 'USD' };
    expect(judgeReservation(usd(251), { balance, reserved: usd(750) })).toEqual({
      kind: 'short',
      detail: 'The price is 2.51 USD; of the 10.00 USD in the wallet, 7.50 USD are reserved for purchases under way.',
    });
  });

  it('never exceeds the balance in total', () => {
    assertForAll(cents, fc.array(fc.integer({ min: 1, max: 50_000 }), { maxLength: 40 }), (balance, prices) => {
      let reserved = usd(0);
      for (const price of prices) {
        const answer = judgeReservation(usd(price), { balance: usd(balance), reserved });
        const fits = compareMoney(addMoney(reserved, usd(price)), usd(balance)) <= 0;
        expect(answer.kind).toBe(fits ? 'enough' : 'short');
        if (fits) reserved = addMoney(reserved, usd(price));
      }
      expect(compareMoney(reserved, usd(balance))).not.toBe(1);
    });
  });

  it('is not made in another currency than that of the wallet', () => {
    const eur = { amount: '1.00', currency: 'EUR' };
    expect(judgeReservation(eur, { balance: usd(100), reserved: usd(0) })).toEqual({ kind: 'other_currency' });
    expect(spendProblem(eur, { limit: usd(100), spent: usd(0), whose: 'of all' })).toContain('in EUR');
  });
});

describe('a daily limit', () => {
  it('may be reached exactly, and a refusal contains the excess', () => {
    expect(spendProblem(usd(250), { limit: usd(1_000), spent: usd(750), whose: 'of this API key' })).toBeUndefined();
    expect(spendProblem(usd(1_001), { limit: usd(1_000), spent: usd(0), whose: 'of all' })).toBe(
      'The price of 10.01 USD alone is above the daily limit of all of 10.00 USD. ' +
        'It never fits into a day: the limit must be raised.',
    );
    expect(spendProblem(usd(251), { limit: usd(1_000), spent: usd(750), whose: 'of this API key' })).toBe(
      'The price is 2.51 USD; of the daily limit of this API key of 10.00 USD, 7.50 USD are spent.',
    );
  });

  it('refuses a price that exceeds it, and accepts one that reaches it', () => {
    assertForAll(cents, cents, cents, (limit, spent, price) => {
      const problem = spendProblem(usd(price), { limit: usd(limit), spent: usd(spent), whose: 'of all' });
      expect(problem === undefined).toBe(spent + price <= limit);
    });
  });

  it('applies to a day in UTC', () => {
    assertForAll(fc.integer({ min: 0, max: 4_000_000_000_000 }), (now) => {
      const rest = untilNextDay(now);
      expect(spendDay(now + rest - 1)).toBe(spendDay(now));
      expect(spendDay(now + rest)).not.toBe(spendDay(now));
    });
  });
});

describe('a release at a rate', () => {
  it.each([
    [null, 5_000, 10, 1],
    [0, 100, 10, 1],
    [0, 99, 10, 0],
    [0, 500, 10, 5],
    [0, 60_000, 10, 10],
    // A clock that was set back.
    [1_000, 500, 10, 0],
  ])('permits, with the last at %s, now %s, at %s a second: %s', (last, now, rate, count) => {
    expect(releasable(last, now, rate)).toBe(count);
  });

  it('never exceeds its rate, for any number of checks', () => {
    const waits = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 60 });
    assertForAll(waits, fc.integer({ min: 1, max: 50 }), (each, rate) => {
      let last: number | null = 0;
      let released = 0;
      let now = 0;
      for (const wait of each) {
        now += wait;
        const count: number = releasable(last, now, rate);
        if (count > 0) last = now;
        released += count;
      }
      expect(released).toBeLessThanOrEqual((now / 1_000) * rate);
    });
  });
});

describe('the advice about a resubmission', () => {
  it('is never "yes" for a possible purchase, nor for open work', () => {
    const kinds = fc.constantFrom(...WORK_KINDS);
    const statuses = fc.constantFrom(...WORK_STATUSES);
    const some = fc.array(attempt, { maxLength: 4 });
    assertForAll(kinds, statuses, some, fc.boolean(), (kind, status, attempts, inDoubt) => {
      const { verdict, reason } = resubmission({ kind, status, attempts, inDoubt });
      expect(reason).toMatch(/\.$/);
      // A cancellation buys nothing.
      expect(kind === 'cancellation' && /bought|paid|purchase/.test(reason)).toBe(false);
      const isBought = isFinal(status) || status === 'active' || status === 'cancelling';
      const isDelivered = attempts.some(({ state }) => state === 'completed');
      const mustBeNo = inDoubt || (!isBought && !isDelivered && attempts.some(mayHaveCost));
      expect(verdict !== 'yes' || isFinal(status)).toBe(true);
      expect(!mustBeNo || verdict === 'no').toBe(true);
    });
  });

  it.each([
    ['completed', 'completed', 'not_needed'],
    ['held', 'refused', 'not_needed'],
    ['held', 'prepared', 'not_needed'],
    ['submitting', 'unknown', 'no'],
    ['processing', 'processing', 'no'],
    ['needs_attention', 'unknown', 'no'],
    ['needs_attention', 'completed', 'not_needed'],
    ['needs_attention', 'prepared', 'no'],
    ['needs_attention', 'refused', 'no'],
    ['failed', 'refused', 'yes'],
    ['abandoned', 'refused', 'yes'],
  ] as const)('for work that is %s with an attempt that is %s is %s', (status, state, verdict) => {
    const attempts = [{ state, settled: false }];
    expect(resubmission({ kind: 'order', status, attempts, inDoubt: false }).verdict).toBe(verdict);
  });
});
