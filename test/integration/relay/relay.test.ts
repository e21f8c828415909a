import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { requestEndpointWake } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries } from '#db/schema.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { acceptTestOrder, TEST_KEYS } from '#test/support/work/order-rows.ts';
import { RelayBench } from '#test/support/work/relay-bench.ts';

const bench = disposedAtEnd(await RelayBench.start());
beforeEach(() => bench.empty());

const expectStarted = (orderId: string) => expect.poll(() => bench.temporal.started).toEqual([orderId]);

describe('the relay', () => {
  it('is woken by a notification, long before its poll', async () => {
    const { relay, wakeups } = bench.newRelay({ pollMs: 3_600_000 });
    wakeups.listen();
    relay.start();
    await waitFor('the relay listens', async () => {
      const { rows } = await withClient(bench.url, (client) =>
        client.query(
          `SELECT 1 FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'relay-listen' AND query LIKE 'LISTEN%'`,
        ),
      );
      return rows.length > 0;
    });
    const id = await acceptTestOrder(bench.database);
    await withClient(bench.url, (client) => client.query('NOTIFY relay'));
    await expectStarted(id);
  });

  it('listens again after a lost connection, and processes the rows that arrived meanwhile', async () => {
    const { relay, wakeups } = bench.newRelay({ pollMs: 3_600_000 });
    wakeups.listen();
    relay.start();
    const cut = () =>
      withClient(bench.url, async (client) => {
        const { rows } = await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'relay-listen' AND query LIKE 'LISTEN%'`,
        );
        return rows.length > 0;
      });
    await waitFor('the connection that listens is cut', cut);
    // No notification arrives, so the reconnection itself must start a poll.
    await expectStarted(await acceptTestOrder(bench.database));
  });

  it('finds rows by its poll without a notification', async () => {
    const { relay } = bench.newRelay({ pollMs: 100 });
    relay.start();
    await expectStarted(await acceptTestOrder(bench.database));
  });

  it('finishes its leased rows before it stops', async () => {
    const id = await acceptTestOrder(bench.database);
    const { relay } = bench.newRelay();
    relay.start();
    await relay.stop();
    expect(bench.temporal.started).toEqual([id]);
    expect(await bench.waiting()).toEqual([]);
  });
});

describe('the relay with webhook endpoints', () => {
  const add = async () => {
    const wanted = {
      apiKeyId: 'key_test',
      ownerId: undefined,
      url: 'https://shop.example.com/',
      description: null,
      eventTypes: ['*'],
    };
    return (
      await bench.database.transaction((tx) =>
        addWebhookEndpoint(tx, TEST_KEYS, wanted, generateWebhookSecret(), new Date()),
      )
    ).id;
  };
  const want = (id: string, urgent: boolean) =>
    bench.database.transaction((tx) => requestEndpointWake(tx, [id], { urgent }));
  const waking = async (id: string) => {
    await bench.drain();
    return bench.temporal.endpointsWoken.filter(([woken]) => woken === id).map(([, urgent]) => urgent);
  };

  it('queues each published event for every endpoint, and wakes each workflow once', async () => {
    const id = await add();
    const orderId = await acceptTestOrder(bench.database);
    expect(await waking(id)).toEqual([false]);
    expect(await waking(id)).toEqual([false]);
    const queued = await bench.database.run((db) =>
      db.select().from(webhookDeliveries).where(eq(webhookDeliveries.endpointId, id)),
    );
    const signalled = await bench.database.run((db) => db.select().from(events).where(eq(events.subjectId, orderId)));
    expect(queued.map(({ eventId }) => eventId)).toEqual(expect.arrayContaining(signalled.map((event) => event.id)));
  });

  it('wakes an endpoint again after a failed wake, or a request during the wake', async () => {
    const id = await add();
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
