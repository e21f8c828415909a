import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';

const entry = z.object({
  version: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
});
const lock = z
  .object({ packages: z.record(z.string(), entry) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, '../../../package-lock.json'), 'utf8')));

describe('package-lock.json', () => {
  const without = Object.entries(lock.packages).filter(
    ([path, { integrity, link }]) => path !== '' && link !== true && integrity === undefined,
  );

  it('has a hash for every package', () => {
    expect(without.map(([path]) => path)).toEqual([]);
  });

  it('contains only SHA-512 hashes', () => {
    const hashes = Object.values(lock.packages).flatMap(({ integrity }) => integrity ?? []);
    expect(hashes.filter((hash) => !hash.startsWith('sha512-'))).toEqual([]);
  });
});
