import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { revokeKey } from '#cli/access/keys.ts';
import { newId } from '#db/connection/ids.ts';
import { cancellations } from '#db/schema.ts';
import { createShareLink } from '#fulfilment/share-links/share-links.ts';
import { apiOfFile, auditOf } from '#test/integration/api/support.ts';
import { newKey, successorOf } from '#test/support/api/keys.ts';
import { askForLink, makeLink, sharedEsim } from '#test/support/api/share-links.ts';
import { SHARE_LINK_URL, TEST_NOW } from '#test/support/network/api.ts';
import { everythingStored, foundIn } from '#test/support/plain-text.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const at = (ms: number) => new Date(TEST_NOW + ms).toISOString();

const { api, caller } = await apiOfFile();
const esim = await sharedEsim(api);

const audited = async (subjectId: string) => (await auditOf(api, subjectId)).map(({ action }) => action);

describe('a share link', () => {
  it('is created with its address, which no other answer, table or line of the log contains', async () => {
    const label = 'Japan, 1 GB';
    const made = await askForLink(caller, esim, { language: 'de', label, metadata: { order: 'A-1' } });
    const [id, path] = [made.textAt('id'), made.textAt('path')];
    const secret = path.slice('/e/'.length);
    expect([made.status, made.headers.get('location')]).toEqual([201, `/v1/share-links/${id}`]);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(secret).toMatch(/^[0-9A-Za-z]{32}$/);
    const shown = {
      id,
      esim_id: esim,
      status: 'active',
      label,
      language: 'de',
      metadata: { order: 'A-1' },
      views: 0,
      last_viewed_at: null,
      expires_at: at(7 * DAY),
      revoked_at: null,
      created_by: expect.stringMatching(/^key_/),
      created_at: at(0),
    };
    expect(made.body).toEqual({ ...shown, path, url: `${SHARE_LINK_URL}${path}` });
    expect((await caller.get(`/v1/share-links/${id}`)).body).toEqual(shown);
    expect((await caller.get(`/v1/esims/${esim}/share-links`)).at('data')).toEqual([shown]);

    await caller.get(path);
    const stored = await everythingStored(api.databaseUrl);
    expect(stored).toContain(createHash('sha256').update(secret).digest('hex'));
    expect(foundIn(stored, { secret })).toEqual([]);
    expect(foundIn(api.log.join(''), { secret })).toEqual([]);
  });

  it('ends within five minutes and ninety days, by a duration or a time', async () => {
    const end = async (body: object) => (await askForLink(caller, esim, body)).at('expires_at');
    expect(await end({ expires_in_seconds: 300 })).toBe(at(5 * MINUTE));
    expect(await end({ expires_in_seconds: 7_776_000 })).toBe(at(90 * DAY));
    expect(await end({ expires_at: at(DAY) })).toBe(at(DAY));
    for (const [body, field] of [
      [{ expires_in_seconds: 299 }, 'expires_in_seconds'],
      [{ expires_in_seconds: 7_776_001 }, 'expires_in_seconds'],
      [{ expires_at: at(-1) }, 'expires_at'],
      [{ expires_at: at(5 * MINUTE - 1) }, 'expires_at'],
      [{ expires_at: at(90 * DAY + 1) }, 'expires_at'],
      [{ expires_at: at(DAY), expires_in_seconds: 3_600 }, 'expires_at'],
      [{ language: 'tlh' }, 'language'],
      [{ label: ' ' }, 'label'],
    ] as const) {
      const refused = await askForLink(caller, esim, body);
      expect([body, refused.status, refused.at('errors', 0, 'field')]).toEqual([body, 400, field]);
    }
  });

  it('is refused for an eSIM that is cancelled, expired or being cancelled', async () => {
    const ended = [
      await sharedEsim(api, { status: 'cancelled' }),
      await sharedEsim(api, { status: 'expired' }),
      await sharedEsim(api, { status: 'active', expiresAt: new Date(TEST_NOW) }),
      await sharedEsim(api),
    ];
    const row = { id: newId('cancellation'), apiKeyId: 'key_test', esimId: ended[3]! };
    await api.database.run((db) => db.insert(cancellations).values(row));
    for (const id of ended) {
      const refused = await askForLink(caller, id);
      expect([refused.status, refused.at('code')]).toEqual([409, 'esim_ended']);
    }
    expect((await askForLink(caller, await sharedEsim(api, { status: 'installed' }))).status).toBe(201);
  });

  it('is revoked once: later calls change nothing and it can still be read', async () => {
    const { id, path } = await makeLink(caller, esim);
    const revoke = () => caller.call('DELETE', `/v1/share-links/${id}`, {});
    const first = await revoke();
    expect([first.status, first.at('status'), first.at('revoked_at')]).toEqual([200, 'revoked', at(0)]);
    api.clock.now += MINUTE;
    expect((await revoke()).text).toBe(first.text);
    expect((await caller.get(`/v1/share-links/${id}`)).text).toBe(first.text);
    api.clock.now = TEST_NOW;
    expect((await caller.get(path)).status).toBe(404);
    expect(await audited(id)).toEqual(['share_link.create', 'share_link.revoke']);
  });

  it('shows that it has expired', async () => {
    const { id } = await makeLink(caller, esim, { expires_in_seconds: 300 });
    api.clock.now = TEST_NOW + 5 * MINUTE;
    expect((await caller.get(`/v1/share-links/${id}`)).at('status')).toBe('expired');
    expect((await caller.get('/v1/share-links?status=expired')).at('data', 0, 'id')).toBe(id);
    api.clock.now = TEST_NOW;
  });
});

describe('the share links of a key that is revoked', () => {
  const revoke = async ({ prefix }: { readonly prefix: string }, shareLinks = true) => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await revokeKey(prefix, { shareLinks }, { DATABASE_URL: api.databaseUrl });
    const said = String(write.mock.calls.at(-1)?.[0]);
    write.mockRestore();
    return said;
  };
  const status = async ({ path }: { readonly path: string }) => (await caller.get(path)).status;

  it('are closed, those of other keys stay open, and so do all if the operator says so', async () => {
    const [key, kept] = [await newKey(api), await newKey(api)];
    const link = await makeLink(key.client, esim);
    const others = [await makeLink(caller, esim), await makeLink(kept.client, esim)];
    expect(await revoke(key)).toContain('Revoked with it: 1 open share link.');
    expect(await revoke(kept, false)).toContain('stay open');
    expect([await status(link), ...(await Promise.all(others.map(status)))]).toEqual([404, 200, 200]);
    expect(await audited(link.id)).toEqual(['share_link.create', 'share_link.revoke']);
  });

  it('cannot be made after the revocation by a process that still remembers the key', async () => {
    const key = await newKey(api);
    const expiresAt = new Date(TEST_NOW + DAY);
    const link = { esimId: esim, apiKeyId: key.id, label: null, language: null, metadata: {}, expiresAt };
    const create = () =>
      api.database.transaction((tx) => createShareLink(tx, link, { actor: key.id, now: new Date(TEST_NOW) }));
    expect(await create()).toBeDefined();
    await revoke(key);
    expect(await create()).toBeUndefined();
  });

  it('stay open if its successor made them', async () => {
    const former = await newKey(api);
    const link = await makeLink(former.client, esim);
    api.clock.now = TEST_NOW + DAY;
    const successor = await successorOf(api, former.prefix, 0);
    api.clock.now = TEST_NOW + 2 * DAY;
    const later = await makeLink(successor.client, esim);
    await revoke(former);
    expect([await status(link), await status(later)]).toEqual([404, 200]);
    api.clock.now = TEST_NOW;
  });
});
