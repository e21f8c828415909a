import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PROJECT } from '#test/support/compose.ts';

/** How npm marks a package that only development needs. */
const DEVELOPMENT = 'cdx:npm:package:development';
const MAX_BYTES = 64 * 1024 * 1024;

/** Permissive licences that allow distribution with our Apache-2.0 code. CC-BY-4.0 is the licence of data. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC-BY-4.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Unlicense',
]);

/** Packages whose licence is not in the lock file; their licence files were read. */
const READ_BY_HAND: Readonly<Record<string, string>> = {
  '@swc/core': 'Apache-2.0 AND MIT',
  'png-js': 'MIT',
  unionfs: 'Unlicense',
};

/** The binaries of one package for other platforms. */
const SWC_BINARY = /^@swc\/core-.*$/;

const component = z.object({
  name: z.string(),
  version: z.string(),
  purl: z.string(),
  properties: z.array(z.object({ name: z.string() })),
  licenses: z
    .array(
      z.union([
        z.object({ license: z.object({ id: z.string().optional(), name: z.string().optional() }) }),
        z.object({ expression: z.string() }),
      ]),
    )
    .optional(),
});

const billSchema = z.object({ bomFormat: z.literal('CycloneDX'), components: z.array(component) });

/** The packages of a production installation. `npm sbom --omit=dev` would leave out those that tools use, too. */
function readBill(): z.output<typeof billSchema>['components'] {
  const text = execFileSync('npm', ['run', '--silent', 'sbom'], {
    cwd: PROJECT,
    encoding: 'utf8',
    maxBuffer: MAX_BYTES,
  });
  const { components } = billSchema.parse(JSON.parse(text));
  return components.filter(({ properties }) => !properties.some(({ name }) => name === DEVELOPMENT));
}

/** The licences of a component: `MIT OR CC0-1.0` is a choice, `Apache-2.0 AND MIT` demands both. */
function licencesOf({ name, licenses = [] }: z.output<typeof component>): string {
  const named = licenses.map((each) => ('expression' in each ? each.expression : (each.license.id ?? '')));
  return named.join(' AND ') || (READ_BY_HAND[name.replace(SWC_BINARY, '@swc/core')] ?? 'none');
}

function isAllowed(licences: string): boolean {
  const terms = licences.replaceAll(/[()]/g, '').split(' AND ');
  return terms.every((term) => term.split(' OR ').some((choice) => ALLOWED.has(choice)));
}

describe('the software bill of materials (npm run sbom)', () => {
  const components = readBill();

  it('names each package of a production installation once, with its version', () => {
    const { dependencies } = z
      .object({ dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));
    const names = new Set(components.map(({ name }) => name));
    expect(Object.keys(dependencies).filter((name) => !names.has(name))).toEqual([]);
    const purls = components.map(({ purl }) => purl);
    expect(new Set(purls).size).toBe(purls.length);
    expect(components.filter(({ name }) => name === 'vitest' || name === 'typescript')).toEqual([]);
  });

  it('contains only licences that allow distribution', () => {
    const others = components.filter((each) => !isAllowed(licencesOf(each)));
    expect(others.map((each) => [each.purl, licencesOf(each)])).toEqual([]);
  });
});
