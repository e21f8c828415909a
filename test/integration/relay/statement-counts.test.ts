import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { generateWebhookSecret } from '#crypto/standard-webhooks.ts';
import { Database } from '#db/connection/database.ts';
import type { Wakeups } from '#db/connection/wakeups.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';
import {
  acceptTestOrder,
  claimTestSend,
  deliverTestEvent,
  openTestAttempt,
  storeTestReport,
  TEST_KEYS,
} from '#test/support/work/order-rows.ts';
import { testRelay } from '#test/support/work/relay.ts';
import type { WorkWorkflows } from '#worker/relay/relay.ts';

const HOUR = 3_600_000;
const COUNTED = 'counted';
const workflows: WorkWorkflows = {
  start: async () => 'started',
  wake: async () => 'notified',
  signalReport: async () => 'notified',
};

let opened: OpenTestDatabase;
let relayDatabase: Database;
let wakeups: Wakeups;
let close: () => Promise<void>;
let texts: string[];

beforeAll(async () => {
  opened = await openTestDatabase({ onFilled: (queues) => wakeups.wake(queues) });
  relayDatabase = new Database({
    url: opened.url,
    poolSize: 5,
    applicationName: COUNTED,
    onConnectionError: () => undefined,
    onFilled: (queues) => wakeups.wake(queues),
  });
  const sent = vi.spyOn(pg.Client.prototype, 'query');
  texts = [];
  sent.mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    if (applicationOf(this) === COUNTED) texts.push(textOf(args[0]));
    return Reflect.apply(unspied, this, args);
  } as typeof pg.Client.prototype.query);
  // Polls are out of the way: what is counted is what notifications cause.
  const policy = { ...DEFAULT_POLICY.relay, pollMs: HOUR, pollMaxMs: HOUR };
  const started = testRelay(opened, workflows, { database: relayDatabase, policy });
  ({ wakeups, close } = started);
  started.relay.start();
  // One round of each queue, and one poll.
  await counted(5);
});
afterEach(() => expect(texts).toEqual([]));
afterAll(async () => {
  await close();
  vi.restoreAllMocks();
  await relayDatabase.close();
  await opened.drop();
});

const unspied = pg.Client.prototype.query;

function applicationOf(client: pg.Client): string | undefined {
  return (client as unknown as { connectionParameters: { application_name?: string } }).connectionParameters
    .application_name;
}

function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : String((statement as { text?: unknown }).text);
}

/** Waits for this number of statements of the relay, and forgets them. A further one fails the test at its end. */
async function counted(number: number): Promise<void> {
  await waitFor(`${number} statements`, () => texts.length >= number);
  expect(texts.splice(0), 'the statements of the relay').toHaveLength(number);
}

describe('the relay needs', () => {
  it('two statements for a start and one for its event', async () => {
    await acceptTestOrder(opened.database);
    await counted(3);
  });

  it('two statements for a report that says nothing new', async () => {
    await bought('so-known', 'completed');
    await deliverTestEvent(opened.database, { outcome: 'completed', serviceId: 'so-known' });
    await counted(2);
  });

  it('two to take a report that is news, nine to judge it and four to note that its workflow was told', async () => {
    await bought('so-news', 'processing');
    await deliverTestEvent(opened.database, { outcome: 'completed', serviceId: 'so-news' });
    await counted(2 + 9 + 4);
  });

  it('six statements for an event that an endpoint receives, and two to wake it', async () => {
    await opened.database.transaction((tx) => {
      const endpoint = {
        apiKeyId: 'key_test',
        ownerId: undefined,
        url: 'https://shop.example.com/',
        description: null,
      };
      const wanted = { ...endpoint, eventTypes: ['*'] };
      return addWebhookEndpoint(tx, TEST_KEYS, wanted, generateWebhookSecret(), new Date());
    });
    await acceptTestOrder(opened.database);
    // The first finds out that there is an endpoint.
    await counted(2 + 1 + 6 + 2);
    await acceptTestOrder(opened.database);
    await counted(2 + 6 + 2);
  });
});

/** An order whose attempt the service has; what the relay does for it is not counted. */
async function bought(serviceId: string, outcome: 'processing' | 'completed'): Promise<void> {
  const orderId = await acceptTestOrder(opened.database);
  await counted(3);
  const attempt = await openTestAttempt(opened.database, orderId);
  await claimTestSend(opened.database, attempt.id);
  await storeTestReport(opened.database, attempt.id, { outcome, serviceId });
}
