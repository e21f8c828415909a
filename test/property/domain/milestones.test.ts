import { describe, expect, it } from 'vitest';
import { MILESTONES, isUndoneByTopup, milestoneKey, milestonesOf, type EsimReading } from '#domain/esims/esim-state.ts';

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
  it.each<[string, Partial<EsimReading>, readonly string[]]>([
    ['new', {}, []],
    ['of an unknown status', { status: 'provisioning' }, []],
    ['installed by its status', { status: 'installed' }, ['installed']],
    ['installed by its time', { installedAt: at(5) }, ['installed']],
    ['active by its status', { status: 'active' }, ['installed', 'activated']],
    ['active by its time', { activatedAt: at(5) }, ['installed', 'activated']],
    ['consumed', { status: 'consumed' }, ['installed', 'activated', 'used_up']],
    [
      'active without data left',
      { status: 'active', usage: { usedMb: 1_025, totalMb: 1_024 } },
      ['installed', 'activated', 'used_up'],
    ],
    [
      'active with data left',
      { status: 'active', usage: { usedMb: 1_023, totalMb: 1_024 } },
      ['installed', 'activated'],
    ],
    ['unlimited', { status: 'active', usage: { usedMb: 9_999, totalMb: null } }, ['installed', 'activated']],
    ['expired without ever being installed', { status: 'expired' }, ['expired']],
    ['at its end by its time only', { status: 'active', expiresAt: at(NOW) }, ['installed', 'activated', 'expired']],
    ['before its end', { status: 'installed', expiresAt: at(NOW + 1) }, ['installed']],
    ['cancelled after its end', { status: 'cancelled', expiresAt: at(NOW - 1) }, []],
    [
      'expired with all data used',
      { status: 'expired', activatedAt: at(5), usage: { usedMb: 9, totalMb: 9 } },
      ['installed', 'activated', 'expired'],
    ],
  ])('that is %s', (_name, reading, expected) => {
    expect(of(reading)).toEqual(expected);
  });

  it('have one key each, used up data another one after each top-up', () => {
    expect(MILESTONES.map((each) => milestoneKey(each, 0) === milestoneKey(each, 1))).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(new Set(MILESTONES.map((each) => milestoneKey(each, 0))).size).toBe(MILESTONES.length);
    expect(MILESTONES.filter(isUndoneByTopup)).toEqual(['used_up', 'expired']);
  });
});
