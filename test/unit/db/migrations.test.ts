import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';

const FOLDER = join(PROJECT, 'db/migrations');
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'));

/** With the changed table if it decides: a table of the same migration has no earlier user. */
const FORMS: readonly RegExp[] = [
  /^drop\s+(?:table|column|type|view|function|trigger|index|schema|sequence)\b/i,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+(?:rename|drop)\b/i,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+alter\s+column\s+\S+\s+(?:set\s+data\s+)?type\b/i,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+alter\s+column\s+\S+\s+(?:set\s+not\s+null|drop\s+default)\b/i,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+add\s+column\b(?=.*\bnot\s+null\b)(?!.*\bdefault\b)/is,
  /^alter\s+table\s+(?:only\s+)?"?(?<table>\w+)"?\s+add\s+constraint\b/i,
  /^create\s+unique\s+index\s+\S+\s+on\s+"?(?<table>\w+)"?/i,
];

/** They remove, rename or restrict what earlier versions use. */
function contractingStatements(text: string): string[] {
  const statements = text
    .split('--> statement-breakpoint')
    .map((part) => part.replaceAll(/^\s*--.*$/gm, '').trim())
    .filter((statement) => statement !== '');
  const made = new Set(statements.map((each) => /^create\s+table\s+"?(\w+)"?/i.exec(each)?.[1]));
  return statements.filter((statement) =>
    FORMS.some((form) => {
      const found = form.exec(statement);
      return found !== null && !(found.groups?.['table'] !== undefined && made.has(found.groups['table']));
    }),
  );
}

/** The rule "expand first, contract later" (docs/how-to/change-the-database.md). @param all names, in their order. */
function problemsOf(name: string, text: string, all: readonly string[]): string[] {
  const found = contractingStatements(text);
  if (found.length === 0) return [];
  const expand = /^-- Contract of (\w+): /m.exec(text)?.[1];
  const guide = 'see docs/how-to/change-the-database.md';
  if (expand === undefined) {
    return found.map(
      (statement) => `${name} has no line "-- Contract of 0000_name: reason" for: ${statement}; ${guide}`,
    );
  }
  if (!all.includes(`${expand}.sql`) || `${expand}.sql` >= name) {
    return [`${name} is the contract of ${expand}, which does not precede it`];
  }
  // A migration with the number n is the one after n others.
  const [least, most] = [Number.parseInt(expand, 10) + 1, Number.parseInt(name, 10)];
  const raised = /update\s+"?schema_support"?\s+set\s+"?oldest_migrations"?\s*=\s*(\d+)/i.exec(text)?.[1];
  if (raised === undefined || Number(raised) < least || Number(raised) > most) {
    return [
      `${name} must set oldest_migrations of schema_support to the number of migrations of the first version that ` +
        `does not use what it removes: ${least} at least, ${most} at most; ${guide}`,
    ];
  }
  return [];
}

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
