/**
 * PostgreSQL may lose its last commits, or its answer to one. A caller who repeats the request gets the same work, so
 * its purchase has the same idempotency key.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { Database, DatabaseUnavailableError, type Executor } from '#db/connection/database.ts';
import { forgetAnswers } from '#db/queues/idempotency.ts';
import { idempotencyKeys, orders, outbox } from '#db/schema.ts';
import { apiOfFile, vpnInput } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { acceptTestCancellation } from '#test/support/work/order-rows.ts';

const { api, caller } = await apiOfFile();

const post = (path: string, body: unknown, key?: string) => postOnce(caller, path, body, key);
/** Deletes everything that was committed with the work. */
const lose = async (...tables: readonly string[]) => {
  for (const table of [...tables, 'outbox', 'timeline', 'announcements', 'idempotency_keys'])
    await api.database.run((db) => db.execute(sql.raw(`delete from ${table}`)));
};

describe('work with a lost row', () => {
  it.each<[string, string, string, () => object]>([
    ['an order', 'orders', '/v1/orders', orderInput],
    ['a VPN subscription', 'vpn_subscriptions', '/v1/vpn/subscriptions', vpnInput],
  ])(
    'of %s is created again with its id, for any Idempotency-Key with its reference',
    async (_what, table, path, body) => {
      const asked = body();
      const first = await post(path, asked);
      expect(first.status).toBe(202);
      await lose(table);
      const second = await post(path, asked);
      expect(second.status).toBe(202);
      expect(second.at('id')).toBe(first.at('id'));
      expect((await post(path, body())).at('id')).not.toBe(first.at('id'));
    },
  );

  it('of a top-up is created again with its id, by its reference or its Idempotency-Key', async () => {
    const { esimId } = await acceptTestCancellation(api.database);
    const unnamed = { esim_id: esimId, package_id: 101 };
    const named = { ...unnamed, external_topup_id: 'topup-1' };
    const key = randomUUID();
    const topUp = async (body: object, key?: string) => (await post('/v1/topups', body, key)).at('id');
    const ids = async () => [await topUp(unnamed, key), await topUp(named)];
    const first = await ids();
    await lose('topups');
    expect(await ids()).toEqual(first);
    expect(first).not.toContain(await topUp(unnamed));
    const byAnother = await postOnce(await api.caller(), '/v1/topups', unnamed, key);
    expect(byAnother.at('id')).not.toBe(first[0]);
  });
});

type Break = 'before the commit' | 'after the commit';

/** A database whose connection breaks in the next transaction. */
class BreakingDatabase extends Database {
  breaks: Break | undefined;
  /** After the break all reads fail too, as during a restart of PostgreSQL. */
  staysAway = false;
  #away = false;

  override async transaction<Result>(work: (tx: Executor) => Promise<Result>): Promise<Result> {
    const breaks = this.breaks;
    if (breaks === undefined) return super.transaction(work);
    if (breaks === 'after the commit') await super.transaction(work);
    this.#away = this.staysAway;
    throw new DatabaseUnavailableError(new Error('Connection terminated'));
  }

  override async run<Result>(work: (db: Executor) => Promise<Result>): Promise<Result> {
    if (this.#away) throw new DatabaseUnavailableError(new Error('ECONNREFUSED'));
    return super.run(work);
  }

  repair(): void {
    this.breaks = undefined;
    this.#away = false;
  }
}

describe('a lost connection during the creation of an order', () => {
  it.each<[Break, string, boolean, number, number]>([
    ['after the commit', 'keeps the order, and its answer is the stored one', false, 202, 1],
    ['after the commit', 'and for a while afterwards keeps the order', true, 503, 1],
    ['before the commit', 'stores nothing', false, 503, 0],
  ])('%s %s, and the same key creates one order', async (breaks, _what, staysAway, status, kept) => {
    let database: BreakingDatabase | undefined;
    const onConnectionError = () => undefined;
    await using api = await startTestApi({}, (url) => {
      database = new BreakingDatabase({ url, poolSize: 3, applicationName: 'test', onConnectionError });
      return database;
    });
    const caller = await api.caller();
    const [body, key] = [orderInput(), randomUUID()];
    Object.assign(database!, { breaks, staysAway });
    const answer = await postOnce(caller, '/v1/orders', body, key);
    const refusal = { code: 'database_unavailable' };
    expect([answer.status, answer.body]).toMatchObject([status, status === 503 ? refusal : { status: 'accepted' }]);
    expect(answer.headers.get('retry-after')).toBe('2');
    for (const table of [orders, outbox, idempotencyKeys])
      expect(await api.database.run((db) => db.$count(table))).toBe(kept);

    database!.repair();
    const again = await postOnce(caller, '/v1/orders', body, key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, kept === 1 ? 'true' : null]);
    expect(again.text === answer.text).toBe(status === 202);
    expect(await api.database.run((db) => db.$count(orders))).toBe(1);
  });
});

describe('stored answers', () => {
  it('are deleted by age and in batches, and a later request still creates no second order', async () => {
    await using api = await startTestApi();
    const caller = await api.caller();
    const [body, key] = [orderInput(), randomUUID()];
    await postOnce(caller, '/v1/orders', body, key);
    api.clock.now += 1;
    for (let n = 0; n < 2; n += 1) await postOnce(caller, '/v1/orders', orderInput());
    const forget = (ms: number, batch: number) =>
      api.database.run((db) => forgetAnswers(db, { before: new Date(TEST_NOW + ms), batch }));
    expect([await forget(1, 10), await forget(2, 1)]).toEqual([1, 1]);
    expect(await api.database.run((db) => db.$count(idempotencyKeys))).toBe(1);
    expect((await postOnce(caller, '/v1/orders', body, key)).at('code')).toBe('external_order_id_taken');
  });
});
