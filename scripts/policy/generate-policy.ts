/** `npm run generate:policy` */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { policyDocuments } from '#scripts/policy/policy-documents.ts';

for (const { path, text } of policyDocuments()) writeFileSync(join(import.meta.dirname, '../..', path), text);
