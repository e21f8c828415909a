import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { WORK_WORKFLOWS } from '#workflows/messages.ts';

describe('workflows/index.ts', () => {
  it.each(WORK_KINDS)('exports the workflow of the kind %s', (kind) => {
    const exported = readFileSync(new URL('../../../workflows/index.ts', import.meta.url), 'utf8');
    expect(exported).toMatch(new RegExp(`^export \\{ ${WORK_WORKFLOWS[kind]} \\} from`, 'm'));
  });
});
