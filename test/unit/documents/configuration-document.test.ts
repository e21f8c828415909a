import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { isSecret } from '#config/secret-files.ts';
import { CONFIGURATION_FIELDS, SECRET_NAMES } from '#config/variables.ts';
import { SIMULATOR_FIELDS } from '#simulator/options.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/configuration.md'), 'utf8');

const fields = Object.values(CONFIGURATION_FIELDS).flatMap((part): [string, z.ZodType][] => Object.entries(part));

/** Rows of the form `` | `NAME` | default | meaning | ``. */
const rows = [...DOCUMENT.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| (.+) \|$/gm)].map(([, name = '', fallback = '']) => ({
  name,
  fallback,
}));

describe('docs/configuration.md', () => {
  it('has one row for each variable that the product reads, and no other', () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual(fields.map(([name]) => name).toSorted());
  });

  it('lists the secrets that may be in a file', () => {
    const [, section = ''] = /^## Secrets in files\n\n([^]*?)\n\n/m.exec(DOCUMENT) ?? [];
    const [ours = '', simulators = ''] = section.split('in the simulator');
    const named = (text: string) => [...text.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name = '']) => name).toSorted();
    expect(named(ours)).toEqual(SECRET_NAMES.toSorted());
    const ofSimulator = Object.entries(SIMULATOR_FIELDS).filter(([, field]) => isSecret(field));
    expect(named(simulators)).toEqual(ofSimulator.map(([name]) => name).toSorted());
  });

  it.each(fields)('states the real default of %s', (name, schema) => {
    const stated = rows.find((row) => row.name === name)?.fallback ?? '';
    const unset = schema.safeParse(undefined);

    expect(meaningOf(stated, schema)).toEqual(unset.success ? { value: unset.data ?? NOTHING } : 'required');
  });
});

/** The documents write an empty list and a missing value as "none" or "as another variable". */
const NOTHING: readonly string[] = [];

function meaningOf(stated: string, schema: z.ZodType): unknown {
  if (stated === 'required') return 'required';
  const literal = /^`(.*)`$/.exec(stated)?.[1];
  return { value: literal === undefined ? NOTHING : schema.parse(literal) };
}
