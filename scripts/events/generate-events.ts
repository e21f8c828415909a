/**
 * `npm run generate:events`: writes `docs/reference/events.md`. With `--check` it only compares, and exits with 1 when
 * the file differs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventsDocument } from '#scripts/events/events-document.ts';

const FILE = join(import.meta.dirname, '../../docs/reference/events.md');

if (!process.argv.includes('--check')) writeFileSync(FILE, eventsDocument());
else if (readFileSync(FILE, 'utf8') !== eventsDocument()) {
  process.stderr.write('docs/reference/events.md is out of date. Run npm run generate:events\n');
  process.exitCode = 1;
}
