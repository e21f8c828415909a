import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { isSecret } from '#config/secret-files.ts';
import { CONFIGURATION_FIELDS, SECRET_NAMES } from '#config/variables.ts';
import * as schema from '#db/schema.ts';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { WORK_STATUSES } from '#domain/work/lifecycle.ts';
import { SIMULATOR_FIELDS } from '#simulator/options.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { withTables } from '#test/foreign/table.ts';
import { PROJECT, readProject } from '#test/support/compose.ts';

/** All first groups of an expression in a text. */
const namedIn = (text: string, expression: RegExp) => [...text.matchAll(expression)].map(([, name = '']) => name);

describe('docs/configuration.md', () => {
  const document = readProject('docs/configuration.md');
  const fields = Object.values(CONFIGURATION_FIELDS).flatMap((part): [string, z.ZodType][] => Object.entries(part));
  /** Rows of the form `` | `NAME` | default | meaning | ``. */
  const rows = [...document.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| (.+) \|$/gm)];

  it('has one row for each variable that the product reads, and no other', () => {
    expect(rows.map(([, name = '']) => name).toSorted()).toEqual(fields.map(([name]) => name).toSorted());
  });

  it('lists the secrets that may be in a file', () => {
    const [, section = ''] = /^## Secrets in files\n\n([^]*?)\n\n/m.exec(document) ?? [];
    const [ours = '', simulators = ''] = section.split('in the simulator');
    const named = (text: string) => namedIn(text, /`([A-Z][A-Z_]+)`/g).toSorted();
    expect(named(ours)).toEqual(SECRET_NAMES.toSorted());
    const ofSimulator = Object.entries(SIMULATOR_FIELDS).filter(([, field]) => isSecret(field));
    expect(named(simulators)).toEqual(ofSimulator.map(([name]) => name).toSorted());
  });

  /** The document writes an empty list and a missing value as "none" or "as another variable". */
  const NOTHING: readonly string[] = [];

  function meaningOf(stated: string, schema: z.ZodType): unknown {
    if (stated === 'required') return 'required';
    const literal = /^`(.*)`$/.exec(stated)?.[1];
    return { value: literal === undefined ? NOTHING : schema.parse(literal) };
  }

  it.each(fields)('states the real default of %s', (name, schema) => {
    const [, , stated = ''] = rows.find((row) => row[1] === name) ?? [];
    const unset = schema.safeParse(undefined);
    expect(meaningOf(stated, schema)).toEqual(unset.success ? { value: unset.data ?? NOTHING } : 'required');
  });
});

describe('docs/dependencies.md', () => {
  const names = z.record(z.string(), z.string());
  const { dependencies, devDependencies } = z
    .object({ dependencies: names, devDependencies: names })
    .parse(JSON.parse(readProject('package.json')));
  const [production = '', development = ''] = readProject('docs/dependencies.md').split('## For development');

  /** Packages in the first column. "`@temporalio/client`, `common`" means two of one scope. */
  const packagesIn = (text: string) =>
    namedIn(text, /^\| (`.+?) \|/gm).flatMap((cell) => {
      const listed = namedIn(cell, /`([^`]+)`/g);
      const scope = /^@[^/]+\//.exec(listed[0] ?? '')?.[0] ?? '';
      return listed.map((name) => (scope !== '' && !name.startsWith('@') ? `${scope}${name}` : name));
    });

  it('has a reason for each production package, and for no other', () => {
    expect(packagesIn(production).toSorted()).toEqual(Object.keys(dependencies).toSorted());
  });

  it('has a reason for each development package, and for no other', () => {
    const withoutTypes = Object.keys(devDependencies).filter((name) => !name.startsWith('@types/'));
    const named = packagesIn(development.split('## Not from npm')[0] ?? '').filter((name) => name !== '@types/…');
    expect(named.toSorted()).toEqual(withoutTypes.toSorted());
  });
});

/** The cells of a row of a table. */
const cellsOf = (row: string) =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

describe('docs/glossary.md', () => {
  /** The rows of the first table after `heading`, cell by cell. */
  function rowsAfter(heading: string): string[][] {
    const [, after = ''] = readProject('docs/glossary.md').split(heading);
    const [table = ''] = /(?:^\|.*\|\n)+/m.exec(after) ?? [];
    return table.trim().split('\n').slice(2).map(cellsOf);
  }

  it.each([
    ['**Statuses of work**', WORK_STATUSES],
    ['**States of an attempt**', ATTEMPT_STATES],
  ])('lists under %s exactly the values of the code', (heading, values) => {
    const listed = rowsAfter(heading).map(([value = '']) => value.replaceAll('`', ''));
    expect(listed.toSorted()).toEqual([...values].toSorted());
  });

  it('lists the failure classes by their certainty', () => {
    const rows = rowsAfter('**Failure classes**');
    const listed = rows.map(([name = '', values = '']) => [name, values.match(/\w+/g)?.toSorted()]);
    const classes = Object.entries(FAILURE_CLASSES);
    const of = (wanted: string) =>
      classes.flatMap(([name, { certainty }]) => (certainty === wanted ? [name] : [])).toSorted();
    expect(listed).toEqual(['definite', 'unknown'].map((certainty) => [certainty, of(certainty)]));
  });
});

describe('docs/reference/metrics.md', () => {
  // Rows of the form `| name | type | labels | meaning | alerts |`. Those of gauges also have the source of the values.
  const row = /^\| `(reseller_\w+)` \| (\w+)(?: of the database)? \| .*\| (.+?) \|$/gm;
  const rows = [...readProject('docs/reference/metrics.md').matchAll(row)];
  const rule = z.object({ alert: z.string(), expr: z.string() });

  it('has exactly one row for each metric, with its type', async () => {
    const { body } = await createMetrics({ processMetrics: false }).render();
    const shown = [...body.matchAll(/^# TYPE (reseller_\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(rows.map(([, name, type]) => `${name} ${type}`).toSorted()).toEqual(shown.toSorted());
  });

  it('names the alerts of each metric, and no others', () => {
    const { groups } = z
      .object({ groups: z.array(z.object({ rules: z.array(rule) })) })
      .parse(parse(readProject('ops/prometheus/alerts.yaml')));
    const alerts = groups.flatMap(({ rules }) => rules);
    for (const [, name = '', , named = ''] of rows) {
      const ofMetric = new RegExp(`\\b${name}(_bucket|_count|_sum)?\\b`);
      const going = alerts.filter(({ expr }) => ofMetric.test(expr)).map(({ alert }) => alert);
      expect(namedIn(named, /\[(\w+)\]/g).toSorted(), name).toEqual(going.toSorted());
    }
  });
});

it('docs/reference/retention.md lists every table of the database, and no other', () => {
  const tables = Object.values(schema).flatMap((each) => (is(each, PgTable) ? [getTableName(each)] : []));
  const rows = readProject('docs/reference/retention.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const listed = rows.flatMap((row) => namedIn(row.split('|')[1] ?? '', /`(\w+)`/g));
  expect(listed).toHaveLength(tables.length);
  expect(new Set(listed)).toEqual(new Set(tables));
});

describe('docs/security.md', () => {
  const lines = readProject('docs/security.md').split('\n');
  const head = lines.indexOf('| attack | OWASP API | ASVS | what guards | shown by |');
  const end = lines.findIndex((line, place) => place > head && line === '');
  /** The rows of the table of attacks, by column. */
  const attacks = lines.slice(head + 2, end).map(cellsOf);

  it('covers each risk of the OWASP API Security Top 10 (2023)', () => {
    const named = attacks.flatMap(([, owasp = '']) => owasp.split(', ')).filter((id) => id !== '–');
    const top10 = Array.from({ length: 10 }, (_, place) => `API${place + 1}`);
    expect([...new Set(named)].toSorted()).toEqual(top10.toSorted());
  });

  it('has a guard, an ASVS id and an existing test for every attack', () => {
    expect(attacks.length).toBeGreaterThanOrEqual(20);
    for (const [attack, , asvs = '', guards = '', shownBy = ''] of attacks) {
      const tests = namedIn(shownBy, /\]\((\.\.\/test\/[^)]+)\)/g);
      expect(asvs, attack).toMatch(/^\d+\.\d+\.\d+(, \d+\.\d+\.\d+)*$/);
      expect(guards, attack).not.toBe('');
      expect(tests, attack).not.toEqual([]);
      const missing = tests.filter((path) => !path.endsWith('.test.ts') || !existsSync(join(PROJECT, 'docs', path)));
      expect(missing, attack).toEqual([]);
    }
  });
});

it('the guide has the tables of foreign services that the tests use', () => {
  const guide = readProject('docs/how-to/when-the-real-document-arrives.md');
  expect(guide, 'run `npm run generate:foreign`').toBe(withTables(guide));
});
