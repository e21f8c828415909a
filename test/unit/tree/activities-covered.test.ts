import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';
import { registeredActivities } from '#test/support/work/activities/registered-activities.ts';

/** The names in calls of `twice` and `expectTwiceToTheEnd`, which compare them with the executed activity. */
const IN_TWICE = /\b(?:twice|expectTwiceToTheEnd)\(\s*'(?<activity>\w+)'/g;

describe('the registered activities of the worker', () => {
  it('are each run twice with the same input by a test', async () => {
    const folder = join(PROJECT, 'test/integration');
    const tests = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(join(folder, file), 'utf8'));
    const calls = tests.flatMap((text) => [...text.matchAll(IN_TWICE)]);
    const covered = new Set(calls.map(({ groups }) => groups?.['activity']));
    const registered = await registeredActivities();
    expect(registered.length).toBeGreaterThan(10);
    // A new one needs such a test beside those in `activities-twice*.test.ts`.
    expect(registered.filter((name) => !covered.has(name))).toEqual([]);
    expect([...covered].filter((name) => name === undefined || !registered.includes(name))).toEqual([]);
  });
});
