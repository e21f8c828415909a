import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { PROJECT } from '#test/support/compose.ts';
import { registeredActivities } from '#test/support/work/activities/registered-activities.ts';
import { WORK_WORKFLOWS } from '#workflows/messages.ts';

/** The texts of all modules in a folder. */
function textsIn(path: string): string[] {
  const folder = join(PROJECT, path);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.map((file) => readFileSync(join(folder, file), 'utf8'));
}

/** The names in calls of `twice` and `expectTwiceToTheEnd`, which compare them with the executed activity. */
const IN_TWICE = /\b(?:twice|expectTwiceToTheEnd)\(\s*'(?<activity>\w+)'/g;

describe('the registered activities of the worker', () => {
  it('are each run twice with the same input by a test', async () => {
    const calls = textsIn('test/integration').flatMap((text) => [...text.matchAll(IN_TWICE)]);
    const covered = new Set(calls.map(({ groups }) => groups?.['activity']));
    const registered = await registeredActivities();
    expect(registered.length).toBeGreaterThan(10);
    // A new one needs such a test beside those in `activities-twice*.test.ts`.
    expect(registered.filter((name) => !covered.has(name))).toEqual([]);
    expect([...covered].filter((name) => name === undefined || !registered.includes(name))).toEqual([]);
  });
});

it('shows every activity in the Temporal UI with a summary', () => {
  const code = textsIn('workflows').join('\n');
  const calls = code.match(/proxy(?:Local)?Activities</g) ?? [];
  const call = /proxy(?:Local)?Activities<[^(]*>\((\{[^]*?\n\s*\})\)/g;
  const options = [...code.matchAll(call)].map(([, text = '']) => text);
  expect(calls.length).toBeGreaterThan(5);
  expect(options).toHaveLength(calls.length);
  expect(options.filter((text) => !/\n\s*summary\b/.test(text))).toEqual([]);
});

describe('workflows/index.ts', () => {
  it.each(WORK_KINDS)('exports the workflow of the kind %s', (kind) => {
    const exported = readFileSync(join(PROJECT, 'workflows/index.ts'), 'utf8');
    expect(exported).toMatch(new RegExp(`^export \\{ ${WORK_WORKFLOWS[kind]} \\} from`, 'm'));
  });
});
