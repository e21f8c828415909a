import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ASSUMED, capacityLines, mostOrdersPerDay, type OrderCosts, planFor, simulate } from '#bench/capacity.ts';
import { PROJECT } from '#test/support/compose.ts';

const COSTS: OrderCosts = {
  apiMs: 10,
  workerMs: 40,
  postgresMs: 15,
  temporalMs: 20,
  productBytes: 20_000,
  temporalBytes: 40_000,
  walBytes: 90_000,
  temporalCommits: 20,
};

describe('the simulation of queues', () => {
  it('agrees with the formula for one server: the time of an order is exponential with the rate left over', () => {
    const { p50Ms, p95Ms, used } = simulate([{ name: 'one', servers: 1, serviceMs: 100 }], {
      perSecond: 6,
      seconds: 40_000,
      seed: 1,
    });
    // Service rate 10, arrivals 6: mean 1 / 4 s.
    expect(used['one']).toBeCloseTo(0.6, 1);
    expect(p50Ms / (Math.log(2) * 250)).toBeCloseTo(1, 1);
    expect(p95Ms / (Math.log(20) * 250)).toBeCloseTo(1, 1);
  });

  it('is the same for the same seed, and serves every order', () => {
    const parts = [
      { name: 'first', servers: 3, serviceMs: 20 },
      { name: 'second', servers: 1, serviceMs: 5 },
    ];
    const load = { perSecond: 50, seconds: 60, seed: 7 };
    expect(simulate(parts, load)).toEqual(simulate(parts, load));
    expect(simulate(parts, load).orders).toBeGreaterThan(2_500);
  });
});

describe('the plan of a capacity', () => {
  it('uses no part that it may choose more than it should, and needs no less for more orders', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1_000, max: 50_000_000 }), (orders) => {
        const plan = planFor(orders, COSTS);
        const chosen = plan.parts.filter(({ name }) => name !== 'gate');
        const used = chosen.map(({ servers, serviceMs }) => (plan.perSecond * serviceMs) / 1_000 / servers);
        expect(Math.max(...used)).toBeLessThanOrEqual(ASSUMED.mostUsed);
        const more = planFor(orders * 2, COSTS);
        more.parts.forEach(({ servers }, place) =>
          expect(servers).toBeGreaterThanOrEqual(plan.parts[place]?.servers ?? 0),
        );
        expect(more.shards).toBeGreaterThanOrEqual(plan.shards);
      }),
    );
  });

  it('names the number of orders at which a part is used as much as it may be', () => {
    const most = mostOrdersPerDay({ name: 'gate', servers: 1, serviceMs: 1_000 / ASSUMED.claimsPerSecond });
    expect((planFor(most, COSTS).perSecond / ASSUMED.claimsPerSecond).toFixed(3)).toBe(ASSUMED.mostUsed.toFixed(3));
  });
});

it('docs/capacity.md has the tables that `npm run generate:capacity` writes', () => {
  const text = readFileSync(join(PROJECT, 'docs/capacity.md'), 'utf8');
  expect(text).toContain(`\n${capacityLines().join('\n')}\n`);
});
