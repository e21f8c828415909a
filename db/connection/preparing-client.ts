import { createHash } from 'node:crypto';
import pg from 'pg';

/** More than the product has. Texts that vary without end, such as lists of ids, then get no name. */
const MAX_STATEMENTS = 500;
/** More than a row has. Batches differ in length: a connection would keep each of them and use it once. */
const MAX_VALUES = 64;

const names = new Map<string, string>();

/**
 * A connection that prepares each statement with values by name: PostgreSQL parses it once, and plans it again only
 * while plans for the given values are cheaper. Needs its own connection, as LISTEN does.
 */
export class PreparingClient extends pg.Client {
  // The overloads of `query` cannot be repeated here; only its first argument is changed.
  override query = ((first: unknown, ...rest: unknown[]): unknown => {
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    return send(named(first, rest[0]), ...rest);
  }) as pg.Client['query'];
}

function named(statement: unknown, values: unknown): unknown {
  if (typeof statement !== 'object' || statement === null || !('text' in statement)) return statement;
  const { text } = statement;
  if (typeof text !== 'string' || !Array.isArray(values)) return statement;
  if (values.length === 0 || values.length > MAX_VALUES) return statement;
  const name = nameOf(text);
  return name === undefined ? statement : { ...statement, name };
}

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_STATEMENTS) return known;
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 32);
  names.set(text, name);
  return name;
}
