import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withTables } from '#test/foreign/table.ts';

it('the guide has the tables of foreign services that the tests use', () => {
  const guide = readFileSync(
    join(import.meta.dirname, '../../../docs/how-to/when-the-real-document-arrives.md'),
    'utf8',
  );
  expect(guide, 'run `npm run generate:foreign`').toBe(withTables(guide));
});
