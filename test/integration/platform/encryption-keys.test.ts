import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyRing, type NamedKey } from '#crypto/key-ring.ts';
import { keyUse, registerKeys, retireKey, verifyKeys } from '#db/connection/encryption-keys.ts';
import { installation, serviceTokens } from '#db/schema.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { environmentAlone, startProcess, TestProcess } from '#test/support/servers/processes.ts';

const key = (id: string, byte: number): NamedKey => ({ id, key: Buffer.alloc(32, byte) });
const FIRST = key('k1', 1);
const SECOND = key('k2', 2);
const OTHER_BYTES = key('k1', 9);

let opened: OpenTestDatabase;
beforeEach(async () => {
  opened = await openTestDatabase();
});
afterEach(() => opened.drop());

const register = (...keys: NamedKey[]) => registerKeys(opened.database, new KeyRing(keys));
const verify = (...keys: NamedKey[]) => opened.database.run((db) => verifyKeys(db, new KeyRing(keys)));

const environmentWith = ({ id, key: bytes }: NamedKey) =>
  environmentAlone(opened.url, { ENCRYPTION_KEYS: `${id}:${Buffer.from(bytes).toString('base64')}` });

describe('a database in use with a key', () => {
  it.each(['api/main.ts', 'worker/main.ts'])(
    'ends a process with other bytes under the same id: %s',
    async (script) => {
      await register(FIRST);
      await using process = new TestProcess({ name: 'other', script, environment: await environmentWith(OTHER_BYTES) });
      expect((await process.exit()).code, process.tail()).toBe(1);
      expect(process.output()).toContain('has other bytes than the key');
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
      values: [{ table: 'service_tokens', column: 'encrypted_token', count: 1 }],
    });
    expect(await retire('k1')).toEqual({ kind: 'makes_hashes' });
    expect(await retire('k9')).toEqual({ kind: 'unknown' });
    await opened.database.run((db) => db.delete(serviceTokens));
    expect(await retire('k2')).toEqual({ kind: 'retired' });
    await expect(verify(FIRST)).resolves.toBeUndefined();
  });
});

describe('a running process', () => {
  it('is no longer ready after another one used a key that it lacks, and names that key', async () => {
    const environment = await environmentWith(FIRST);
    const readyUrl = `http://127.0.0.1:${environment['API_PORT']}/readyz`;
    await using process = await startProcess({ name: 'api', script: 'api/main.ts', environment, readyUrl });
    expect(await opened.database.run((db) => db.$count(installation))).toBe(1);
    await register(SECOND, FIRST);
    const answer = await fetch(readyUrl);
    expect(answer.status, process.tail()).toBe(503);
    expect(await answer.text()).toContain('\\"k2\\" is missing');
  });
});
