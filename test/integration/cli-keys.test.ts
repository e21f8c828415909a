import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createKey, limitKey, listKeys } from '#cli/commands/keys.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { report } from '#cli/report.ts';
import { UserError } from '#cli/user-error.ts';
import { apiScopes, listApiKeys } from '#db/api-keys.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/database.ts';

let opened: OpenTestDatabase;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(async () => {
  await opened.drop();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const stored = () => opened.database.run(listApiKeys);

/** @returns what the command wrote to standard output. */
async function create(name: string, scopes?: string): Promise<string> {
  const out: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => out.push(String(text)) > 0);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await createKey(name, scopes === undefined ? {} : { scopes }, { DATABASE_URL: opened.url });
  return out.join('');
}

describe('reseller keys create', () => {
  it('makes a key with the scopes that it is told, and no other', async () => {
    expect(await create('shop', 'orders:read, wallet:read')).toMatch(/^rsk_\w{8}_\w{43}\n$/);
    expect(await stored()).toMatchObject([{ name: 'shop', scopes: ['orders:read', 'wallet:read'] }]);
  });

  it('gives every scope only when told so', async () => {
    await create('everything', 'all');
    expect((await stored()).find(({ name }) => name === 'everything')?.scopes).toEqual(apiScopes);
  });

  it.each([
    ['without scopes', 'shop', undefined, /what the key may do/],
    ['with an empty list of scopes', 'shop', ' , ', /what the key may do/],
    ['with an unknown scope', 'shop', 'orders:read,orders:steal', /Unknown scopes: orders:steal/],
    ['with "all" and another', 'shop', 'all,orders:read', /Unknown scopes: all/],
    ['without a name', '', 'all', /has no name/],
    ['with a name of blanks', '  ', 'all', /has no name/],
  ])('refuses a key %s, says what there is, and makes none', async (_, name, scopes, message) => {
    const before = (await stored()).length;
    await expect(create(name, scopes)).rejects.toThrow(message);
    await expect(create(name, scopes)).rejects.toBeInstanceOf(UserError);
    expect(await stored()).toHaveLength(before);
  });
});

describe('reseller keys list', () => {
  it('says of a database without our tables that it has to be migrated, and shows no statement', async () => {
    const { postgresUrl } = inject('servers');
    const name = `empty_${randomBytes(6).toString('hex')}`;
    await withClient(postgresUrl, async (client) => void (await client.query(`CREATE DATABASE ${name} TEMPLATE template0`)));
    try {
      const url = new URL(postgresUrl);
      url.pathname = `/${name}`;
      const error: unknown = await listKeys({ DATABASE_URL: url.href }).catch((thrown: unknown) => thrown);
      const lines: string[] = [];
      expect(report(error, { write: (text: string | Uint8Array) => lines.push(String(text)) > 0 })).toBe(1);
      expect(lines.join('')).toMatch(/^\nThe database lacks \d+ of \d+ migrations: run `npx reseller migrate`\.\n$/);
    } finally {
      await withClient(postgresUrl, async (client) => void (await client.query(`DROP DATABASE ${name} WITH (FORCE)`)));
    }
  });
});

describe('reseller keys limit', () => {
  it('sets what a key may spend in a day, and takes it away', async () => {
    const [, prefix = ''] = (await create('limited', 'orders:write')).split('_');
    const limit = async (text: string) => {
      vi.spyOn(process.stdout, 'write').mockReturnValue(true);
      await limitKey(prefix, text, { DATABASE_URL: opened.url });
      return (await stored()).find((key) => key.prefix === prefix);
    };
    expect(await limit('100.00 USD')).toMatchObject({ spendLimitAmount: '100.000000', spendLimitCurrency: 'USD' });
    expect(await limit('none')).toMatchObject({ spendLimitAmount: null, spendLimitCurrency: null });
    await expect(limit('100')).rejects.toThrow(/no daily limit/);
    await expect(limitKey('unknown0', 'none', { DATABASE_URL: opened.url })).rejects.toThrow(/no key with the prefix/);
  });
});
