import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';

const WORKFLOWS = join(PROJECT, 'workflows');
const code = readdirSync(WORKFLOWS, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(WORKFLOWS, file), 'utf8'))
  .join('\n');

it('shows every activity in the Temporal UI with a summary', () => {
  const calls = code.match(/proxy(?:Local)?Activities</g) ?? [];
  const call = /proxy(?:Local)?Activities<[^(]*>\((\{[^]*?\n\s*\})\)/g;
  const options = [...code.matchAll(call)].map(([, text = '']) => text);
  expect(calls.length).toBeGreaterThan(5);
  expect(options).toHaveLength(calls.length);
  expect(options.filter((text) => !/\n\s*summary\b/.test(text))).toEqual([]);
});
