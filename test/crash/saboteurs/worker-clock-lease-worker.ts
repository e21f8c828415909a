/** A worker with one thing wrong: its leases go by its own clock instead of that of the database. A proof whose clocks differ must notice. */
import pg from 'pg';
import { startWatchedWorker } from '#test/crash/processes/watched-worker.ts';

const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
const { query } = prototype;
prototype.query = function byOwnClock(this: object, statement: unknown, ...rest: unknown[]) {
  const text = typeof statement === 'object' && statement !== null && 'text' in statement ? statement.text : undefined;
  if (typeof text !== 'string' || !text.includes('clock_timestamp()')) return query.call(this, statement, ...rest);
  const own = `'${new Date().toISOString()}'::timestamptz`;
  // Its text is another each time: it is prepared under no name.
  return query.call(this, { ...Object(statement), name: undefined, text: text.replaceAll('clock_timestamp()', own) }, ...rest);
};
await startWatchedWorker();
