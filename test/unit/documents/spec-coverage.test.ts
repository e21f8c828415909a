import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';
import {
  DEFAULT_HEADER_PREFIX,
  ENDPOINTS,
  EVENT_KINDS,
  serviceHeaders,
  type EndpointContract,
} from '#upstream/contract.ts';

const document = readFileSync(join(PROJECT, 'docs/reference/spec-coverage.md'), 'utf8');
const rows = document.split('\n').filter((line) => line.startsWith('| ') && !/^\| (Statement|---) /.test(line));

it('each statement of the specification names a test that exists', () => {
  expect(rows.length).toBeGreaterThan(100);
  const named = rows.map((row) => /\| `([^`]+)`: "(.+)" \|$/.exec(row)?.slice(1) ?? [row, '']);
  expect(named.filter(([file = '', title = '']) => !isTest(join(PROJECT, 'test', file), title))).toEqual([]);
});

it('the statements include each stated call, request field, event and header of the contract', () => {
  const stated = (Object.values(ENDPOINTS) as EndpointContract[]).filter(({ mark }) => mark === 'shape assumed');
  const fields = stated.flatMap(({ body, query = [] }) => [
    ...Object.keys((body as { shape?: object } | undefined)?.shape ?? {}),
    ...query,
  ]);
  const calls = stated.map(({ method, path }) => `${method} ${path}`);
  const headers = Object.values(serviceHeaders(DEFAULT_HEADER_PREFIX));
  expect([...calls, ...fields, ...EVENT_KINDS, ...headers].filter((text) => !document.includes(`\`${text}\``))).toEqual(
    [],
  );
});

function isTest(file: string, title: string): boolean {
  const source = readFileSync(file, 'utf8');
  return ["'", '"', '`'].some((quote) => source.includes(quote + title + quote));
}
