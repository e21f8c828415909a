import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SIMULATOR_FIELDS } from '#config/simulator.ts';
import { OUTCOMES } from '#simulator/behaviour.ts';
import { CATALOGUE } from '#simulator/catalogue.ts';
import { dialectNames, dialectProperties } from '#simulator/dialect.ts';
import { requestFault, webhookFault } from '#simulator/faults.ts';
import { resolveOptions } from '#simulator/options.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/simulator.md'), 'utf8');

/** Rows of all tables: the second cell by the first. */
const rows = new Map(
  [...DOCUMENT.matchAll(/^\| (.+?) \| (.+?) \|/gm)].map(([, first = '', second = '']) => [first, second]),
);
const named = new Set([...rows.keys()].flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name)));

const kindsOf = (union: typeof requestFault | typeof webhookFault): string[] =>
  union.options.flatMap((option) => [...option.shape.kind.values]);

describe('docs/simulator.md', () => {
  it('has a row for each variable, dialect, property, fault and special package', () => {
    const special = CATALOGUE.filter(({ behaviour }) => behaviour !== undefined).map(({ id }) => String(id));
    const things = [
      ...Object.keys(SIMULATOR_FIELDS),
      'SIMULATOR_DIALECT',
      ...dialectNames,
      ...Object.keys(dialectProperties.shape),
      ...kindsOf(requestFault),
      ...kindsOf(webhookFault),
    ];
    expect(things.filter((thing) => !named.has(thing))).toEqual([]);
    expect(special.filter((id) => !rows.has(id))).toEqual([]);
    expect(OUTCOMES.filter((outcome) => !(rows.get('`outcome`') ?? '').includes(`\`${outcome}\``))).toEqual([]);
    expect(/^(\d+) packages/m.exec(DOCUMENT)?.[1]).toBe(String(CATALOGUE.length));
  });

  it.each(Object.entries(SIMULATOR_FIELDS))('states the default of %s as it is', (name, schema) => {
    const stated = rows.get(`\`${name}\``) ?? '';
    const literal = /^`(.*)`$/.exec(stated)?.[1];
    expect(literal === undefined ? stated : schema.parse(literal)).toEqual(schema.parse(undefined) ?? 'none');
  });
});

describe('a simulator started in a test', () => {
  it('has the defaults of one started as a process, but for port, file and log', () => {
    const { port: _port, dataFile: _file, logLevel: _log, dialect, now, webhook, seed, ...options } = resolveOptions({});
    expect([dialect, now, webhook, seed]).toEqual([dialectNames[0], Date.now, undefined, undefined]);
    const defaults = Object.entries(SIMULATOR_FIELDS).map(([name, schema]) => [name, schema.parse(undefined)]);
    const fields: Record<string, unknown> = Object.fromEntries(defaults);
    expect(options).toEqual({
      host: fields['SIMULATOR_HOST'],
      webhookTimeoutMs: fields['SIMULATOR_WEBHOOK_TIMEOUT'],
      webhookRetryDelayMs: fields['SIMULATOR_WEBHOOK_RETRY_DELAY'],
      webhookAttempts: fields['SIMULATOR_WEBHOOK_ATTEMPTS'],
      email: fields['SIMULATOR_EMAIL'],
      password: fields['SIMULATOR_PASSWORD'],
      approved: fields['SIMULATOR_APPROVED'],
      processingDelayMs: fields['SIMULATOR_PROCESSING_DELAY'],
      sandboxBalance: fields['SIMULATOR_SANDBOX_BALANCE'],
      productionBalance: fields['SIMULATOR_PRODUCTION_BALANCE'],
    });
  });
});
