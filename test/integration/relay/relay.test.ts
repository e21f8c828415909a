import { eq, sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { generateWebhookSecret } from '#crypto/standard-webhooks.ts';
import type { Database } from '#db/connection/database.ts';
import { Wakeups } from '#db/connection/wakeups.ts';
import { requestEndpointWake } from '#db/events/webhook-endpoints.ts';
import { inboxKey } from '#db/queues/inbox-keys.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { attempts, cases, events, inbox, outbox, webhookDeliveries } from '#db/schema.ts';
import type { StartedWork } from '#db/work/started-work.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { NotifyOutcome } from '#domain/relay/inbox-decision.ts';
import type { ServiceObservation } from '#domain/relay/service-observation.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { createLogger } from '#telemetry/logger.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import type { StartOutcome } from '#temporal/start-work.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';
import {
  acceptTestOrder,
  claimTestSend,
  deliverTestEvent,
  deliverUnreadableEvent,
  openTestAttempt,
  orderWork,
  storeTestReport,
  TEST_KEYS,
} from '#test/support/work/order-rows.ts';
import { passQueueTime } from '#test/support/work/relay.ts';
import { Relay, type WorkWorkflows } from '#worker/relay/relay.ts';

/** Temporal as the relay sees it: records starts and signals, and can fail. */
class RecordedWorkflows implements WorkWorkflows {
  readonly started: string[] = [];
  readonly woken: string[] = [];
  readonly signalled: { orderId: string; observation: ServiceObservation }[] = [];
  /** Throws in order to fail, before or after the effect of the call. */
  onStart: (orderId: string) => void = () => undefined;
  afterSignal: (orderId: string) => void = () => undefined;

  readonly endpointsWoken: [id: string, urgent: boolean][] = [];
  onWakeEndpoint: () => Promise<void> = async () => undefined;

  async wakeEndpoint(id: string, urgent: boolean): Promise<void> {
    await this.onWakeEndpoint();
    this.endpointsWoken.push([id, urgent]);
  }

  startOutcome: StartOutcome = 'started';

  /** The result of signalReport. */
  outcome: NotifyOutcome = 'notified';

  async start(order: StartedWork) {
    this.onStart(order.id);
    this.started.push(order.id);
    return this.startOutcome;
  }

  async wake(order: StartedWork): Promise<NotifyOutcome> {
    this.woken.push(order.id);
    return this.outcome;
  }

  async signalReport(order: StartedWork, observation: ServiceObservation): Promise<NotifyOutcome> {
    this.signalled.push({ orderId: order.id, observation });
    this.afterSignal(order.id);
    return this.outcome;
  }
}

/** Longer than any test, so a postponed row is never due. */
const HOUR = 3_600_000;

let opened: OpenTestDatabase;
let database: Database;
let temporal: RecordedWorkflows;
const running: { relay: Relay; wakeups: Wakeups }[] = [];

beforeAll(async () => {
  opened = await openTestDatabase();
  ({ database } = opened);
});
beforeEach(async () => {
  temporal = new RecordedWorkflows();
  await database.run((db) => db.delete(inbox));
  await database.run((db) => db.delete(outbox));
});
afterEach(async () => {
  for (const { relay, wakeups } of running.splice(0)) {
    await relay.stop();
    await wakeups.close();
  }
});
afterAll(() => opened.drop());

function newRelay({ batch = 100, pollMs = 60_000 } = {}) {
  const logger = createLogger({ level: 'silent', name: 'test' });
  const wakeups = new Wakeups({ channel: 'relay', url: opened.url, applicationName: 'relay-listen', logger });
  const relay = new Relay({
    database,
    keyRing: TEST_KEYS,
    workflows: temporal,
    endpoints: { wake: (id, { urgent }) => temporal.wakeEndpoint(id, urgent) },
    wakeups,
    onPublished: () => undefined,
    policy: { ...DEFAULT_POLICY.relay, pollMs, batch, retryDelayMs: HOUR, retryDelayMaxMs: 60 * HOUR, lastingTries: 3 },
    metrics: createMetrics({ processMetrics: false }),
    logger,
    now: Date.now,
  });
  running.push({ relay, wakeups });
  return { relay, wakeups };
}

const drain = () => newRelay().relay.drain();
const rows = () => database.run((db) => db.select().from(inbox).orderBy(inbox.id));
const waiting = async () => (await database.run((db) => db.select().from(outbox))).map(({ subjectId }) => subjectId);
const casesOf = (orderId: string) => database.run((db) => db.select().from(cases).where(eq(cases.subjectId, orderId)));
const end = (orderId: string) =>
  database.transaction((tx) =>
    recordStep(
      tx,
      orderWork(orderId),
      {
        status: 'failed',
        entry: { event: 'order.failed', message: 'No.' },
        failure: { class: 'invalid_request', detail: 'No.' },
      },
      new Date(),
    ),
  );
/** An order with an attempt that the service has. */
async function bought(serviceId: string) {
  const orderId = await acceptTestOrder(database);
  const attempt = await openTestAttempt(database, orderId);
  await claimTestSend(database, attempt.id);
  await storeTestReport(database, attempt.id, { outcome: 'processing', serviceId });
  await database.run((db) => db.delete(outbox));
  return { orderId, attempt };
}

describe('accepted orders', () => {
  it('are started and then removed from the queue', async () => {
    const ids = [await acceptTestOrder(database), await acceptTestOrder(database)];
    await drain();
    expect(temporal.started.toSorted()).toEqual(ids.toSorted());
    expect(await waiting()).toEqual([]);
  });

  it('stay in the queue while Temporal is down, with a growing delay, and start afterwards', async () => {
    const id = await acceptTestOrder(database);
    temporal.onStart = () => {
      throw new Error('Temporal is down');
    };
    await drain();
    await drain();
    expect(temporal.started).toEqual([]);
    expect(await database.run((db) => db.select().from(outbox))).toMatchObject([
      { subjectId: id, tries: 1, lastError: 'Error: Temporal is down' },
    ]);
    for (const { wait, tries } of [
      { wait: HOUR, tries: 2 },
      { wait: HOUR, tries: 2 },
    ]) {
      await passQueueTime(database, wait);
      await drain();
      expect(await database.run((db) => db.select().from(outbox))).toMatchObject([{ tries }]);
    }
    temporal.onStart = () => undefined;
    await passQueueTime(database, HOUR);
    await drain();
    expect(temporal.started).toEqual([id]);
    expect(await waiting()).toEqual([]);
  });

  it('stay in the queue after their workflow has ended, until the order has ended too', async () => {
    const id = await acceptTestOrder(database);
    await database.run((db) => db.delete(outbox));
    await database.transaction((tx) => requestWake(tx, orderWork(id)));
    temporal.outcome = 'finished';
    await drain();
    expect(await database.run((db) => db.select().from(outbox))).toMatchObject([
      { topic: 'wake_work', lastError: expect.stringContaining('the workflow has ended') },
    ]);
    await end(id);
    await passQueueTime(database, HOUR);
    await drain();
    expect(await waiting()).toEqual([]);
  });

  it('wake a running workflow when their row has no step, as after a restore of PostgreSQL', async () => {
    const id = await acceptTestOrder(database);
    temporal.startOutcome = 'running';
    await drain();
    expect(temporal.woken).toEqual([id]);
    expect(await waiting()).toEqual([]);
  });

  it('do not wake a running workflow that has recorded a step', async () => {
    const id = await acceptTestOrder(database);
    await database.transaction((tx) =>
      recordStep(
        tx,
        orderWork(id),
        { status: 'submitting', entry: { event: 'order.submitting', message: 'Sent.' } },
        new Date(),
      ),
    );
    temporal.startOutcome = 'running';
    await drain();
    expect(temporal.woken).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  it('are started although one among them cannot be started', async () => {
    const ids = [await acceptTestOrder(database), await acceptTestOrder(database), await acceptTestOrder(database)];
    temporal.onStart = (orderId) => {
      if (orderId === ids[1]) throw new Error('not this one');
    };
    await drain();
    expect(temporal.started.toSorted()).toEqual([ids[0]!, ids[2]!].toSorted());
    expect(await waiting()).toEqual([ids[1]]);
  });

  it('are each started once by several concurrent relays', async () => {
    for (let n = 0; n < 40; n += 1) await acceptTestOrder(database);
    await Promise.all(Array.from({ length: 4 }, () => newRelay({ batch: 7 }).relay.drain()));
    expect(temporal.started).toHaveLength(40);
    expect(new Set(temporal.started).size).toBe(40);
  });
});

describe('reports of the service', () => {
  it('are stored with the attempt before its workflow is signalled', async () => {
    const { orderId, attempt } = await bought('so-1');
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-1' });
    await drain();
    const [row] = await rows();
    expect(temporal.signalled).toEqual([
      {
        orderId,
        observation: {
          inboxId: inboxKey(row!),
          epoch: expect.any(String),
          source: 'webhook',
          attemptNumber: 1,
          outcome: 'completed',
          decision: 'advance',
        },
      },
    ]);
    expect(row).toMatchObject({ state: 'relayed', attemptId: attempt.id, subjectId: orderId });
    expect((await database.run((db) => db.select().from(attempts))).find(({ id }) => id === attempt.id)).toMatchObject({
      state: 'completed',
    });
  });

  it('without new information are settled without a signal', async () => {
    await bought('so-2');
    await deliverTestEvent(database, { outcome: 'processing', serviceId: 'so-2' });
    await drain();
    expect(temporal.signalled).toEqual([]);
    expect(await rows()).toMatchObject([{ state: 'applied', decision: 'known' }]);
  });

  it('keep their decision when they are signalled again after a crash', async () => {
    const { orderId } = await bought('so-3');
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-3' });
    temporal.afterSignal = () => {
      throw new Error('the relay died here');
    };
    await drain();
    expect(await rows()).toMatchObject([{ state: 'pending', decision: 'advance' }]);
    temporal.afterSignal = () => undefined;
    await passQueueTime(database, HOUR);
    await drain();
    expect(temporal.signalled).toHaveLength(2);
    // The attempt has advanced, but the decision of the row stays. Otherwise a workflow that missed the first signal
    // would never learn of it.
    expect(temporal.signalled[1]).toEqual(temporal.signalled[0]);
    expect(temporal.signalled[1]).toMatchObject({ orderId, observation: { decision: 'advance' } });
    expect(await rows()).toMatchObject([{ state: 'relayed' }]);
  });

  it('stay pending while their workflow has ended and the work has not', async () => {
    await bought('so-unheard');
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-unheard' });
    temporal.outcome = 'finished';
    await drain();
    expect(await rows()).toMatchObject([
      { state: 'pending', decision: 'advance', lastError: expect.stringContaining('the workflow has ended') },
    ]);
    temporal.outcome = 'notified';
    await passQueueTime(database, HOUR);
    await drain();
    expect(await rows()).toMatchObject([{ state: 'relayed' }]);
  });

  it('refused by PostgreSQL as invalid data are quarantined after a few tries', async () => {
    const { orderId } = await bought('so-refused');
    await database.run((db) =>
      db.execute(
        sql`alter table attempts add constraint refuses check (service_id <> 'so-refused' or state <> 'completed')`,
      ),
    );
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-refused' });
    for (const wait of [0, HOUR, 2 * HOUR]) {
      expect(await rows()).toMatchObject([{ state: 'pending' }]);
      await passQueueTime(database, wait);
      await drain();
    }
    await database.run((db) => db.execute(sql`alter table attempts drop constraint refuses`));
    expect(await rows()).toMatchObject([
      { state: 'quarantined', note: 'Cannot be processed: PostgreSQL error 23514', tries: 3 },
    ]);
    expect(temporal.signalled.filter((word) => word.orderId === orderId)).toEqual([]);
  });

  it('about one order are signalled in the order of their arrival', async () => {
    const orderId = await acceptTestOrder(database);
    const { reference } = await openTestAttempt(database, orderId);
    for (const outcome of ['processing', 'completed'] as const)
      await deliverTestEvent(database, { outcome, serviceId: 'so-4', reference });
    await drain();
    expect(temporal.signalled.map(({ observation }) => observation.outcome)).toEqual(['processing', 'completed']);
  });

  it('without a known attempt wait, and are signalled once their attempt is opened', async () => {
    const orderId = await acceptTestOrder(database);
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-5', reference: 'ref-5' });
    await drain();
    expect(temporal.signalled).toEqual([]);
    expect(await rows()).toMatchObject([{ state: 'unmatched' }]);
    await openTestAttempt(database, orderId, { reference: 'ref-5' });
    await drain();
    expect(temporal.signalled).toMatchObject([{ orderId, observation: { outcome: 'completed', decision: 'advance' } }]);
  });

  it('that are unreadable do not block other reports', async () => {
    const { orderId } = await bought('so-6');
    await bought('so-7');
    await deliverUnreadableEvent(database, { outcome: 'completed', serviceId: 'so-7' });
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-6' });
    await drain();
    expect(temporal.signalled).toMatchObject([{ orderId }]);
    expect(await rows()).toMatchObject([
      { state: 'pending', lastError: expect.stringContaining('ENCRYPTION_KEYS') },
      { state: 'relayed' },
    ]);
  });
});

describe('reports about ended work, and impossible reports', () => {
  it('open a case and wake no workflow when they report a failed order as bought', async () => {
    const orderId = await acceptTestOrder(database);
    const { reference } = await openTestAttempt(database, orderId);
    await end(orderId);
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-8', reference });
    await drain();
    expect(temporal.signalled).toEqual([]);
    expect(await casesOf(orderId)).toMatchObject([{ reason: 'contradiction', closedAt: null }]);
    expect(await rows()).toMatchObject([{ state: 'applied', decision: 'contradiction' }]);
  });

  it('open a case when they name a second order for one attempt', async () => {
    const { orderId, attempt } = await bought('so-9');
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-9-again', reference: attempt.reference });
    await drain();
    // The known order continues. An operator decides about the second one.
    expect(temporal.signalled).toEqual([]);
    expect(await casesOf(orderId)).toMatchObject([
      { reason: 'contradiction', detail: expect.stringContaining('so-9-again') },
    ]);
    expect(await rows()).toMatchObject([{ state: 'applied' }]);
  });

  it('open a case when they complete an attempt that a later attempt has replaced', async () => {
    const { orderId, attempt } = await bought('so-10');
    await storeTestReport(database, attempt.id, { outcome: 'failed', serviceId: 'so-10' });
    await openTestAttempt(database, orderId, { number: 2 });
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-10' });
    await drain();
    // The case is still open, so the workflow must stop buying.
    expect(temporal.signalled).toMatchObject([
      { orderId, observation: { attemptNumber: 1, decision: 'contradiction' } },
    ]);
    expect(await casesOf(orderId)).toMatchObject([{ reason: 'contradiction', closedAt: null }]);
  });

  it('signal a contradiction to the workflow while the order is open', async () => {
    const { orderId, attempt } = await bought('so-11');
    await storeTestReport(database, attempt.id, { outcome: 'failed', serviceId: 'so-11' });
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-11' });
    await drain();
    expect(temporal.signalled).toMatchObject([
      { orderId, observation: { outcome: 'completed', decision: 'contradiction' } },
    ]);
  });
});

const expectStarted = (orderId: string) => expect.poll(() => temporal.started).toEqual([orderId]);

describe('the relay', () => {
  it('is woken by a notification, long before its poll', async () => {
    const { relay, wakeups } = newRelay({ pollMs: 3_600_000 });
    wakeups.listen();
    relay.start();
    await waitFor('the relay listens', async () => {
      const { rows } = await withClient(opened.url, (client) =>
        client.query(
          `SELECT 1 FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'relay-listen' AND query LIKE 'LISTEN%'`,
        ),
      );
      return rows.length > 0;
    });
    const id = await acceptTestOrder(database);
    await withClient(opened.url, (client) => client.query('NOTIFY relay'));
    await expectStarted(id);
  });

  it('listens again after a lost connection, and processes the rows that arrived meanwhile', async () => {
    const { relay, wakeups } = newRelay({ pollMs: 3_600_000 });
    wakeups.listen();
    relay.start();
    const cut = () =>
      withClient(opened.url, async (client) => {
        const { rows } = await client.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'relay-listen' AND query LIKE 'LISTEN%'`,
        );
        return rows.length > 0;
      });
    await waitFor('the connection that listens is cut', cut);
    // No notification arrives, so the reconnection itself must start a poll.
    await expectStarted(await acceptTestOrder(database));
  });

  it('finds rows by its poll without a notification', async () => {
    const { relay } = newRelay({ pollMs: 100 });
    relay.start();
    await expectStarted(await acceptTestOrder(database));
  });

  it('finishes its leased rows before it stops', async () => {
    const id = await acceptTestOrder(database);
    const { relay } = newRelay();
    relay.start();
    await relay.stop();
    expect(temporal.started).toEqual([id]);
    expect(await waiting()).toEqual([]);
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
      await database.transaction((tx) => addWebhookEndpoint(tx, TEST_KEYS, wanted, generateWebhookSecret(), new Date()))
    ).id;
  };
  const want = (id: string, urgent: boolean) => database.transaction((tx) => requestEndpointWake(tx, [id], { urgent }));
  const waking = async (id: string) => {
    await drain();
    return temporal.endpointsWoken.filter(([woken]) => woken === id).map(([, urgent]) => urgent);
  };

  it('queues each published event for every endpoint, and wakes each workflow once', async () => {
    const id = await add();
    const orderId = await acceptTestOrder(database);
    expect(await waking(id)).toEqual([false]);
    expect(await waking(id)).toEqual([false]);
    const queued = await database.run((db) =>
      db.select().from(webhookDeliveries).where(eq(webhookDeliveries.endpointId, id)),
    );
    const signalled = await database.run((db) => db.select().from(events).where(eq(events.subjectId, orderId)));
    expect(queued.map(({ eventId }) => eventId)).toEqual(expect.arrayContaining(signalled.map((event) => event.id)));
  });

  it('wakes an endpoint again after a failed wake, or a request during the wake', async () => {
    const id = await add();
    temporal.onWakeEndpoint = () => Promise.reject(new Error('Temporal is down'));
    await want(id, true);
    expect(await waking(id)).toEqual([]);
    temporal.onWakeEndpoint = async () => {
      temporal.onWakeEndpoint = async () => undefined;
      await want(id, false);
    };
    expect(await waking(id)).toEqual([true]);
    // The request that was made during the wake causes a second wake.
    expect((await waking(id)).length).toBe(2);
    expect(await waking(id)).toHaveLength(2);
  });
});
