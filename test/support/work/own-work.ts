/** All resources that a caller can own, created through the API and completed in the database. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { activationCodeAad, accessAad } from '#db/encryption-aads.ts';
import { publishEvents } from '#db/events/event-log.ts';
import { attempts, cases, events, orderBatches, orders, refunds, vpnSubscriptions } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { vpnInput } from '#test/support/api/order-calls.ts';
import { TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { storeEsim } from '#test/support/work/esim-rows.ts';

/** Ids by kind, and the caller's references. */
export type OwnWork = Awaited<ReturnType<typeof makeOwnWork>>;

export async function makeOwnWork({ database, keyRing }: Pick<TestApi, 'database' | 'keyRing'>, caller: HttpClient) {
  const unique = randomUUID();
  const references = {
    externalOrderId: `order-${unique}`,
    externalTopupId: `topup-${unique}`,
    externalSubscriptionId: `vpn-${unique}`,
  };
  const iccid = `89445001${String(Math.floor(Math.random() * 1e11)).padStart(11, '0')}`;
  const order = await created(caller, '/v1/orders', { package_id: 101, external_order_id: references.externalOrderId });
  const esim = newId('esim');
  // Of the order alone.
  const orderBatch = newId('orderBatch');
  const encryptedActivationCode = keyRing.encrypt('LPA:1$smdp.example.com$A1B2-C3D4-E5F6', activationCodeAad(esim));
  await database.transaction(async (tx) => {
    await storeEsim(tx, { id: esim, orderId: order, iccid, encryptedActivationCode, readAt: new Date(TEST_NOW) });
    const [{ apiKeyId } = { apiKeyId: '' }] = await tx
      .update(orders)
      .set({ status: 'completed', esimId: esim, batchId: orderBatch, batchPosition: 1 })
      .where(eq(orders.id, order))
      .returning();
    await tx.insert(orderBatches).values({
      id: orderBatch,
      apiKeyId,
      externalBatchId: `batch-${unique}`,
      items: [{ packageId: 101, quantity: 1, maxPrice: null }],
      size: 1,
      completed: 1,
      createdAt: new Date(TEST_NOW),
      completedAt: new Date(TEST_NOW),
    });
  });
  // Before the cancellation of its eSIM.
  const shareLink = await created(caller, `/v1/esims/${esim}/share-links`, {});
  const topup = await created(caller, '/v1/topups', {
    esim_id: esim,
    package_id: 101,
    external_topup_id: references.externalTopupId,
  });
  const cancellation = await created(caller, `/v1/esims/${esim}/cancel`, {});
  const vpn = { external_subscription_id: references.externalSubscriptionId, customer_reference: 'customer 1' };
  const subscription = await created(caller, '/v1/vpn/subscriptions', vpnInput(vpn));
  const refund = newId('refund');
  await database.transaction(async (tx) => {
    await tx
      .insert(refunds)
      .values({ id: refund, cancellationId: cancellation, esimId: esim, orderId: order, status: 'expected' });
    const access = keyRing.encrypt(JSON.stringify({ username: 'u', password: 'p' }), accessAad(subscription));
    await tx
      .update(vpnSubscriptions)
      .set({ status: 'active', encryptedAccess: access, completedAt: new Date(TEST_NOW) })
      .where(eq(vpnSubscriptions.id, subscription));
    for (const work of [
      { kind: 'order', id: order },
      { kind: 'vpn_subscription', id: subscription },
    ] as const)
      await addCompletedAttempt(tx, work);
    await openCase(tx, { kind: 'topup', id: topup }, 'outcome_unknown', 'The outcome is unknown.');
  });
  await database.transaction((tx) => publishEvents(tx, 1_000));
  const [event] = await database.run((db) =>
    db.select({ id: events.id }).from(events).where(eq(events.subjectId, order)),
  );
  if (event === undefined) throw new Error(`there is no event of ${order}`);
  const [open] = await database.run((db) => db.select({ id: cases.id }).from(cases).where(eq(cases.subjectId, topup)));
  if (open === undefined) throw new Error(`no case of ${topup} is open`);
  const webhookEndpoint = await created(caller, '/v1/webhook-endpoints', { url: 'https://shop.example.com/webhooks' });
  return {
    ids: {
      order,
      orderBatch,
      esim,
      topup,
      cancellation,
      refund,
      vpn_subscription: subscription,
      event: event.id,
      case: open.id,
      webhookEndpoint,
      shareLink,
    },
    ...references,
    iccid,
  };
}

async function addCompletedAttempt(tx: Executor, { kind, id }: WorkRef): Promise<void> {
  const bought = {
    id: newId('attempt'),
    number: 1,
    idempotencyKey: randomUUID(),
    state: 'completed',
    encryptedRequestBody: Buffer.alloc(1),
  } as const;
  await tx.insert(attempts).values({ ...bought, subjectKind: kind, subjectId: id });
}

async function created(caller: HttpClient, path: string, body: object): Promise<string> {
  return (await postOnce(caller, path, body)).textAt('id');
}
