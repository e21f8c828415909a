/** `npm run generate:foreign`: writes the tables of foreign services into the guide "When the real document arrives". */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTables } from '#test/foreign/table.ts';

const GUIDE = join(import.meta.dirname, '../../docs/how-to/when-the-real-document-arrives.md');
writeFileSync(GUIDE, withTables(readFileSync(GUIDE, 'utf8')));
