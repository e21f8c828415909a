import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { readEndpointSecrets } from '#db/events/webhook-endpoints.ts';
import { webhookDeliveries, webhookEndpoints, webhookEndpointSecrets } from '#db/schema.ts';
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
const { happen, queued } = endpointEvents(() => api);

describe('a webhook endpoint', () => {
  it('is created with a secret that no other answer contains, and that is stored encrypted', async () => {
    const key = randomUUID();
    const wanted = { url: URL_OF_SHOP, event_types: ['order.*'], description: 'Shop' };
    const made = await post('/v1/webhook-endpoints', wanted, key);
    expect([made.status, made.headers.get('location')]).toEqual([201, endpointPath(made.textAt('id'))]);
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
    for (const path of [
      endpointPath(made.textAt('id')),
      '/v1/webhook-endpoints',
      endpointPath(made.textAt('id'), '/deliveries'),
    ])
      expect((await caller.get(path)).text).not.toContain(secret);
    const rows = await api.database.run((db) => db.select().from(webhookEndpointSecrets));
    expect(rows).toHaveLength(1);
    expect(rows[0]!.encryptedSecret.includes(Buffer.from(secret.slice(6, 20)))).toBe(false);
    expect(
      await api.database.run((db) => readEndpointSecrets(db, api.keyRing, made.textAt('id'), new Date(TEST_NOW))),
    ).toEqual([secret]);
    expect(api.log.join('\n')).not.toContain(secret);
    expect(api.log.join('\n')).not.toContain('SECRET-PATH');
  });

  it.each([
    ['a private address', 'https://inside.example.com/hook', 'public address'],
    ['plain HTTP', 'http://shop.example.com/hook', 'https://'],
  ])('is refused with %s, on creation and on change', async (_, url, reason) => {
    const id = await created();
    for (const answer of [await create({ url }), await caller.call('PATCH', endpointPath(id), { body: { url } })]) {
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
    const changed = await caller.call('PATCH', endpointPath(ids[0]!), {
      body: { event_types: ['order.completed'], description: 'New' },
    });
    expect(changed.body).toMatchObject({ url: URL_OF_SHOP, event_types: ['order.completed'], description: 'New' });
    const first = await caller.get('/v1/webhook-endpoints?limit=2');
    const second = await caller.get(`/v1/webhook-endpoints?limit=2&cursor=${first.textAt('next_cursor')}`);
    expect([
      first.at('data', 0, 'id'),
      first.at('data', 1, 'id'),
      second.at('data', 0, 'id'),
      second.at('next_cursor'),
    ]).toEqual([ids[2], ids[1], ids[0], null]);
    expect((await caller.call('DELETE', endpointPath(ids[0]!), {})).body).toEqual({ id: ids[0], deleted: true });
    for (const answer of [
      await caller.get(endpointPath(ids[0]!)),
      await caller.call('DELETE', endpointPath(ids[0]!), {}),
      await post(endpointPath(ids[0]!, '/test')),
    ]) {
      expect([answer.status, answer.at('code')]).toEqual([404, 'webhook_endpoint_not_found']);
    }
    expect(
      await api.database.run((db) => db.$count(webhookEndpointSecrets, eq(webhookEndpointSecrets.endpointId, ids[0]!))),
    ).toBe(0);
    expect(await happen(['order.completed'])).toHaveLength(1);
    expect(await queued(ids[0]!)).toEqual([]);
    expect(await queued(ids[1]!)).toHaveLength(1);
  });

  it('clears its failures when the address changes, and keeps them otherwise', async () => {
    const id = await created();
    await happen(['order.held']);
    const later = new Date(TEST_NOW + 3_600_000);
    const failing = {
      failures: 9,
      failingSince: new Date(TEST_NOW - 1),
      lastFailure: 'it answered 503',
      retryAt: later,
    } as const;
    const fail = (more: object = {}) =>
      api.database.run((db) =>
        db
          .update(webhookEndpoints)
          .set({ ...failing, wakeIsUrgent: false, ...more })
          .where(eq(webhookEndpoints.id, id)),
      );
    const record = async () => {
      const [row] = await api.database.run((db) =>
        db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id)),
      );
      return row;
    };
    await fail();
    await api.database.run((db) => db.update(webhookDeliveries).set({ nextTryAt: later }));
    await caller.call('PATCH', endpointPath(id), { body: { url: URL_OF_SHOP, description: 'The same' } });
    await post(endpointPath(id, '/rotate-secret'), {});
    expect(await record()).toMatchObject({ ...failing, wakeIsUrgent: false });

    const moved = await caller.call('PATCH', endpointPath(id), { body: { url: `${URL_OF_SHOP}/new` } });
    expect(moved.body).toMatchObject({ failures: 0, failing_since: null, last_failure: null });
    expect(await record()).toMatchObject({ retryAt: null, wakeIsUrgent: true });
    const [delivery] = await api.database.run((db) => db.select().from(webhookDeliveries));
    expect(delivery).toMatchObject({ state: 'pending', nextTryAt: new Date(TEST_NOW) });

    const disabled = { disabledReason: 'failing', disabledAt: new Date(TEST_NOW) } as const;
    await fail(disabled);
    await caller.call('PATCH', endpointPath(id), { body: { url: URL_OF_SHOP } });
    expect(await record()).toMatchObject({ ...failing, ...disabled });
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
    const { rows } = await slow.database.run((db) =>
      db.execute(
        sql`select state from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
      ),
    );
    expect(rows).toEqual([]);
    answer.resolve(['203.0.113.7']);
    expect((await making).status).toBe(400);
  });
});
