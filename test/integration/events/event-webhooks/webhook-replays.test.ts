import { eq } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { webhookDeliveries } from '#db/schema.ts';
import {
  endpointCalls,
  endpointEvents,
  endpointPath,
  forgetEndpoints,
} from '#test/support/api/webhook-endpoint-calls.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = await startTestApi();
const caller = await api.caller();
beforeEach(() => forgetEndpoints(api));
afterAll(() => api[Symbol.asyncDispose]());

const { post, created } = endpointCalls(() => caller);
const { happen, queued, happened, settle } = endpointEvents(() => api);

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
      const answer = await post(endpointPath(id, '/replay'), body);
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
    await post(endpointPath(id, '/replay'), { delivery_id: before!.id });
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
    const first = await post(endpointPath(id, '/replay'), { since: new Date(TEST_NOW).toISOString() });
    expect(first.body).toEqual({ queued: 10_000, next_since: new Date(TEST_NOW + 10_000).toISOString() });
    const second = await post(endpointPath(id, '/replay'), { since: first.textAt('next_since') });
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
      expect((await post(endpointPath(id, '/replay'), body)).status, JSON.stringify(body)).toBe(400);
    }
    expect((await post(endpointPath(id, '/replay'), { event_id: 'evt_x' })).at('code')).toBe('event_not_found');
    expect((await post(endpointPath(id, '/replay'), { delivery_id: ofOther!.id })).at('code')).toBe(
      'webhook_delivery_not_found',
    );
  });
});
