import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it('variables of libpq in the shell change nothing about the connection to PostgreSQL', async () => {
  const names = 'HOST PORT DATABASE USER PASSWORD PASSFILE SSLMODE OPTIONS APPNAME CLIENT_ENCODING CONNECT_TIMEOUT';
  for (const name of names.split(' ')) vi.stubEnv(`PG${name}`, 'require');
  vi.resetModules();
  await import('#config/environment.ts');
  const { host, port, database, user, ssl } = new pg.Client('postgresql://reseller@127.0.0.1:5433/books');
  const given = { host: '127.0.0.1', port: 5433, database: 'books', user: 'reseller' };
  expect({ host, port, database, user, ssl }).toEqual({ ...given, ssl: false });
  expect(Object.keys(process.env).filter((name) => name.startsWith('PG'))).toEqual([]);
});
