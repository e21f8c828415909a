import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { orderOutput } from '#api/orders/orders.ts';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { Database, DatabaseUnavailableError, type Executor } from '#db/connection/database.ts';
import { forgetAnswers } from '#db/queues/idempotency.ts';
import { idempotencyKeys, orders, outbox } from '#db/schema.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';

const input = () => ({ package_id: 101, external_order_id: `ref-${randomUUID()}` });
const create = (by: HttpClient, body: unknown, key: string) =>
  by.post('/v1/orders', body, { headers: { 'Idempotency-Key': key } });

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

async function startBreakingApi() {
  let database: BreakingDatabase | undefined;
  const api = await startTestApi({}, (url) => {
    database = new BreakingDatabase({ url, poolSize: 3, applicationName: 'test', onConnectionError: () => undefined });
    return database;
  });
  if (database === undefined) throw new Error('the API opened no database');
  return { api, database, caller: await api.caller() };
}

describe('a lost connection during the creation of an order', () => {
  it('after the commit keeps the order, and the answer is the stored one', async () => {
    const { api, database, caller } = await startBreakingApi();
    await using _ = api;
    const [body, key] = [input(), randomUUID()];
    database.breaks = 'after the commit';
    const answer = await create(caller, body, key);
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${answer.read(orderOutput).id}`);
    database.repair();
    expect((await create(caller, body, key)).text).toBe(answer.text);
    expect(await api.database.run((db) => db.$count(orders))).toBe(1);
  });

  it('before the commit returns 503 and stores nothing, and the same key creates the order later', async () => {
    const { api, database, caller } = await startBreakingApi();
    await using _ = api;
    const [body, key] = [input(), randomUUID()];
    database.breaks = 'before the commit';
    const answer = await create(caller, body, key);
    expect([answer.status, answer.read(problemSchema).code, answer.headers.get('retry-after')]).toEqual([
      503,
      'database_unavailable',
      '2',
    ]);
    for (const table of [orders, outbox, idempotencyKeys])
      expect(await api.database.run((db) => db.$count(table))).toBe(0);
    database.repair();
    expect((await create(caller, body, key)).status).toBe(202);
  });

  it('after the commit and for a while returns 503, and the same key later gets the first answer', async () => {
    const { api, database, caller } = await startBreakingApi();
    await using _ = api;
    const [body, key] = [input(), randomUUID()];
    database.breaks = 'after the commit';
    database.staysAway = true;
    expect((await create(caller, body, key)).status).toBe(503);
    database.repair();
    const answer = await create(caller, body, key);
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    expect(await api.database.run((db) => db.$count(orders))).toBe(1);
  });
});

describe('stored answers', () => {
  it('are deleted by age and in batches, and a later request still creates no second order', async () => {
    await using api = await startTestApi();
    const caller = await api.caller();
    const [body, key] = [input(), randomUUID()];
    await create(caller, body, key);
    api.clock.now += 1;
    await create(caller, input(), randomUUID());
    await create(caller, input(), randomUUID());
    const before = new Date(TEST_NOW + 1);
    expect(await api.database.run((db) => forgetAnswers(db, { before, batch: 10 }))).toBe(1);
    expect(await api.database.run((db) => forgetAnswers(db, { before: new Date(TEST_NOW + 2), batch: 1 }))).toBe(1);
    expect(await api.database.run((db) => db.$count(idempotencyKeys))).toBe(1);
    expect((await create(caller, body, key)).read(problemSchema).code).toBe('external_order_id_taken');
  });
});
