/**
 * Sleeping work as rows: graphile-worker keeps a job with the time at which it is due, and looks for due jobs every two
 * seconds, its default. What sleeps has no state beyond its row, no history, and no signals: a subscription that is
 * cancelled or renewed while it sleeps needs code of its own to replace the job.
 */
import { run } from 'graphile-worker';
import pg from 'pg';

const { DATABASE_URL } = process.env;
if (DATABASE_URL === undefined) throw new Error('DATABASE_URL is needed');

const pool = new pg.Pool({ connectionString: DATABASE_URL });
await pool.query('create table if not exists woken (id text primary key, at timestamptz not null default now())');
const runner = await run({
  pgPool: pool,
  concurrency: 10,
  taskList: {
    wake: async (payload) => {
      const { id } = payload as { id: string };
      await pool.query({ name: 'wake', text: 'insert into woken (id) values ($1) on conflict do nothing', values: [id] });
    },
  },
});
process.stdout.write('the peer runs\n');
await runner.promise;
await pool.end();
