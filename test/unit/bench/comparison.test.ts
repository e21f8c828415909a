import { describe, expect, it } from 'vitest';
import { closedLoop } from '#bench/drivers/serve.ts';
import { compare, inTurn, measure, median, percentile, rounded } from '#bench/support/figures.ts';

const common = { id: 'some.thing', measured: 'something', unit: 'ms' } as const;
const peer = (rounds: number[]) => ({ id: 'peer', measured: 'the same, plainly', rounds });

describe('a comparison', () => {
  it('divides round by round, so that a slow moment of the machine affects both', () => {
    const result = compare({
      ...common,
      better: 'lower',
      ours: [10, 100, 12],
      peer: peer([5, 50, 4]),
      limit: { of: 'ratio_to_peer', bound: 'at_most', amount: 4, reason: 'test' },
    });
    expect(result).toMatchObject({
      value: 12,
      spread: { min: 10, max: 100 },
      peer: { value: 5, spread: { min: 4, max: 50 } },
      ratio_to_peer: { value: 2, min: 2, max: 3 },
      ratio_to_limit: 0.5,
      limit_met: true,
      rounds: 3,
    });
  });

  it('misses a lower bound from below and an upper bound from above', () => {
    const against = (bound: 'at_least' | 'at_most', amount: number) =>
      compare({
        ...common,
        better: 'higher',
        ours: [3],
        peer: peer([2]),
        limit: { of: 'ratio_to_peer', bound, amount, reason: 'test' },
      }).limit_met;
    expect([against('at_least', 1.5), against('at_least', 1.6)]).toEqual([true, false]);
    expect([against('at_most', 1.5), against('at_most', 1.4)]).toEqual([true, false]);
  });

  it('refuses a round with a missing contestant', () => {
    const limit = { of: 'value', bound: 'at_most', amount: 1, reason: 'test' } as const;
    expect(() => compare({ ...common, better: 'lower', ours: [1, 2], peer: peer([1]), limit })).toThrow(RangeError);
  });

  it('without a limit is only reported', () => {
    expect(measure({ ...common, better: 'lower', values: [150] })).toMatchObject({
      value: 150,
      limit: null,
      ratio_to_limit: null,
      limit_met: null,
    });
  });

  it('without a peer uses the limit of its value', () => {
    const limit = { of: 'value', bound: 'at_most', amount: 300, reason: 'test' } as const;
    expect(measure({ ...common, better: 'lower', values: [150, 330, 310], limit })).toMatchObject({
      value: 310,
      ratio_to_limit: 1.03,
      limit_met: false,
      peer: null,
      ratio_to_peer: null,
    });
  });
});

describe('rounds', () => {
  it('run the contestants in turn and ignore the first round', async () => {
    const order: string[] = [];
    const contestant = (name: string) => async (round: number) => {
      order.push(`${name}${round}`);
      return round;
    };
    const measured = await inTurn({ a: contestant('a'), b: contestant('b') }, 2);
    expect(order).toEqual(['a0', 'b0', 'b1', 'a1', 'a2', 'b2']);
    expect(measured).toEqual({ a: [1, 2], b: [1, 2] });
  });
});

describe('a closed loop', () => {
  it('processes each item once, with at most one item per lane', async () => {
    const done: number[] = [];
    let [now, most] = [0, 0];
    const { latenciesMs } = await closedLoop({ count: 10, atOnce: 3 }, async (number) => {
      now += 1;
      most = Math.max(most, now);
      await Promise.resolve();
      done.push(number);
      now -= 1;
    });
    expect(done.toSorted((left, right) => left - right)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(most).toBe(3);
    expect(latenciesMs).toHaveLength(10);
  });

  it('ends at the first failure and starts no further item', async () => {
    const begun: number[] = [];
    const loop = closedLoop({ count: 100, atOnce: 2 }, async (number) => {
      begun.push(number);
      await Promise.resolve();
      if (number === 3) throw new Error('refused');
    });
    await expect(loop).rejects.toThrow('refused');
    expect(begun.length).toBeLessThanOrEqual(4);
  });
});

describe('statistics', () => {
  it('use the sorted values, and refuse an empty list', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(percentile([5, 1, 4, 2, 3], 0.5)).toBe(3);
    expect(percentile([1, 2, 3, 4], 0.99)).toBe(4);
    expect(rounded(1234.5)).toBe(1230);
    expect(() => median([])).toThrow(RangeError);
    expect(() => percentile([], 0.5)).toThrow(RangeError);
  });
});
