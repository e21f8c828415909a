import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const entry = z.object({
  version: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  optional: z.boolean().optional(),
  os: z.array(z.string()).optional(),
});
const lock = z
  .object({ packages: z.record(z.string(), entry) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../../package-lock.json'), 'utf8')));

/**
 * Binaries for platforms that the registry did not have when the file was written. `scripts/complete-lockfile.mjs`
 * tries again.
 */
const KNOWN_WITHOUT =
  /^node_modules\/(@oxlint\/binding-|@oxlint-tsgolint\/|@swc\/core-|@oxfmt\/binding-|@oxc-parser\/binding-)/;

describe('package-lock.json', () => {
  const without = Object.entries(lock.packages).filter(
    ([path, { integrity, link }]) => path !== '' && link !== true && integrity === undefined,
  );

  it('has a hash for every package except known binaries of other platforms', () => {
    expect(without.filter(([path]) => !KNOWN_WITHOUT.test(path)).map(([path]) => path)).toEqual([]);
    expect(without.length).toBeLessThanOrEqual(61);
  });

  it('has a hash for each package of every machine', () => {
    const everywhere = without.filter(([, { optional, os = [] }]) => optional !== true || os.length === 0);
    expect(everywhere.map(([path]) => path)).toEqual([]);
  });

  it('contains only SHA-512 hashes', () => {
    const hashes = Object.values(lock.packages).flatMap(({ integrity }) => integrity ?? []);
    expect(hashes.filter((hash) => !hash.startsWith('sha512-'))).toEqual([]);
  });
});
