import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it('variables of libpq in the shell change nothing about the connection to PostgreSQL', async () => {
  for (const name of ['PGSSLMODE', 'PGOPTIONS', 'PGHOST', 'PGPORT', 'PGDATABASE']) vi.stubEnv(name, 'require');
  vi.resetModules();
  await import('#config/environment.ts');
  const { host, port, database } = new pg.Client('postgresql://reseller@127.0.0.1:5433/books');
  expect({ host, port, database }).toEqual({ host: '127.0.0.1', port: 5433, database: 'books' });
  expect(Object.keys(process.env).filter((name) => /^PG[A-Z]+$/.test(name))).toEqual([]);
});
