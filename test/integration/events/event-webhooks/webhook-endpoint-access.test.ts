import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { newId } from '#db/connection/ids.ts';
import { countWebhookEndpoints, readEndpointSecrets } from '#db/events/webhook-endpoints.ts';
import { auditLog, webhookEndpoints, webhookEndpointSecrets } from '#db/schema.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { endpointCalls, endpointPath, forgetEndpoints, URL_OF_SHOP } from '#test/support/api/webhook-endpoint-calls.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { isWaitingForLock } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = await startTestApi();
const caller = await api.caller();
beforeEach(() => forgetEndpoints(api));
afterAll(() => api[Symbol.asyncDispose]());

const { post, create, created } = endpointCalls(() => caller);
const audited = () => api.database.run((db) => db.select().from(auditLog).orderBy(auditLog.id));

describe('a webhook endpoint', () => {
  const crowd = (count: number, ownerId: string | null = null) => {
    const times = { createdAt: new Date(), updatedAt: new Date() };
    const row = { apiKeyId: 'key_a', ownerId, url: URL_OF_SHOP, eventTypes: ['*'], ...times };
    const rows = Array.from({ length: count }, () => ({ ...row, id: newId('webhookEndpoint') }));
    return api.database.run((db) => db.insert(webhookEndpoints).values(rows));
  };

  it('has a limit of its number that also holds for concurrent creations', async () => {
    await crowd(99);
    let second: ReturnType<typeof create> | undefined;
    await api.database.transaction(async (tx) => {
      expect(await countWebhookEndpoints(tx, undefined)).toBe(99);
      second = create();
      await waitFor('it waits for the one that counted first', () => isWaitingForLock(api.database));
      const wanted = { apiKeyId: 'key_a', ownerId: undefined, url: URL_OF_SHOP, description: null, eventTypes: ['*'] };
      await addWebhookEndpoint(tx, api.keyRing, wanted, generateWebhookSecret(), new Date(TEST_NOW));
    });
    expect((await second)?.at('code')).toBe('webhook_endpoint_limit');
  });

  it('of an own-work key counts only for the limit of that key', async () => {
    await crowd(100, 'key_other');
    const limited = await api.caller(undefined, { ownWorkOnly: true });
    const own = endpointCalls(() => limited);
    const made = await own.create();
    expect([made.status, (await create()).status]).toEqual([201, 201]);
    await crowd(99, made.textAt('created_by'));
    expect((await own.create()).at('code')).toBe('webhook_endpoint_limit');
    expect((await create()).status).toBe(201);
  });

  it('has each action in the audit log, with its actor', async () => {
    const id = await created();
    // All fields of these bodies are optional.
    expect((await post(endpointPath(id, '/rotate-secret'))).status).toBe(200);
    await post(endpointPath(id, '/test'));
    await caller.post(endpointPath(id, '/disable'));
    expect((await caller.post(endpointPath(id, '/enable'))).status).toBe(200);
    await post(endpointPath(id, '/replay'), { since: '2030-01-31T00:00:00Z' });
    await caller.patch(endpointPath(id), { description: null });
    await caller.delete(endpointPath(id));
    const rows = await audited();
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
    const change = (body: object) => caller.patch(endpointPath(id), body);
    await change({ url: 'https://shop.example.com/other?token=SECRET-QUERY' });
    await change({ url: 'https://93.184.215.14:8443/SECRET-PATH', event_types: ['*'] });
    await change({ description: 'SECRET-OTHER-NOTE' });
    await change({ event_types: ['*'] });
    const rows = await audited();
    expect(rows.map(({ reason }) => reason)).toEqual([
      'url: https://shop.example.com; event_types: order.*, topup.held; description',
      'url: another path or query at https://shop.example.com',
      'url: from https://shop.example.com to https://93.184.215.14:8443; event_types: from order.*, topup.held to *',
      'description',
      'nothing changed',
    ]);
    expect(JSON.stringify(rows.map((row) => ({ ...row, id: '' })))).not.toContain('SECRET');
  });
});

describe('a secret rotation', () => {
  it('lets the former secret sign during the overlap, and a shorter overlap ends earlier ones', async () => {
    const id = await created();
    const secretsAt = (ms: number) =>
      api.database.run((db) => readEndpointSecrets(db, api.keyRing, id, new Date(TEST_NOW + ms)));
    const [first] = await secretsAt(0);
    const rotated = await post(endpointPath(id, '/rotate-secret'), {});
    expect(rotated.at('former_signs_until')).toBe(new Date(TEST_NOW + 3_600_000).toISOString());
    expect(await secretsAt(3_599_000)).toEqual([rotated.textAt('secret'), first]);
    expect(await secretsAt(3_600_000)).toEqual([rotated.textAt('secret')]);
    api.clock.now += 60_000;
    const leaked = await post(endpointPath(id, '/rotate-secret'), { overlap_seconds: 0 });
    expect(await secretsAt(60_000)).toEqual([leaked.textAt('secret')]);
    expect(await api.database.run((db) => db.$count(webhookEndpointSecrets))).toBe(1);
  });
});
