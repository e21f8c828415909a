import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { PROJECT } from '#test/support/compose.ts';

const entry = z.object({ integrity: z.string().optional(), link: z.boolean().optional() });
const lock = z
  .object({ packages: z.record(z.string(), entry) })
  .parse(JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')));

it('package-lock.json has a SHA-512 hash for every package', () => {
  const without = Object.entries(lock.packages).filter(
    ([path, { integrity = '', link }]) => path !== '' && link !== true && !integrity.startsWith('sha512-'),
  );
  expect(without.map(([path]) => path)).toEqual([]);
});
