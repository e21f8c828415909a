import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { capabilities } from '#domain/service/capability-profile.ts';
import { dialectNames } from '#simulator/behaviour/dialect.ts';
import { nameOf } from '#test/crash/plans/disturbances.ts';
import { planOf } from '#test/crash/plans/plan.ts';
import { POINTS } from '#test/crash/plans/points.ts';
import { obstacle, setting, SHAPES_LEFT_OUT, type WorkOutcome } from '#test/crash/plans/settings.ts';
import { WORKING_SHAPES } from '#test/support/shapes.ts';

const seed = fc.integer({ min: 1, max: 1_000_000 });
/** The length of a complete run. */
const SUITE = 200;
const DISTURBANCES = [
  'delay postgres',
  'delay service',
  'delay temporal',
  'freeze api',
  'freeze postgres',
  'freeze temporal',
  'freeze worker',
  'hang postgres',
  'hang service',
  'hang temporal',
  'jump of the clock of the api',
  'jump of the clock of the worker',
  'kill postgres',
  'kill temporal',
  'outage of the service: errors',
  'outage of the service: resets',
  'outage of the service: silence',
  'poison inbox',
  'poison outbox',
  'set back postgres',
  'stop postgres',
  'stop temporal',
];
const suiteFrom = (first: number) => Array.from({ length: SUITE }, (_, index) => planOf(first + index));

describe('a suite of seeds with any start', () => {
  it('contains every disturbance, and moves every clock', () => {
    fc.assert(
      fc.property(seed, (first) => {
        const plans = suiteFrom(first);
        const names = new Set(plans.flatMap(({ disturbances }) => disturbances.map(nameOf)));
        expect(
          [...names]
            .map((name) => name.replace(/ in real time$/, ''))
            .filter((name, index, all) => all.indexOf(name) === index)
            .toSorted(),
        ).toEqual(DISTURBANCES);
        expect([...names].some((name) => name.endsWith('in real time'))).toBe(true);
        expect(plans.some(({ stopsAt }) => stopsAt.length > 0)).toBe(true);
        for (const { clocks, processes } of plans) {
          expect(Object.keys(clocks)).toHaveLength(processes.worker + processes.api);
          expect(Object.values(clocks).every((offset) => Math.abs(offset) <= 2_000)).toBe(true);
        }
      }),
      { numRuns: 10 },
    );
  });

  it('plans a kill at every point, and every cut and fault of the service', () => {
    fc.assert(
      fc.property(seed, (first) => {
        const plans = suiteFrom(first);
        const planned = (process: keyof typeof POINTS) =>
          new Set(
            plans.flatMap(({ kills }) => kills.filter((kill) => kill.process === process).map(({ point }) => point)),
          );
        expect(planned('worker')).toEqual(new Set(POINTS.worker));
        expect(planned('api')).toEqual(new Set(POINTS.api));
        expect(new Set(plans.flatMap(({ cuts }) => cuts.map(({ moment }) => moment))).size).toBe(3);
        expect(new Set(plans.flatMap(({ webhookFaults }) => webhookFaults.map(({ fault }) => fault.kind))).size).toBe(
          7,
        );
        expect(new Set(plans.flatMap(({ requestFaults }) => requestFaults.map(({ fault }) => fault.kind))).size).toBe(
          8,
        );
      }),
      { numRuns: 10 },
    );
  });

  it('contains every dialect, and switches every capability off', () => {
    fc.assert(
      fc.property(seed, (first) => {
        const settings = suiteFrom(first).map(({ setting }) => setting);
        expect(new Set(settings.map(({ dialect }) => dialect))).toEqual(new Set(dialectNames));
        expect(new Set(settings.map(({ off }) => off))).toEqual(new Set(['none', ...capabilities]));
        const shapes = new Set<string>(settings.map(({ shape }) => shape));
        expect(WORKING_SHAPES.filter((name) => !shapes.has(name)).toSorted()).toEqual(SHAPES_LEFT_OUT.toSorted());
      }),
      { numRuns: 10 },
    );
  });
});

describe('the required result at a service', () => {
  const facts: WorkOutcome = { kind: 'order', nature: 'sold', anyUnknown: false, neverArrived: false, reported: false };

  it.each([
    ['a plain order', setting('replays'), facts],
    ['one with a lost answer and key replay', setting('replays', 'order_list'), { ...facts, anyUnknown: true }],
    ['one with a lost answer and a look-up', setting('conflicts'), { ...facts, anyUnknown: true }],
    ['one that fails once, where the wallet proves it', setting('ignores_keys'), { ...facts, nature: 'fails_once' }],
    ['one that the service reported', setting('bare'), { ...facts, anyUnknown: true, reported: true }],
  ] as const)('must be a success: %s', (_name, where, what) => {
    expect(obstacle(where, what)).toBeUndefined();
  });

  it.each([
    [
      'one that was lost on its way, where nothing may be sent again',
      setting('concurrent_keys'),
      { ...facts, anyUnknown: true, neverArrived: true },
    ],
    ['one that fails each time', setting('replays'), { ...facts, nature: 'fails' }],
    [
      'one that fails once, without evidence',
      setting('replays', 'wallet_transactions'),
      { ...facts, nature: 'fails_once' },
    ],
    [
      'one with a lost answer, without resends and look-ups',
      setting('conflicts', 'order_list'),
      { ...facts, anyUnknown: true },
    ],
    ['one without a report and a look-up', setting('bare'), facts],
    [
      'one that fails once, without complete lists',
      setting('replays', 'none', 'silent_lists'),
      { ...facts, nature: 'fails_once' },
    ],
    [
      'a cancellation, without complete lists',
      setting('replays', 'none', 'link_header'),
      { ...facts, kind: 'cancellation' },
    ],
  ] as const)('need not be a success: %s', (_name, where, what) => {
    expect(obstacle(where, what)).toBeTypeOf('string');
  });
});
