import { beforeAll, describe, expect, it } from 'vitest';
import { replayEvents, type ReplayOptions } from '#cli/operator/events.ts';
import { WEBHOOK_ENDPOINTS } from '#cli/resources/account.ts';
import { excerptAad } from '#db/encryption-aads.ts';
import { publishEvents } from '#db/events/event-log.ts';
import { webhookDeliveries, webhookTries } from '#db/schema.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { captured, outputOf } from '#test/support/cli-output.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { keyOf, startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();
const environment = { RESELLER_API_KEY: keyOf(caller) };
const wanted = { url: 'https://shop.example.com/hook', event_types: ['order.*'] };
const endpoint = (await postOnce(caller, '/v1/webhook-endpoints', wanted)).textAt('id');

describe('reseller webhook-endpoints', () => {
  const now = new Date(TEST_NOW);
  const deliveries = () => api.database.run((db) => db.select().from(webhookDeliveries));

  beforeAll(async () => {
    await postOnce(caller, '/v1/orders', { package_id: 101, external_order_id: 'desk-1' });
    await api.database.transaction(async (tx) => queueDeliveries(tx, await publishEvents(tx, 100), now));
    const [delivery] = await deliveries();
    const log = { deliveryId: delivery!.id, number: 1 };
    const encryptedExcerpt = api.keyRing.encrypt('restarting', excerptAad(log));
    const answer = { ...log, at: now, durationMs: 12, status: 503, encryptedExcerpt };
    await api.database.run((db) => db.insert(webhookTries).values(answer));
    const end = { state: 'failed', nextTryAt: null, endedAt: now, tries: 1 } as const;
    await api.database.run((db) => db.update(webhookDeliveries).set(end));
  });

  it('shows deliveries with the answers', async () => {
    const shown = async (options: Record<string, unknown> = {}) => {
      const typed = { api: api.baseUrl, environment, ids: [endpoint], options };
      return (await outputOf(WEBHOOK_ENDPOINTS.commands['deliveries'], typed)).output;
    };
    expect(await shown()).toMatch(
      /^wd_\w+ +failed +order\.accepted +evt_\w+ +1 +2030-01-31 12:00:00Z +503 +12 +restarting$/m,
    );
    expect(await shown({ status: ['delivered'] })).toBe('Nothing was found.\n');
  });

  it('replays failed deliveries', async () => {
    const replay = async (options: ReplayOptions) => {
      const output = captured();
      await replayEvents(endpoint, { ...options, api: api.baseUrl, data: '.data' }, environment, output);
      return output.text();
    };
    expect(await replay({ since: '2030-01-01T00:00:00Z', which: 'failed' })).toBe('One delivery is queued.\n');
    expect((await deliveries()).map(({ state }) => state)).toEqual(['pending']);
    await expect(replay({})).rejects.toThrow('Exactly one of');
  });
});
