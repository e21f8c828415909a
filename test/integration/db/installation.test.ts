/** What a database remembers of its first use: the service, and the encryption keys. */
import { sql } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { retireEncryptionKey } from '#cli/access/encryption-keys.ts';
import { KeyRing, type NamedKey } from '#crypto/key-ring.ts';
import { keyUse, registerKeys, retireKey, type Retirement, verifyKeys } from '#db/connection/encryption-keys.ts';
import { OtherInstallationError, stampOrVerify, verifyStamp, type Installation } from '#db/connection/installation.ts';
import { installation, serviceTokens } from '#db/schema.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { environmentAlone, startProcess, TestProcess } from '#test/support/servers/processes.ts';
import { rowsRead } from '#test/support/servers/rows-read.ts';

const SANDBOX: Installation = { serviceBaseUrl: `https://service.example${BASE_PATH}`, serviceMode: 'sandbox' };
const OTHERS: readonly Installation[] = [
  { ...SANDBOX, serviceMode: 'production' },
  { ...SANDBOX, serviceBaseUrl: `https://other.example${BASE_PATH}` },
  { serviceBaseUrl: `https://other.example${BASE_PATH}`, serviceMode: 'production' },
];

let opened: OpenTestDatabase;
beforeEach(async () => {
  opened = await openTestDatabase();
});
afterEach(() => opened.drop());

/** Runs a process that refuses the database. @returns its output. */
async function refusalOf(script: string, settings: Readonly<Record<string, string>>): Promise<string> {
  const environment = await environmentAlone(opened.url, settings);
  await using process = new TestProcess({ name: 'other', script, environment });
  expect((await process.exit()).code, process.tail()).toBe(1);
  return process.output();
}

const stamp = (configured: Installation) => opened.database.run((db) => stampOrVerify(db, configured));
const stamps = () => opened.database.run((db) => db.select().from(installation));

describe('a database', () => {
  it('stores the address and mode of its first use, and accepts them again', async () => {
    expect(await opened.database.run((db) => verifyStamp(db, SANDBOX))).toBe(false);
    await stamp(SANDBOX);
    await stamp(SANDBOX);
    expect(await stamps()).toMatchObject([SANDBOX]);
  });

  it.each(OTHERS)(
    'refuses another address and mode, and keeps its own: $serviceBaseUrl, $serviceMode',
    async (other) => {
      await stamp(SANDBOX);
      await expect(stamp(other)).rejects.toThrow(OtherInstallationError);
      await expect(stamp(other)).rejects.toThrow(`configuration: ${other.serviceBaseUrl} (${other.serviceMode})`);
      await expect(opened.database.run((db) => verifyStamp(db, other))).rejects.toThrow(OtherInstallationError);
      expect(await stamps()).toMatchObject([SANDBOX]);
    },
  );

  it('with two concurrent first uses accepts exactly one of them', async () => {
    const contestants = [SANDBOX, ...OTHERS];
    const results = await Promise.allSettled(contestants.map(stamp));
    const [row, ...more] = await stamps();
    expect(more).toEqual([]);
    const winners = contestants.filter((_, position) => results[position]?.status === 'fulfilled');
    expect(winners).toEqual([{ serviceBaseUrl: row?.serviceBaseUrl, serviceMode: row?.serviceMode }]);
  });

  it.each(['api/main.ts', 'worker/main.ts'])('of the sandbox ends a production process: %s', async (script) => {
    await stamp(SANDBOX);
    const output = await refusalOf(script, { SERVICE_BASE_URL: SANDBOX.serviceBaseUrl, SERVICE_MODE: 'production' });
    expect(output).toContain('This database belongs to another service or environment');
  });
});

const key = (id: string, byte: number): NamedKey => ({ id, key: Buffer.alloc(32, byte) });
const FIRST = key('k1', 1);
const SECOND = key('k2', 2);
const OTHER_BYTES = key('k1', 9);

const register = (...keys: NamedKey[]) => registerKeys(opened.database, new KeyRing(keys));
const verify = (...keys: NamedKey[]) => opened.database.run((db) => verifyKeys(db, new KeyRing(keys)));

const settingsOf = ({ id, key }: NamedKey) => ({ ENCRYPTION_KEYS: `${id}:${Buffer.from(key).toString('base64')}` });

describe('a database in use with a key', () => {
  it.each(['api/main.ts', 'worker/main.ts'])(
    'ends a process with other bytes under the same id: %s',
    async (script) => {
      await register(FIRST);
      expect(await refusalOf(script, settingsOf(OTHER_BYTES))).toContain('has other bytes than the key');
    },
  );

  it('refuses other bytes, a missing key and another last key, and names each', async () => {
    await register(FIRST);
    await register(SECOND, FIRST);
    await expect(verify(SECOND, FIRST)).resolves.toBeUndefined();
    await expect(verify(SECOND, OTHER_BYTES)).rejects.toThrow(/"k1" .*has other bytes/);
    await expect(verify(FIRST)).rejects.toThrow(/"k2" is missing/);
    await expect(verify(FIRST, SECOND)).rejects.toThrow(/last key .* must be "k1"/);
    await expect(register(key('k3', 3))).rejects.toThrow(/"k1" is missing/);
    expect(await opened.database.run(keyUse)).toMatchObject([{ keyId: 'k1' }, { keyId: 'k2' }]);
  });

  it('accepts one of several concurrent first uses with different keys', async () => {
    const rings = [FIRST, OTHER_BYTES, SECOND, key('k3', 3)];
    const results = await Promise.allSettled(rings.map((each) => register(each)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('permits the removal of a key only when nothing is encrypted or hashed with it', async () => {
    await register(FIRST);
    await register(SECOND, FIRST);
    const encryptedToken = new KeyRing([SECOND, FIRST]).encrypt('token', 'place');
    await opened.database.run((db) =>
      db.insert(serviceTokens).values({ environment: 'sandbox', encryptedToken, version: 1, renewedAt: new Date() }),
    );
    const retire = (id: string) => opened.database.transaction((tx) => retireKey(tx, id));
    expect(await retire('k2')).toEqual({
      kind: 'in_use',
      values: [{ table: 'service_tokens', column: 'encrypted_token' }],
    });
    await expect(retireEncryptionKey('k2', { DATABASE_URL: opened.url })).rejects.toThrow(
      'Stored values are encrypted with k2: service_tokens.encrypted_token.',
    );
    expect(await retire('k1')).toEqual({ kind: 'makes_hashes' });
    expect(await retire('k9')).toEqual({ kind: 'unknown' });
    await opened.database.run((db) => db.delete(serviceTokens));
    expect(await retire('k2')).toEqual({ kind: 'retired' });
    await expect(verify(FIRST)).resolves.toBeUndefined();
  });

  it('finds that a key is in use by the first value, without reading all that is encrypted with it', async () => {
    await register(FIRST);
    await register(SECOND, FIRST);
    const encrypted = new KeyRing([SECOND, FIRST]).encrypt('report', 'place');
    await opened.database.run((db) =>
      db.execute(sql`
        insert into inbox (source, delivery_id, body_hash, signed_hash, encrypted_body, state)
        select 'webhook', n, int8send(n), int8send(n), ${encrypted}::bytea, 'applied'
        from generate_series(1, 10000::bigint) as n`),
    );
    let retirement: Retirement | undefined;
    const read = await rowsRead(opened.database, ['inbox'], async (tx) => {
      retirement = await retireKey(tx, 'k2');
    });
    expect(retirement).toEqual({ kind: 'in_use', values: [{ table: 'inbox', column: 'encrypted_body' }] });
    expect(read).toBe(1);
  });
});

describe('a running process', () => {
  it('is no longer ready after another one used a key that it lacks, and names that key', async () => {
    const environment = await environmentAlone(opened.url, settingsOf(FIRST));
    const readyUrl = `http://127.0.0.1:${environment['API_PORT']}/readyz`;
    await using process = await startProcess({ name: 'api', script: 'api/main.ts', environment, readyUrl });
    expect(await opened.database.run((db) => db.$count(installation))).toBe(1);
    await register(SECOND, FIRST);
    const answer = await fetch(readyUrl);
    expect(answer.status, process.tail()).toBe(503);
    expect(await answer.text()).toContain('\\"k2\\" is missing');
  });
});
