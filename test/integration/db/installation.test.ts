import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OtherInstallationError, stampOrVerify, verifyStamp, type Installation } from '#db/connection/installation.ts';
import { installation } from '#db/schema.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { environmentAlone, TestProcess } from '#test/support/servers/processes.ts';

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
