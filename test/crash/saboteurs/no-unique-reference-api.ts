/** An API with a defect: no unique index of the caller's references, and no ids that are derived from them. */
import pg from 'pg';
import { randomiseHash } from '#test/crash/saboteurs/random-hash.ts';

const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
const query = prototype.query;
prototype.query = function careless(this: object, statement: unknown, ...rest: unknown[]) {
  const { text } = Object(statement) as { text?: unknown };
  if (typeof text === 'string' && text.startsWith('insert into "orders"'))
    Object.assign(statement as object, { text: text.replace('on conflict do nothing', '') });
  return query.call(this, statement, ...rest);
};
randomiseHash('work_id');
await import('#test/crash/processes/api.ts');
