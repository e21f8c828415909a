import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import type { Executor } from '#db/connection/database.ts';
import { webhookSecrets } from '#db/schema.ts';
import { readWebhookSecrets, WebhookSecretStore } from '#db/service/webhook-secrets.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';

const NOW = Date.UTC(2030, 0, 31, 12, 0, 0, 123);
const HOUR = 3_600_000;
const KEYS = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);

const { database } = disposedAtEnd(await openTestDatabase());
beforeEach(() => database.run((db) => db.delete(webhookSecrets)));

const storeIn = (tx: Executor, { now = NOW, overlapMs = HOUR, environment = 'sandbox' } = {}) =>
  new WebhookSecretStore(tx, { keyRing: KEYS, environment, overlapMs, now: () => now });
const replace = (secret: string, options: Parameters<typeof storeIn>[1] = {}) =>
  database.transaction((tx) => storeIn(tx, options).replace(secret));
const read = (now = NOW, { environment = 'sandbox', keyRing = KEYS } = {}) =>
  database.run((db) => readWebhookSecrets(db, keyRing, { environment, now: new Date(now) }));
const verifying = async (now: number) => (await read(now)).secrets.map(({ secret }) => secret);
const rows = () => database.run((db) => db.select().from(webhookSecrets));

describe('a stored webhook secret', () => {
  it('verifies from then on, until another replaces it', async () => {
    expect(await replace('whsec_first')).toEqual({ storedAt: new Date(NOW), formerVerifiesUntil: undefined });
    const secrets = [{ secret: 'whsec_first', storedAt: new Date(NOW) }];
    expect(await read(NOW + 1_000 * HOUR)).toEqual({ secrets, undecryptable: 0 });
  });

  it('verifies until the end of the overlap after its replacement, to the millisecond', async () => {
    await replace('whsec_first');
    const later = NOW + 5 * HOUR;
    expect((await replace('whsec_second', { now: later })).formerVerifiesUntil).toEqual(new Date(later + HOUR));
    const [newest, former] = (await read(later + HOUR)).secrets;
    expect(newest).toMatchObject({ secret: 'whsec_second' });
    expect(newest).not.toHaveProperty('acceptedUntil');
    expect(former).toMatchObject({ secret: 'whsec_first', acceptedUntil: later + HOUR });
    expect(await verifying(later + HOUR + 1)).toEqual(['whsec_second']);
  });

  it.each([
    ['ends at the last rotation when that rotation has no overlap', [HOUR, 0], 21, ['third']],
    ['keeps its end when the next overlap is longer', [100, HOUR], 110, ['third', 'second', 'first']],
    ['ends to the millisecond when the next overlap is longer', [100, HOUR], 111, ['third', 'second']],
  ] as const)('%s', async (_what, [second, third], after, verifyingThen) => {
    await replace('first');
    await replace('second', { now: NOW + 10, overlapMs: second });
    await replace('third', { now: NOW + 20, overlapMs: third });
    expect(await verifying(NOW + after)).toEqual(verifyingThen);
  });

  it('is removed at the first rotation after its end', async () => {
    await replace('whsec_first');
    await replace('whsec_second', { now: NOW + 10 });
    await replace('whsec_third', { now: NOW + 2 * HOUR });
    expect(await rows()).toHaveLength(2);
  });

  it('of one environment does not affect the other', async () => {
    await replace('whsec_sandbox');
    await replace('whsec_production', { environment: 'production' });
    expect(await verifying(NOW)).toEqual(['whsec_sandbox']);
    expect((await read(NOW, { environment: 'production' })).secrets).toMatchObject([{ secret: 'whsec_production' }]);
  });

  it('is encrypted for its environment and time, and a moved one affects no other', async () => {
    await replace('whsec_first');
    await replace('whsec_second', { now: NOW + 10 });
    for (const { encryptedSecret } of await rows()) expect(encryptedSecret.includes(Buffer.from('whsec'))).toBe(false);
    const first = eq(webhookSecrets.storedAt, new Date(NOW));
    await database.run((db) =>
      db
        .update(webhookSecrets)
        .set({ storedAt: new Date(NOW + 1) })
        .where(first),
    );
    expect(await read(NOW)).toMatchObject({ secrets: [{ secret: 'whsec_second' }], undecryptable: 1 });
    const otherRing = new KeyRing([{ id: 'k2', key: Buffer.alloc(32, 2) }]);
    expect(await read(NOW, { keyRing: otherRing })).toEqual({ secrets: [], undecryptable: 2 });
  });
});

describe('a change of the secret', () => {
  it('is made by one process at a time, and other processes read it at once', async () => {
    const [release, locked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const lock = (hold?: Promise<void>, environment = 'sandbox') =>
      database.transaction(async (tx) => {
        const free = await storeIn(tx, { environment }).lock();
        locked.resolve();
        await hold;
        return free;
      });
    const first = lock(release.promise);
    await locked.promise;
    expect(await lock()).toBe(false);
    expect(await lock(undefined, 'production')).toBe(true);
    release.resolve();
    expect(await first).toBe(true);
    expect(await lock()).toBe(true);
  });

  it('keeps the former secret when it is not committed', async () => {
    await replace('whsec_first');
    const broken = database.transaction(async (tx) => {
      await storeIn(tx, { now: NOW + 1, overlapMs: 0 }).replace('whsec_lost');
      throw new Error('the process ends here');
    });
    await expect(broken).rejects.toThrow('the process ends here');
    expect(await verifying(NOW + HOUR)).toEqual(['whsec_first']);
  });
});
