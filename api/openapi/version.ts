import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** From package.json. Apart from the description, which loads the whole API: every command shows the version. */
export function productVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
