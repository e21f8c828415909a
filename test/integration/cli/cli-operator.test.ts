/** Commands of an operator: the deliveries of events, and the rules of prices. */
import { beforeAll, describe, expect, it } from 'vitest';
import { replayEvents, type ReplayOptions } from '#cli/operator/events.ts';
import { endRule, setRule, type SetOptions } from '#cli/operator/pricing.ts';
import { WEBHOOK_ENDPOINTS } from '#cli/resources/account.ts';
import { PRICING } from '#cli/resources/catalogue.ts';
import { excerptAad } from '#db/encryption-aads.ts';
import { publishEvents } from '#db/events/event-log.ts';
import { webhookDeliveries, webhookTries } from '#db/schema.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { captured, outputOf } from '#test/support/cli-output.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { keyOf, startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const at = { api: api.baseUrl, data: '.data' };
const pricing = { RESELLER_API_KEY: keyOf(await api.caller(['pricing:read', 'pricing:write'])) };
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
      await replayEvents(endpoint, { ...options, ...at }, environment, output);
      return output.text();
    };
    expect(await replay({ since: '2030-01-01T00:00:00Z', which: 'failed' })).toBe('One delivery is queued.\n');
    expect((await deliveries()).map(({ state }) => state)).toEqual(['pending']);
    await expect(replay({})).rejects.toThrow('Exactly one of');
  });
});

describe('reseller pricing', () => {
  const set = async (options: SetOptions) => {
    const output = captured();
    await setRule(options, pricing, output);
    return output.text();
  };
  const printed = async (command: string, ids: string[] = []) =>
    (await outputOf(PRICING.commands[command], { api: api.baseUrl, environment: pricing, ids })).output;

  it('creates a rule, changes it, lists both versions with their reasons, and ends it', async () => {
    expect(await printed('list')).toBe('Nothing was found.\n');

    const of = { ...at, country: 'DE', currency: 'EUR' };
    const rounded = { margin: '35%+0.50', step: '1', ending: '0.99', maxPriceDrift: '2' };
    const created = await set({ ...of, ...rounded, reason: 'Spring.' });
    const id =
      /^Created: (rule_\w+) {2}country DE in EUR, version 1: margin 35% \+ 0\.50, /.exec(created)?.[1] ?? 'none';
    expect(await set({ ...of, minimumMargin: '1.00', maxPriceDrift: '0', reason: 'Summer.' })).toMatch(
      new RegExp(`^Changed: ${id} {2}country DE in EUR, version 2: margin 0% \\+ 0, at least 0% \\+ 1\\.00, drift 0 %`),
    );
    await set({ ...at, default: true, currency: 'EUR', margin: '20%', maxPriceDrift: '0', reason: 'All else.' });

    const rules = await printed('list');
    expect(rules).toMatch(/^ID +TARGET +TARGET ID +CURRENCY +MARGIN/);
    expect(rules).toMatch(new RegExp(`^${id} +country +DE +EUR +0% \\+ 0 +0% \\+ 1\\.00`, 'm'));
    expect(rules).toMatch(/^rule_\w+ +default +EUR +20% \+ 0/m);
    expect(await printed('versions', [id])).toMatch(
      /\n2 +changed +\S+ \S+ +key_\w+ +Summer\..*\n1 +created +\S+ \S+ +key_\w+ +Spring\./,
    );
    const output = captured();
    await endRule(id, { ...at, reason: 'Over.' }, pricing, output);
    expect(output.text()).toContain(`${id}  ended at`);
  });

  it('reports missing and invalid options before it calls the API', async () => {
    const some = { ...at, currency: 'EUR', maxPriceDrift: '0', reason: 'x' };
    await expect(set(some)).rejects.toThrow('has no target');
    await expect(set({ ...some, default: true, margin: 'a lot' })).rejects.toThrow('is not a margin');
    await expect(set({ ...some, default: true, ending: '0.99' })).rejects.toThrow('need --step');
    await expect(set({ ...some, package: 'x1' })).rejects.toThrow('is not an id');
  });
});
