/** PostgreSQL with TLS and client certificates, by the parameters of `DATABASE_URL` in docs/configuration.md. */
import { chownSync, copyFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { reasonOf } from '#cli/terminal/user-error.ts';
import { PARTS } from '#config/config.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { CertificateAuthority } from '#test/support/network/certificates.ts';
import { openDatabase } from '#test/support/servers/database.ts';
import { startOwnPostgres } from '#test/support/servers/own-servers.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const folder = temporaryFolder('database-tls');
const authority = await CertificateAuthority.create(folder);
const { ca } = authority;
const { ca: strangers } = await CertificateAuthority.create(folder, 'stranger');
const server = await authority.issue('server', ['localhost']);
const postgres = disposedAtEnd(await startOwnPostgres());
const client = await authority.issue(new URL(postgres.url).username);

beforeAll(async () => {
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

/** @returns whether the connection is encrypted, or why there is none. */
async function ask(parameters: Readonly<Record<string, string>>, { host = 'localhost', name = 'reseller' } = {}) {
  const url = new URL(postgres.url);
  url.hostname = host;
  url.pathname = name;
  for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value);
  const database = openDatabase(PARTS.database({ DATABASE_URL: url.href }).url);
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
  const verified = { sslmode: 'verify-full', sslrootcert: ca };

  it('without a parameter is refused by the server', async () => {
    expect(await ask({})).toMatch(/no encryption \(28000\)$/);
  });

  it('verifies authority and name of the server with verify-full', async () => {
    expect(await ask(verified)).toBe(true);
    expect(await ask({ ...verified, sslrootcert: strangers })).toMatch(/SELF_SIGNED|UNABLE_TO_VERIFY|signature/);
    expect(await ask({ sslmode: 'require' })).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED/);
    expect(await ask({ sslmode: 'verify-full' })).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED/);
    expect(await ask(verified, { host: '127.0.0.1' })).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/);
  });

  it('accepts any certificate with no-verify', async () => {
    expect(await ask({ sslmode: 'no-verify' }, { host: '127.0.0.1' })).toBe(true);
  });

  it('shows a client certificate', async () => {
    const shown = { ...verified, sslcert: client.cert, sslkey: client.key };
    expect(await ask(shown, { name: 'guarded' })).toBe(true);
    expect(await ask(verified, { name: 'guarded' })).toMatch(/certificate/);
  });
});
