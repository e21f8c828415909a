import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { deliveryOutput } from '#api/webhook-endpoints/webhook-delivery-schemas.ts';
import { generateWebhookSecret } from '#crypto/standard-webhooks.ts';
import { newId } from '#db/connection/ids.ts';
import { readEndpointSecrets } from '#db/events/endpoint-secrets.ts';
import { publishEvents, recordEvent } from '#db/events/event-log.ts';
import { countWebhookEndpoints, findWebhookEndpoint, listWebhookEndpoints } from '#db/events/webhook-endpoints.ts';
import {
  auditLog,
  events,
  webhookDeliveries,
  webhookEndpoints,
  webhookEndpointSecrets,
  webhookTries,
} from '#db/schema.ts';
import type { EventType } from '#domain/events/event-types.ts';
import { announceDisabled } from '#fulfilment/event-webhooks/endpoint-lifecycle.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { AddressPolicy } from '#outbound/address-policy.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

const URL_OF_SHOP = 'https://shop.example.com/hooks/SECRET-PATH';
let api: TestApi;
let caller: HttpClient;

beforeAll(async () => {
  api = await startTestApi();
  caller = await api.caller();
});
beforeEach(async () => {
  api.clock.now = TEST_NOW;
  for (const table of [webhookTries, webhookDeliveries, webhookEndpointSecrets, webhookEndpoints, events, auditLog])
    await api.database.run((db) => db.delete(table));
});
afterAll(() => api[Symbol.asyncDispose]());

const idempotent = (key: string = randomUUID()) => ({ headers: { 'idempotency-key': key } });
const post = (path: string, body?: unknown, key?: string) => caller.post(path, body, idempotent(key));
const create = (body: object = {}) => post('/v1/webhook-endpoints', { url: URL_OF_SHOP, ...body });
const created = async (body?: object) => (await create(body)).textAt('id');
const at = (id: string, action = '') => `/v1/webhook-endpoints/${id}${action}`;

/** Records and publishes events. @returns their ids. */
async function happen(
  types: readonly EventType[],
  { apiKeyId = 'key_a', now = api.clock.now }: { apiKeyId?: string | null; now?: number } = {},
): Promise<string[]> {
  return api.database.transaction(async (tx) => {
    for (const type of types) {
      await recordEvent(
        tx,
        { type, subject: { kind: 'order', id: newId('order') }, apiKeyId, data: { status: 'any' } },
        new Date(now),
      );
    }
    const published = await publishEvents(tx, 1_000);
    await queueDeliveries(tx, published, new Date(now));
    return published.map(({ id }) => id);
  });
}
const queued = async (endpointId: string) =>
  (
    await api.database.run((db) =>
      db
        .select()
        .from(webhookDeliveries)
        .where(eq(webhookDeliveries.endpointId, endpointId))
        .orderBy(webhookDeliveries.id),
    )
  ).map(({ eventId, state }) => [eventId, state]);
/** Stores many published events, one millisecond apart. */
async function happened(count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: newId('event'),
    position: BigInt(index + 1),
    type: 'order.held' as const,
    subjectKind: 'order' as const,
    subjectId: 'ord_1',
    data: {},
    occurredAt: new Date(TEST_NOW + index),
  }));
  for (let start = 0; start < rows.length; start += 5_000)
    await api.database.run((db) => db.insert(events).values(rows.slice(start, start + 5_000)));
}
const settle = (endpointId: string, state: 'delivered' | 'failed') =>
  api.database.run((db) =>
    db
      .update(webhookDeliveries)
      .set({ state, nextTryAt: null, endedAt: new Date(api.clock.now) })
      .where(eq(webhookDeliveries.endpointId, endpointId)),
  );

describe('a webhook endpoint', () => {
  it('is created with a secret that no other answer contains, and that is stored encrypted', async () => {
    const key = randomUUID();
    const made = await post(
      '/v1/webhook-endpoints',
      { url: URL_OF_SHOP, event_types: ['order.*'], description: 'Shop' },
      key,
    );
    expect([made.status, made.headers.get('location')]).toEqual([201, at(made.textAt('id'))]);
    const secret = made.textAt('secret');
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made.body).toMatchObject({
      status: 'enabled',
      event_types: ['order.*'],
      own_work_only: false,
      failures: 0,
      missed_since: null,
    });

    const again = await post(
      '/v1/webhook-endpoints',
      { url: URL_OF_SHOP, event_types: ['order.*'], description: 'Shop' },
      key,
    );
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([made.text, 'true']);
    for (const path of [at(made.textAt('id')), '/v1/webhook-endpoints', at(made.textAt('id'), '/deliveries')])
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
    ['one private address among public ones', 'https://both.example.com/hook', 'public address'],
    ['the metadata of a cloud', 'http://169.254.169.254/latest/meta-data/', 'public address'],
    ['an address in another form', 'https://[::ffff:10.0.0.1]/', 'public address'],
    ['a number', 'https://167772161/', 'public address'],
    ['plain HTTP', 'http://shop.example.com/hook', 'https://'],
    ['credentials', 'https://user:password@shop.example.com/', 'user name'],
    ['another scheme', 'file:///etc/passwd', 'https://'],
    ['a port of something else', 'https://shop.example.com:25/', 'port'],
  ])('is refused with %s, on creation and on change', async (_, url, reason) => {
    const id = await created();
    for (const answer of [await create({ url }), await caller.call('PATCH', at(id), { body: { url } })]) {
      expect([answer.status, answer.at('errors', 0, 'field')]).toEqual([400, 'url']);
      expect(answer.textAt('errors', 0, 'message')).toContain(reason);
    }
    expect((await caller.get(at(id))).textAt('url')).toBe(URL_OF_SHOP);
  });

  it.each([
    'https://shop.example.com/\u0000',
    'https://shop.example.com/a\tb',
    'https://shop.example.com/\r\nX: y',
    ' https://shop.example.com/',
  ])('is refused with control characters or spaces in its address: %j', async (url) => {
    const made = await create({ url });
    expect([made.status, made.at('errors', 0, 'field')]).toEqual([400, 'url']);
    const changed = await caller.call('PATCH', at(await created()), { body: { url } });
    expect([changed.status, changed.at('errors', 0, 'field')]).toEqual([400, 'url']);
  });

  it('accepts only patterns that select an event type', async () => {
    for (const types of [[], ['order'], ['order.submitting'], ['*.completed'], 'order.*', [7]])
      expect((await create({ event_types: types })).status, JSON.stringify(types)).toBe(400);
    expect((await create({})).at('event_types')).toEqual(['*']);
  });

  it('is changed in part, listed in pages, and deleted together with its secrets', async () => {
    const ids = [await created(), await created(), await created()];
    const changed = await caller.call('PATCH', at(ids[0]!), {
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
    expect((await caller.call('DELETE', at(ids[0]!), {})).body).toEqual({ id: ids[0], deleted: true });
    for (const answer of [
      await caller.get(at(ids[0]!)),
      await caller.call('DELETE', at(ids[0]!), {}),
      await post(at(ids[0]!, '/test')),
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
    await caller.call('PATCH', at(id), { body: { url: URL_OF_SHOP, description: 'The same' } });
    await post(at(id, '/rotate-secret'), {});
    expect(await record()).toMatchObject({ ...failing, wakeIsUrgent: false });

    const moved = await caller.call('PATCH', at(id), { body: { url: `${URL_OF_SHOP}/new` } });
    expect(moved.body).toMatchObject({ failures: 0, failing_since: null, last_failure: null });
    expect(await record()).toMatchObject({ retryAt: null, wakeIsUrgent: true });
    const [delivery] = await api.database.run((db) => db.select().from(webhookDeliveries));
    expect(delivery).toMatchObject({ state: 'pending', nextTryAt: new Date(TEST_NOW) });

    const disabled = { disabledReason: 'failing', disabledAt: new Date(TEST_NOW) } as const;
    await fail(disabled);
    await caller.call('PATCH', at(id), { body: { url: URL_OF_SHOP } });
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

  const crowd = (count: number, ownerId: string | null = null) => {
    const row = {
      apiKeyId: 'key_a',
      ownerId,
      url: URL_OF_SHOP,
      eventTypes: ['*'],
      createdAt: new Date(),
      updatedAt: new Date(),
    };
    return api.database.run((db) =>
      db
        .insert(webhookEndpoints)
        .values(Array.from({ length: count }, () => ({ ...row, id: newId('webhookEndpoint') }))),
    );
  };

  it('has a limit of its number', async () => {
    await crowd(100);
    expect([(await create()).status, (await create()).at('code')]).toEqual([409, 'webhook_endpoint_limit']);
  });

  it('has a limit of its number that also holds for concurrent creations', async () => {
    await crowd(99);
    let second: ReturnType<typeof create> | undefined;
    await api.database.transaction(async (tx) => {
      expect(await countWebhookEndpoints(tx, undefined)).toBe(99);
      second = create();
      await waitFor('it waits for the one that counted first', async () => {
        const { rows } = await api.database.run((db) =>
          db.execute(sql`select 1 from pg_locks where locktype = 'advisory' and not granted`),
        );
        return rows.length > 0;
      });
      const wanted = { apiKeyId: 'key_a', ownerId: undefined, url: URL_OF_SHOP, description: null, eventTypes: ['*'] };
      await addWebhookEndpoint(tx, api.keyRing, wanted, generateWebhookSecret(), new Date(TEST_NOW));
    });
    expect((await second)?.at('code')).toBe('webhook_endpoint_limit');
  });

  it('of an own-work key counts only for the limit of that key', async () => {
    await crowd(100, 'key_other');
    const limited = await api.caller(undefined, { ownWorkOnly: true });
    const made = await limited.post('/v1/webhook-endpoints', { url: URL_OF_SHOP }, idempotent());
    expect([made.status, (await create()).status]).toEqual([201, 201]);
    await crowd(99, made.textAt('created_by'));
    expect((await limited.post('/v1/webhook-endpoints', { url: URL_OF_SHOP }, idempotent())).at('code')).toBe(
      'webhook_endpoint_limit',
    );
    expect((await create()).status).toBe(201);
  });

  it.each(['typo', '', 'we_01JQ8Z5YV7N4M2K3H6T9R0WXCD'])('is not listed by an invalid API key id: %j', async (key) => {
    const answer = await caller.get(`/v1/webhook-endpoints?created_by=${key}`);
    expect([answer.status, answer.at('errors', 0, 'field')]).toEqual([400, 'created_by']);
  });

  it('has each action in the audit log, with its actor', async () => {
    const id = await created();
    // All fields of these bodies are optional.
    expect((await post(at(id, '/rotate-secret'))).status).toBe(200);
    await post(at(id, '/test'));
    await caller.post(at(id, '/disable'));
    expect((await caller.post(at(id, '/enable'))).status).toBe(200);
    await post(at(id, '/replay'), { since: '2030-01-31T00:00:00Z' });
    await caller.call('PATCH', at(id), { body: { description: null } });
    await caller.call('DELETE', at(id), {});
    const rows = await api.database.run((db) => db.select().from(auditLog).orderBy(auditLog.id));
    expect(rows.map(({ action }) => action.replace('webhook_endpoint.', ''))).toEqual([
      'create',
      'rotate_secret',
      'test',
      'disable',
      'enable',
      'replay',
      'update',
      'delete',
    ]);
    expect(new Set(rows.map(({ subjectId }) => subjectId))).toEqual(new Set([id]));
  });

  it('has its creation and changes in the audit log, without path, query, secret and description', async () => {
    const id = await created({ event_types: ['order.*', 'topup.held'], description: 'SECRET-NOTE' });
    const change = (body: object) => caller.call('PATCH', at(id), { body });
    await change({ url: 'https://shop.example.com/other?token=SECRET-QUERY' });
    await change({ url: 'https://93.184.215.14:8443/SECRET-PATH', event_types: ['*'] });
    await change({ description: 'SECRET-OTHER-NOTE' });
    await change({ event_types: ['*'] });
    const rows = await api.database.run((db) => db.select().from(auditLog).orderBy(auditLog.id));
    expect(rows.map(({ reason }) => reason)).toEqual([
      'url: https://shop.example.com; event_types: order.*, topup.held; description',
      'url: another path or query at https://shop.example.com',
      'url: from https://shop.example.com to https://93.184.215.14:8443; event_types: from order.*, topup.held to *',
      'description',
      'nothing changed',
    ]);
    expect(
      JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain('SECRET');
  });

  it('requires its scopes', async () => {
    const reader = await api.caller(['webhook_endpoints:read']);
    const id = await created();
    expect((await reader.get(at(id))).status).toBe(200);
    for (const answer of [
      await reader.post('/v1/webhook-endpoints', { url: URL_OF_SHOP }, idempotent()),
      await reader.call('DELETE', at(id), {}),
      await reader.post(at(id, '/disable')),
    ]) {
      expect(answer.at('missing_scope')).toBe('webhook_endpoints:write');
    }
    expect((await (await api.caller(['orders:read'])).get('/v1/webhook-endpoints')).status).toBe(403);
  });
});

describe('a secret rotation', () => {
  it('lets the former secret sign during the overlap, and a shorter overlap ends earlier ones', async () => {
    const id = await created();
    const secretsAt = (ms: number) =>
      api.database.run((db) => readEndpointSecrets(db, api.keyRing, id, new Date(TEST_NOW + ms)));
    const [first] = await secretsAt(0);
    const rotated = await post(at(id, '/rotate-secret'), {});
    expect(rotated.at('former_signs_until')).toBe(new Date(TEST_NOW + 3_600_000).toISOString());
    expect(await secretsAt(3_599_000)).toEqual([rotated.textAt('secret'), first]);
    expect(await secretsAt(3_600_000)).toEqual([rotated.textAt('secret')]);
    api.clock.now += 60_000;
    const leaked = await post(at(id, '/rotate-secret'), { overlap_seconds: 0 });
    expect(await secretsAt(60_000)).toEqual([leaked.textAt('secret')]);
    expect(await api.database.run((db) => db.$count(webhookEndpointSecrets))).toBe(1);
  });
});

describe('published events', () => {
  it('are queued once for each selected endpoint, in the transaction that publishes them', async () => {
    const [all, orders, completed] = [
      await created(),
      await created({ event_types: ['order.*'] }),
      await created({ event_types: ['order.completed', 'wallet.*'] }),
    ];
    const [one, two, three] = await happen(['order.held', 'order.completed', 'wallet.balance_low']);
    expect((await queued(all)).map(([id]) => id)).toEqual([one, two, three]);
    expect((await queued(orders)).map(([id]) => id)).toEqual([one, two]);
    expect((await queued(completed)).map(([id]) => id)).toEqual([two, three]);
    await expect(
      api.database.transaction(async (tx) => {
        await recordEvent(
          tx,
          { type: 'order.held', subject: { kind: 'order', id: 'ord_x' }, apiKeyId: null, data: {} },
          new Date(),
        );
        await queueDeliveries(tx, await publishEvents(tx, 10), new Date());
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await queued(all)).toHaveLength(3);
  });

  it('of an own-work key are sent only to the endpoint of that key', async () => {
    const id = await created();
    await api.database.run((db) =>
      db.update(webhookEndpoints).set({ ownerId: 'key_own' }).where(eq(webhookEndpoints.id, id)),
    );
    const [own] = await happen(['order.completed'], { apiKeyId: 'key_own' });
    const [other] = await happen(['order.completed'], { apiKeyId: 'key_other' });
    const [account] = await happen(['wallet.balance_low'], { apiKeyId: null });
    expect(await queued(id)).toEqual([[own, 'pending']]);
    for (const eventId of [other, account])
      expect((await post(at(id, '/replay'), { event_id: eventId })).at('code')).toBe('event_not_found');
    await settle(id, 'delivered');
    expect((await post(at(id, '/replay'), { since: '2030-01-01T00:00:00Z' })).at('queued')).toBe(1);
  });

  it('of a test are sent to the tested endpoint, regardless of its filter', async () => {
    const [one, other] = [await created({ event_types: ['wallet.balance_low'] }), await created()];
    const tested = await post(at(one, '/test'));
    expect(tested.status).toBe(202);
    await happen([]);
    expect(await queued(one)).toHaveLength(1);
    expect(await queued(other)).toEqual([]);
    const [event] = await api.database.run((db) => db.select().from(events));
    expect(tested.body).toEqual({ event_id: event!.id, queued: 1, next_since: null });
    expect((await post(at(other, '/replay'), { event_id: event!.id })).at('code')).toBe('event_not_found');
    expect((await post(at(other, '/replay'), { since: '2030-01-01T00:00:00Z' })).at('queued')).toBe(0);
  });

  it('wake the workflow of their endpoints, and no request is lost', async () => {
    const id = await created();
    await happen(['order.held']);
    await happen(['order.held']);
    const [row] = await api.database.run((db) => db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id)));
    expect([row!.wakesRequested, row!.wakesSent]).toEqual([2n, 0n]);
  });
});

describe('the deliveries of an endpoint', () => {
  it.each(['typo', '', 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD'])(
    'are not listed by an invalid event id: %j',
    async (eventId) => {
      const answer = await caller.get(`${at(await created(), '/deliveries')}?event_id=${eventId}`);
      expect([answer.status, answer.at('errors', 0, 'field')]).toEqual([400, 'event_id']);
    },
  );
});

describe('a pending delivery', () => {
  it('shows its real next try, not before the next try of its endpoint', async () => {
    const id = await created();
    await happen(['order.held', 'order.completed']);
    const minute = (n: number) => new Date(api.clock.now + n * 60_000);
    const [held, later] = (await queued(id)).map(([eventId]) => eventId!);
    const waits = (eventId: string, nextTryAt: Date) =>
      api.database.run((db) =>
        db.update(webhookDeliveries).set({ nextTryAt }).where(eq(webhookDeliveries.eventId, eventId)),
      );
    await waits(held!, minute(-1));
    await waits(later!, minute(20));
    const shown = async (retryAt: Date | null) => {
      await api.database.run((db) => db.update(webhookEndpoints).set({ retryAt }).where(eq(webhookEndpoints.id, id)));
      const { data } = (await caller.get(at(id, '/deliveries'))).read(z.object({ data: z.array(deliveryOutput) }));
      return [held, later].map((eventId) => data.find(({ event_id: each }) => each === eventId)?.next_try_at);
    };
    expect(await shown(minute(10))).toEqual([minute(10).toISOString(), minute(20).toISOString()]);
    expect(await shown(null)).toEqual([minute(-1).toISOString(), minute(20).toISOString()]);
    await settle(id, 'delivered');
    expect(await shown(minute(10))).toEqual([null, null]);
  });
});

describe('a replay', () => {
  const hour = (n: number) => TEST_NOW + n * 3_600_000;

  it('covers one event, one delivery, all since a time, failed ones, or missed ones', async () => {
    const [before] = await happen(['order.held'], { now: hour(0) });
    const id = await created();
    const [delivered] = await happen(['order.completed'], { now: hour(1) });
    await settle(id, 'delivered');
    const [failed] = await happen(['order.failed'], { now: hour(2) });
    await api.database.run((db) =>
      db
        .update(webhookDeliveries)
        .set({ state: 'failed', nextTryAt: null, endedAt: new Date(hour(3)) })
        .where(eq(webhookDeliveries.eventId, failed!)),
    );
    const asItWas = await api.database.run((db) => db.select().from(webhookDeliveries));
    const sorted = (...ids: (string | undefined)[]) =>
      ids.map(String).toSorted((left, right) => left.localeCompare(right));
    const replayed = async (body: object) => {
      const answer = await post(at(id, '/replay'), body);
      const pending = (await queued(id)).filter(([, state]) => state === 'pending').map(([eventId]) => eventId);
      await api.database.run((db) => db.delete(webhookDeliveries));
      await api.database.run((db) => db.insert(webhookDeliveries).values(asItWas));
      return [answer.at('queued'), sorted(...pending)];
    };
    expect(await replayed({ event_id: before })).toEqual([1, [before]]);
    expect(await replayed({ delivery_id: asItWas[0]!.id })).toEqual([1, [delivered]]);
    expect(await replayed({ since: new Date(hour(0)).toISOString() })).toEqual([3, sorted(before, delivered, failed)]);
    expect(await replayed({ since: new Date(hour(1)).toISOString(), which: 'all' })).toEqual([
      2,
      sorted(delivered, failed),
    ]);
    expect(await replayed({ since: new Date(hour(0)).toISOString(), which: 'failed' })).toEqual([1, [failed]]);
    expect(await replayed({ since: new Date(hour(0)).toISOString(), which: 'missed' })).toEqual([
      2,
      sorted(before, failed),
    ]);
    expect(
      await replayed({
        since: new Date(hour(0)).toISOString(),
        until: new Date(hour(1)).toISOString(),
        which: 'missed',
      }),
    ).toEqual([1, [before]]);
  });

  it('keeps the delivery and its number of tries, and restarts its time limit', async () => {
    const id = await created();
    await happen(['order.completed']);
    await api.database.run((db) =>
      db
        .update(webhookDeliveries)
        .set({ state: 'failed', nextTryAt: null, endedAt: new Date(), tries: 23, failedTries: 23 }),
    );
    const [before] = await api.database.run((db) => db.select().from(webhookDeliveries));
    api.clock.now += 86_400_000;
    await post(at(id, '/replay'), { delivery_id: before!.id });
    const [after] = await api.database.run((db) => db.select().from(webhookDeliveries));
    expect(after).toMatchObject({
      id: before!.id,
      state: 'pending',
      tries: 23,
      failedTries: 0,
      triedSince: new Date(api.clock.now),
      nextTryAt: new Date(api.clock.now),
      endedAt: null,
    });
  });

  it('beyond the limit of one call continues with the next call', async () => {
    const id = await created();
    await happened(10_050);
    const first = await post(at(id, '/replay'), { since: new Date(TEST_NOW).toISOString() });
    expect(first.body).toEqual({ queued: 10_000, next_since: new Date(TEST_NOW + 10_000).toISOString() });
    const second = await post(at(id, '/replay'), { since: first.textAt('next_since') });
    expect(second.body).toEqual({ queued: 50, next_since: null });
    expect(await queued(id)).toHaveLength(10_050);
  });

  it('requires exactly one selection, which must exist', async () => {
    const [id, other] = [await created(), await created()];
    await happen(['order.held']);
    const [ofOther] = await api.database.run((db) =>
      db.select().from(webhookDeliveries).where(eq(webhookDeliveries.endpointId, other)),
    );
    for (const body of [
      {},
      { event_id: 'evt_x', since: '2030-01-01T00:00:00Z' },
      { event_id: 'evt_x', which: 'all' },
      { delivery_id: 'wd_x', until: '2030-01-01T00:00:00Z' },
      { since: 'yesterday' },
    ]) {
      expect((await post(at(id, '/replay'), body)).status, JSON.stringify(body)).toBe(400);
    }
    expect((await post(at(id, '/replay'), { event_id: 'evt_x' })).at('code')).toBe('event_not_found');
    expect((await post(at(id, '/replay'), { delivery_id: ofOther!.id })).at('code')).toBe('webhook_delivery_not_found');
  });
});

describe('a disabled endpoint', () => {
  it('gets nothing, can be neither tested nor replayed, and gets missed events when it is enabled', async () => {
    const id = await created();
    api.clock.now += 1_000;
    expect((await caller.post(at(id, '/disable'))).body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'request',
      missed_since: new Date(api.clock.now).toISOString(),
    });
    const [missed] = await happen(['order.completed'], { now: api.clock.now + 60_000 });
    expect(await queued(id)).toEqual([]);
    for (const answer of [
      await post(at(id, '/test')),
      await post(at(id, '/replay'), { since: '2030-01-01T00:00:00Z' }),
    ])
      expect(answer.at('code')).toBe('webhook_endpoint_disabled');
    expect((await caller.post(at(id, '/enable'), { replay_missed: true })).body).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      missed_since: null,
    });
    expect(await queued(id)).toEqual([[missed, 'pending']]);
  });

  it('gets all missed events in portions when it is enabled', async () => {
    const id = await created();
    await caller.post(at(id, '/disable'));
    await happened(10_050);
    const enabled = await caller.post(at(id, '/enable'), { replay_missed: true });
    const from = new Date(TEST_NOW + 10_000).toISOString();
    expect(enabled.body).toMatchObject({ status: 'enabled', missed_since: from });
    expect(await queued(id)).toHaveLength(10_000);

    // Disabled before the rest was queued, so the rest is still missed.
    await settle(id, 'delivered');
    api.clock.now += 3_600_000;
    expect((await caller.post(at(id, '/disable'))).at('missed_since')).toBe(from);
    await caller.post(at(id, '/enable'), { replay_missed: true });
    expect((await queued(id)).filter(([, state]) => state === 'pending')).toHaveLength(50);
    expect((await caller.get(at(id))).at('missed_since')).toBeNull();
  });

  it('enabled without a replay gets no missed events', async () => {
    const id = await created();
    await caller.post(at(id, '/disable'));
    await api.database.run((db) => db.update(webhookEndpoints).set({ missedSince: new Date(TEST_NOW - 1) }));
    await happened(3);
    expect((await caller.post(at(id, '/enable'))).body).toMatchObject({ status: 'enabled', missed_since: null });
    expect(await queued(id)).toEqual([]);
  });

  it('misses no event that is published during its activation', async () => {
    const id = await created();
    await caller.post(at(id, '/disable'));
    let enabled: ReturnType<HttpClient['post']> | undefined;
    const [eventId] = await api.database.transaction(async (tx) => {
      await recordEvent(
        tx,
        { type: 'order.held', subject: { kind: 'order', id: newId('order') }, apiKeyId: 'key_a', data: {} },
        new Date(TEST_NOW),
      );
      // It is still disabled for this transaction.
      const published = await publishEvents(tx, 10);
      await queueDeliveries(tx, published, new Date(TEST_NOW));
      enabled = caller.post(at(id, '/enable'), { replay_missed: true });
      await waitFor('it waits for the end of the publication', async () => {
        const { rows } = await api.database.run((db) =>
          db.execute(sql`select 1 from pg_locks where locktype = 'advisory' and not granted`),
        );
        return rows.length > 0;
      });
      return published.map((event) => event.id);
    });
    expect((await enabled)?.status).toBe(200);
    expect(await queued(id)).toEqual([[eventId, 'pending']]);
  });

  it('disabled after failures shows the start of its missed events, and an event reports it', async () => {
    const id = await created();
    const [early] = await happen(['order.completed'], { now: TEST_NOW - 3_600_000 });
    await api.database.transaction(async (tx) => {
      const failing = {
        disabledReason: 'failing',
        disabledAt: new Date(TEST_NOW),
        failures: 30,
        failingSince: new Date(TEST_NOW - 3_600_000),
        lastFailure: 'it answered 503',
      } as const;
      const [row] = await tx.update(webhookEndpoints).set(failing).where(eq(webhookEndpoints.id, id)).returning();
      await announceDisabled(tx, row!, { reason: 'failing', detail: 'it answered 503' }, new Date(TEST_NOW));
    });
    await settle(id, 'failed');
    const shown = await caller.get(at(id));
    expect(shown.body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'failing',
      last_failure: 'it answered 503',
      failures: 30,
      missed_since: new Date(TEST_NOW - 3_600_000).toISOString(),
    });
    expect((await caller.post(at(id, '/disable'))).body).toMatchObject({
      disabled_reason: 'request',
      disabled_at: new Date(TEST_NOW).toISOString(),
    });
    await caller.post(at(id, '/enable'), { replay_missed: true });
    expect(await queued(id)).toContainEqual([early, 'pending']);
  });
});

describe('an own-work key', () => {
  it('sees only its own endpoints', async () => {
    // As with `caller.ownerId`. Other tests check which callers have one.
    const [mine, others] = [await created(), await created()];
    await api.database.run((db) =>
      db.update(webhookEndpoints).set({ ownerId: 'key_own' }).where(eq(webhookEndpoints.id, mine)),
    );
    const page = { limit: 10, after: undefined };
    expect((await api.database.run((db) => listWebhookEndpoints(db, 'key_own', {}, page))).map(({ id }) => id)).toEqual(
      [mine],
    );
    expect(await api.database.run((db) => findWebhookEndpoint(db, others, 'key_own'))).toBeUndefined();
    expect((await api.database.run((db) => listWebhookEndpoints(db, undefined, {}, page))).map(({ id }) => id)).toEqual(
      [others, mine],
    );
  });
});
