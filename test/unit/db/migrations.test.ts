import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';
import { contractingStatements, problemsOf } from '#test/support/contracting-statements.ts';

const FOLDER = join(PROJECT, 'db/migrations');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'));

describe('a migration', () => {
  it.each(files)('%s expands the schema, or says which versions it ends the support of', (name) => {
    expect(problemsOf(name, readFileSync(join(FOLDER, name), 'utf8'), files)).toEqual([]);
  });
});

describe('the check of migrations', () => {
  it.each([
    'DROP TABLE "a";',
    'ALTER TABLE "a" DROP COLUMN "b";',
    'ALTER TABLE "a" RENAME COLUMN "b" TO "c";',
    'ALTER TABLE "a" RENAME TO "c";',
    'ALTER TABLE "a" ALTER COLUMN "b" SET DATA TYPE text;',
    'ALTER TABLE "a" ALTER COLUMN "b" TYPE text;',
    'ALTER TABLE "a" ALTER COLUMN "b" SET NOT NULL;',
    'ALTER TABLE "a" ALTER COLUMN "b" DROP DEFAULT;',
    'ALTER TABLE "a" ADD COLUMN "b" text NOT NULL;',
    'ALTER TABLE "a" ADD CONSTRAINT "c" CHECK (b > 0);',
    'CREATE UNIQUE INDEX "i" ON "a" USING btree ("b");',
    'DROP INDEX "i";',
    'DROP FUNCTION f();',
  ])('finds that earlier versions may not survive %s', (statement) => {
    expect(contractingStatements(statement)).toHaveLength(1);
  });

  it.each([
    'ALTER TABLE "a" ADD COLUMN "b" text;',
    `ALTER TABLE "a" ADD COLUMN "b" text DEFAULT '' NOT NULL;`,
    'ALTER TABLE "a" ALTER COLUMN "b" DROP NOT NULL;',
    'CREATE INDEX "i" ON "a" USING btree ("b");',
    'CREATE TABLE "t" ("b" text NOT NULL);--> statement-breakpoint\nCREATE UNIQUE INDEX "i" ON "t" USING btree ("b");',
    '-- It does not DROP TABLE "a".\nSELECT 1;',
  ])('allows %s', (text) => {
    expect(contractingStatements(text)).toEqual([]);
  });

  it('wants the expand that a contract belongs to, and the versions that it leaves behind', () => {
    const statement = 'ALTER TABLE "a" DROP COLUMN "b";';
    const all = ['0000_schema.sql', '0001_expand.sql', '0002_contract.sql'];
    const problems = (text: string) => problemsOf('0002_contract.sql', text, all);
    expect(problems(statement).join()).toContain('ALTER TABLE "a" DROP COLUMN "b"');
    const named = `-- Contract of 0001_expand: the versions since then do not use it.\n${statement}`;
    expect(problems(named).join()).toContain('oldest_migrations');
    const raised = `${named}--> statement-breakpoint\nUPDATE "schema_support" SET "oldest_migrations" = 2;`;
    expect(problems(raised)).toEqual([]);
    expect(problems(raised.replace('2;', '3;')).join()).toContain('2 at most');
    expect(problems(raised.replace('0001_expand', '0099_other')).join()).toContain('0099_other');
  });
});
