import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, type MockInstance, vi } from 'vitest';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
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
let spied: MockInstance<typeof pg.Client.prototype.query>;

beforeAll(async () => {
  opened = await openTestDatabase({ onFilled: (queues) => wakeups.wake(queues) });
  relayDatabase = new Database({
    url: opened.url,
    poolSize: 5,
    applicationName: COUNTED,
    onConnectionError: () => undefined,
    onFilled: (queues) => wakeups.wake(queues),
  });
  spied = vi.spyOn(pg.Client.prototype, 'query');
  // Polls are out of the way: what is counted is what notifications cause.
  const policy = { ...DEFAULT_POLICY.relay, pollMs: HOUR, pollMaxMs: HOUR };
  const started = testRelay(opened, workflows, { database: relayDatabase, policy });
  ({ wakeups, close } = started);
  started.relay.start();
  // One round of each queue, and one poll.
  await takeStatements(5);
});
// A statement that was not awaited fails the test at its end.
afterEach(() => {
  const further = statements();
  spied.mockClear();
  if (further.length > 0) throw new Error(`further statements: ${further.join('; ')}`);
});
afterAll(async () => {
  await close();
  vi.restoreAllMocks();
  await relayDatabase.close();
  await opened.drop();
});

function applicationOf(client: pg.Client): string | undefined {
  return (client as unknown as { connectionParameters: { application_name?: string } }).connectionParameters
    .application_name;
}

function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : String((statement as { text?: unknown }).text);
}

/** The statements of the relay since they were taken last. */
function statements(): string[] {
  const { calls, contexts } = spied.mock;
  return calls.flatMap(([statement], index) => {
    const client = contexts[index];
    return client instanceof pg.Client && applicationOf(client) === COUNTED ? [textOf(statement)] : [];
  });
}

/** Waits for this number of statements of the relay, and takes all of them. */
async function takeStatements(number: number): Promise<string[]> {
  await waitFor(`${number} statements`, () => statements().length >= number);
  const taken = statements();
  spied.mockClear();
  return taken;
}

describe('the relay needs', () => {
  it('two statements for a start and one for its event', async () => {
    await acceptTestOrder(opened.database);
    expect(await takeStatements(3)).toHaveLength(3);
  });

  it('two statements for a report that says nothing new', async () => {
    await bought('so-known', 'completed');
    await deliverTestEvent(opened.database, { outcome: 'completed', serviceId: 'so-known' });
    expect(await takeStatements(2)).toHaveLength(2);
  });

  it('two to take a report that is news, nine to judge it and four to note that its workflow was told', async () => {
    await bought('so-news', 'processing');
    await deliverTestEvent(opened.database, { outcome: 'completed', serviceId: 'so-news' });
    expect(await takeStatements(2 + 9 + 4)).toHaveLength(2 + 9 + 4);
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
    expect(await takeStatements(2 + 1 + 6 + 2)).toHaveLength(2 + 1 + 6 + 2);
    await acceptTestOrder(opened.database);
    expect(await takeStatements(2 + 6 + 2)).toHaveLength(2 + 6 + 2);
  });
});

/** An order whose attempt the service has; what the relay does for it is not counted. */
async function bought(serviceId: string, outcome: 'processing' | 'completed'): Promise<void> {
  const orderId = await acceptTestOrder(opened.database);
  await takeStatements(3);
  const attempt = await openTestAttempt(opened.database, orderId);
  await claimTestSend(opened.database, attempt.id);
  await storeTestReport(opened.database, attempt.id, { outcome, serviceId });
}
