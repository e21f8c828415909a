import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { OtherInstallationError, stampOrVerify, verifyStamp, type Installation } from '#db/connection/installation.ts';
import { installation } from '#db/schema.ts';
import { ServiceTokenStore } from '#db/service/service-tokens.ts';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { BASE_PATH, type ServiceMode } from '#domain/service/service-address.ts';
import { httpAnswer, startRawServer } from '#test/support/network/raw-server.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { environmentAlone, TestProcess } from '#test/support/servers/processes.ts';
import { openService } from '#upstream/service.ts';

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
    await using process = new TestProcess({
      name: 'other',
      script,
      environment: await environmentAlone(opened.url, {
        SERVICE_BASE_URL: SANDBOX.serviceBaseUrl,
        SERVICE_MODE: 'production',
      }),
    });
    expect((await process.exit()).code, process.tail()).toBe(1);
    expect(process.output()).toContain('This database belongs to another service or environment');
  });
});

describe('tokens', () => {
  /** All operations that could mix the tokens of the two environments, in any order. */
  const step = fc.oneof(
    fc.record({
      kind: fc.constant('call' as const),
      mode: fc.constantFrom<ServiceMode>('sandbox', 'production'),
      process: fc.nat({ max: 1 }),
    }),
    fc.record({ kind: fc.constant('revoke' as const), mode: fc.constantFrom<ServiceMode>('sandbox', 'production') }),
  );

  it('of production and sandbox never mix in one database', async () => {
    const valid: Record<ServiceMode, Set<string>> = { sandbox: new Set(), production: new Set() };
    const seen: { readonly mode: ServiceMode; readonly token: string }[] = [];
    let logins = 0;
    await using server = await startRawServer({
      onRequest: ({ head, socket }) => {
        const mode = head.includes(`${BASE_PATH}/sandbox/`) ? 'sandbox' : 'production';
        if (head.includes('/login ')) {
          const token = `${mode}-${(logins += 1)}`;
          valid[mode].add(token);
          socket.write(httpAnswer(200, JSON.stringify({ access_token: token })));
          return;
        }
        const token = /^authorization: Bearer (.*)$/im.exec(head)?.[1] ?? '';
        seen.push({ mode, token });
        socket.write(
          valid[mode].has(token) ? httpAnswer(200, '{"balance":"1","currency":"EUR"}') : httpAnswer(401, '{}'),
        );
      },
    });
    const keyRing = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
    const open = (mode: ServiceMode) =>
      openService({
        baseUrl: `${server.origin}${BASE_PATH}`,
        mode,
        email: 'shop@example.com',
        password: 'secret',
        deviceName: 'backend',
        capabilities: ALL_CAPABILITIES,
        deadlineMs: 20_000,
        tokens: new ServiceTokenStore({
          database: opened.database,
          keyRing,
          environment: mode,
          account: 'shop@example.com',
        }),
        now: Date.now,
      });
    const services = {
      sandbox: [open('sandbox'), open('sandbox')],
      production: [open('production'), open('production')],
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        for (const each of steps) {
          if (each.kind === 'revoke') valid[each.mode].clear();
          // A session pauses after a failed renewal. It must never use the token of the other environment.
          else await services[each.mode][each.process]?.client.getWallet();
        }
        expect(seen.filter(({ mode, token }) => !token.startsWith(`${mode}-`))).toEqual([]);
      }),
      { numRuns: 25 },
    );
    expect(new Set(seen.map(({ mode }) => mode)).size).toBe(2);
    expect(logins).toBeGreaterThan(4);
    for (const service of Object.values(services).flat()) await service.close();
  });
});
