/** Webhook endpoints through the API, and the events that are queued for them. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { newId } from '#db/connection/ids.ts';
import { publishEvents, recordEvent } from '#db/events/event-log.ts';
import {
  auditLog,
  events,
  webhookDeliveries,
  webhookEndpoints,
  webhookEndpointSecrets,
  webhookTries,
} from '#db/schema.ts';
import type { EventType } from '#domain/events/event-types.ts';
import { queueDeliveries } from '#fulfilment/event-webhooks/queue-deliveries.ts';
import { TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';

export const URL_OF_SHOP = 'https://shop.example.com/hooks/SECRET-PATH';

/** Removes all endpoints, events and entries of the audit log, and sets the clock back. */
export async function forgetEndpoints(api: TestApi): Promise<void> {
  api.clock.now = TEST_NOW;
  for (const table of [webhookTries, webhookDeliveries, webhookEndpointSecrets, webhookEndpoints, events, auditLog])
    await api.database.run((db) => db.delete(table));
}

export const idempotent = (key: string = randomUUID()) => ({ headers: { 'idempotency-key': key } });
/** The path of an endpoint, or of one of its actions. */
export const endpointPath = (id: string, action = '') => `/v1/webhook-endpoints/${id}${action}`;

export function endpointCalls(caller: () => HttpClient) {
  const post = async (path: string, body?: unknown, key?: string) => caller().post(path, body, idempotent(key));
  const create = async (body: object = {}) => post('/v1/webhook-endpoints', { url: URL_OF_SHOP, ...body });
  /** Creates an endpoint. @returns its id. */
  const created = async (body?: object) => (await create(body)).textAt('id');
  return { post, create, created };
}

export function endpointEvents(api: () => TestApi) {
  return {
    /** Records and publishes events. @returns their ids. */
    happen: async (
      types: readonly EventType[],
      { apiKeyId = 'key_a', now = api().clock.now }: { apiKeyId?: string | null; now?: number } = {},
    ): Promise<string[]> =>
      api().database.transaction(async (tx) => {
        for (const type of types) {
          const subject = { kind: 'order', id: newId('order') } as const;
          await recordEvent(tx, { type, subject, apiKeyId, data: { status: 'any' } }, new Date(now));
        }
        const published = await publishEvents(tx, 1_000);
        await queueDeliveries(tx, published, new Date(now));
        return published.map(({ id }) => id);
      }),
    /** The events queued for an endpoint with the states of their deliveries, oldest first. */
    queued: async (endpointId: string) =>
      (
        await api().database.run((db) =>
          db
            .select()
            .from(webhookDeliveries)
            .where(eq(webhookDeliveries.endpointId, endpointId))
            .orderBy(webhookDeliveries.id),
        )
      ).map(({ eventId, state }) => [eventId, state]),
    /** Stores many published events, one millisecond apart. */
    happened: async (count: number): Promise<void> => {
      const rows = Array.from({ length: count }, (_, index) => ({
        id: newId('event'),
        position: BigInt(index + 1),
        type: 'order.held' as const,
        subjectKind: 'order' as const,
        subjectId: 'ord_1',
        data: {},
        occurredAt: new Date(TEST_NOW + index),
      }));
      for (let start = 0; start < rows.length; start += 5_000)
        await api().database.run((db) => db.insert(events).values(rows.slice(start, start + 5_000)));
    },
    endpointRow: async (id: string) => {
      const isIt = eq(webhookEndpoints.id, id);
      const [row] = await api().database.run((db) => db.select().from(webhookEndpoints).where(isIt));
      return row!;
    },
    setEndpoint: async (id: string, values: Partial<typeof webhookEndpoints.$inferInsert>) =>
      api().database.run((db) => db.update(webhookEndpoints).set(values).where(eq(webhookEndpoints.id, id))),
    settle: async (endpointId: string, state: 'delivered' | 'failed') =>
      api().database.run((db) =>
        db
          .update(webhookDeliveries)
          .set({ state, nextTryAt: null, endedAt: new Date(api().clock.now) })
          .where(eq(webhookDeliveries.endpointId, endpointId)),
      ),
  };
}
