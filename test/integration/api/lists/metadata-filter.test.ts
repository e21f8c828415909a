/** Lists by metadata and by lists of references, and their plans among many rows. */
import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import type { Executor } from '#db/connection/database.ts';
import { orderReads, type OrderFilter } from '#db/work/orders.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { planOf } from '#test/support/servers/database.ts';

/** Enough that a read of all rows costs PostgreSQL clearly more than any index. */
const ROWS = 100_000;

const { api, caller } = await apiOfFile();

describe('a filter by metadata', () => {
  it('finds a value with any characters, under a key with any allowed ones', async () => {
    const value = `a=b&c[d], "é" ${randomUUID()}`;
    const body = { package_id: 101, external_order_id: randomUUID(), metadata: { 'shop.order-1': value, other: '' } };
    await postOnce(caller, '/v1/orders', body);
    const query = new URLSearchParams({ 'metadata[shop.order-1]': value, 'metadata[other]': '' });
    const answer = await caller.get(`/v1/orders?${query.toString()}`);
    expect(answer.at('data', 0, 'external_order_id')).toBe(body.external_order_id);
    expect(answer.at('data', 1)).toBeUndefined();
  });

  const sixPairs = Array.from({ length: 6 }, (_each, n) => `metadata[k${n}]=1`).join('&');
  const references = Array.from({ length: 101 }, () => 'a').join();
  it.each([
    ['metadata=a', 'The parameter `metadata` must be written as `metadata[key]=value`.'],
    ['metadata[a]=1&metadata[a]=2', 'The parameter `metadata[a]` is given 2 times; give it once.'],
    [sixPairs, 'The parameter `metadata` must have at most 5 pairs.'],
    ['metadata[__proto__]=1', 'The parameter `metadata[__proto__]` is not a known parameter; did you mean `metadata`?'],
    ['metadata[a]=%00', 'The parameter `metadata[a]` must be well-formed text without NUL.'],
    [
      'external_order_id=a,~',
      'The parameter `external_order_id` must have 1 to 64 visible ASCII characters other than `~`; several are separated by commas.',
    ],
    [`external_order_id=${references}`, 'The parameter `external_order_id` must have at most 100 values.'],
    [
      'id=esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM',
      'The parameter `id` must have the form of an id of this list, which begins with `ord_`; several are separated by commas.',
    ],
  ])('refuses %s with the reason', async (query, detail) => {
    const answer = await caller.get(`/v1/orders?${query}`);
    expect([answer.status, answer.at('detail')]).toEqual([400, detail]);
  });
});

describe('a reference with a comma', () => {
  it('is accepted, and found when it is asked for alone', async () => {
    const references = ['A-1,B-2', 'A-1', 'B-2'];
    for (const reference of references)
      await postOnce(caller, '/v1/orders', { package_id: 101, external_order_id: reference });
    const { body } = await caller.get('/v1/orders?external_order_id=A-1,B-2');
    const { data } = body as { data: { external_order_id: string }[] };
    expect(data.map((order) => order.external_order_id).toSorted()).toEqual(references.toSorted());
  });
});

describe('among many orders', () => {
  beforeAll(async () => {
    await api.database.run((db) =>
      db.execute(sql`
        insert into orders (id, api_key_id, external_order_id, package_id, metadata, created_at, status, failure_class)
        select 'ord_' || lpad(n::text, 26, '0'), 'key_test', 'many-' || n, 1,
          case when n % 10 = 0 then '{}'::jsonb
            else jsonb_build_object('shop_order', 'A-' || n, 'channel', case when n % 4 = 0 then 'app' else 'web' end) end,
          timestamptz '2029-01-01' + n * interval '1 minute', 'failed', 'timeout'
        from generate_series(1, ${ROWS}) as n`),
    );
    // Not through the product's pool, whose time limit a busy machine exceeds.
    await withClient(api.databaseUrl, (client) => client.query('vacuum analyze orders'));
  });

  /** The plan for these values, and how many rows it reads. */
  async function planFor(filter: OrderFilter) {
    const read = (db: Executor) => orderReads.page(db, undefined, filter, { limit: 21 });
    const text = await api.database.run((db) => planOf(db, read, 'analyze, format json'));
    const removed = [...text.matchAll(/"Rows Removed by Filter":(\d+)/g)].map(([, count]) => Number(count));
    return { text, removed: Math.max(0, ...removed) };
  }

  it('a pair that few have is found in its index', async () => {
    const { text, removed } = await planFor({ metadata: { shop_order: 'A-7' } });
    expect(text).toContain('"orders_metadata"');
    expect(removed).toBe(0);
  });

  it('a pair that nearly all have is found among the newest, without reading all', async () => {
    const { text, removed } = await planFor({ metadata: { channel: 'web' } });
    expect(text).toContain('"orders_page"');
    expect(removed).toBeLessThan(100);
  });

  it('the plan follows the values in every call, whatever was asked before', async () => {
    const read = (metadata: Record<string, string>) =>
      api.database.run((db) => orderReads.page(db, undefined, { metadata }, { limit: 21 }));
    for (let n = 0; n < 12; n += 1) expect(await read({ channel: 'web' })).toHaveLength(21);
    const [one, ...others] = await read({ channel: 'web', shop_order: 'A-7' });
    expect([one?.row.externalOrderId, others]).toEqual(['many-7', []]);
  });

  it('a page of references is found in their index', async () => {
    const externalOrderIds = Array.from({ length: 100 }, (_each, n) => `many-${n * 7}`);
    const { text, removed } = await planFor({ externalOrderIds });
    expect(text).toMatch(/"orders_reference_(use|in_use)"/);
    expect(removed).toBe(0);
    const answer = await caller.get(`/v1/orders?limit=100&external_order_id=${externalOrderIds.join()}`);
    expect(answer.at('data', 98, 'external_order_id')).toBe('many-7');
    expect(answer.at('data', 99)).toBeUndefined();
  });
});
