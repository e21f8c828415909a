/** Services of other authors in random combinations: whatever the end, no work has two open debits. */
import { describe, expect, it } from 'vitest';
import { MONEY_CASES } from '#test/foreign/cases.ts';
import { randomCases } from '#test/foreign/random-cases.ts';
import { ForeignRun } from '#test/foreign/run-case.ts';

describe('production with any service', () => {
  it.for([...MONEY_CASES, ...randomCases()])('pays each work at most once: $what', async (foreign) => {
    await using run = await ForeignRun.start(foreign);
    const placed = [await run.place('order'), await run.place('order'), await run.place('vpn_subscription')];
    await run.settle();
    expect(placed.length, JSON.stringify([...(await run.bought())])).toBe(3);
    expect(await run.violations()).toEqual([]);
  });
});
