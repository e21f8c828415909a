/**
 * An API with a defect: it does not use the unique index of the caller's references, which is missing, and does not
 * derive its ids from the references. The crash proof must detect it.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { KeyRing } from '#crypto/key-ring.ts';
import { watchApi } from '#test/crash/processes/watched-api.ts';

const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
const query = prototype.query;
prototype.query = function careless(this: object, statement: unknown, ...rest: unknown[]) {
  if (
    typeof statement === 'object' &&
    statement !== null &&
    'text' in statement &&
    typeof statement.text === 'string'
  ) {
    if (statement.text.startsWith('insert into "orders"'))
      statement.text = statement.text.replace('on conflict do nothing', '');
  }
  return query.call(this, statement, ...rest);
};
const { hash } = Object.getOwnPropertyDescriptors(KeyRing.prototype);
KeyRing.prototype.hash = function careless(content, purpose) {
  return hash.value?.call(this, purpose === 'work_id' ? randomUUID() : content, purpose) ?? Buffer.alloc(0);
};
watchApi();
await import('#api/main.ts');
