import { eq } from 'drizzle-orm';
import { orders } from '#db/schema.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** Creations of orders through the API, with headers such as those of a wait. */
export function waitingCreations(caller: () => HttpClient) {
  return {
    create: (body: unknown, headers: Readonly<Record<string, string>> = {}, key?: string, by: HttpClient = caller()) =>
      postOnce(by, '/v1/orders', body, key, headers),
  };
}

export const wait = (seconds: number) => ({ Prefer: `wait=${seconds}` });

/** The number of callers that wait for an answer, or that read a stream, by the metrics of the process. */
export async function waitingCallers(by: HttpClient, what: 'answer' | 'stream' = 'answer'): Promise<number> {
  const { text } = await by.get('/metrics');
  return Number(new RegExp(`^reseller_waiting\\{for="${what}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

/** The headers of an answer about its wait. */
export const waitHeaders = ({ headers }: HttpAnswer) => [headers.get('preference-applied'), headers.get('retry-after')];

/** Waits until so many callers wait for an answer. */
export const untilWaiting = async (by: HttpClient, count: number) =>
  waitFor(`${count} wait`, async () => (await waitingCallers(by)) === count, { everyMs: 10 });

/** Records a step as the workflow does, and publishes its event as the relay does. */
export async function move(on: TestApi, kind: WorkKind, id: string, status: WorkStatus): Promise<void> {
  await on.database.transaction((tx) =>
    recordStep(tx, { work: { kind, id }, status, event: `${kind}.${status}`, message: 'Test.' }, new Date(TEST_NOW)),
  );
  await on.publish();
}

/** Waits until an order with this reference is stored. @returns its id. */
export async function idOfOrder(on: TestApi, externalOrderId: string): Promise<string> {
  return waitFor('the order is stored', async () => {
    const [row] = await on.database.run((db) =>
      db.select({ id: orders.id }).from(orders).where(eq(orders.externalOrderId, externalOrderId)),
    );
    return row?.id;
  });
}
