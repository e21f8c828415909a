import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { publishEvents, recordEvent } from '#db/events/event-log.ts';
import { webhookEndpoints } from '#db/schema.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { announceDisabled } from '#fulfilment/event-webhooks/record-try.ts';
import {
  endpointCalls,
  endpointEvents,
  endpointPath,
  forgetEndpoints,
} from '#test/support/api/webhook-endpoint-calls.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = await startTestApi();
const caller = await api.caller();
beforeEach(() => forgetEndpoints(api));
afterAll(() => api[Symbol.asyncDispose]());

const { post, created } = endpointCalls(() => caller);
const { happen, queued, happened, settle } = endpointEvents(() => api);

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
    for (const answer of [
      await post(endpointPath(id, '/test')),
      await post(endpointPath(id, '/replay'), { since: '2030-01-01T00:00:00Z' }),
    ])
      expect(answer.at('code')).toBe('webhook_endpoint_disabled');
    expect((await caller.post(endpointPath(id, '/enable'), { replay_missed: true })).body).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      missed_since: null,
    });
    expect(await queued(id)).toEqual([[missed, 'pending']]);
  });

  it('gets all missed events in portions when it is enabled', async () => {
    const id = await created();
    await caller.post(endpointPath(id, '/disable'));
    await happened(10_050);
    const enabled = await caller.post(endpointPath(id, '/enable'), { replay_missed: true });
    const from = new Date(TEST_NOW + 10_000).toISOString();
    expect(enabled.body).toMatchObject({ status: 'enabled', missed_since: from });
    expect(await queued(id)).toHaveLength(10_000);

    // Disabled before the rest was queued, so the rest is still missed.
    await settle(id, 'delivered');
    api.clock.now += 3_600_000;
    expect((await caller.post(endpointPath(id, '/disable'))).at('missed_since')).toBe(from);
    await caller.post(endpointPath(id, '/enable'), { replay_missed: true });
    expect((await queued(id)).filter(([, state]) => state === 'pending')).toHaveLength(50);
    expect((await caller.get(endpointPath(id))).at('missed_since')).toBeNull();
  });

  it('enabled without a replay gets no missed events', async () => {
    const id = await created();
    await caller.post(endpointPath(id, '/disable'));
    await api.database.run((db) => db.update(webhookEndpoints).set({ missedSince: new Date(TEST_NOW - 1) }));
    await happened(3);
    expect((await caller.post(endpointPath(id, '/enable'))).body).toMatchObject({
      status: 'enabled',
      missed_since: null,
    });
    expect(await queued(id)).toEqual([]);
  });

  it('misses no event that is published during its activation', async () => {
    const id = await created();
    await caller.post(endpointPath(id, '/disable'));
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
      enabled = caller.post(endpointPath(id, '/enable'), { replay_missed: true });
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
    const shown = await caller.get(endpointPath(id));
    expect(shown.body).toMatchObject({
      status: 'disabled',
      disabled_reason: 'failing',
      last_failure: 'it answered 503',
      failures: 30,
      missed_since: new Date(TEST_NOW - 3_600_000).toISOString(),
    });
    expect((await caller.post(endpointPath(id, '/disable'))).body).toMatchObject({
      disabled_reason: 'request',
      disabled_at: new Date(TEST_NOW).toISOString(),
    });
    await caller.post(endpointPath(id, '/enable'), { replay_missed: true });
    expect(await queued(id)).toContainEqual([early, 'pending']);
  });
});
