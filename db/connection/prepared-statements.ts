import { createHash } from 'node:crypto';
import { getTableName, is, type Placeholder, SQL, sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { PgDialect, type PgTable } from 'drizzle-orm/pg-core';
import pg from 'pg';

const built = new WeakMap<NodePgDatabase, Map<string, unknown>>();

/** PostgreSQL cuts a longer name off, and would take two statements for one. */
const NAME_LENGTH = 64;

/** The text is built once, but PostgreSQL plans the statement each time. */
export const UNNAMED = '';

/**
 * A statement whose text is built once for each connection: for a whole row this takes drizzle longer than all else
 * that the process does with it. `build` ends with `.prepare(name)`. PostgreSQL prepares it, too, by this name or by a
 * digest of a long one.
 * @param name the same name has the same text. `build` may depend on nothing that the name does not tell.
 */
export function prepared<Statement>(
  db: NodePgDatabase,
  name: string,
  build: (db: NodePgDatabase, name: string) => Statement,
): Statement {
  let statements = built.get(db);
  if (statements === undefined) built.set(db, (statements = new Map<string, unknown>()));
  const known = statements.get(name);
  // Of this type, because the name tells which statement it is.
  if (known !== undefined) return known as Statement;
  const statement = build(db, name.length < NAME_LENGTH ? name : digest(name));
  statements.set(name, statement);
  const [oldest] = statements.keys();
  // Callers choose the filters of lists.
  if (statements.size > MAX_STATEMENTS && oldest !== undefined) statements.delete(oldest);
  return statement;
}

/**
 * Divides a new row into a place for each of its values, and the values. Rows of one `shape` can share a statement that
 * is built once. What is undefined keeps its default.
 * @throws TypeError for an expression: its text is not in the shape.
 */
export function placesOf<Row extends object>(
  row: Row,
): {
  readonly shape: string;
  readonly places: Record<keyof Row, Placeholder | SQL>;
  readonly values: Readonly<Record<string, unknown>>;
} {
  const given = Object.entries(row).filter(([, value]) => value !== undefined);
  if (given.some(([, value]) => is(value, SQL))) throw new TypeError('a prepared row has no expressions');
  const places = given.map(([name, value]) => [name, value === null ? sql`null` : sql.placeholder(name)]);
  return {
    shape: given.map(([name, value]) => (value === null ? `${name} null` : name)).join(),
    // Each given property of the row; the others may be missing in a row of this type.
    places: Object.fromEntries(places) as Record<keyof Row, Placeholder | SQL>,
    values: Object.fromEntries(given),
  };
}

/**
 * Inserts a row of which nothing is read back.
 * @param how.once a row that is there already stays. @throws the error of a conflict without it.
 */
export async function insertRow<Table extends PgTable>(
  db: NodePgDatabase,
  table: Table,
  row: Table['$inferInsert'],
  { once = false }: { readonly once?: boolean } = {},
): Promise<void> {
  const { shape, places, values } = placesOf(row);
  const statement = prepared(db, `insert ${once ? 'once ' : ''}${getTableName(table)} ${shape}`, (on, name) => {
    const insert = on.insert<PgTable>(table).values(places);
    return (once ? insert.onConflictDoNothing() : insert).prepare(name);
  });
  await statement.execute(values);
}

const dialect = new PgDialect();

/**
 * Divides a condition into its text and its values. Conditions of one text can share a statement that is built once.
 * @returns `condition`: with a place for each of the `values`.
 */
export function shapeOf(whole: SQL | undefined): {
  readonly text: string;
  readonly condition: SQL | undefined;
  readonly values: Readonly<Record<string, unknown>>;
} {
  if (whole === undefined) return { text: '', condition: undefined, values: {} };
  const { sql: text, params } = dialect.sqlToQuery(whole);
  const chunks = text.split(/\$(\d+)/).map((part, n) => (n % 2 === 0 ? sql.raw(part) : sql.placeholder(`$${part}`)));
  return {
    text,
    condition: sql.join(chunks),
    values: Object.fromEntries(params.map((value, n) => [`$${n + 1}`, value])),
  };
}

/** More than the product has. Texts that vary without end, such as lists of ids, then get no name. */
const MAX_STATEMENTS = 500;
/** More than a row has. Batches differ in length: a connection would keep each of them and use it once. */
const MAX_VALUES = 64;

const names = new Map<string, string>();

function named(statement: unknown, values: unknown): unknown {
  if (typeof statement !== 'object' || statement === null || !('text' in statement)) return statement;
  const { text } = statement;
  if (typeof text !== 'string' || !Array.isArray(values)) return statement;
  if ('name' in statement && statement.name !== undefined) return statement;
  if (values.length === 0 || values.length > MAX_VALUES) return statement;
  const name = nameOf(text);
  return name === undefined ? statement : { ...statement, name };
}

function unnamed(statement: unknown): unknown {
  return typeof statement === 'object' && statement !== null && 'name' in statement
    ? { ...statement, name: undefined }
    : statement;
}

function clientWith(change: (statement: unknown, values: unknown) => unknown) {
  return class extends pg.Client {
    // The overloads of `query` cannot be repeated here; only its first argument is changed.
    override query = ((first: unknown, ...rest: unknown[]): unknown => {
      const send = super.query.bind(this) as (...args: unknown[]) => unknown;
      return send(change(first, rest[0]), ...rest);
    }) as pg.Client['query'];
  };
}

/**
 * A connection that prepares every statement with values by name: PostgreSQL parses it once, and plans it again only
 * while plans for the given values are cheaper. Needs its own connection, as LISTEN does.
 */
export const PreparingClient = clientWith(named);

/** Behind a pooler, the next statement may reach another connection of PostgreSQL, which has prepared nothing. */
export const UnpreparedClient = clientWith(unnamed);

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_STATEMENTS) return known;
  const name = digest(text);
  names.set(text, name);
  return name;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 32);
}
