/** `npm run generate:assumptions`: writes `docs/assumptions.md`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assumptionsDocument } from '#scripts/assumptions/assumptions-document.ts';

writeFileSync(join(import.meta.dirname, '../../docs/assumptions.md'), assumptionsDocument());
