import { eq } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { deliveryOutput } from '#api/webhook-endpoints/webhook-endpoint-schemas.ts';
import { newId } from '#db/connection/ids.ts';
import { publishEvents } from '#db/events/event-log.ts';
import { events, webhookDeliveries } from '#db/schema.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { disableWebhookEndpoint } from '#fulfilment/event-webhooks/record-try.ts';
import { recordHeld } from '#test/support/api/event-feed.ts';
import {
  endpointCalls,
  endpointEvents,
  endpointPath,
  forgetEndpoints,
} from '#test/support/api/webhook-endpoint-calls.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { isWaitingForLock } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = await startTestApi();
const caller = await api.caller();
beforeEach(() => forgetEndpoints(api));
afterAll(() => api[Symbol.asyncDispose]());

const { post, created } = endpointCalls(() => caller);
const { happen, queued, happened, settle, endpointRow, setEndpoint } = endpointEvents(() => api);
const replay = (id: string, body: object) => post(endpointPath(id, '/replay'), body);
const setDelivery = (eventId: string, values: Partial<typeof webhookDeliveries.$inferInsert>) =>
  api.database.run((db) => db.update(webhookDeliveries).set(values).where(eq(webhookDeliveries.eventId, eventId)));
const deliveries = () => api.database.run((db) => db.select().from(webhookDeliveries));

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
        await recordHeld(tx);
        await queueDeliveries(tx, await publishEvents(tx, 10), new Date());
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await queued(all)).toHaveLength(3);
  });

  it('of an own-work key are sent only to the endpoint of that key', async () => {
    const id = await created();
    await setEndpoint(id, { ownerId: 'key_own' });
    const [own] = await happen(['order.completed'], { apiKeyId: 'key_own' });
    const [other] = await happen(['order.completed'], { apiKeyId: 'key_other' });
    const [account] = await happen(['wallet.balance_low'], { apiKeyId: null });
    expect(await queued(id)).toEqual([[own, 'pending']]);
    for (const eventId of [other, account])
      expect((await replay(id, { event_id: eventId })).at('code')).toBe('event_not_found');
    await settle(id, 'delivered');
    expect((await replay(id, { since: '2030-01-01T00:00:00Z' })).at('queued')).toBe(1);
  });

  it('of a test are sent to the tested endpoint, regardless of its filter', async () => {
    const [one, other] = [await created({ event_types: ['wallet.balance_low'] }), await created()];
    const tested = await post(endpointPath(one, '/test'));
    expect(tested.status).toBe(202);
    await happen([]);
    expect(await queued(one)).toHaveLength(1);
    expect(await queued(other)).toEqual([]);
    const [event] = await api.database.run((db) => db.select().from(events));
    expect(tested.body).toEqual({ event_id: event!.id, queued: 1, next_since: null });
    expect((await replay(other, { event_id: event!.id })).at('code')).toBe('event_not_found');
    expect((await replay(other, { since: '2030-01-01T00:00:00Z' })).at('queued')).toBe(0);
  });

  it('wake the workflow of their endpoints, and no request is lost', async () => {
    const id = await created();
    await happen(['order.held']);
    await happen(['order.held']);
    expect(await endpointRow(id)).toMatchObject({ wakesRequested: 2n, wakesSent: 0n });
  });
});

describe('a pending delivery', () => {
  it('shows its real next try, not before the next try of its endpoint', async () => {
    const id = await created();
    await happen(['order.held', 'order.completed']);
    const minute = (n: number) => new Date(api.clock.now + n * 60_000);
    const [held, later] = (await queued(id)).map(([eventId]) => eventId!);
    await setDelivery(held!, { nextTryAt: minute(-1) });
    await setDelivery(later!, { nextTryAt: minute(20) });
    const shown = async (retryAt: Date | null) => {
      await setEndpoint(id, { retryAt });
      const page = z.object({ data: z.array(deliveryOutput) });
      const { data } = (await caller.get(endpointPath(id, '/deliveries'))).read(page);
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
    await setDelivery(failed!, { state: 'failed', nextTryAt: null, endedAt: new Date(hour(3)) });
    const asItWas = await deliveries();
    const sorted = (...ids: (string | undefined)[]) => ids.map(String).toSorted();
    const replayed = async (body: object) => {
      const answer = await replay(id, body);
      const pending = (await queued(id)).filter(([, state]) => state === 'pending').map(([eventId]) => eventId);
      await api.database.run((db) => db.delete(webhookDeliveries));
      await api.database.run((db) => db.insert(webhookDeliveries).values(asItWas));
      return [answer.at('queued'), sorted(...pending)];
    };
    expect(await replayed({ event_id: before })).toEqual([1, [before]]);
    expect(await replayed({ delivery_id: asItWas[0]!.id })).toEqual([1, [delivered]]);
    const [since, later] = [new Date(hour(0)).toISOString(), new Date(hour(1)).toISOString()];
    expect(await replayed({ since })).toEqual([3, sorted(before, delivered, failed)]);
    expect(await replayed({ since: later, which: 'all' })).toEqual([2, sorted(delivered, failed)]);
    expect(await replayed({ since, which: 'failed' })).toEqual([1, [failed]]);
    expect(await replayed({ since, which: 'missed' })).toEqual([2, sorted(before, failed)]);
    expect(await replayed({ since, until: later, which: 'missed' })).toEqual([1, [before]]);
  });

  it('keeps the delivery and its number of tries, and restarts its time limit', async () => {
    const id = await created();
    const [eventId] = await happen(['order.completed']);
    const ended = { state: 'failed', nextTryAt: null, endedAt: new Date() } as const;
    await setDelivery(eventId!, { ...ended, tries: 23, failedTries: 23 });
    const [before] = await deliveries();
    api.clock.now += 86_400_000;
    await replay(id, { delivery_id: before!.id });
    const [after] = await deliveries();
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
    const first = await replay(id, { since: new Date(TEST_NOW).toISOString() });
    expect(first.body).toEqual({ queued: 10_000, next_since: new Date(TEST_NOW + 10_000).toISOString() });
    const second = await replay(id, { since: first.textAt('next_since') });
    expect(second.body).toEqual({ queued: 50, next_since: null });
    expect(await queued(id)).toHaveLength(10_050);
  });

  it('requires exactly one selection, which must exist', async () => {
    const [id, other] = [await created(), await created()];
    await happen(['order.held']);
    const ofOther = (await deliveries()).find(({ endpointId }) => endpointId === other);
    for (const body of [
      {},
      { event_id: 'evt_x', since: '2030-01-01T00:00:00Z' },
      { event_id: 'evt_x', which: 'all' },
      { delivery_id: 'wd_x', until: '2030-01-01T00:00:00Z' },
      { since: 'yesterday' },
    ]) {
      expect((await replay(id, body)).status, JSON.stringify(body)).toBe(400);
    }
    expect((await replay(id, { event_id: newId('event') })).at('code')).toBe('event_not_found');
    expect((await replay(id, { event_id: '\0' })).at('code')).toBe('validation_failed');
    expect((await replay(id, { delivery_id: ofOther!.id })).at('code')).toBe('webhook_delivery_not_found');
  });
});

describe('a disabled endpoint', () => {
  it('gets nothing, can be neither tested nor replayed, and gets missed events when it is enabled', async () => {
    const id = await created();
    api.clock.now += 1_000;
    expect((await caller.post(endpointPath(id, '/disable'))).body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'request',
      missed_since: new Date(api.clock.now).toISOString(),
    });
    const [missed] = await happen(['order.completed'], { now: api.clock.now + 60_000 });
    expect(await queued(id)).toEqual([]);
    for (const answer of [await post(endpointPath(id, '/test')), await replay(id, { since: '2030-01-01T00:00:00Z' })])
      expect(answer.at('code')).toBe('webhook_endpoint_disabled');
    expect((await caller.post(endpointPath(id, '/enable'), { replay_missed: true })).body).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      missed_since: null,
    });
    expect(await queued(id)).toEqual([[missed, 'pending']]);
  });

  it.each(['request', 'gone'] as const)(
    'by %s misses events from before that are published afterwards, and gets them when it is enabled',
    async (reason) => {
      const id = await created();
      const [delivered] = await happen(['order.accepted'], { now: TEST_NOW - 1 });
      await settle(id, 'delivered');
      const late = await api.database.transaction((tx) => recordHeld(tx));
      api.clock.now += 1_000;
      const now = new Date(api.clock.now);
      await api.database.transaction((tx) => disableWebhookEndpoint(tx, id, reason, now));
      expect((await caller.get(endpointPath(id))).at('missed_since')).toBe(now.toISOString());
      await happen([]);
      // Its owner confirms it.
      api.clock.now += 1_000;
      const confirmed = await caller.post(endpointPath(id, '/disable'));
      expect(confirmed.at('missed_since')).toBe(new Date(TEST_NOW).toISOString());
      await caller.post(endpointPath(id, '/enable'), { replay_missed: true });
      expect(await queued(id)).toEqual([
        [delivered, 'delivered'],
        [late, 'pending'],
      ]);
    },
  );

  it('enabled without a replay gets no missed events', async () => {
    const id = await created();
    await caller.post(endpointPath(id, '/disable'));
    await setEndpoint(id, { missedSince: new Date(TEST_NOW - 1) });
    await happened(3);
    const enabled = await caller.post(endpointPath(id, '/enable'));
    expect(enabled.body).toMatchObject({ status: 'enabled', missed_since: null });
    expect(await queued(id)).toEqual([]);
  });

  it('misses no event that is published during its activation', async () => {
    const id = await created();
    await caller.post(endpointPath(id, '/disable'));
    let enabled: ReturnType<HttpClient['post']> | undefined;
    const [eventId] = await api.database.transaction(async (tx) => {
      await recordHeld(tx);
      // It is still disabled for this transaction.
      const published = await publishEvents(tx, 10);
      await queueDeliveries(tx, published, new Date(TEST_NOW));
      enabled = caller.post(endpointPath(id, '/enable'), { replay_missed: true });
      await waitFor('it waits for the end of the publication', () => isWaitingForLock(api.database));
      return published.map((event) => event.id);
    });
    expect((await enabled)?.status).toBe(200);
    expect(await queued(id)).toEqual([[eventId, 'pending']]);
  });
});
