/**
 * How many statements a request sends to PostgreSQL. The numbers do not depend on the machine, so that what was saved
 * cannot creep back unseen.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { startTestApi } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { statementsOf } from '#test/support/servers/statements.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

const api = await startTestApi();
const caller = await api.caller();
// Also reads the key of the caller and notes its use.
const work = await makeOwnWork(api, caller);
afterAll(() => api[Symbol.asyncDispose]());

/** The first words of each statement, and the status of the answer. */
async function sent(call: () => Promise<HttpAnswer>): Promise<readonly [number, readonly string[]]> {
  let status = 0;
  const statements = await statementsOf(async () => {
    ({ status } = await call());
  });
  return [status, statements.map(nameOf)];
}

/** What a statement does, and with which table. */
function nameOf(text: string): string {
  if (/^(BEGIN|COMMIT|ROLLBACK)$/.test(text)) return text;
  const written = [...text.matchAll(/insert into "?(\w+)/g)].map(([, table]) => table);
  if (written.length > 0) return `insert ${written.join(', ')}`;
  const isLocking = text.includes('pg_try_advisory_xact_lock');
  return `${isLocking ? 'lock and ' : ''}select ${/(?:from|join) "(\w+)"/.exec(text)?.[1] ?? text}`;
}

const order = (reference: string) => ({ package_id: 101, external_order_id: reference });
const create = (body: object, key: string) => caller.post('/v1/orders', body, { headers: { 'Idempotency-Key': key } });

it('an order is accepted with four statements in one transaction, and repeated with one', async () => {
  const key = randomUUID();
  expect(await sent(() => create(order('counted'), key))).toEqual([
    202,
    [
      'BEGIN',
      'lock and select idempotency_keys',
      'insert orders',
      'insert outbox, timeline, events',
      'insert idempotency_keys',
      'COMMIT',
    ],
  ]);
  expect(await sent(() => create(order('counted'), key))).toEqual([
    202,
    ['BEGIN', 'lock and select idempotency_keys', 'COMMIT'],
  ]);
});

it.each([
  ['an order', () => `/v1/orders/${work.ids.order}`],
  ['an eSIM', () => `/v1/esims/${work.ids.esim}`],
  ['a page of orders', () => '/v1/orders'],
  ['a page of eSIMs', () => '/v1/esims'],
])('%s is read with one statement', async (_name, path) => {
  const [status, statements] = await sent(() => caller.get(path()));
  expect([status, statements.length]).toEqual([200, 1]);
});

it('a webhook that comes alone is stored with two statements', async () => {
  const deliver = () =>
    api.deliver({ body: { event: 'order.completed', data: { id: randomUUID(), status: 'completed' } } });
  await deliver();
  expect(await sent(deliver)).toEqual([200, ['insert inbox', 'select inbox']]);
});
