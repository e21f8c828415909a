import { eq } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { deliveryOutput } from '#api/webhook-endpoints/webhook-endpoint-schemas.ts';
import { publishEvents, recordEvent } from '#db/events/event-log.ts';
import { events, webhookDeliveries, webhookEndpoints } from '#db/schema.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import {
  endpointCalls,
  endpointEvents,
  endpointPath,
  forgetEndpoints,
} from '#test/support/api/webhook-endpoint-calls.ts';
import { startTestApi } from '#test/support/network/api.ts';

const api = await startTestApi();
const caller = await api.caller();
beforeEach(() => forgetEndpoints(api));
afterAll(() => api[Symbol.asyncDispose]());

const { post, created } = endpointCalls(() => caller);
const { happen, queued, settle } = endpointEvents(() => api);

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
      expect((await post(endpointPath(id, '/replay'), { event_id: eventId })).at('code')).toBe('event_not_found');
    await settle(id, 'delivered');
    expect((await post(endpointPath(id, '/replay'), { since: '2030-01-01T00:00:00Z' })).at('queued')).toBe(1);
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
    expect((await post(endpointPath(other, '/replay'), { event_id: event!.id })).at('code')).toBe('event_not_found');
    expect((await post(endpointPath(other, '/replay'), { since: '2030-01-01T00:00:00Z' })).at('queued')).toBe(0);
  });

  it('wake the workflow of their endpoints, and no request is lost', async () => {
    const id = await created();
    await happen(['order.held']);
    await happen(['order.held']);
    const [row] = await api.database.run((db) => db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id)));
    expect([row!.wakesRequested, row!.wakesSent]).toEqual([2n, 0n]);
  });
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
      const { data } = (await caller.get(endpointPath(id, '/deliveries'))).read(
        z.object({ data: z.array(deliveryOutput) }),
      );
      return [held, later].map((eventId) => data.find(({ event_id: each }) => each === eventId)?.next_try_at);
    };
    expect(await shown(minute(10))).toEqual([minute(10).toISOString(), minute(20).toISOString()]);
    expect(await shown(null)).toEqual([minute(-1).toISOString(), minute(20).toISOString()]);
    await settle(id, 'delivered');
    expect(await shown(minute(10))).toEqual([null, null]);
  });
});
