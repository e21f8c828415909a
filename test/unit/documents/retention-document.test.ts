import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTableName, is } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { expect, it } from 'vitest';
import * as schema from '#db/schema.ts';
import { PROJECT } from '#test/support/compose.ts';

const DOCUMENT = readFileSync(join(PROJECT, 'docs/reference/retention.md'), 'utf8');

it('docs/reference/retention.md lists every table of the database, and no other', () => {
  const tables = Object.values(schema).flatMap((each) => (is(each, PgTable) ? [getTableName(each)] : []));
  const rows = DOCUMENT.split('\n').filter((line) => line.startsWith('| `'));
  const listed = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  expect(listed).toHaveLength(tables.length);
  expect(new Set(listed)).toEqual(new Set(tables));
});
