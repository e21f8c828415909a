import { eq, inArray } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWebhookActivities, type WebhookDependencies } from '#activities/webhooks/webhook-activities.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { generateWebhookSecret } from '#crypto/standard-webhooks.ts';
import type { Database } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { excerptAad } from '#db/encryption-aads.ts';
import { publishEvents, recordEvent } from '#db/events/event-log.ts';
import { forgetDeliveries } from '#db/events/webhook-deliveries.ts';
import { changeWebhookEndpoint } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, webhookEndpoints, webhookEndpointSecrets, webhookTries } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { OutboundPolicy } from '#domain/policy/webhook-policy.ts';
import {
  startAtNewAddress,
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
} from '#fulfilment/event-webhooks/endpoint-lifecycle.ts';
import { endpointOutlook } from '#fulfilment/event-webhooks/endpoint-outlook.ts';
import { addWebhookEndpoint, rotateEndpointSecret } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { missedSince } from '#fulfilment/event-webhooks/missed-events.ts';
import { wakeOverdueEndpoints } from '#fulfilment/event-webhooks/overdue-deliveries.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { queueMissed, replayDelivery, replayRange } from '#fulfilment/event-webhooks/replay-deliveries.ts';
import { AddressPolicy } from '#outbound/address-policy.ts';
import { createCourier } from '#outbound/webhook-courier.ts';
import { WebhookSender } from '#outbound/webhook-sender.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { recorded, twiceOver, type ActivityCall } from '#test/support/work/activities/twice.ts';
import { databaseGauges } from '#worker/health/gauges.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const keyRing = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 3) }]);
const clock = { now: 0 };
let opened: Awaited<ReturnType<typeof openTestDatabase>>;
let database: Database;
let sender: WebhookSender;
let receiver: WebhookReceiver;

beforeAll(async () => {
  opened = await openTestDatabase();
  ({ database } = opened);
  sender = new WebhookSender({
    policy: new AddressPolicy(['127.0.0.1/32']),
    lookup: async (host) => [host],
    now: () => clock.now,
  });
});
beforeEach(async () => {
  // The verification library of receivers uses the real clock.
  clock.now = Date.now();
  receiver = await WebhookReceiver.start();
  for (const table of [webhookTries, webhookDeliveries, webhookEndpointSecrets, webhookEndpoints, events])
    await database.run((db) => db.delete(table));
});
afterEach(() => receiver[Symbol.asyncDispose]());
afterAll(async () => {
  await sender.close();
  await opened.drop();
});

function activities(overrides: Partial<WebhookDependencies> = {}, policy: Partial<OutboundPolicy> = {}) {
  const now = () => clock.now;
  return createWebhookActivities({
    database,
    keyRing,
    policy: { ...DEFAULT_POLICY.outbound, ...policy },
    courier: createCourier(sender, now),
    onTry: () => undefined,
    now,
    random: () => 0.5,
    ...overrides,
  });
}
const round = (endpointId: string, policy: Partial<OutboundPolicy> = {}) =>
  activities({}, policy).deliverDue({ endpointId });

async function endpoint(secret = generateWebhookSecret(), ownerId?: string): Promise<string> {
  const wanted = { apiKeyId: 'key_a', ownerId, url: receiver.url, description: null, eventTypes: ['*'] };
  return (await database.transaction((tx) => addWebhookEndpoint(tx, keyRing, wanted, secret, new Date(clock.now)))).id;
}
async function happen(count = 1): Promise<string[]> {
  return database.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1) {
      await recordEvent(
        tx,
        {
          type: 'order.completed',
          subject: { kind: 'order', id: newId('order') },
          apiKeyId: 'key_a',
          data: { status: 'completed', external_order_id: 'A-1' },
        },
        new Date(clock.now),
      );
    }
    return publish(tx);
  });
}
async function publish(tx: Parameters<Parameters<Database['transaction']>[0]>[0]): Promise<string[]> {
  const published = await publishEvents(tx, 1_000);
  await queueDeliveries(tx, published, new Date(clock.now));
  return published.map(({ id }) => id);
}
/** Requests a test of an endpoint and publishes it. @returns its id. */
async function ask(endpointId: string): Promise<string> {
  const [id = ''] = await database.transaction(async (tx) => {
    await recordEvent(
      tx,
      {
        type: 'webhook_endpoint.test',
        subject: { kind: 'webhook_endpoint', id: endpointId },
        apiKeyId: 'key_a',
        data: {},
      },
      new Date(clock.now),
    );
    return publish(tx);
  });
  return id;
}
const deliveries = () => database.run((db) => db.select().from(webhookDeliveries).orderBy(webhookDeliveries.id));
const states = async () => (await deliveries()).map(({ state }) => state);
const tries = () => database.run((db) => db.select().from(webhookTries).orderBy(webhookTries.at, webhookTries.number));
const endpointRow = async (id: string) =>
  (await database.run((db) => db.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, id))))[0]!;
const everything = async () =>
  JSON.stringify(
    [await deliveries(), await tries(), await database.run((db) => db.select().from(webhookEndpoints))],
    (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
  );

/** Advances the clock to each due time, like the workflow. @returns the result of the last round. */
async function until(endpointId: string, end: number) {
  for (;;) {
    const ended = await round(endpointId);
    if (ended.kind !== 'waiting' || ended.nextAt > end) return ended;
    clock.now = Math.max(ended.nextAt, clock.now + 1);
  }
}

describe('a delivered event', () => {
  it('is verified by the published library, and contains the event type and the address of its subject', async () => {
    const secret = generateWebhookSecret();
    const id = await endpoint(secret);
    const [eventId] = await happen();
    expect(await round(id)).toEqual({ kind: 'idle' });
    expect(WebhookReceiver.verified(receiver.received[0]!, secret)).toMatchObject({
      type: 'order.completed',
      timestamp: new Date(clock.now).toISOString(),
      id: eventId,
      subject: { kind: 'order', href: expect.stringMatching(/^\/v1\/orders\/ord_/) },
      data: { external_order_id: 'A-1' },
    });
    expect(receiver.received[0]!.headers).toMatchObject({
      'webhook-id': eventId,
      'content-type': 'application/json; charset=utf-8',
    });
    expect(() => WebhookReceiver.verified(receiver.received[0]!, generateWebhookSecret())).toThrow(
      'No matching signature',
    );
    expect(await states()).toEqual(['delivered']);
  });

  it('has a signature for each secret during a rotation', async () => {
    const former = generateWebhookSecret();
    const id = await endpoint(former);
    const request = { id, owner: undefined, actor: 'test', now: new Date(clock.now) };
    const { secret: latest } = await database.transaction((tx) => rotateEndpointSecret(tx, keyRing, request, 10_000));
    await happen();
    await round(id);
    clock.now += 10_000;
    await happen();
    await round(id);
    const verifies = (index: number, secret: string) => {
      try {
        return WebhookReceiver.verified(receiver.received[index]!, secret) !== undefined;
      } catch {
        return false;
      }
    };
    expect([verifies(0, former), verifies(0, latest), verifies(1, former), verifies(1, latest)]).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });

  it('is sent once when the activity runs repeatedly', async () => {
    const id = await endpoint();
    await happen(30);
    const calls: ActivityCall[] = [];
    const own = recorded(activities(), calls, async () => Promise.resolve());
    const { twice } = twiceOver({ calls: () => calls, state: async () => [await everything(), receiver.ids.length] });
    expect(await twice('deliverDue', () => own.deliverDue({ endpointId: id }))).toEqual([
      { kind: 'idle' },
      { kind: 'idle' },
    ]);
    expect(new Set(receiver.ids).size).toBe(30);
    expect(receiver.ids).toHaveLength(30);
  });

  it('is sent once by concurrent workers', async () => {
    const id = await endpoint();
    await happen(40);
    await Promise.all([round(id), round(id), round(id)]);
    expect(receiver.ids.toSorted((left, right) => left.localeCompare(right))).toEqual(
      [...new Set(receiver.ids)].toSorted((left, right) => left.localeCompare(right)),
    );
    expect(receiver.ids).toHaveLength(40);
  });

  it('keeps the answer, encrypted and truncated', async () => {
    const id = await endpoint();
    receiver.otherwise = (_request, response) => response.end('x'.repeat(5_000));
    await happen();
    await round(id);
    const [only] = await tries();
    expect(only).toMatchObject({ number: 1, status: 200, failure: null });
    expect(only!.encryptedExcerpt!.includes('xxxx')).toBe(false);
    expect(keyRing.decryptText(only!.encryptedExcerpt!, excerptAad(only!))).toBe('x'.repeat(1_024));
  });
});

describe('a worker that dies between a send and its record', () => {
  it('causes a second send with the same id and body after its lease, not before', async () => {
    const id = await endpoint();
    const [eventId] = await happen();
    const dies = createCourier(sender, () => clock.now);
    const died = activities({
      courier: async (request) => {
        await dies(request);
        throw new Error('killed');
      },
    });
    await expect(died.deliverDue({ endpointId: id })).rejects.toThrow('killed');
    expect([receiver.ids, await tries()]).toEqual([[eventId], []]);
    expect(await round(id)).toMatchObject({
      kind: 'waiting',
      nextAt: clock.now + DEFAULT_POLICY.outbound.leaseMs,
      pending: 1,
    });
    clock.now += DEFAULT_POLICY.outbound.leaseMs;
    expect(await round(id)).toEqual({ kind: 'idle' });
    expect(receiver.ids).toEqual([eventId, eventId]);
    expect(receiver.received[1]!.bytes.equals(receiver.received[0]!.bytes)).toBe(true);
  });

  it('is replaced by the next worker, and its late result changes nothing', async () => {
    const id = await endpoint();
    await happen();
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = activities({
      courier: async () => {
        reached.resolve();
        await goOn.promise;
        return { outcome: { kind: 'no_answer', failure: 'timeout' }, excerpt: Buffer.alloc(0) };
      },
    }).deliverDue({ endpointId: id });
    await reached.promise;
    clock.now += DEFAULT_POLICY.outbound.leaseMs;
    await round(id);
    expect(await states()).toEqual(['delivered']);
    goOn.resolve();
    await slow;
    expect(await states()).toEqual(['delivered']);
    expect(await tries()).toHaveLength(2);
  });
});

describe('an endpoint that does not answer', () => {
  it('gets each event for three days, and is disabled after five days, with an event', async () => {
    const [id, other] = [await endpoint(), await endpoint()];
    await database.run((db) =>
      db
        .update(webhookEndpoints)
        .set({ url: receiver.url.replace('hook', 'other') })
        .where(eq(webhookEndpoints.id, other)),
    );
    receiver.otherwise = (request, response) => response.writeHead(request.url === '/other' ? 204 : 503).end();
    const start = clock.now;
    const [first] = await happen();
    await round(other);
    const afterThreeDays = await until(id, start + 4 * DAY);
    expect(afterThreeDays).toEqual({ kind: 'idle' });
    const ofFirst = receiver.received.filter(({ id: eventId, path }) => eventId === first && path === '/hook');
    expect(ofFirst.length).toBeGreaterThanOrEqual(18);
    expect(new Set(ofFirst.map(({ bytes }) => bytes.toString()))).toHaveProperty('size', 1);
    expect((await deliveries()).filter(({ endpointId }) => endpointId === id).map(({ state }) => state)).toEqual([
      'failed',
    ]);
    expect(await endpointRow(id)).toMatchObject({ disabledAt: null, failingSince: new Date(start) });

    clock.now = start + 4 * DAY;
    const [second] = await happen();
    expect(await until(id, start + 6 * DAY)).toEqual({ kind: 'ended', reason: 'disabled' });
    expect(clock.now - start).toBeGreaterThanOrEqual(5 * DAY);
    expect(clock.now - start).toBeLessThan(5 * DAY + 8 * HOUR);
    expect(await endpointRow(id)).toMatchObject({ disabledReason: 'failing', lastFailure: 'it answered 503' });
    // Deliveries given up during the outage count as missed.
    expect(await database.run(async (db) => missedSince(db, await endpointRow(id)))).toEqual(new Date(start));

    await database.transaction(publish);
    await round(other);
    const received = receiver.received.filter(({ path }) => path === '/other').map(({ bytes }) => String(bytes));
    // Deliveries have no order.
    expect(received.filter((body) => body.includes('webhook_endpoint.disabled'))).toMatchObject([
      expect.stringContaining('"reason":"failing"'),
    ]);
    expect(
      (await deliveries()).filter(({ eventId, endpointId }) => eventId === second && endpointId === id),
    ).toMatchObject([{ state: 'failed' }]);
  });

  it('gets one probe at a time, and all pending events at once when it answers again', async () => {
    const id = await endpoint();
    receiver.otherwise = 500;
    await happen(50);
    const failing = await until(id, clock.now + 2 * HOUR);
    expect(failing).toMatchObject({ kind: 'waiting', pending: 50, failing: { isHeld: true, last: 'it answered 500' } });
    // Fifty deliveries with separate schedules would have sent 500 requests by now.
    expect(receiver.received.length).toBeLessThan(40);
    receiver.otherwise = 200;
    receiver.received.length = 0;
    if (failing.kind === 'waiting') clock.now = failing.nextAt;
    expect(await round(id)).toEqual({ kind: 'idle' });
    expect(new Set(receiver.ids).size).toBe(50);
    expect(await endpointRow(id)).toMatchObject({ failures: 0, failingSince: null, retryAt: null, lastFailure: null });
  });

  it('for one event only does not delay other events', async () => {
    const id = await endpoint();
    const [poison] = await happen();
    receiver.otherwise = (request, response) =>
      response.writeHead(request.headers['webhook-id'] === poison ? 400 : 200).end();
    await round(id);
    for (let n = 0; n < 10; n += 1) {
      clock.now += 60_000;
      await happen();
      await round(id);
    }
    expect((await states()).toSorted((left, right) => left.localeCompare(right))).toEqual([
      ...Array.from({ length: 10 }, () => 'delivered'),
      'pending',
    ]);
  });

  it('with Retry-After gets nothing before that time', async () => {
    const id = await endpoint();
    receiver.answers.push((_request, response) => response.writeHead(429, { 'retry-after': '600' }).end());
    await happen();
    expect(await round(id)).toMatchObject({ kind: 'waiting', nextAt: clock.now + 600_000 });
    await happen();
    expect(await round(id)).toMatchObject({ kind: 'waiting', nextAt: clock.now + 600_000, pending: 2 });
    expect(receiver.received).toHaveLength(1);
    clock.now += 600_000;
    expect(await round(id)).toEqual({ kind: 'idle' });
  });

  it('gets nothing before that time, also when a concurrent delivery succeeds', async () => {
    const id = await endpoint();
    const isRecorded = Promise.withResolvers<void>();
    receiver.answers.push(
      (_request, response) => response.writeHead(429, { 'retry-after': '600' }).end(),
      (_request, response) => void isRecorded.promise.then(() => response.writeHead(204).end()),
    );
    await happen(5);
    const ended = round(id, { lanes: 2 });
    await waitFor('the request to wait is written down', async () => (await endpointRow(id)).retryAt !== null);
    isRecorded.resolve();
    expect(await ended).toMatchObject({ kind: 'waiting', nextAt: clock.now + 600_000, pending: 4 });
    expect(receiver.received).toHaveLength(2);
    expect(await endpointRow(id)).toMatchObject({ failures: 0, failingSince: null });
  });

  it('is disabled at once when it answers 410', async () => {
    const id = await endpoint();
    receiver.otherwise = 410;
    await happen(3);
    expect(await round(id, { lanes: 1 })).toEqual({ kind: 'ended', reason: 'disabled' });
    expect([receiver.received.length, await states()]).toEqual([1, ['failed', 'failed', 'failed']]);
    expect(await endpointRow(id)).toMatchObject({ disabledReason: 'gone' });
    const received = await database.run((db) =>
      db.select().from(events).where(eq(events.type, 'webhook_endpoint.disabled')),
    );
    expect(received).toMatchObject([{ subjectId: id, data: { reason: 'gone', detail: 'it answered 410' } }]);
  });

  it('with a forbidden address gets no connection at any try', async () => {
    const id = await endpoint();
    await database.run((db) => db.update(webhookEndpoints).set({ url: 'https://10.0.0.7/hook' }));
    await happen();
    expect(await round(id)).toMatchObject({
      failing: { last: expect.stringContaining('webhooks may not be sent to its address') },
    });
    clock.now += HOUR;
    await round(id);
    expect((await tries()).map(({ failure, status }) => [failure, status])).toEqual([
      ['address_refused', null],
      ['address_refused', null],
    ]);
  });
});

describe('a test of an endpoint', () => {
  async function held(): Promise<string> {
    const id = await endpoint();
    receiver.otherwise = 500;
    await happen(5);
    expect(await until(id, clock.now + 2 * HOUR)).toMatchObject({ kind: 'waiting', failing: { isHeld: true } });
    receiver.received.length = 0;
    return id;
  }

  it('is sent at once and alone while the endpoint fails, and a failed one waits like other deliveries', async () => {
    const id = await held();
    clock.now += 1_000;
    const test = await ask(id);
    expect(await endpointRow(id)).toMatchObject({ wakeIsUrgent: true });
    const after = await round(id);
    expect(receiver.ids).toEqual([test]);
    const { retryAt, failures } = await endpointRow(id);
    expect(after).toMatchObject({ kind: 'waiting', nextAt: retryAt!.getTime(), pending: 6, failing: { failures } });
    await round(id);
    expect(receiver.ids).toEqual([test]);
  });

  it('that succeeds ends the outage, and all other deliveries follow', async () => {
    const id = await held();
    receiver.otherwise = 200;
    const test = await ask(id);
    expect(await round(id)).toEqual({ kind: 'idle' });
    expect([receiver.ids[0], new Set(receiver.ids).size]).toEqual([test, 6]);
  });

  it('is sent before older deliveries of a working endpoint', async () => {
    const id = await endpoint();
    await happen(20);
    clock.now += 1_000;
    const test = await ask(id);
    await round(id);
    expect([receiver.ids[0], receiver.ids.length]).toEqual([test, 21]);
  });

  it('leased by a dead worker is sent after its lease, not at the end of the outage', async () => {
    const id = await held();
    const test = await ask(id);
    const died = activities({ courier: async () => Promise.reject(new Error('killed')) });
    await expect(died.deliverDue({ endpointId: id })).rejects.toThrow('killed');
    const { retryAt } = await endpointRow(id);
    const leaseEnds = clock.now + DEFAULT_POLICY.outbound.leaseMs;
    expect(retryAt!.getTime()).toBeGreaterThan(leaseEnds);
    expect(await round(id)).toMatchObject({ kind: 'waiting', nextAt: leaseEnds });
    clock.now = leaseEnds;
    await round(id);
    expect(receiver.ids).toEqual([test]);
  });
});

describe('an endpoint with a new address', () => {
  const moves = (id: string) =>
    database.transaction(async (tx) => {
      await changeWebhookEndpoint(tx, id, { url: receiver.url.replace('hook', 'new') }, new Date(clock.now));
      await startAtNewAddress(tx, await endpointRow(id), new Date(clock.now));
    });

  it('gets at once the deliveries that waited during the outage of the former address', async () => {
    const id = await endpoint();
    receiver.otherwise = (request, response) => response.writeHead(request.url === '/new' ? 204 : 503).end();
    await happen(5);
    expect(await until(id, clock.now + 2 * HOUR)).toMatchObject({ kind: 'waiting', failing: { isHeld: true } });
    await moves(id);
    expect(await endpointRow(id)).toMatchObject({
      failures: 0,
      failingSince: null,
      lastFailure: null,
      retryAt: null,
      wakeIsUrgent: true,
    });
    expect(await round(id)).toEqual({ kind: 'idle' });
    expect(receiver.received.filter(({ path }) => path === '/new')).toHaveLength(5);
  });

  it.each([410, 503])('ignores the result of a try at the former address: %i', async (status) => {
    const id = await endpoint();
    const [eventId] = await happen();
    const courier: WebhookDependencies['courier'] = async () => {
      await moves(id);
      return { outcome: { kind: 'answered', status, retryAfterMs: HOUR }, excerpt: Buffer.alloc(0) };
    };
    expect(await activities({ courier }, { lanes: 1, roundMs: 0 }).deliverDue({ endpointId: id })).toMatchObject({
      kind: 'waiting',
      nextAt: clock.now,
    });
    expect(await endpointRow(id)).toMatchObject({
      disabledAt: null,
      failures: 0,
      failingSince: null,
      lastFailure: null,
      retryAt: null,
    });
    expect(await round(id)).toEqual({ kind: 'idle' });
    expect(receiver.received.map(({ id: received, path }) => [received, path])).toEqual([[eventId, '/new']]);
  });
});

describe('the gauges of event webhooks', () => {
  const shown = async () => {
    const metrics = createMetrics({ processMetrics: false });
    await databaseGauges(database, metrics, { webhookSilence: DEFAULT_POLICY.webhookSilence, now: () => clock.now })();
    const { body } = await metrics.render();
    return Object.fromEntries(
      [...body.matchAll(/^reseller_outbound_(endpoints\{state="\w+"\}|pending|failing_seconds) (\S+)$/gm)].map(
        ([, name = '', value]) => [name.replace(/.*"(.*)".*/, '$1'), Number(value)],
      ),
    );
  };

  it('show failing endpoints with their duration, disabled endpoints, and pending deliveries', async () => {
    const [id, disabled] = [await endpoint(), await endpoint()];
    await database.transaction((tx) => disableWebhookEndpoint(tx, disabled, 'request', new Date(clock.now)));
    expect(await shown()).toEqual({
      receiving: 1,
      failing: 0,
      disabled: 1,
      given_up: 0,
      pending: 0,
      failing_seconds: 0,
    });
    receiver.answers.push(500, 410);
    await happen(2);
    await round(id, { lanes: 1, failingAfter: 1 });
    clock.now += 7_200_000;
    expect(await shown()).toEqual({
      receiving: 0,
      failing: 1,
      disabled: 1,
      given_up: 0,
      pending: 2,
      failing_seconds: 7_200,
    });
    await round(id);
    expect(await shown()).toEqual({
      receiving: 0,
      failing: 0,
      disabled: 1,
      given_up: 1,
      pending: 0,
      failing_seconds: 0,
    });
  });
});

describe('a slow receiver', () => {
  it('delays no other endpoint, because each has its own rounds', async () => {
    const [slow, quick] = [await endpoint(), await endpoint()];
    await using stalled = await WebhookReceiver.start();
    stalled.otherwise = () => undefined;
    await database.run((db) =>
      db.update(webhookEndpoints).set({ url: stalled.url }).where(eq(webhookEndpoints.id, slow)),
    );
    await happen(5);
    const stalling = round(slow, { sendDeadlineMs: 1_500 });
    expect(await round(quick)).toEqual({ kind: 'idle' });
    expect(receiver.received).toHaveLength(5);
    expect(await stalling).toMatchObject({ kind: 'waiting', failing: { last: 'it did not answer in time' } });
  });
});

describe('missed events of an endpoint', () => {
  /** Publishes events while the endpoint is disabled, and then enables it with a replay of them. */
  async function missing(count: number): Promise<{ id: string; missed: string[] }> {
    const id = await endpoint();
    const disable = (disabledAt: Date | null, missedFrom: Date | null = null) =>
      database.run((db) =>
        db
          .update(webhookEndpoints)
          .set({ disabledAt, disabledReason: disabledAt && 'request', missedSince: missedFrom }),
      );
    await disable(new Date(clock.now));
    const since = new Date(clock.now);
    const missed: string[] = [];
    for (let n = 0; n < count; n += 1) {
      missed.push(...(await happen()));
      clock.now += 1;
    }
    await disable(null, since);
    return { id, missed };
  }

  it('are queued in portions, oldest first, until none remain', async () => {
    const { id, missed } = await missing(7);
    const queue = async () => {
      await database.transaction((tx) => queueMissed(tx, id, { limit: 3, now: new Date(clock.now) }));
      const left = (await endpointRow(id)).missedSince;
      return [
        (await deliveries()).map(({ eventId }) => missed.indexOf(eventId)).toSorted((one, other) => one - other),
        left && clock.now - left.getTime(),
      ];
    };
    expect(await queue()).toEqual([[0, 1, 2], 4]);
    expect(await queue()).toEqual([[0, 1, 2, 3, 4, 5], 1]);
    expect(await queue()).toEqual([[0, 1, 2, 3, 4, 5, 6], null]);
    expect(await queue()).toEqual([[0, 1, 2, 3, 4, 5, 6], null]);
  });

  it('are queued and sent by the rounds of the workflow, which stays open until then', async () => {
    const { id, missed } = await missing(7);
    expect(await database.run((db) => endpointOutlook(db, id))).toMatchObject({
      kind: 'open',
      pending: 0,
      nextAt: new Date(clock.now - 7),
    });
    expect(await round(id)).toEqual({ kind: 'idle' });
    expect(receiver.ids.toSorted((one, other) => missed.indexOf(one) - missed.indexOf(other))).toEqual(missed);
    expect(await endpointRow(id)).toMatchObject({ missedSince: null });
  });

  it('wait for the end of an outage like other deliveries', async () => {
    const { id } = await missing(7);
    const retryAt = new Date(clock.now + HOUR);
    await database.run((db) =>
      db.update(webhookEndpoints).set({ failures: 9, failingSince: new Date(clock.now), retryAt }),
    );
    expect(await round(id)).toMatchObject({ kind: 'waiting', nextAt: retryAt.getTime(), pending: 7 });
    expect(receiver.received).toEqual([]);
  });

  it('are found once by the sweep when the workflow was lost with an empty queue', async () => {
    const { id } = await missing(1);
    const look = () => database.transaction((tx) => wakeOverdueEndpoints(tx, { before: new Date(clock.now) }));
    expect([await look(), await look()]).toEqual([1, 0]);
    expect(await endpointRow(id)).toMatchObject({ wakesRequested: 1n, wakeIsUrgent: true });
  });
});

describe('deliveries to an endpoint', () => {
  it('fail when it is disabled or deleted, and can be replayed', async () => {
    const id = await endpoint();
    await happen(3);
    await database.transaction((tx) => disableWebhookEndpoint(tx, id, 'request', new Date(clock.now)));
    expect(await round(id)).toEqual({ kind: 'ended', reason: 'disabled' });
    expect([await states(), receiver.received]).toEqual([['failed', 'failed', 'failed'], []]);
    await database.run((db) => db.update(webhookEndpoints).set({ disabledAt: null, disabledReason: null }));
    await database.transaction(async (tx) =>
      replayRange(
        tx,
        await endpointRow(id),
        { which: 'missed', since: new Date(clock.now) },
        { limit: 100, now: new Date(clock.now) },
      ),
    );
    expect(await round(id)).toEqual({ kind: 'idle' });
    expect(receiver.received).toHaveLength(3);
    await happen();
    await database.transaction((tx) => deleteWebhookEndpoint(tx, id, new Date(clock.now)));
    expect(await round(id)).toEqual({ kind: 'ended', reason: 'deleted' });
    expect(receiver.received).toHaveLength(3);
  });

  it('are found once by the sweep when the workflow was lost', async () => {
    const id = await endpoint();
    await happen();
    await database.run((db) => db.update(webhookEndpoints).set({ wakesSent: 1n }));
    const look = (ms: number) =>
      database.transaction((tx) => wakeOverdueEndpoints(tx, { before: new Date(clock.now + ms) }));
    expect([await look(-60_000), await look(0), await look(0)]).toEqual([0, 1, 0]);
    expect(await endpointRow(id)).toMatchObject({ wakesRequested: 2n, wakeIsUrgent: true });
  });

  it('fail without their deleted event, block nothing, and cannot be replayed', async () => {
    const id = await endpoint();
    const [first, second] = await happen(4);
    await database.run((db) => db.delete(events).where(inArray(events.id, [first!, second!])));
    expect(await round(id)).toEqual({ kind: 'idle' });
    expect(receiver.received).toHaveLength(2);
    const rows = await deliveries();
    expect(rows.filter(({ eventId }) => eventId === first || eventId === second)).toMatchObject([
      { state: 'failed', endedAt: new Date(clock.now) },
      { state: 'failed' },
    ]);
    const again = (eventId: string) =>
      database.transaction(async (tx) =>
        replayDelivery(tx, await endpointRow(id), rows.find((row) => row.eventId === eventId)!.id, new Date(clock.now)),
      );
    expect([await again(first!), await again(receiver.ids[0]!)]).toEqual([false, true]);
  });

  it('are deleted with their tries long after their end, unless they are pending', async () => {
    const id = await endpoint();
    await happen(2);
    receiver.answers.push(200, 500);
    await round(id, { lanes: 1 });
    const forget = () => database.run((db) => forgetDeliveries(db, { before: new Date(clock.now + DAY), batch: 10 }));
    expect([await forget(), await forget(), await states(), (await tries()).length]).toEqual([1, 0, ['pending'], 1]);
  });
});
