import { createHash } from 'node:crypto';
import pg from 'pg';

/** More than the product has. Texts that vary without end, such as short lists of ids, then stay without a name. */
const MAX_STATEMENTS = 500;
/**
 * More than a row has. Batches differ in length from one to the next: each would be kept by every connection, and used
 * once.
 */
const MAX_VALUES = 64;

const names = new Map<string, string>();

/**
 * A connection that has each statement with parameters prepared by name: PostgreSQL parses its text once for each
 * connection, and plans it anew only while plans for the values at hand are the cheaper ones. Needs a connection that
 * is its own, as does LISTEN: a pooler between must not share it among transactions, unless it knows prepared
 * statements.
 */
export class PreparedClient extends pg.Client {
  // The overloads of `query` cannot be told again: what is changed is its first argument alone.
  override query = ((first: unknown, ...rest: unknown[]): unknown => {
    const send = super.query.bind(this) as (...args: unknown[]) => unknown;
    return send(withName(first, rest), ...rest);
  }) as pg.Client['query'];
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
  if (values.length === 0 || values.length > MAX_VALUES) return statement;
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
