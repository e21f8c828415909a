import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readEndpointSecrets } from '#db/events/webhook-endpoints.ts';
import { webhookDeliveries, webhookEndpointSecrets } from '#db/schema.ts';
import { AddressPolicy } from '#outbound/webhook-address.ts';
import {
  endpointCalls,
  endpointEvents,
  endpointPath,
  forgetEndpoints,
  idempotent,
  URL_OF_SHOP,
} from '#test/support/api/webhook-endpoint-calls.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = await startTestApi();
const caller = await api.caller();
beforeEach(() => forgetEndpoints(api));
afterAll(() => api[Symbol.asyncDispose]());

const { post, create, created } = endpointCalls(() => caller);
const change = (id: string, body: object) => caller.patch(endpointPath(id), body);
const { happen, queued, endpointRow, setEndpoint } = endpointEvents(() => api);

describe('a webhook endpoint', () => {
  it('is created with a secret that no other answer contains, and that is stored encrypted', async () => {
    const key = randomUUID();
    const wanted = { url: URL_OF_SHOP, event_types: ['order.*'], description: 'Shop' };
    const made = await post('/v1/webhook-endpoints', wanted, key);
    const id = made.textAt('id');
    expect([made.status, made.headers.get('location')]).toEqual([201, endpointPath(id)]);
    const secret = made.textAt('secret');
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made.body).toMatchObject({
      status: 'enabled',
      event_types: ['order.*'],
      own_work_only: false,
      failures: 0,
      missed_since: null,
    });

    const again = await post('/v1/webhook-endpoints', wanted, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([made.text, 'true']);
    for (const path of [endpointPath(id), '/v1/webhook-endpoints', endpointPath(id, '/deliveries')])
      expect((await caller.get(path)).text).not.toContain(secret);
    const rows = await api.database.run((db) => db.select().from(webhookEndpointSecrets));
    expect(rows).toHaveLength(1);
    expect(rows[0]!.encryptedSecret.includes(Buffer.from(secret.slice(6, 20)))).toBe(false);
    const valid = api.database.run((db) => readEndpointSecrets(db, api.keyRing, id, new Date(TEST_NOW)));
    expect(await valid).toEqual([secret]);
    for (const text of [secret, 'SECRET-PATH']) expect(api.log.join('\n')).not.toContain(text);
  });

  it.each([
    ['a private address', 'https://inside.example.com/hook', 'public address'],
    ['plain HTTP', 'http://shop.example.com/hook', 'https://'],
  ])('is refused with %s, on creation and on change', async (_, url, reason) => {
    const id = await created();
    for (const answer of [await create({ url }), await change(id, { url })]) {
      expect([answer.status, answer.at('errors', 0, 'field')]).toEqual([400, 'url']);
      expect(answer.textAt('errors', 0, 'message')).toContain(reason);
    }
    expect((await caller.get(endpointPath(id))).textAt('url')).toBe(URL_OF_SHOP);
  });

  it('accepts only patterns that select an event type', async () => {
    for (const types of [[], ['order'], ['order.submitting'], ['*.completed'], 'order.*', [7]])
      expect((await create({ event_types: types })).status, JSON.stringify(types)).toBe(400);
    expect((await create({})).at('event_types')).toEqual(['*']);
  });

  it('is changed in part, listed in pages, and deleted together with its secrets', async () => {
    const ids = [await created(), await created(), await created()];
    const changed = await change(ids[0]!, { event_types: ['order.completed'], description: 'New' });
    expect(changed.body).toMatchObject({ url: URL_OF_SHOP, event_types: ['order.completed'], description: 'New' });
    const first = await caller.get('/v1/webhook-endpoints?limit=2');
    const second = await caller.get(`/v1/webhook-endpoints?limit=2&cursor=${first.textAt('next_cursor')}`);
    expect(first.at('data')).toMatchObject([{ id: ids[2] }, { id: ids[1] }]);
    expect(second.body).toMatchObject({ data: [{ id: ids[0] }], next_cursor: null });
    expect((await caller.delete(endpointPath(ids[0]!))).body).toEqual({ id: ids[0], deleted: true });
    for (const answer of [
      await caller.get(endpointPath(ids[0]!)),
      await caller.delete(endpointPath(ids[0]!)),
      await post(endpointPath(ids[0]!, '/test')),
    ]) {
      expect([answer.status, answer.at('code')]).toEqual([404, 'webhook_endpoint_not_found']);
    }
    const secretsOfDeleted = eq(webhookEndpointSecrets.endpointId, ids[0]!);
    expect(await api.database.run((db) => db.$count(webhookEndpointSecrets, secretsOfDeleted))).toBe(0);
    expect(await happen(['order.completed'])).toHaveLength(1);
    expect(await queued(ids[0]!)).toEqual([]);
    expect(await queued(ids[1]!)).toHaveLength(1);
  });

  it('clears its failures when the address changes, and keeps them otherwise', async () => {
    const id = await created();
    await happen(['order.held']);
    const retryAt = new Date(TEST_NOW + 3_600_000);
    const failing = { failures: 9, failingSince: new Date(TEST_NOW - 1), lastFailure: 'it answered 503', retryAt };
    const fail = (more: object = {}) => setEndpoint(id, { ...failing, wakeIsUrgent: false, ...more });
    await fail();
    await api.database.run((db) => db.update(webhookDeliveries).set({ nextTryAt: retryAt }));
    await change(id, { url: URL_OF_SHOP, description: 'The same' });
    await post(endpointPath(id, '/rotate-secret'), {});
    expect(await endpointRow(id)).toMatchObject({ ...failing, wakeIsUrgent: false });

    const moved = await change(id, { url: `${URL_OF_SHOP}/new` });
    expect(moved.body).toMatchObject({ failures: 0, failing_since: null, last_failure: null });
    expect(await endpointRow(id)).toMatchObject({ retryAt: null, wakeIsUrgent: true });
    const [delivery] = await api.database.run((db) => db.select().from(webhookDeliveries));
    expect(delivery).toMatchObject({ state: 'pending', nextTryAt: new Date(TEST_NOW) });

    const disabled = { disabledReason: 'failing', disabledAt: new Date(TEST_NOW) } as const;
    await fail(disabled);
    await change(id, { url: URL_OF_SHOP });
    expect(await endpointRow(id)).toMatchObject({ ...failing, ...disabled });
  });

  it('holds no database connection during a DNS look-up', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<string[]>();
    const lookup = async () => {
      asked.resolve();
      return answer.promise;
    };
    await using slow = await startTestApi({ webhookTargets: { policy: new AddressPolicy([]), lookup } });
    const making = (await slow.caller()).post('/v1/webhook-endpoints', { url: URL_OF_SHOP }, idempotent());
    await asked.promise;
    const idle = sql`select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`;
    expect((await slow.database.run((db) => db.execute(idle))).rows).toEqual([]);
    answer.resolve(['203.0.113.7']);
    expect((await making).status).toBe(400);
  });
});
