import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import type { Wakeups } from '#db/connection/wakeups.ts';
import { requestEndpointWake } from '#db/events/webhook-endpoints.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { events, outbox, webhookDeliveries } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { acceptTestOrder, endTestOrder, orderWork, TEST_KEYS } from '#test/support/work/order-rows.ts';
import { HOUR, RelayBench } from '#test/support/work/relay-bench.ts';
import { ControlledWorkflows, passQueueTime, testRelay } from '#test/support/work/relay.ts';

const bench = disposedAtEnd(await RelayBench.start());
beforeEach(() => bench.empty());

const accept = () => acceptTestOrder(bench.database);
const expectStarted = (orderId: string) => expect.poll(() => bench.temporal.started).toEqual([orderId]);
/** Adds an endpoint for all events. @returns its id. */
async function addEndpoint(database = bench.database): Promise<string> {
  const owner = { apiKeyId: 'key_test', ownerId: undefined };
  const wanted = { ...owner, url: 'https://shop.example.com/', description: null, eventTypes: ['*'] };
  const secret = generateWebhookSecret();
  return (await database.transaction((tx) => addWebhookEndpoint(tx, TEST_KEYS, wanted, secret, new Date()))).id;
}
/** Selects something of the connection that listens. @returns false without such a connection. */
const ofListener = (selected: string) =>
  withClient(bench.url, async (client) => {
    const { rows } = await client.query(
      `SELECT ${selected} FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'relay-listen' AND query LIKE 'LISTEN%'`,
    );
    return rows.length > 0;
  });

describe('the relay', () => {
  it('is woken by a notification, long before its poll', async () => {
    const { relay, wakeups } = bench.newRelay({ pollMs: HOUR });
    wakeups.listen();
    relay.start();
    await waitFor('the relay listens', () => ofListener('1'));
    const id = await accept();
    await withClient(bench.url, (client) => client.query('NOTIFY relay'));
    await expectStarted(id);
  });

  it('listens again after a lost connection, and processes the rows that arrived meanwhile', async () => {
    const { relay, wakeups } = bench.newRelay({ pollMs: HOUR });
    wakeups.listen();
    relay.start();
    await waitFor('the connection that listens is cut', () => ofListener('pg_terminate_backend(pid)'));
    // No notification arrives, so the reconnection itself must start a poll.
    await expectStarted(await accept());
  });

  it('finds rows by its poll without a notification', async () => {
    const { relay } = bench.newRelay({ pollMs: 100 });
    relay.start();
    await expectStarted(await accept());
  });

  it('finishes its leased rows before it stops', async () => {
    const id = await accept();
    const { relay } = bench.newRelay();
    relay.start();
    await relay.stop();
    expect(bench.temporal.started).toEqual([id]);
    expect(await bench.waiting()).toEqual([]);
  });
});

describe('accepted orders', () => {
  const requests = () => bench.database.run((db) => db.select().from(outbox));

  it('are started and then removed from the queue', async () => {
    const ids = [await accept(), await accept()];
    await bench.drain();
    expect(bench.temporal.started.toSorted()).toEqual(ids.toSorted());
    expect(await bench.waiting()).toEqual([]);
  });

  it('stay in the queue while Temporal is down, and start afterwards', async () => {
    const id = await accept();
    bench.temporal.onStart = () => {
      throw new Error('Temporal is down');
    };
    await bench.drain();
    await bench.drain();
    expect(bench.temporal.started).toEqual([]);
    expect(await requests()).toMatchObject([{ subjectId: id, tries: 1, lastError: 'Error: Temporal is down' }]);
    bench.temporal.onStart = () => undefined;
    await passQueueTime(bench.database, HOUR);
    await bench.drain();
    expect(bench.temporal.started).toEqual([id]);
    expect(await bench.waiting()).toEqual([]);
  });

  it('stay in the queue after their workflow has ended, until the order has ended too', async () => {
    const id = await accept();
    await bench.database.run((db) => db.delete(outbox));
    await bench.database.transaction((tx) => requestWake(tx, orderWork(id)));
    bench.temporal.outcome = 'finished';
    await bench.drain();
    const lastError = expect.stringContaining('the workflow has ended');
    expect(await requests()).toMatchObject([{ topic: 'wake_work', lastError }]);
    await endTestOrder(bench.database, id);
    await passQueueTime(bench.database, HOUR);
    await bench.drain();
    expect(await bench.waiting()).toEqual([]);
  });

  it.each([
    ['wake a running workflow when their row has no step, as after a restore of PostgreSQL', false],
    ['do not wake a running workflow that has recorded a step', true],
  ])('%s', async (_what, hasStep) => {
    const id = await accept();
    const sent = { work: orderWork(id), status: 'submitting', event: 'order.submitting', message: 'Sent.' } as const;
    if (hasStep) await bench.database.transaction((tx) => recordStep(tx, sent, new Date()));
    bench.temporal.startOutcome = 'running';
    await bench.drain();
    expect(bench.temporal.woken).toEqual(hasStep ? [] : [id]);
    expect(await bench.waiting()).toEqual([]);
  });

  it('are started although one among them cannot be started', async () => {
    const ids = [await accept(), await accept(), await accept()];
    bench.temporal.onStart = (orderId) => {
      if (orderId === ids[1]) throw new Error('not this one');
    };
    await bench.drain();
    expect(bench.temporal.started.toSorted()).toEqual([ids[0]!, ids[2]!].toSorted());
    expect(await bench.waiting()).toEqual([ids[1]]);
  });
});

describe('the relay with webhook endpoints', () => {
  const want = (id: string, urgent: boolean) =>
    bench.database.transaction((tx) => requestEndpointWake(tx, [id], { urgent }));
  const waking = async (id: string) => {
    await bench.drain();
    return bench.temporal.endpointsWoken.filter(([woken]) => woken === id).map(([, urgent]) => urgent);
  };

  it('queues each published event for every endpoint, and wakes each workflow once', async () => {
    const id = await addEndpoint();
    const orderId = await accept();
    expect(await waking(id)).toEqual([false]);
    expect(await waking(id)).toEqual([false]);
    const queued = await bench.database.run((db) =>
      db.select().from(webhookDeliveries).where(eq(webhookDeliveries.endpointId, id)),
    );
    const signalled = await bench.database.run((db) => db.select().from(events).where(eq(events.subjectId, orderId)));
    expect(queued.map(({ eventId }) => eventId)).toEqual(expect.arrayContaining(signalled.map((event) => event.id)));
  });

  it('wakes an endpoint again after a failed wake, or a request during the wake', async () => {
    const id = await addEndpoint();
    bench.temporal.onWakeEndpoint = () => Promise.reject(new Error('Temporal is down'));
    await want(id, true);
    expect(await waking(id)).toEqual([]);
    bench.temporal.onWakeEndpoint = async () => {
      bench.temporal.onWakeEndpoint = async () => undefined;
      await want(id, false);
    };
    expect(await waking(id)).toEqual([true]);
    // The request that was made during the wake causes a second wake.
    expect((await waking(id)).length).toBe(2);
    expect(await waking(id)).toHaveLength(2);
  });
});

it('a wake that fails causes no poll and no further round', async () => {
  let wakeups: Wakeups | undefined;
  await using opened = await openTestDatabase({ onRowsAdded: (queues) => wakeups?.wake(queues) });
  let calls = 0;
  const wake = async () => {
    calls += 1;
    throw new Error('Temporal refuses the wake');
  };
  const policy = { ...DEFAULT_POLICY.relay, pollMs: HOUR, pollMaxMs: HOUR };
  const started = testRelay(opened, new ControlledWorkflows(), { endpoints: { wake }, policy });
  ({ wakeups } = started);
  const woken = vi.spyOn(wakeups, 'wake');
  started.relay.start();
  await addEndpoint(opened.database);
  for (const expected of [1, 2]) {
    await acceptTestOrder(opened.database);
    await waitFor('the wake has failed', () => calls >= expected);
  }
  // The poll gives an array; a commit gives the set of queues that it has filled.
  expect(woken.mock.calls.filter(([queues]) => Array.isArray(queues))).toHaveLength(1);
  await started.close();
});
