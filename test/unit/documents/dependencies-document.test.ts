import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PROJECT } from '#test/support/compose.ts';

const names = z.record(z.string(), z.string());
const { dependencies, devDependencies } = z
  .object({ dependencies: names, devDependencies: names })
  .parse(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));
const [production = '', development = ''] = readFileSync(join(PROJECT, 'docs/dependencies.md'), 'utf8').split(
  '## For development',
);

/** Packages in the first column. "`@temporalio/client`, `common`" means two of one scope. */
function namedIn(text: string): string[] {
  return [...text.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) => {
    const listed = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    const scope = /^@[^/]+\//.exec(listed[0] ?? '')?.[0] ?? '';
    return listed.map((name) => (scope !== '' && !name.startsWith('@') ? `${scope}${name}` : name));
  });
}

describe('docs/dependencies.md', () => {
  it('has a reason for each production package, and for no other', () => {
    expect(namedIn(production).toSorted()).toEqual(Object.keys(dependencies).toSorted());
  });

  it('has a reason for each development package, and for no other', () => {
    const withoutTypes = Object.keys(devDependencies).filter((name) => !name.startsWith('@types/'));
    const named = namedIn(development.split('## Not from npm')[0] ?? '').filter((name) => name !== '@types/…');

    expect(named.toSorted()).toEqual(withoutTypes.toSorted());
  });
});
