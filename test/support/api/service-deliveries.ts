/** Deliveries of the service to our webhook endpoint, and what the API stored of them. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { inbox } from '#db/schema.ts';
import { TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

/** The time of the API in seconds. */
export const NOW_SECONDS = TEST_NOW / 1_000;

/** The body of an event about an order that no other test knows. */
export const orderEvent = (outcome = 'completed', more: Record<string, unknown> = {}) => ({
  event: `order.${outcome}`,
  data: { id: `svc-${randomUUID()}`, external_order_id: `ref-${randomUUID()}`, status: outcome, ...more },
});

/** The status and the result of an answer to a delivery. */
export const result = (answer: HttpAnswer) => [answer.status, answer.at('result')];

export function storedDeliveries(api: () => TestApi) {
  return {
    /** The rows of the inbox of a delivery, oldest first. */
    rowsOf: async (deliveryId: string) =>
      api().database.run((db) => db.select().from(inbox).where(eq(inbox.deliveryId, deliveryId)).orderBy(inbox.id)),
    countRows: async () => api().database.run((db) => db.$count(inbox)),
    /** The value of a metric of the API; 0 if it is absent. */
    metric: async (name: string): Promise<number> => {
      const text = await (await fetch(`${api().baseUrl}/metrics`)).text();
      const line = text.split('\n').find((each) => each.startsWith(name)) ?? '';
      return Number(line.slice(name.length));
    },
  };
}
