/** PostgreSQL with TLS and client certificates, by the parameters of `DATABASE_URL` in docs/configuration.md. */
import { chownSync, copyFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { reasonOf } from '#cli/terminal/user-error.ts';
import { PARTS } from '#config/config.ts';
import { Database } from '#db/connection/database.ts';
import { CertificateAuthority, type CertificateFiles } from '#test/support/network/certificates.ts';
import { startOwnPostgres, type OwnPostgres } from '#test/support/servers/own-servers.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

let folder: string;
let postgres: OwnPostgres;
let ca: string;
let strangers: string;
let client: CertificateFiles;

beforeAll(async () => {
  folder = temporaryFolder('database-tls');
  const [authority, stranger] = [
    await CertificateAuthority.create(folder),
    await CertificateAuthority.create(folder, 'stranger'),
  ];
  [ca, strangers] = [authority.ca, stranger.ca];
  const server = await authority.issue('server', ['localhost']);
  postgres = await startOwnPostgres();
  client = await authority.issue(new URL(postgres.url).username);
  const { uid, gid } = statSync(postgres.dataDirectory);
  const inData = (path: string, name: string) => {
    copyFileSync(path, join(postgres.dataDirectory, name));
    chownSync(join(postgres.dataDirectory, name), uid, gid);
  };
  inData(server.cert, 'server.crt');
  inData(server.key, 'server.key');
  inData(ca, 'root.crt');
  writeFileSync(
    join(postgres.dataDirectory, 'pg_hba.conf'),
    'hostssl guarded all 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n',
  );
  await withClient(postgres.url, async (admin) => {
    await admin.query('create database guarded');
    await admin.query("alter system set ssl_ca_file = 'root.crt'");
    await admin.query('alter system set ssl = on');
    await admin.query('select pg_reload_conf()');
  });
  await waitFor('PostgreSQL uses TLS', async () => (await ask({ sslmode: 'no-verify' })) === true || undefined);
});
afterAll(async () => {
  await postgres[Symbol.asyncDispose]();
  removeFolder(folder);
});

/** @returns whether the connection is encrypted, or why there is none. */
async function ask(parameters: Readonly<Record<string, string>>, { host = 'localhost', name = 'reseller' } = {}) {
  const url = new URL(postgres.url);
  url.hostname = host;
  url.pathname = name;
  for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
  const config = PARTS.database({ DATABASE_URL: url.href });
  const database = new Database({
    url: config.url,
    poolSize: 1,
    applicationName: 'test',
    onConnectionError: () => undefined,
  });
  try {
    const { rows } = await database.run((db) =>
      db.execute<{ ssl: boolean }>(sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`),
    );
    return rows[0]?.ssl;
  } catch (error) {
    return reasonOf(error);
  } finally {
    await database.close();
  }
}

describe('DATABASE_URL of a PostgreSQL that requires TLS', () => {
  it('without a parameter is refused by the server', async () => {
    expect(await ask({})).toMatch(/no encryption \(28000\)$/);
  });

  it('verifies authority and name of the server with verify-full', async () => {
    expect(await ask({ sslmode: 'verify-full', sslrootcert: ca })).toBe(true);
    expect(await ask({ sslmode: 'verify-full', sslrootcert: strangers })).toMatch(
      /SELF_SIGNED|UNABLE_TO_VERIFY|signature/,
    );
    expect(await ask({ sslmode: 'require' })).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED/);
    expect(await ask({ sslmode: 'verify-full' })).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED/);
    expect(await ask({ sslmode: 'verify-full', sslrootcert: ca }, { host: '127.0.0.1' })).toMatch(
      /ERR_TLS_CERT_ALTNAME_INVALID/,
    );
  });

  it('accepts any certificate with no-verify', async () => {
    expect(await ask({ sslmode: 'no-verify' }, { host: '127.0.0.1' })).toBe(true);
  });

  it('shows a client certificate', async () => {
    const verified = { sslmode: 'verify-full', sslrootcert: ca };
    const files = { sslcert: client.cert, sslkey: client.key };
    expect(await ask({ ...verified, ...files }, { name: 'guarded' })).toBe(true);
    expect(await ask(verified, { name: 'guarded' })).toMatch(/certificate/);
  });
});
