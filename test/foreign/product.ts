/**
 * API and worker in one process, which halves what a test with a foreign service costs. FOREIGN_VARIANTS has the names
 * that an engineer would enter in `upstream/contract/variants.ts`, as JSON.
 */
import { VARIANTS } from '#upstream/contract/variants.ts';

const adapted: unknown = JSON.parse(process.env['FOREIGN_VARIANTS'] ?? '{}');
if (typeof adapted === 'object' && adapted !== null) Object.assign(VARIANTS, adapted);
await Promise.all([import('#worker/main.ts'), import('#api/main.ts')]);
