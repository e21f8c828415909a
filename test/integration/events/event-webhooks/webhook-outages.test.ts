import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import type { WebhookDependencies } from '#activities/webhooks/webhook-activities.ts';
import type { Executor } from '#db/connection/database.ts';
import { changeWebhookEndpoint } from '#db/events/webhook-endpoints.ts';
import { events } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { missedSince } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import {
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
  startAtNewAddress,
} from '#fulfilment/event-webhooks/record-try.ts';
import { DAY, HOUR, WebhookBench } from '#test/support/work/webhook-sending.ts';

const bench = await WebhookBench.start();

/** The state of an endpoint that does not fail. */
const WORKS = { failures: 0, failingSince: null, retryAt: null, lastFailure: null };
const announced = (id: string) => bench.database.run((db) => db.select().from(events).where(eq(events.subjectId, id)));
/** Sends the due deliveries of an endpoint, one at a time, by a courier of the test. */
const deliverBy = (id: string, courier: WebhookDependencies['courier']) =>
  bench.activities({ courier }, { lanes: 1, roundMs: 0 }).deliverDue({ endpointId: id });

describe('an endpoint that does not answer', () => {
  it('gets each event for three days, and is disabled after five days, with an event', async () => {
    const id = await bench.endpoint();
    bench.receiver.otherwise = 503;
    const start = bench.clock.now;
    await bench.happen();
    expect(await bench.until(id, start + 4 * DAY)).toEqual({ kind: 'idle' });
    expect(bench.receiver.received.length).toBeGreaterThanOrEqual(18);
    expect(new Set(bench.receiver.received.map(({ bytes }) => bytes.toString()))).toHaveProperty('size', 1);
    expect(await bench.states()).toEqual(['failed']);
    expect(await bench.endpointRow(id)).toMatchObject({ disabledAt: null, failingSince: new Date(start) });

    bench.clock.now = start + 4 * DAY;
    await bench.happen();
    expect(await bench.until(id, start + 6 * DAY)).toEqual({ kind: 'ended', reason: 'disabled' });
    expect(bench.clock.now - start).toBeGreaterThanOrEqual(5 * DAY);
    expect(bench.clock.now - start).toBeLessThan(5 * DAY + 8 * HOUR);
    expect(await bench.states()).toEqual(['failed', 'failed']);
    expect(await bench.endpointRow(id)).toMatchObject({ disabledReason: 'failing', lastFailure: 'it answered 503' });
    // Deliveries given up during the outage count as missed.
    const row = await bench.endpointRow(id);
    expect(await bench.database.run((db) => missedSince(db, row))).toEqual(new Date(start));
    expect(await announced(id)).toMatchObject([{ type: 'webhook_endpoint.disabled', data: { reason: 'failing' } }]);
  });

  it('gets one probe at a time, and all pending events at once when it answers again', async () => {
    const id = await bench.endpoint();
    bench.receiver.otherwise = 500;
    await bench.happen(50);
    const failing = await bench.until(id, bench.clock.now + 2 * HOUR);
    expect(failing).toMatchObject({ kind: 'waiting', pending: 50, failing: { isHeld: true, last: 'it answered 500' } });
    // Fifty deliveries with separate schedules would have sent 500 requests by now.
    expect(bench.receiver.received.length).toBeLessThan(40);
    bench.receiver.otherwise = 200;
    bench.receiver.received.length = 0;
    if (failing.kind === 'waiting') bench.clock.now = failing.nextAt;
    expect(await bench.round(id)).toEqual({ kind: 'idle' });
    expect(new Set(bench.receiver.ids).size).toBe(50);
    expect(await bench.endpointRow(id)).toMatchObject(WORKS);
  });

  it('for one event only does not delay other events', async () => {
    const id = await bench.endpoint();
    const [poison] = await bench.happen();
    bench.receiver.otherwise = (request, response) =>
      response.writeHead(request.headers['webhook-id'] === poison ? 400 : 200).end();
    await bench.round(id);
    for (let n = 0; n < 10; n += 1) {
      bench.clock.now += 60_000;
      await bench.happen();
      await bench.round(id);
    }
    expect((await bench.states()).toSorted()).toEqual([...Array<string>(10).fill('delivered'), 'pending']);
  });

  it('is disabled at once when it answers 410', async () => {
    const id = await bench.endpoint();
    bench.receiver.otherwise = 410;
    await bench.happen(3);
    expect(await bench.round(id, { lanes: 1 })).toEqual({ kind: 'ended', reason: 'disabled' });
    expect([bench.receiver.received.length, await bench.states()]).toEqual([1, ['failed', 'failed', 'failed']]);
    expect(await bench.endpointRow(id)).toMatchObject({ disabledReason: 'gone' });
    const isDisabled = eq(events.type, 'webhook_endpoint.disabled');
    const received = await bench.database.run((db) => db.select().from(events).where(isDisabled));
    expect(received).toMatchObject([{ subjectId: id, data: { reason: 'gone', detail: 'it answered 410' } }]);
  });

  it.each([
    ['deleted', deleteWebhookEndpoint, null],
    ['disabled', (tx: Executor, id: string, now: Date) => disableWebhookEndpoint(tx, id, 'request', now), 'request'],
  ] as const)('that was %s during its try causes no event, and stays so', async (_, end, disabledReason) => {
    const id = await bench.endpoint();
    await bench.happen();
    await deliverBy(id, async () => {
      await bench.database.transaction((tx) => end(tx, id, bench.now));
      return { outcome: { kind: 'answered', status: 410 }, excerpt: Buffer.alloc(0) };
    });
    expect(await announced(id)).toEqual([]);
    expect(await bench.endpointRow(id)).toMatchObject({ disabledReason });
  });
});

describe('a test of an endpoint', () => {
  async function held(): Promise<string> {
    const id = await bench.endpoint();
    bench.receiver.otherwise = 500;
    await bench.happen(5);
    const failing = await bench.until(id, bench.clock.now + 2 * HOUR);
    expect(failing).toMatchObject({ kind: 'waiting', failing: { isHeld: true } });
    bench.receiver.received.length = 0;
    return id;
  }

  it('is sent at once and alone while the endpoint fails, and a failed one waits like other deliveries', async () => {
    const id = await held();
    bench.clock.now += 1_000;
    const test = await bench.ask(id);
    expect(await bench.endpointRow(id)).toMatchObject({ wakeIsUrgent: true });
    const after = await bench.round(id);
    expect(bench.receiver.ids).toEqual([test]);
    const { retryAt, failures } = await bench.endpointRow(id);
    expect(after).toMatchObject({ kind: 'waiting', nextAt: retryAt!.getTime(), pending: 6, failing: { failures } });
    await bench.round(id);
    expect(bench.receiver.ids).toEqual([test]);
  });

  it('that succeeds ends the outage, and all other deliveries follow', async () => {
    const id = await held();
    bench.receiver.otherwise = 200;
    const test = await bench.ask(id);
    expect(await bench.round(id)).toEqual({ kind: 'idle' });
    expect([bench.receiver.ids[0], new Set(bench.receiver.ids).size]).toEqual([test, 6]);
  });

  it('is sent before older deliveries of a working endpoint', async () => {
    const id = await bench.endpoint();
    await bench.happen(20);
    bench.clock.now += 1_000;
    const test = await bench.ask(id);
    await bench.round(id);
    expect([bench.receiver.ids[0], bench.receiver.ids.length]).toEqual([test, 21]);
  });

  it('leased by a dead worker is sent after its lease, not at the end of the outage', async () => {
    const id = await held();
    const test = await bench.ask(id);
    const died = bench.activities({ courier: async () => Promise.reject(new Error('killed')) });
    await expect(died.deliverDue({ endpointId: id })).rejects.toThrow('killed');
    const { retryAt } = await bench.endpointRow(id);
    const leaseEnds = bench.clock.now + DEFAULT_POLICY.outbound.leaseMs;
    expect(retryAt!.getTime()).toBeGreaterThan(leaseEnds);
    expect(await bench.round(id)).toMatchObject({ kind: 'waiting', nextAt: leaseEnds });
    bench.clock.now = leaseEnds;
    await bench.round(id);
    expect(bench.receiver.ids).toEqual([test]);
  });
});

describe('an endpoint with a new address', () => {
  const moves = (id: string) =>
    bench.database.transaction(async (tx) => {
      await changeWebhookEndpoint(tx, id, { url: bench.receiver.url.replace('hook', 'new') }, bench.now);
      await startAtNewAddress(tx, await bench.endpointRow(id), bench.now);
    });

  it.each([410, 503])('ignores the result of a try at the former address: %i', async (status) => {
    const id = await bench.endpoint();
    const [eventId] = await bench.happen();
    const ended = await deliverBy(id, async () => {
      await moves(id);
      return { outcome: { kind: 'answered', status, retryAfterMs: HOUR }, excerpt: Buffer.alloc(0) };
    });
    expect(ended).toMatchObject({ kind: 'waiting', nextAt: bench.clock.now });
    expect(await bench.endpointRow(id)).toMatchObject({ ...WORKS, disabledAt: null });
    expect(await bench.round(id)).toEqual({ kind: 'idle' });
    expect(bench.receiver.received.map(({ id: received, path }) => [received, path])).toEqual([[eventId, '/new']]);
  });
});
