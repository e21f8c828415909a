import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dataKey,
  dataThreshold,
  expiryKey,
  isEsimInUse,
  isEsimOver,
  isUndoneByTopup,
  milestoneKey,
  MILESTONES,
  milestonesOf,
  renewalKey,
  shareLeft,
  timeThreshold,
  type EsimReading,
} from '#domain/esims/esim-state.ts';
import { assertForAll } from '#test/support/for-all.ts';

const NOW = 1_000_000;
const at = (time: number) => new Date(time);
const NEW: EsimReading = {
  status: 'available',
  installedAt: null,
  activatedAt: null,
  expiresAt: null,
  usage: undefined,
  readAt: at(NOW),
};
const of = (reading: Partial<EsimReading>) => milestonesOf({ ...NEW, ...reading });

describe('the milestones of an eSIM', () => {
  const ACTIVE = ['installed', 'activated'];
  const used = (usedMb: number, totalMb: number | null) => ({ usage: { usedMb, totalMb } });

  it.each<[string, Partial<EsimReading>, readonly string[]]>([
    ['new', {}, []],
    ['of an unknown status', { status: 'provisioning' }, []],
    ['installed by its status', { status: 'installed' }, ['installed']],
    ['installed by its time', { installedAt: at(5) }, ['installed']],
    ['active by its status', { status: 'active' }, ACTIVE],
    ['active by its time', { activatedAt: at(5) }, ACTIVE],
    ['consumed', { status: 'consumed' }, [...ACTIVE, 'used_up']],
    ['active without data left', { status: 'active', ...used(1_025, 1_024) }, [...ACTIVE, 'used_up']],
    ['active with data left', { status: 'active', ...used(1_023, 1_024) }, ACTIVE],
    ['unlimited', { status: 'active', ...used(9_999, null) }, ACTIVE],
    ['expired without ever being installed', { status: 'expired' }, ['expired']],
    ['at its end by its time only', { status: 'active', expiresAt: at(NOW) }, [...ACTIVE, 'expired']],
    ['before its end', { status: 'installed', expiresAt: at(NOW + 1) }, ['installed']],
    ['cancelled after its end', { status: 'cancelled', expiresAt: at(NOW - 1) }, []],
    ['expired with all data used', { status: 'expired', activatedAt: at(5), ...used(9, 9) }, [...ACTIVE, 'expired']],
  ])('that is %s', (_name, reading, expected) => {
    expect(of(reading)).toEqual(expected);
  });

  it('have one key each, used up data another one after each top-up', () => {
    const isSameAfterTopup = MILESTONES.map((each) => milestoneKey(each, 0) === milestoneKey(each, 1));
    expect(isSameAfterTopup).toEqual([true, true, false, true]);
    expect(new Set(MILESTONES.map((each) => milestoneKey(each, 0))).size).toBe(MILESTONES.length);
    expect(MILESTONES.filter(isUndoneByTopup)).toEqual(['used_up', 'expired']);
  });
});

const share = fc.double({ min: 0, max: 1, noNaN: true });
const shares = fc.uniqueArray(fc.constantFrom(0.5, 0.2, 0.1, 0.05, 0.01));
const megabytes = fc.double({ min: 0, max: 1e6, noNaN: true });

describe('the data of an eSIM', () => {
  it('are low from a threshold on, and the lowest reached threshold counts', () => {
    const thresholdAt = (usedMb: number) => dataThreshold({ usedMb, totalMb: 1_000 }, [0.05, 0.2]);
    const reached = [undefined, undefined, 0.2, 0.2, 0.05, 0.05, 0.05];
    expect([0, 799, 800, 949, 950, 1_000, 1_200].map(thresholdAt)).toEqual(reached);
    assertForAll(megabytes, fc.double({ min: 0.001, max: 1e6, noNaN: true }), shares, (usedMb, totalMb, thresholds) => {
      const left = shareLeft({ usedMb, totalMb }) ?? -1;
      const found = dataThreshold({ usedMb, totalMb }, thresholds);
      expect(left >= 0 && left <= 1).toBe(true);
      expect(found).toBe(thresholds.filter((each) => left <= each).toSorted((one, other) => one - other)[0]);
    });
  });

  it('are never low without a limit', () => {
    assertForAll(megabytes, fc.constantFrom(null, undefined, 0), shares, (usedMb, totalMb, thresholds) => {
      expect(dataThreshold({ usedMb, totalMb }, [...thresholds, 1])).toBeUndefined();
    });
  });
});

describe('the remaining time', () => {
  it('is short within a threshold of its end, and never afterwards', () => {
    const hours = (left: number) => timeThreshold(left * 3_600_000, 0, [72 * 3_600_000, 24 * 3_600_000]);
    const reached = [undefined, 259_200_000, 259_200_000, 86_400_000, 86_400_000, undefined, undefined];
    expect([73, 72, 25, 24, 0.1, 0, -1].map(hours)).toEqual(reached);
  });
});

describe('an announcement', () => {
  it('has a separate key for each threshold, each top-up and each end', () => {
    assertForAll(share, share, fc.nat({ max: 9 }), fc.nat({ max: 9 }), (one, other, topups, later) => {
      const isSame = one === other && topups === later;
      expect(dataKey(one, topups) === dataKey(other, later)).toBe(isSame);
      expect(expiryKey(one, topups) === expiryKey(other, later)).toBe(isSame);
      expect(renewalKey(one, topups) === renewalKey(other, later)).toBe(isSame);
      expect(dataKey(one, topups)).not.toBe(expiryKey(one, topups));
    });
  });
});

describe('an eSIM', () => {
  it.each([
    ['available', null, false, false],
    ['installed', null, false, false],
    ['installed', new Date(0), true, false],
    ['active', null, true, false],
    ['consumed', null, true, false],
    ['cancelled', new Date(0), false, true],
    ['expired', new Date(0), false, true],
    ['an unknown value', null, false, false],
  ])('in the state %s, first active %s, is in use: %s, over: %s', (status, activatedAt, inUse, over) => {
    expect([isEsimInUse({ status, activatedAt }), isEsimOver(status)]).toEqual([inUse, over]);
  });
});
