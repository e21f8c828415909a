import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import {
  createKey,
  limitKey,
  limitKeyRate,
  listKeys,
  type NewKeyOptions,
  revokeKey,
  rotateKey,
} from '#cli/access/keys.ts';
import { account } from '#cli/set-up/command-database.ts';
import { report, UserError } from '#cli/terminal/user-error.ts';
import { apiScopes, listApiKeys } from '#db/access/api-keys.ts';
import { auditLog, gateWallet, installation } from '#db/schema.ts';
import { captured } from '#test/support/cli-output.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { createTestDatabase, openTestDatabase } from '#test/support/servers/database.ts';

const opened = disposedAtEnd(await openTestDatabase());
afterEach(() => void vi.restoreAllMocks());

const environment = { DATABASE_URL: opened.url };
const stored = () => opened.database.run(listApiKeys);

/** @returns the standard output of the command. */
async function create(name: string, scopes?: string, more: NewKeyOptions = {}): Promise<string> {
  return printed(() => createKey(name, { ...more, ...(scopes !== undefined && { scopes }) }, environment));
}

const prefixOf = (key: string) => key.split('_')[2] ?? '';

/** @returns the standard output during `work`. */
async function printed(command: () => Promise<void>): Promise<string> {
  const output = captured();
  vi.spyOn(process.stdout, 'write').mockImplementation(output.write);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await command();
  return output.text();
}

describe('reseller keys create', () => {
  it('creates a key with exactly the given scopes', async () => {
    expect(await create('shop', 'orders:read, wallet:read')).toMatch(/^rsk_test_\w{8}_\w{43}\n$/);
    expect(await stored()).toMatchObject([{ name: 'shop', scopes: ['orders:read', 'wallet:read'] }]);
  });

  it.each([
    ['a database of the sandbox', 'sandbox', {}, 'test'],
    ['a database in production', 'production', {}, 'live'],
    ['an unused database, by SERVICE_MODE', undefined, { SERVICE_MODE: 'production' }, 'live'],
    ['an unused database without SERVICE_MODE', undefined, {}, 'test'],
  ])('shows in the key whether it buys with real money: %s', async (_name, serviceMode, more, mode) => {
    await using own = await openTestDatabase();
    if (serviceMode !== undefined)
      await own.database.run((db) =>
        db.insert(installation).values({ serviceBaseUrl: 'https://x.example', serviceMode }),
      );
    const of = { ...more, DATABASE_URL: own.url };
    const key = await printed(() => createKey('shop', { scopes: 'all' }, of));
    expect(key).toMatch(new RegExp(`^rsk_${mode}_`));
    const successor = await printed(() => rotateKey(prefixOf(key), { overlap: 0 }, of));
    expect(successor).toMatch(new RegExp(`^rsk_${mode}_`));
  });

  it('gives every scope only with --scopes all', async () => {
    await create('everything', 'all');
    expect((await stored()).find(({ name }) => name === 'everything')?.scopes).toEqual(apiScopes);
  });

  it.each([
    ['without scopes', 'shop', undefined, /The key has no scopes/],
    ['with an empty list of scopes', 'shop', ' , ', /The key has no scopes/],
    ['with an unknown scope', 'shop', 'orders:read,orders:steal', /Unknown scopes: orders:steal/],
    ['with "all" and another', 'shop', 'all,orders:read', /Unknown scopes: all/],
    ['without a name', '', 'all', /has no name/],
    ['with a name of blanks', '  ', 'all', /has no name/],
  ])('refuses a key %s with the possible values, and creates none', async (_, name, scopes, message) => {
    const before = (await stored()).length;
    await expect(create(name, scopes)).rejects.toThrow(message);
    await expect(create(name, scopes)).rejects.toBeInstanceOf(UserError);
    expect(await stored()).toHaveLength(before);
  });
});

describe('reseller keys list', () => {
  it('advises a migration for a database without tables, and prints no SQL statement', async () => {
    await using empty = await createTestDatabase({ ...inject('servers'), templateDatabase: 'template0' });
    const error: unknown = await listKeys({}, { DATABASE_URL: empty.url }).catch((thrown: unknown) => thrown);
    const output = captured();
    expect(report(error, output)).toBe(1);
    expect(output.text()).toMatch(/^\nThe database lacks \d+ of \d+ migrations: run `npx reseller migrate`\.\n$/);
  });
});

describe('reseller keys limit', () => {
  it('refuses a currency that is not that of the wallet, because it would hold every purchase', async () => {
    await using own = await openTestDatabase();
    const of = { DATABASE_URL: own.url };
    const prefix = prefixOf(await printed(() => createKey('shop', { scopes: 'all', spendLimit: '5.00 EUR' }, of)));
    const balance = { balanceAmount: '100', balanceCurrency: 'USD', reading: 1, readAt: new Date() };
    await own.database.run((db) => db.insert(gateWallet).values({ readsStarted: 1, ...balance }));
    const refused = /The wallet is in USD, so a limit in EUR would hold every purchase\./;
    await expect(limitKey(prefix, '7.00 EUR', of)).rejects.toThrow(refused);
    await expect(createKey('second', { scopes: 'all', spendLimit: '7.00 EUR' }, of)).rejects.toThrow(refused);
    expect(await printed(() => limitKey(prefix, '7.00 USD', of))).toContain('may spend 7.00 USD a day');
    expect(await own.database.run(listApiKeys)).toHaveLength(1);
  });

  it('sets and removes the daily spend limit of a key', async () => {
    const prefix = prefixOf(await create('limited', 'orders:write'));
    const limit = async (text: string) => {
      await printed(() => limitKey(prefix, text, environment));
      return (await stored()).find((key) => key.prefix === prefix);
    };
    expect(await limit('100.00 USD')).toMatchObject({ spendLimitAmount: '100.000000', spendLimitCurrency: 'USD' });
    expect(await limit('none')).toMatchObject({ spendLimitAmount: null, spendLimitCurrency: null });
    await expect(limit('100')).rejects.toThrow(/not a daily limit/);
    await expect(limitKey('unknown0', 'none', environment)).rejects.toThrow(/no key with the prefix/);
  });
});

describe('reseller keys rotate', () => {
  const rotate = async (prefix: string, overlap = 3_600_000, more: { expires?: number } = {}) =>
    prefixOf(await printed(() => rotateKey(prefix, { overlap, ...more }, environment)));
  const find = async (prefix: string) => (await stored()).find((key) => key.prefix === prefix);

  it('creates a successor with the same name, scopes and limits, and ends the former after the overlap', async () => {
    const limits = { ownWorkOnly: true, rateLimit: 120, spendLimit: '100.00 USD', expires: 90 };
    const first = prefixOf(await create('rotated', 'orders:read,orders:write', limits));
    const before = await find(first);
    const at = Date.now();
    const second = await rotate(first);
    const [former, successor] = [await find(first), await find(second)];
    const { id: lineageId, name, scopes, ownWorkOnly, rateLimit, spendLimitAmount, spendLimitCurrency } = before!;
    const same = { name, scopes, ownWorkOnly, rateLimit, spendLimitAmount, spendLimitCurrency };
    expect(successor).toMatchObject({ ...same, lineageId });
    const minutes = (time: Date | null | undefined) => Math.round(((time?.getTime() ?? 0) - at) / 60_000);
    expect(minutes(former?.expiresAt)).toBe(60);
    expect(minutes(successor?.expiresAt)).toBe(90 * 24 * 60);

    const third = await rotate(second, 0, { expires: 1 });
    expect((await find(third))?.lineageId).toBe(before?.id);
    expect(minutes((await find(third))?.expiresAt)).toBe(24 * 60);
    const list = await printed(() => listKeys({}, environment));
    const lines = list.split('\n').filter((line) => /^\w{8} +rotated /.test(line));
    expect(lines.map((line) => line.slice(0, 8))).toEqual([first, second, third]);
    expect(lines[1]).toContain(`expired`);
    expect(lines[2]).toMatch(new RegExp(`${second} +true +100\\.00 USD +120 +orders:read,orders:write`));
    // The id that `created_by` and the audit log show.
    expect(lines[0]?.endsWith(` ${before?.id}`)).toBe(true);
  });

  it('changes limits in the whole lineage, for any of its keys', async () => {
    const first = prefixOf(await create('limits', 'orders:write'));
    const second = await rotate(first);
    await printed(() => limitKey(second, '7.00 EUR', environment));
    await printed(() => limitKeyRate(first, 30, environment));
    for (const prefix of [first, second])
      expect(await find(prefix)).toMatchObject({ spendLimitAmount: '7.000000', rateLimit: 30 });
    await printed(() => limitKeyRate(second, null, environment));
    expect((await find(first))?.rateLimit).toBeNull();
  });

  it('refuses an unknown, revoked or rotated key; revoking a lost successor permits another rotation', async () => {
    const first = prefixOf(await create('refused', 'orders:read'));
    const second = await rotate(first);
    await expect(rotate(first)).rejects.toThrow(/rotated before/);
    await expect(rotate('unknown0')).rejects.toThrow(/no key with the prefix/);
    await printed(() => revokeKey(second, { shareLinks: true }, environment));
    await expect(rotate(second)).rejects.toThrow(/is revoked/);
    await expect(rotate(first)).resolves.toMatch(/^\w{8}$/);
    const gone = prefixOf(await create('gone', 'orders:read'));
    await rotate(gone, 0);
    await expect(rotate(gone)).rejects.toThrow(/is expired/);
  });
});

describe('the audit log', () => {
  it('shows which account created, rotated, limited and revoked which key', async () => {
    const first = prefixOf(await create('audited', 'orders:read', { ownWorkOnly: true }));
    const second = prefixOf(await printed(() => rotateKey(first, { overlap: 0 }, environment)));
    await printed(() => limitKey(second, '1.00 EUR', environment));
    await printed(() => limitKeyRate(second, 60, environment));
    await printed(() => revokeKey(second, { shareLinks: true }, environment));
    const ids = (await stored()).filter(({ name }) => name === 'audited').map(({ id }) => id);
    const entries = await opened.database.run((db) => db.select().from(auditLog).orderBy(auditLog.id));
    const own = entries.filter(({ subjectId }) => ids.includes(subjectId));
    const by = { actor: `command/${account()}`, subjectKind: 'api_key' };
    expect(own).toMatchObject([
      { ...by, action: 'api_key.create', subjectId: ids[0] },
      { ...by, action: 'api_key.rotate', subjectId: ids[1] },
      { ...by, action: 'api_key.change_spend_limit', subjectId: ids[1] },
      { ...by, action: 'api_key.change_rate_limit', subjectId: ids[1] },
      { ...by, action: 'api_key.revoke', subjectId: ids[1] },
    ]);
    expect(own[0]?.reason).toBe('audited: orders:read, for its own work only');
  });
});
