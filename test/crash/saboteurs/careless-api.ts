/**
 * An API with one thing wrong: it does not lean on the unique index of the caller's references, which is gone. The
 * crash proof must notice.
 */
import pg from 'pg';
import { watchApi } from '#test/crash/processes/watched-api.ts';

const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
const query = prototype.query;
prototype.query = function careless(this: object, statement: unknown, ...rest: unknown[]) {
  if (typeof statement === 'object' && statement !== null && 'text' in statement && typeof statement.text === 'string') {
    statement.text = statement.text.replace('on conflict ("external_order_id") do nothing', '');
  }
  return query.call(this, statement, ...rest);
};
watchApi();
await import('#api/main.ts');
