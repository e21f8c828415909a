import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { operationsWithoutCase } from '#test/api-fuzz/report.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const folder = temporaryFolder('api-fuzz-report');
afterAll(() => removeFolder(folder));

const OPERATIONS = [
  { method: 'get', path: '/v1/orders' },
  { method: 'post', path: '/v1/orders' },
  { method: 'get', path: '/v1/orders/{id}' },
];
const scenario = (label: string, cases: number) => ({
  ScenarioFinished: {
    phase: 'coverage',
    status: 'success',
    recorder: {
      label,
      ...(cases > 0 && {
        interactions: Object.fromEntries(Array.from({ length: cases }, (_, n) => [`case${n}`, { request: {} }])),
      }),
    },
  },
});

function reportOf(events: readonly unknown[]): string {
  const file = join(folder, 'report.ndjson');
  writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  return file;
}

describe('the report of a schemathesis run', () => {
  it('lists operations without a request: the missing and the skipped ones', async () => {
    const report = reportOf([
      { Initialize: { schemathesis_version: '4' } },
      scenario('GET /v1/orders', 2),
      scenario('POST /v1/orders', 0),
      scenario('Stateful tests', 3),
      { EngineFinished: { stop_reason: 'max_time' } },
    ]);
    expect(await operationsWithoutCase(report, OPERATIONS)).toEqual(['POST /v1/orders', 'GET /v1/orders/{id}']);
  });

  it('lists none when each has one, in any phase', async () => {
    const report = reportOf([
      scenario('POST /v1/orders', 0),
      ...OPERATIONS.map(({ method, path }) => scenario(`${method.toUpperCase()} ${path}`, 1)),
    ]);
    expect(await operationsWithoutCase(report, OPERATIONS)).toEqual([]);
  });

  it('fails when it is missing or truncated', async () => {
    await expect(operationsWithoutCase(join(folder, 'none.ndjson'), OPERATIONS)).rejects.toThrow('ENOENT');
    const cutOff = join(folder, 'cut.ndjson');
    writeFileSync(cutOff, `${JSON.stringify(scenario('GET /v1/orders', 1))}\n{"ScenarioFin`);
    await expect(operationsWithoutCase(cutOff, OPERATIONS)).rejects.toThrow('JSON');
  });
});
