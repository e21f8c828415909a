import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { attempts, cases, orders } from '#db/schema.ts';
import { listTimeline } from '#db/work/work-reads.ts';
import { storeDelivery } from '#fulfilment/purchase/order.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestOrder, endTestOrder, openTestAttempt, orderWork } from '#test/support/work/order-rows.ts';

const { database } = disposedAtEnd(await openTestDatabase());

type Step = Parameters<typeof recordStep>[1];

/** Records a step of an order. */
const record = (orderId: string, step: Pick<Step, 'status' | 'message' | 'failure'>, whenUsedUp?: 'ask') =>
  database.transaction((tx) =>
    recordStep(tx, { work: orderWork(orderId), event: `order.${step.status}`, ...step }, new Date(), whenUsedUp),
  );

describe('an order', () => {
  it('takes no further step after its end', async () => {
    const orderId = await acceptTestOrder(database);
    await endTestOrder(database, orderId);
    await expect(endTestOrder(database, orderId)).rejects.toThrow('has ended as failed');
  });

  it('is never completed without its eSIM, because the database refuses it', async () => {
    const orderId = await acceptTestOrder(database);
    await expect(
      database.run((db) => db.update(orders).set({ status: 'completed' }).where(eq(orders.id, orderId))),
    ).rejects.toMatchObject({ cause: { constraint: 'orders_completed_with_esim' } });
  });

  it('does not fail while one of its attempts may have bought', async () => {
    for (const state of ['sending', 'unknown', 'processing', 'completed'] as const) {
      const orderId = await acceptTestOrder(database);
      const attempt = await openTestAttempt(database, orderId);
      await database.run((db) => db.update(attempts).set({ state }).where(eq(attempts.id, attempt.id)));
      expect(await record(orderId, { status: 'failed', message: 'No.' })).toBe('may_be_bought');
    }
  });

  it('that is tried and held again for the same reason has each line of its timeline once', async () => {
    const orderId = await acceptTestOrder(database);
    const first = ['Tried.', 'Held.', 'Closed gate.'];
    for (const message of [...first, ...first, 'Tried.', 'Other.', 'More.', 'Held.'])
      await record(orderId, { status: message === 'Tried.' ? 'submitting' : 'held', message });
    const lines = await database.run((db) => listTimeline(db, orderWork(orderId), { limit: 100 }));
    expect(lines.map(({ message }) => message).slice(1)).toEqual([...first, 'Other.', 'More.', 'Held.']);
  });

  it('fails after a failed attempt only when that is proven to have cost nothing', async () => {
    const orderId = await acceptTestOrder(database);
    const attempt = await openTestAttempt(database, orderId);
    const failure = { class: 'supplier_failed', detail: 'No.', endedBy: 'attempts_used_up' } as const;
    const fail = (whenUsedUp?: 'ask') => record(orderId, { status: 'failed', message: 'No.', failure }, whenUsedUp);
    const become = (settled: boolean) =>
      database.run((db) => db.update(attempts).set({ state: 'failed', settled }).where(eq(attempts.id, attempt.id)));
    await become(false);
    expect(await fail()).toBe('may_be_bought');
    await become(true);
    expect(await fail('ask')).toBe('attempts_used_up');
    const doubt = { id: newId('case'), subjectKind: 'order', subjectId: orderId, reason: 'amount_differs' } as const;
    await database.run((db) => db.insert(cases).values({ ...doubt, detail: 'No.' }));
    expect(await fail()).toBe('amount_differs');
    await database.run((db) => db.update(cases).set({ closedAt: new Date() }).where(eq(cases.id, doubt.id)));
    expect(await fail()).toBe('recorded');
  });

  it('is completed with one eSIM, which no other order can have', async () => {
    const esim = {
      id: newId('esim'),
      serviceEsimId: 'e-shared',
      iccid: '8900000000000000001',
      encryptedActivationCode: Buffer.from('encrypted'),
      status: 'available',
      installedAt: null,
      activatedAt: null,
      expiresAt: null,
    };
    const finish = async () => {
      const orderId = await acceptTestOrder(database);
      const { id: attemptId } = await openTestAttempt(database, orderId);
      return database.transaction((tx) =>
        storeDelivery(tx, orderId, { esim, attemptId, charged: undefined, applied: [] }, new Date()),
      );
    };
    await finish();
    esim.id = newId('esim');
    await expect(finish()).rejects.toMatchObject({ cause: { constraint: 'esims_service_esim_id_unique' } });
  });
});
