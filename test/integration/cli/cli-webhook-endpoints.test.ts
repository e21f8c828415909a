import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { replayEvents, type ReplayOptions } from '#cli/operator/events.ts';
import { WEBHOOK_ENDPOINTS } from '#cli/resources/account.ts';
import { excerptAad } from '#db/encryption-aads.ts';
import { publishEvents } from '#db/events/event-log.ts';
import { webhookDeliveries, webhookTries } from '#db/schema.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { captured, outputOf } from '#test/support/cli-output.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { keyOf, startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();
const environment = { RESELLER_API_KEY: keyOf(caller) };
const headers = () => ({ headers: { 'idempotency-key': randomUUID() } });
const wanted = { url: 'https://shop.example.com/hook', event_types: ['order.*'] };
const id = (await caller.post('/v1/webhook-endpoints', wanted, headers())).textAt('id');

beforeAll(async () => {
  await caller.post('/v1/orders', { package_id: 101, external_order_id: 'desk-1' }, headers());
  await api.database.transaction(async (tx) => queueDeliveries(tx, await publishEvents(tx, 100), new Date(TEST_NOW)));
  const [delivery] = await api.database.run((db) => db.select().from(webhookDeliveries));
  const log = { deliveryId: delivery!.id, number: 1 };
  const encryptedExcerpt = api.keyRing.encrypt('restarting', excerptAad(log));
  await api.database.run((db) =>
    db.insert(webhookTries).values({ ...log, at: new Date(TEST_NOW), durationMs: 12, status: 503, encryptedExcerpt }),
  );
  await api.database.run((db) =>
    db.update(webhookDeliveries).set({ state: 'failed', nextTryAt: null, endedAt: new Date(TEST_NOW), tries: 1 }),
  );
});

async function replay(options: ReplayOptions): Promise<string> {
  const output = captured();
  await replayEvents(id, { ...options, api: api.baseUrl, data: '.data' }, environment, output);
  return output.text();
}

describe('reseller webhook-endpoints', () => {
  it('shows deliveries with the answers', async () => {
    const deliveries = async (options: Record<string, unknown> = {}) =>
      (await outputOf(WEBHOOK_ENDPOINTS.commands['deliveries'], { api: api.baseUrl, environment, ids: [id], options }))
        .output;
    expect(await deliveries()).toMatch(
      /^wd_\w+ +failed +order\.accepted +evt_\w+ +1 +2030-01-31 12:00:00Z +503 +12 +restarting$/m,
    );
    expect(await deliveries({ status: ['delivered'] })).toBe('Nothing was found.\n');
  });

  it('replays failed deliveries', async () => {
    expect(await replay({ since: '2030-01-01T00:00:00Z', which: 'failed' })).toBe('One delivery is queued.\n');
    expect((await api.database.run((db) => db.select().from(webhookDeliveries))).map(({ state }) => state)).toEqual([
      'pending',
    ]);
    await expect(replay({})).rejects.toThrow('Exactly one of');
  });
});
