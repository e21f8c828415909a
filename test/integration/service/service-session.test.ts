import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { serviceTokens } from '#db/schema.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';
import { httpAnswer, startRawServer, type RawServer } from '#test/support/network/raw-server.ts';
import { openDatabase, openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { openService } from '#upstream/service.ts';

const KEYS = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const DEADLINE_MS = 20_000;
const WALLET = { balance: '10.00', currency: 'EUR' };

const opened: { close(): Promise<void> }[] = [];
let main: OpenTestDatabase;
let server: RawServer;
/** Number of logins that wait for each other before their answers. This makes races certain. */
let together: number;
let valid: Set<string>;

beforeEach(async () => {
  main = await openTestDatabase();
  together = 1;
  valid = new Set();
  let logins = 0;
  let waiting: (() => void)[] = [];
  server = await startRawServer({
    onRequest: ({ head, socket }) => {
      if (!head.includes('/login')) {
        const token = /^authorization: Bearer (.*)$/im.exec(head)?.[1] ?? '';
        socket.write(valid.has(token) ? httpAnswer(200, JSON.stringify(WALLET)) : httpAnswer(401, '{}'));
        return;
      }
      const token = `secret-token-${(logins += 1)}`;
      valid.add(token);
      waiting.push(() => socket.write(httpAnswer(200, JSON.stringify({ access_token: token }))));
      if (waiting.length < together) return;
      for (const answer of waiting) answer();
      waiting = [];
    },
  });
});

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
  await server[Symbol.asyncDispose]();
  await main.drop();
});

/** The state of one process: its own connections, cache and pool, on the shared database. */
function newProcess({ account = 'shop@example.com', keyRing = KEYS, environment = 'sandbox' } = {}) {
  const database = openDatabase(main.url);
  const store = new ServiceTokenStore({ database, keyRing, environment, account });
  const service = openService({
    baseUrl: `${server.origin}${BASE_PATH}`,
    mode: 'sandbox',
    email: 'shop@example.com',
    password: 'secret',
    deviceName: 'backend',
    capabilities: ALL_CAPABILITIES,
    deadlineMs: DEADLINE_MS,
    tokens: store,
    now: Date.now,
  });
  opened.push(database, service);
  return { service, store };
}

const logins = () => server.requests.filter(({ head }) => head.includes('/login')).length;
const tokensUsed = () =>
  server.requests.flatMap(({ head }) => /^authorization: Bearer (.*)$/im.exec(head)?.slice(1) ?? []);

describe('the access token', () => {
  it('of the faster of two concurrent logins is used by both processes', async () => {
    together = 2;
    const [first, second] = [newProcess(), newProcess()];
    const wallets = await Promise.all([first, second].map(({ service }) => service.client.getWallet()));
    expect(wallets).toMatchObject([{ ok: true }, { ok: true }]);
    expect(logins()).toBe(2);
    expect(new Set(tokensUsed()).size).toBe(1);
    expect(await first.store.read()).toMatchObject({ version: 1, token: { accessToken: tokensUsed()[0] } });
  });

  it('refused by the service is renewed once, for any number of processes and calls', async () => {
    const processes = [newProcess(), newProcess(), newProcess()];
    for (const { service } of processes) await service.client.getWallet();
    valid.clear();
    // The processes in sequence, the calls of each concurrently.
    for (const { service } of processes) {
      const results = await Promise.all(Array.from({ length: 10 }, () => service.client.getWallet()));
      expect(results.every(({ ok }) => ok)).toBe(true);
    }
    expect(logins()).toBe(2);
    expect((await processes[0]!.store.read())?.version).toBe(2);
  });

  it('is stored encrypted, for its environment only', async () => {
    const { service, store } = newProcess();
    await service.client.getWallet();
    const [row] = await main.database.run((db) => db.select().from(serviceTokens));
    expect(row?.encryptedToken.toString('latin1')).not.toContain('secret-token');
    expect((await store.read())?.token?.accessToken).toBe('secret-token-1');
    // A copy in the row of another environment cannot be decrypted.
    await main.database.run((db) => db.insert(serviceTokens).values({ ...row!, environment: 'production' }));
    expect(await newProcess({ environment: 'production' }).store.read()).toEqual({ version: 1, token: undefined });
  });

  it.each([
    ['another account', { account: 'other@example.com' }],
    ['a key that is missing', { keyRing: new KeyRing([{ id: 'k2', key: Buffer.alloc(32, 2) }]) }],
  ])('of %s is replaced by a login', async (_name, options) => {
    await newProcess().service.client.getWallet();
    const { service, store } = newProcess(options);
    expect(await store.read()).toEqual({ version: 1, token: undefined });
    expect(await service.client.getWallet()).toMatchObject({ ok: true });
    expect(await store.read()).toMatchObject({ version: 2, token: { accessToken: 'secret-token-2' } });
  });
});

describe('the token store', () => {
  const token = { accessToken: 'a', expiresAt: Date.UTC(2030, 0, 1), renewedAt: Date.UTC(2025, 0, 1) };

  it('returns the stored token', async () => {
    const { store } = newProcess();
    expect(await store.read()).toBeUndefined();
    expect(await store.replace(undefined, token)).toBe(1);
    expect(await store.read()).toEqual({ version: 1, token: { ...token, version: 1 } });
    expect(await store.replace(1, { ...token, expiresAt: undefined })).toBe(2);
    expect((await store.read())?.token).toEqual({ ...token, expiresAt: undefined, version: 2 });
  });

  it('lets exactly one of many concurrent calls replace a version', async () => {
    const { store } = newProcess();
    for (const from of [undefined, 1, 2]) {
      const versions = await Promise.all(
        Array.from({ length: 8 }, (_one, number) => store.replace(from, { ...token, accessToken: `a${number}` })),
      );
      expect(versions.filter((version) => version !== undefined)).toEqual([(from ?? 0) + 1]);
    }
  });

  it('refuses to replace a past or missing version', async () => {
    const { store } = newProcess();
    expect(await store.replace(1, token)).toBeUndefined();
    await store.replace(undefined, token);
    expect(await store.replace(undefined, token)).toBeUndefined();
    expect(await store.replace(7, token)).toBeUndefined();
    const rows = await main.database.run((db) => db.select().from(serviceTokens).where(eq(serviceTokens.version, 1)));
    expect(rows).toHaveLength(1);
  });
});
