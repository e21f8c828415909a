import { randomUUID } from 'node:crypto';
import { asc, eq } from 'drizzle-orm';
import { batchOutput } from '#api/order-batches/batch-schemas.ts';
import { deliveredEsimId } from '#crypto/derived-ids.ts';
import { activationCodeAad } from '#db/encryption-aads.ts';
import { orders } from '#db/schema.ts';
import type { OrderRow } from '#db/work/rows.ts';
import { storeDelivery } from '#fulfilment/purchase/order.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';

/** The body of a new batch with its own reference. */
export const batchInput = (items: readonly object[] = [{ package_id: 101, quantity: 3 }], more: object = {}) => ({
  external_batch_id: `batch-${randomUUID()}`,
  items,
  ...more,
});

/** The batch of an answer, validated by the schema that documents it. */
export const batchOf = (answer: HttpAnswer) => answer.read(batchOutput);

export function batchCalls(caller: () => HttpClient) {
  const create = (body: unknown, key?: string, by: HttpClient = caller()) =>
    postOnce(by, '/v1/order-batches', body, key);
  return {
    create,
    /** @returns the id of a new batch. */
    place: async (items?: readonly object[]): Promise<string> => {
      const answer = await create(batchInput(items));
      if (answer.status !== 202) throw new Error(`the API answered ${answer.status}: ${answer.text}`);
      return answer.textAt('id');
    },
  };
}

export async function ordersOfBatch({ database }: Pick<TestApi, 'database'>, batchId: string): Promise<OrderRow[]> {
  return database.run((db) =>
    db.select().from(orders).where(eq(orders.batchId, batchId)).orderBy(asc(orders.batchPosition)),
  );
}

/** The activation code that {@link deliver} stores for an order. */
export const activationOf = (orderId: string) => `LPA:1$smdp.example.com$${orderId.slice(-12)}`;

/** Completes an order with an eSIM, as its workflow does. */
export async function deliver({ database, keyRing }: Pick<TestApi, 'database' | 'keyRing'>, id: string): Promise<void> {
  const esimId = deliveredEsimId(keyRing, id);
  const esim = {
    id: esimId,
    serviceEsimId: `se-${id}`,
    iccid: '8944500102198304826',
    encryptedActivationCode: keyRing.encrypt(activationOf(id), activationCodeAad(esimId)),
    status: 'ready',
    installedAt: null,
    activatedAt: null,
    expiresAt: null,
  };
  const charged = { amount: '2.40', currency: 'EUR' };
  await database.transaction((tx) =>
    storeDelivery(tx, id, { attemptId: `att-${id}`, charged, applied: [], esim }, new Date(TEST_NOW)),
  );
}
