import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CANCELLATION_OUTCOMES, OUTCOMES, VPN_CANCELLATION_OUTCOMES } from '#simulator/behaviour/behaviours.ts';
import { dialectNames, dialectProperties } from '#simulator/behaviour/dialect.ts';
import { faultProfileNames, requestFault, webhookFault } from '#simulator/behaviour/faults.ts';
import { PACKAGES, VPN_PLANS } from '#simulator/catalogue.ts';
import { SIMULATOR_FIELDS } from '#simulator/options.ts';
import { shapeNames, shapeProperties } from '#simulator/shapes/shape.ts';
import { REFUND_CONDITIONS } from '#upstream/contract.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/simulator.md'), 'utf8');

/** Rows of all tables: the second cell by the first. */
const rows = new Map(
  [...DOCUMENT.matchAll(/^\| (.+?) \| (.+?) \|/gm)].map(([, first = '', second = '']) => [first, second]),
);
const named = new Set([...rows.keys()].flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name)));

const kindsOf = (union: typeof requestFault | typeof webhookFault): string[] =>
  union.options.flatMap((option) => [...option.shape.kind.values]);

describe('docs/simulator.md', () => {
  it('has a row for each variable, dialect, shape, property, fault and special package', () => {
    const special = [...PACKAGES, ...VPN_PLANS]
      .filter(({ behaviour }) => behaviour !== undefined)
      .map(({ id }) => String(id));
    const things = [
      ...Object.keys(SIMULATOR_FIELDS),
      ...dialectNames,
      ...shapeNames,
      ...Object.keys(shapeProperties.shape),
      ...Object.keys(dialectProperties.shape),
      ...kindsOf(requestFault),
      ...kindsOf(webhookFault),
    ];
    expect(things.filter((thing) => !named.has(thing))).toEqual([]);
    expect(special.filter((id) => !rows.has(id))).toEqual([]);
    const missing = (row: string, words: readonly string[]) =>
      words.filter((word) => !(rows.get(row) ?? '').includes(`\`${word}\``));
    expect(missing('`outcome`', OUTCOMES)).toEqual([]);
    expect(missing('`outcome` of a `cancellation`', CANCELLATION_OUTCOMES)).toEqual([]);
    expect(missing('`outcome` of a `vpn_cancellation`', VPN_CANCELLATION_OUTCOMES)).toEqual([]);
    expect(faultProfileNames.filter((name) => !DOCUMENT.includes(`\`${name}\``))).toEqual([]);
    expect(REFUND_CONDITIONS.filter((condition) => !rows.has(`\`${condition}\``))).toEqual([]);
    expect(/^(\d+) packages/m.exec(DOCUMENT)?.[1]).toBe(String(PACKAGES.length));
  });

  it.each(Object.entries(SIMULATOR_FIELDS))('states the actual default of %s', (name, schema) => {
    const stated = rows.get(`\`${name}\``) ?? '';
    const literal = /^`(.*)`$/.exec(stated)?.[1];
    expect(literal === undefined ? stated : schema.parse(literal)).toEqual(schema.parse(undefined) ?? 'none');
  });
});
