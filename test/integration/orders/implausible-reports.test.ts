import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { gateDrifts, gateLines } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';
import { WrongService } from '#test/support/work/wrong-service.ts';

// In these tests an operator, an event or an answer reports first, so the reconciler must not.
const environment = {
  ...NORMAL_WAITS_POLICY,
  ...RARE_UPKEEP,
  'purchase.settle_delay': '400ms',
  'purchase.evidence_deadline': '1s',
  'purchase.resend_window': '1ms',
  'reconciler.silent_after': '60s',
};
const stack = disposedAtEnd(await startStack({ environment }));
const desk = new OrderDesk(stack);
const service = new WrongService(stack, desk);
afterEach(async () => {
  await desk.simulator.calm();
  // A delivery that cannot be used stops its product, which would hold the orders of the next test.
  await stack.database.run((db) => db.delete(gateDrifts));
  await stack.database.run((db) => db.delete(gateLines));
});

/** An order of the first package as the service names it. */
const sale = (reference: string, more: Record<string, unknown>) => ({
  external_order_id: reference,
  package_id: 1001,
  status: 'completed',
  ...more,
});

describe('an implausible report of the service', () => {
  it('buys nothing again when a debit in our books is missing from the wallet', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    await service.hidesMovements({ nth: 2 });
    const id = await desk.place(1001);
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.at('operations', 'attention', 'reason')).toBe('evidence_unavailable');
    expect(await desk.attempts(id)).toHaveLength(1);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('opens a case and buys nothing again when an answer contradicts an earlier event', async () => {
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 6_000, at: 'answer' });
    await desk.simulator.onWebhook('order.completed', { kind: 'lost' });
    await service.hidesMovements();
    const id = await desk.place(1001);
    const reference = (await stack.api.get(`/v1/orders/${id}`)).textAt('external_order_id');
    const sold = await service.hasSold(reference);
    await service.reports('order.failed', sale(reference, { id: sold, status: 'failed' }));
    await desk.reaches(id, 'needs_attention');
    expect(await desk.cases(id)).toContainEqual({ reason: 'contradiction', open: true });
    expect(await desk.attempts(id)).toHaveLength(1);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('opens a case when a listed order has our reference and another package', async () => {
    const reference = `ext-${randomUUID()}`;
    const byHand = sale(reference, { id: 'so-by-hand', package_id: 1002, esim_id: 'esim-by-hand' });
    await desk.simulator.onRequest('createOrder', { kind: 'server_error', status: 503 });
    await service.lists('listOrders', [byHand]);
    const id = await desk.place(1001, { external_order_id: reference });
    const { body } = await desk.reaches(id, 'needs_attention');
    const unsold = { service_order_id: null, esim_id: null, charged: null };
    expect(body).toMatchObject({ operations: { attention: { reason: 'outcome_unknown' } }, ...unsold });
    const { text } = await stack.api.get(`/v1/orders/${id}/timeline`);
    expect(text).toContain('so-by-hand for attempt 1, of package 1002, and package 1001 was ordered');
  });

  it('opens a case at once when it delivers the eSIM of another order', async () => {
    const first = await desk.complete(1001);
    const { serviceEsimId: taken } = await service.esimOf(first);
    const reference = `ext-${randomUUID()}`;
    const price = { price_for_reseller: '2.40', currency: 'USD' };
    await service.answersPurchase(201, sale(reference, { id: 'so-strange', esim_id: taken, ...price }));
    const second = await desk.place(1001, { external_order_id: reference });
    const withCase = await desk.reaches(second, 'needs_attention');
    expect(withCase.at('operations', 'attention', 'reason')).toBe('contract_drift');
    expect((await stack.api.get(`/v1/orders/${second}`)).body).toMatchObject({ esim_id: null });
    expect((await service.esimOf(first)).orderId).toBe(first.textAt('id'));
  });

  it('opens a case when the answer contains the order of another purchase', async () => {
    const first = await desk.complete(1001);
    const reference = `ext-${randomUUID()}`;
    const theirs = first.textAt('service_order_id');
    await service.answersPurchase(201, sale(reference, { id: theirs }), { count: null });
    const second = await desk.place(1001, { external_order_id: reference });
    const withCase = await desk.reaches(second, 'needs_attention');
    const drift = { service_order_id: null, failure: { class: 'contract_drift' } };
    expect(withCase.body).toMatchObject({ operations: { attention: { reason: 'outcome_unknown' } }, ...drift });
    expect(withCase.textAt('failure', 'detail')).toContain(`${theirs} for attempt 1, which belongs to another order`);
    const unchanged = { status: 'completed', service_order_id: theirs };
    expect((await stack.api.get(`/v1/orders/${first.textAt('id')}?expand=operations`)).body).toMatchObject(unchanged);
  });

  it('delivers the eSIM of the order when the event names the eSIM of another order', async () => {
    const theirs = await desk.complete(1001);
    const { serviceEsimId } = await service.esimOf(theirs);
    const { id, named } = await service.staysProcessing(1002);
    await desk.simulator.onWebhook('order.completed', { kind: 'lost' });
    await desk.simulator.completeOrder(named.id);
    await service.completes(named, { esim_id: serviceEsimId });
    expect((await service.esimOf(await desk.reaches(id, 'completed'))).serviceEsimId).not.toBe(serviceEsimId);
    expect(await service.esimOf(theirs)).toMatchObject({ serviceEsimId, orderId: theirs.textAt('id') });
  });
});

describe('the verdict bought without an id of the service', () => {
  it('never causes a resend; the service is looked up, and the case opens again', async () => {
    await service.answersPurchase(200, {});
    const id = await desk.place(1001);
    await desk.reaches(id, 'needs_attention');
    const resolve = (verdict: string) =>
      stack.api.post(`/v1/orders/${id}/resolve`, { reason: 'seen in their console', case: 'outcome_unknown', verdict });
    expect((await resolve('bought')).status).toBe(200);
    await expect
      .poll(() => desk.cases(id))
      .toEqual([
        { reason: 'outcome_unknown', open: false },
        { reason: 'outcome_unknown', open: true },
      ]);
    // A retry sends nothing either.
    await desk.reaches(id, 'needs_attention');
    expect((await stack.api.post(`/v1/orders/${id}/retry`, { reason: 'once more' })).status).toBe(200);
    const timesAttention = async () =>
      (await desk.events(id)).filter((event) => event === 'order.needs_attention').length;
    await expect.poll(timesAttention).toBe(3);
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.movements(id)).toEqual([]);
    // The verdict not_bought allows a new attempt.
    await desk.reaches(id, 'needs_attention');
    expect((await resolve('not_bought')).status).toBe(200);
    expect((await desk.reaches(id, 'completed')).at('operations', 'attempts')).toBe(2);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});
