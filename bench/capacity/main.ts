/** `npm run generate:capacity`: writes the tables of `docs/capacity.md` from the measured costs of an order. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capacityLines } from '#bench/capacity/report.ts';

const DOCUMENT = join(import.meta.dirname, '../../docs/capacity.md');

const text = readFileSync(DOCUMENT, 'utf8');
const [before = '', after = ''] = text.split(/(?<=<!-- generated: begin -->\n)[^]*(?=<!-- generated: end -->)/);
writeFileSync(DOCUMENT, `${before}\n${capacityLines().join('\n')}\n\n${after}`);
