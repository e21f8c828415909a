import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** Version of the product, from its package.json. */
export function productVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
