import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Database, DatabaseUnavailableError, type Executor } from '#db/connection/database.ts';
import { idempotencyKeys, orders, outbox } from '#db/schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { startTestApi } from '#test/support/network/api.ts';

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
