import { and, eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { addDeliveries } from '#db/events/webhook-deliveries.ts';
import { endpointState, type WebhookEndpointRow } from '#db/events/webhook-endpoints.ts';
import { events, webhookDeliveries, webhookEndpoints } from '#db/schema.ts';
import {
  DELIVERY_LIFECYCLE,
  DELIVERY_STATES,
  type DeliveryEvent,
  type DeliveryState,
  ENDPOINT_EVENTS,
  ENDPOINT_LIFECYCLE,
  ENDPOINT_STATES,
  type EndpointEvent,
  type EndpointState,
} from '#domain/events/webhook-delivery.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { claimDelivery, type ClaimedDelivery } from '#fulfilment/event-webhooks/claim-delivery.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { giveUpDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import {
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
  enableWebhookEndpoint,
  recordTry,
} from '#fulfilment/event-webhooks/record-try.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';

let opened: OpenTestDatabase;
let database: Database;
beforeAll(async () => {
  opened = await openTestDatabase();
  ({ database } = opened);
});
afterAll(() => opened.drop());

const NOW = new Date('2030-01-31T12:00:00Z');
const KEYS = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 3) }]);
const policy = DEFAULT_POLICY.outbound;
const ago = (ms: number) => new Date(NOW.getTime() - ms);

/** A delivery with a running try, to its own endpoint. */
async function tryUnderWay(): Promise<ClaimedDelivery> {
  return database.transaction(async (tx) => {
    const wanted = {
      apiKeyId: 'key_a',
      ownerId: undefined,
      url: 'https://example.com/',
      description: null,
      eventTypes: ['*'],
    };
    const { id: endpointId } = await addWebhookEndpoint(tx, KEYS, wanted, generateWebhookSecret(), NOW);
    const subject = { kind: 'order', id: newId('order') } as const;
    await recordEvent(tx, { type: 'order.completed', subject, apiKeyId: 'key_a', data: { status: 'completed' } }, NOW);
    const [event] = await tx.select().from(events).where(eq(events.subjectId, subject.id));
    if (event === undefined) throw new Error('the event was not stored');
    await addDeliveries(tx, [{ endpointId, eventId: event.id }], NOW);
    const claimed = await claimDelivery(tx, endpointId, { now: NOW, leaseMs: 30_000 });
    if (claimed === undefined) throw new Error('the delivery is not due');
    return claimed;
  });
}

type Operation = (tx: Executor, claimed: ClaimedDelivery) => Promise<unknown>;

const answered =
  (status: number): Operation =>
  (tx, claimed) =>
    recordTry(
      tx,
      claimed,
      { outcome: { kind: 'answered', status }, at: NOW, durationMs: 1, encryptExcerpt: () => null },
      { now: NOW, spread: 0.5, policy },
    );

/** Changes the row of the delivery or of the endpoint first. */
const ofDelivery =
  (change: Partial<typeof webhookDeliveries.$inferInsert>, operation: Operation): Operation =>
  async (tx, claimed) => {
    await tx.update(webhookDeliveries).set(change).where(eq(webhookDeliveries.id, claimed.delivery.id));
    await operation(tx, claimed);
  };
const ofEndpoint =
  (change: Partial<WebhookEndpointRow>, operation: Operation): Operation =>
  async (tx, claimed) => {
    await tx.update(webhookEndpoints).set(change).where(eq(webhookEndpoints.id, claimed.endpoint.id));
    await operation(tx, claimed);
  };

const giveUp: Operation = (tx, { endpoint }) => giveUpDeliveries(tx, endpoint.id, 10, NOW);

/** The operations that cause each event of a delivery. */
const OF_DELIVERY: readonly (readonly [event: DeliveryEvent, how: string, operation: Operation])[] = [
  [
    'queued',
    'it is replayed',
    (tx, { delivery: { endpointId, eventId } }) => addDeliveries(tx, [{ endpointId, eventId }], NOW),
  ],
  ['arrived', 'it is answered with 200', answered(200)],
  ['missed', 'it is answered with 500', answered(500)],
  ['given_up', 'the last try fails', ofDelivery({ triedSince: ago(policy.retryForMs) }, answered(500))],
  ['given_up', 'the endpoint is gone', answered(410)],
  ['given_up', 'the endpoint was disabled', ofEndpoint({ disabledAt: NOW, disabledReason: 'request' }, giveUp)],
];

/** The operation that causes each event of an endpoint during a running try. */
const OF_ENDPOINT: Readonly<Record<EndpointEvent, Operation>> = {
  disable: (tx, { endpoint }) => disableWebhookEndpoint(tx, endpoint.id, 'request', NOW),
  found_gone: answered(410),
  found_failing: ofEndpoint({ failures: 9, failingSince: ago(policy.disableAfterMs) }, answered(500)),
  enable: (tx, { endpoint }) => enableWebhookEndpoint(tx, endpoint.id, undefined, NOW),
  delete: (tx, { endpoint }) => deleteWebhookEndpoint(tx, endpoint.id, NOW),
};

/** The columns of an endpoint in a state. */
function columnsOf(state: EndpointState): Partial<WebhookEndpointRow> {
  if (state === 'enabled') return { disabledAt: null, disabledReason: null };
  return state === 'deleted' ? { deletedAt: NOW } : { disabledAt: NOW, disabledReason: state };
}

async function deliveryAfter(state: DeliveryState, operation: Operation): Promise<DeliveryState | undefined> {
  const claimed = await tryUnderWay();
  const columns = { state, nextTryAt: state === 'pending' ? NOW : null, endedAt: state === 'pending' ? null : NOW };
  const rows = await database.transaction(async (tx) => {
    await ofDelivery(columns, operation)(tx, claimed);
    return tx.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, claimed.delivery.id));
  });
  return rows[0]?.state;
}

describe('the row of a webhook delivery', () => {
  it.each(OF_DELIVERY)('has the state of the table after %s (%s), from every state', async (event, _how, operation) => {
    for (const before of DELIVERY_STATES) {
      const next = DELIVERY_LIFECYCLE[event][before];
      expect(await deliveryAfter(before, operation), `${before}, ${event}`).toBe(next === 'unchanged' ? before : next);
    }
  });
});

describe('the row of a webhook endpoint', () => {
  it.each(Object.keys(ENDPOINT_EVENTS) as EndpointEvent[])(
    'has the state of the table after %s, from every state',
    async (event) => {
      for (const before of ENDPOINT_STATES) {
        const next = ENDPOINT_LIFECYCLE[event][before];
        if (next === 'forbidden') continue;
        const claimed = await tryUnderWay();
        const [row] = await database.transaction(async (tx) => {
          await ofEndpoint(columnsOf(before), OF_ENDPOINT[event])(tx, claimed);
          return tx.select().from(webhookEndpoints).where(eq(webhookEndpoints.id, claimed.endpoint.id));
        });
        expect(row === undefined ? undefined : endpointState(row), `${before}, ${event}`).toBe(
          next === 'unchanged' ? before : next,
        );
      }
    },
  );

  it('causes an event when we disable it, and none when it was deleted during its try', async () => {
    const announcedOf = async (state: EndpointState) => {
      const claimed = await tryUnderWay();
      return database.transaction(async (tx) => {
        await ofEndpoint(columnsOf(state), answered(410))(tx, claimed);
        return tx
          .select()
          .from(events)
          .where(and(eq(events.subjectId, claimed.endpoint.id), eq(events.type, 'webhook_endpoint.disabled')));
      });
    };
    expect(await announcedOf('enabled')).toMatchObject([{ data: { reason: 'gone' } }]);
    expect(await announcedOf('deleted')).toEqual([]);
  });
});
