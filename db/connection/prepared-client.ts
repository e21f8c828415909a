import { createHash } from 'node:crypto';
import pg from 'pg';

/** More than the product has. Texts that vary without end get no name. */
const MAX_STATEMENTS = 500;
/** More than a row has. Batches differ in length: every connection would keep each statement. */
const MAX_VALUES = 64;

/** Marks a statement that is not prepared: one plan for all values would be dangerous. */
export const PLANNED_BY_VALUE = '/* planned by value */';

const names = new Map<string, string>();

function clientThat(change: (statement: unknown, rest: readonly unknown[]) => unknown) {
  return class extends pg.Client {
    // The overloads of `query` cannot be repeated here; only its first argument is changed.
    override query = ((first: unknown, ...rest: unknown[]): unknown => {
      const send = super.query.bind(this) as (...args: unknown[]) => unknown;
      return send(change(first, rest), ...rest);
    }) as pg.Client['query'];
  };
}

/** PostgreSQL parses each statement once per connection. Needs its own connection, as LISTEN does. */
export const PreparedClient = clientThat(withName);

/** Prepares nothing by name, because a pooler shares the connection. */
export const PooledClient = clientThat(withoutName);

function withoutName(statement: unknown): unknown {
  if (typeof statement !== 'object' || statement === null || !('name' in statement)) return statement;
  const { name: _name, ...unnamed } = statement;
  return unnamed;
}

function withName(statement: unknown, [values]: readonly unknown[]): unknown {
  if (
    typeof statement !== 'object' ||
    statement === null ||
    !('text' in statement) ||
    typeof statement.text !== 'string'
  )
    return statement;
  if (('name' in statement && statement.name !== undefined) || !Array.isArray(values)) return statement;
  if (values.length === 0 || values.length > MAX_VALUES || statement.text.includes(PLANNED_BY_VALUE)) return statement;
  const name = nameOf(statement.text);
  return name === undefined ? statement : { ...statement, name };
}

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_STATEMENTS) return known;
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 32);
  names.set(text, name);
  return name;
}
