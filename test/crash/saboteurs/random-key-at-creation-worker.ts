/**
 * A worker with a defect: the key of an attempt is random when its row is written, so an attempt whose row was lost
 * gets another key. The crash proof must detect it.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

const INTO_ATTEMPTS = /^\s*(?:with .* )?insert into "attempts" \(([^)]*)\) values \(([^)]*)\)/is;

const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
const query = prototype.query;
prototype.query = function forgetful(this: object, statement: unknown, ...rest: unknown[]) {
  if (
    typeof statement !== 'object' ||
    statement === null ||
    !('text' in statement) ||
    typeof statement.text !== 'string'
  ) {
    return query.call(this, statement, ...rest);
  }
  const parameter = parameterOfKey(statement.text);
  if (parameter === undefined) return query.call(this, statement, ...rest);
  // The values are a field of the statement, or the next argument.
  const values =
    'values' in statement && Array.isArray(statement.values)
      ? statement.values
      : Array.isArray(rest[0])
        ? rest[0]
        : undefined;
  if (values !== undefined) values[parameter] = randomUUID();
  return query.call(this, statement, ...rest);
};

/** The index of the key among the parameters of a statement that writes an attempt, from 0. */
function parameterOfKey(text: string): number | undefined {
  const [, columns, places] = INTO_ATTEMPTS.exec(text) ?? [];
  const column = columns?.split(',').findIndex((name) => name.includes('"idempotency_key"')) ?? -1;
  const [, place] = /\$(\d+)/.exec(places?.split(',')[column] ?? '') ?? [];
  return place === undefined ? undefined : Number(place) - 1;
}

await startWatchedWorker();
