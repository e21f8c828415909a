import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { circuitNames } from '#domain/gate/circuit.ts';
import {
  circuitOf,
  judgeReservation,
  pauseOf,
  releasable,
  spendDay,
  spendProblem,
  untilNextDay,
} from '#domain/gate/purchase-gate.ts';
import { addMoney, compareMoney } from '#domain/money/money.ts';
import { judgeAbandon, judgeRelease, mayHaveCost } from '#domain/operator/operator-actions.ts';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import { resubmission } from '#domain/retry/resubmission.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { WORK_STATUSES, isFinal } from '#domain/work/lifecycle.ts';

const cents = fc.integer({ min: 0, max: 1_000_000 });
const usd = (amount: number) => ({ amount: (amount / 100).toFixed(2), currency: 'USD' });
const attempt = fc.record({ state: fc.constantFrom(...ATTEMPT_STATES), settled: fc.boolean() });

describe('a gate barrier', () => {
  it('contains the name of its circuit or pause, and no other', () => {
    for (const name of circuitNames)
      expect([circuitOf(`circuit:${name}`), pauseOf(`circuit:${name}`), circuitOf(name)]).toEqual([
        name,
        undefined,
        undefined,
      ]);
    expect([
      pauseOf('pause:pause_1'),
      circuitOf('pause:pause_1'),
      pauseOf('wallet'),
      circuitOf('wallet'),
      pauseOf('a pause:'),
    ]).toEqual(['pause_1', undefined, undefined, undefined, undefined]);
  });
});

describe('a reservation', () => {
  it('may use the last cent, and reports the missing amount', () => {
    expect(judgeReservation(usd(250), { balance: usd(1_000), reserved: usd(750) })).toEqual({ kind: 'enough' });
    expect(
      judgeReservation(usd(251), { balance: { amount: '10.000000', currency: 'USD' }, reserved: usd(750) }),
    ).toEqual({
      kind: 'short',
      detail: 'The price is 2.51 USD; of the 10.00 USD in the wallet, 7.50 USD are reserved for purchases under way.',
    });
  });

  it('never exceeds the balance in total', () => {
    fc.assert(
      fc.property(cents, fc.array(fc.integer({ min: 1, max: 50_000 }), { maxLength: 40 }), (balance, prices) => {
        let reserved = usd(0);
        for (const price of prices) {
          const answer = judgeReservation(usd(price), { balance: usd(balance), reserved });
          const fits = compareMoney(addMoney(reserved, usd(price)), usd(balance)) <= 0;
          expect(answer.kind).toBe(fits ? 'enough' : 'short');
          if (fits) reserved = addMoney(reserved, usd(price));
        }
        expect(compareMoney(reserved, usd(balance))).not.toBe(1);
      }),
    );
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
    fc.assert(
      fc.property(cents, cents, cents, (limit, spent, price) => {
        const problem = spendProblem(usd(price), { limit: usd(limit), spent: usd(spent), whose: 'of all' });
        expect(problem === undefined).toBe(spent + price <= limit);
      }),
    );
  });

  it('applies to a day in UTC', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (now) => {
        const rest = untilNextDay(now);
        expect(spendDay(now + rest - 1)).toBe(spendDay(now));
        expect(spendDay(now + rest)).not.toBe(spendDay(now));
      }),
    );
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
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 50 }),
        (waits, rate) => {
          let last: number | null = 0;
          let released = 0;
          let now = 0;
          for (const wait of waits) {
            now += wait;
            const count: number = releasable(last, now, rate);
            if (count > 0) last = now;
            released += count;
          }
          expect(released).toBeLessThanOrEqual((now / 1_000) * rate);
        },
      ),
    );
  });
});

describe('the advice about a resubmission', () => {
  it('is never "yes" for a possible purchase, nor for open work', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...WORK_KINDS),
        fc.constantFrom(...WORK_STATUSES),
        fc.array(attempt, { maxLength: 4 }),
        fc.boolean(),
        (kind, status, attempts, inDoubt) => {
          const { verdict, reason } = resubmission({ kind, status, attempts, inDoubt });
          expect(reason).toMatch(/\.$/);
          // A cancellation buys nothing.
          expect(kind === 'cancellation' && /bought|paid|purchase/.test(reason)).toBe(false);
          const isBought = isFinal(status) || status === 'active' || status === 'cancelling';
          const isDelivered = attempts.some(({ state }) => state === 'completed');
          const mustBeNo = inDoubt || (!isBought && !isDelivered && attempts.some(mayHaveCost));
          expect(verdict !== 'yes' || isFinal(status)).toBe(true);
          expect(!mustBeNo || verdict === 'no').toBe(true);
        },
      ),
    );
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
    expect(resubmission({ kind: 'order', status, attempts: [{ state, settled: false }], inDoubt: false }).verdict).toBe(
      verdict,
    );
  });
});

describe('a release by an operator', () => {
  it('is allowed only for held work, and never affects a safe abandonment', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...WORK_STATUSES),
        attempt,
        fc.boolean(),
        fc.boolean(),
        (status, own, openContradiction, released) => {
          const work = { status, attempt: own, openContradiction, observationsPending: false };
          const judged = judgeRelease(work, released);
          expect(judged === 'allowed').toBe(status === 'held' && !openContradiction && !released);
          const { verdict } = resubmission({ kind: 'order', status, attempts: [own], inDoubt: openContradiction });
          expect(judgeAbandon(work) !== 'may_be_bought' || verdict !== 'yes').toBe(true);
        },
      ),
    );
  });
});
