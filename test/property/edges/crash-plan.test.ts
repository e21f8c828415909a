import fc from 'fast-check';
import { expect, it } from 'vitest';
import { capabilities } from '#domain/service/capability-profile.ts';
import { dialectNames } from '#simulator/behaviour/dialect.ts';
import { nameOf } from '#test/crash/plans/disturbances.ts';
import { planOf } from '#test/crash/plans/plan.ts';
import { POINTS } from '#test/crash/plans/points.ts';
import { obstacle, setting, SHAPES_LEFT_OUT, type WorkOutcome } from '#test/crash/plans/settings.ts';
import { assertForMany } from '#test/support/for-all.ts';
import { WORKING_SHAPES } from '#test/support/shapes.ts';

/** The length of a complete run. */
const SUITE = 200;
const DISTURBANCES = [
  ...['api', 'postgres', 'temporal', 'worker'].map((target) => `freeze ${target}`),
  ...['delay', 'hang'].flatMap((what) => ['postgres', 'service', 'temporal'].map((link) => `${what} ${link}`)),
  ...['kill', 'stop'].flatMap((what) => ['postgres', 'temporal'].map((server) => `${what} ${server}`)),
  ...['api', 'worker'].map((process) => `jump of the clock of the ${process}`),
  ...['errors', 'resets', 'silence'].map((how) => `outage of the service: ${how}`),
  'poison inbox',
  'poison outbox',
  'set back postgres',
];

it('a suite of seeds with any start has every disturbance, kill, cut, fault, dialect, capability and shape', () => {
  assertForMany(10, fc.integer({ min: 1, max: 1_000_000 }), (first) => {
    const plans = Array.from({ length: SUITE }, (_, index) => planOf(first + index));
    const distinct = (of: (plan: (typeof plans)[number]) => readonly string[]) =>
      [...new Set(plans.flatMap(of))].toSorted();

    const disturbances = distinct((plan) => plan.disturbances.map(nameOf));
    expect(disturbances.some((name) => name.endsWith(' in real time'))).toBe(true);
    const scaled = new Set(disturbances.map((name) => name.replace(/ in real time$/, '')));
    expect([...scaled].toSorted()).toEqual(DISTURBANCES.toSorted());
    expect(plans.some(({ stopsAt }) => stopsAt.length > 0)).toBe(true);
    for (const { clocks, processes } of plans) {
      expect(Object.keys(clocks)).toHaveLength(processes.worker + processes.api);
      expect(Object.values(clocks).every((offset) => Math.abs(offset) <= 2_000)).toBe(true);
    }

    const killed = distinct(({ kills }) => kills.map(({ process, point }) => `${process} ${point}`));
    const points = [...POINTS.worker.map((each) => `worker ${each}`), ...POINTS.api.map((each) => `api ${each}`)];
    expect(killed).toEqual([...new Set(points)].toSorted());
    expect(distinct(({ cuts }) => cuts.map(({ moment }) => moment))).toHaveLength(3);
    expect(distinct(({ webhookFaults }) => webhookFaults.map(({ fault }) => fault.kind))).toHaveLength(7);
    expect(distinct(({ requestFaults }) => requestFaults.map(({ fault }) => fault.kind))).toHaveLength(8);

    expect(distinct((plan) => [plan.setting.dialect])).toEqual(dialectNames.toSorted());
    expect(distinct((plan) => [plan.setting.off])).toEqual(['none', ...capabilities].toSorted());
    const shapes = distinct((plan) => [plan.setting.shape]);
    expect(WORKING_SHAPES.filter((name) => !shapes.includes(name)).toSorted()).toEqual(SHAPES_LEFT_OUT.toSorted());
  });
});

const must = undefined;
it.each<[string, Parameters<typeof setting>, Partial<WorkOutcome>, string | undefined]>([
  ['a plain order', ['replays'], {}, must],
  ['one with a lost answer and key replay', ['replays', 'order_list'], { anyUnknown: true }, must],
  ['one with a lost answer and a look-up', ['conflicts'], { anyUnknown: true }, must],
  ['one that fails once, where the wallet proves it', ['ignores_keys'], { nature: 'fails_once' }, must],
  ['one that the service reported', ['bare'], { anyUnknown: true, reported: true }, must],
  ['one that was lost on its way', ['concurrent_keys'], { anyUnknown: true, neverArrived: true }, 'a send was lost'],
  ['one that fails each time', ['replays'], { nature: 'fails' }, 'the service fails'],
  ['one that fails once', ['replays', 'wallet_transactions'], { nature: 'fails_once' }, 'without wallet transactions'],
  ['one with a lost answer', ['conflicts', 'order_list'], { anyUnknown: true }, 'an answer was lost'],
  ['one without a report and a look-up', ['bare'], {}, 'the service was not heard of'],
  ['one that fails once', ['replays', 'none', 'silent_lists'], { nature: 'fails_once' }, 'lists that do not say'],
  ['a cancellation', ['replays', 'none', 'link_header'], { kind: 'cancellation' }, 'lists that do not say'],
])('%s at the service %j must succeed, or need not because: %j %s', (_name, service, facts, reason) => {
  const usual = { kind: 'order', nature: 'sold', anyUnknown: false, neverArrived: false, reported: false } as const;
  const found = obstacle(setting(...service), { ...usual, ...facts });
  expect(found?.slice(0, reason?.length)).toBe(reason);
});
