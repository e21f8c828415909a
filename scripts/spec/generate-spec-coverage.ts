/** `npm run generate:spec-coverage`: writes `docs/reference/spec-coverage.md`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REMOVALS } from '#scripts/spec/removals.ts';
import { SIMULATOR_ONLY } from '#scripts/spec/simulator-only.ts';
import { coverageDocument } from '#scripts/spec/spec-coverage-document.ts';
import { readTags } from '#scripts/spec/spec-tags.ts';
import { SECTIONS } from '#scripts/spec/statements.ts';

const root = join(import.meta.dirname, '../..');
const { tests } = readTags(root);
const document = coverageDocument({ sections: SECTIONS, tests, removals: REMOVALS, simulatorOnly: SIMULATOR_ONLY });
writeFileSync(join(root, 'docs/reference/spec-coverage.md'), document);
