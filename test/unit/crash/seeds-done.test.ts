import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashOfPlans, OtherPlansError, SeedsDone, type SeedRecord } from '#test/crash/seeds-done.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const PLANS = 'abc123';

let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder('seeds-done');
  file = join(folder, 'done.jsonl');
});
afterEach(() => removeFolder(folder));

function seedRecord(seed: number, more: Partial<SeedRecord> = {}): SeedRecord {
  return {
    seed,
    plans: PLANS,
    commit: '1234567',
    endedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 40_000,
    dialect: 'replays',
    shape: 'plain',
    off: 'none',
    results: [{ id: 'ord_1', kind: 'order', nature: 'sold', status: 'completed', parkedFor: null }],
    planned: ['clocks apart'],
    fired: ['clocks apart'],
    violations: [],
    ...more,
  };
}

describe('the file of seeds done', () => {
  it('lets a run continue after its seeds', () => {
    const first = new SeedsDone(file, PLANS);
    first.add(seedRecord(2));
    first.add(seedRecord(1));

    const second = new SeedsDone(file, PLANS);
    expect([1, 2, 3].map((seed) => second.has(seed, { again: false }))).toEqual([true, true, false]);
    expect(second.records).toEqual([seedRecord(1), seedRecord(2)]);
  });

  it('ignores a seed with a truncated line, which can be added again', () => {
    new SeedsDone(file, PLANS).add(seedRecord(1));
    appendFileSync(file, JSON.stringify(seedRecord(2)).slice(0, 40));

    const resumed = new SeedsDone(file, PLANS);
    expect(resumed.has(2, { again: false })).toBe(false);
    resumed.add(seedRecord(2));
    expect(new SeedsDone(file, PLANS).records).toEqual([seedRecord(1), seedRecord(2)]);
  });

  it('runs seeds with violations again on request', () => {
    const broken = seedRecord(1, { violations: ['two debits'] });
    new SeedsDone(file, PLANS).add(broken);

    const again = new SeedsDone(file, PLANS);
    expect(again.has(1, { again: false })).toBe(true);
    expect(again.has(1, { again: true })).toBe(false);
    again.add(seedRecord(1));
    expect(new SeedsDone(file, PLANS).records).toEqual([seedRecord(1)]);
  });

  it('refuses a file with seeds of other plans, and does not change it', () => {
    new SeedsDone(file, PLANS).add(seedRecord(7));
    const before = readFileSync(file, 'utf8');
    expect(() => new SeedsDone(file, 'def456')).toThrow(OtherPlansError);
    expect(() => new SeedsDone(file, 'def456')).toThrow(/seed 7 of the plans abc123; these are def456/);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('refuses a line without a valid record of a seed', () => {
    appendFileSync(file, '{"seed":1}\n');
    expect(() => new SeedsDone(file, PLANS)).toThrow(/invalid_type|expected/);
  });

  it('identifies plans by a stable hash', () => {
    expect(hashOfPlans()).toMatch(/^[0-9a-f]{12}$/);
    expect(hashOfPlans()).toBe(hashOfPlans());
  });
});
