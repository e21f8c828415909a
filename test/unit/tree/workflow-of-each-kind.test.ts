import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { PROJECT } from '#test/support/compose.ts';
import { WORK_WORKFLOWS } from '#workflows/messages.ts';

describe('workflows/index.ts', () => {
  it.each(WORK_KINDS)('exports the workflow of the kind %s', (kind) => {
    const exported = readFileSync(join(PROJECT, 'workflows/index.ts'), 'utf8');
    expect(exported).toMatch(new RegExp(`^export \\{ ${WORK_WORKFLOWS[kind]} \\} from`, 'm'));
  });
});
