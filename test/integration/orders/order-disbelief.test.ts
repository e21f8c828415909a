import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';

let stack: Stack;
let desk: OrderDesk;

beforeAll(async () => {
  // Here a person, an event or an answer brings the news: the reconciler is not to be first.
  const environment = {
    ...NORMAL_WAITS_POLICY,
    ...RARE_UPKEEP,
    POLICY_SETTLE_DELAY: '400ms',
    POLICY_RESEND_WINDOW: '1ms',
    POLICY_SILENT_AFTER: '60s',
  };
  stack = await startStack({ environment });
  desk = new OrderDesk(stack);
});
afterEach(() => desk.simulator.calm());
afterAll(() => stack.stop());

const fault = (body: unknown) => stack.simulator.post('/simulator/faults', body);
const webhook = (event: string, data: unknown) =>
  stack.simulator.post('/simulator/webhooks/send', { environment: 'sandbox', event, data });

async function esimOf(esimId: string) {
  const answer = await stack.api.get(`/v1/esims/${esimId}`);
  return { serviceEsimId: answer.textAt('service_esim_id'), orderId: answer.textAt('order_id') };
}

describe('what the service says is not believed', () => {
  it('when a debit that our books hold is gone from the wallet: nothing is bought anew', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    await fault({
      target: 'request',
      endpoint: 'listWalletTransactions',
      nth: 2,
      count: null,
      fault: { kind: 'answer', status: 200, body: '{"data":[],"next_cursor":null}' },
    });
    const id = await desk.place(1001);
    expect((await desk.reaches(id, 'needs_attention')).body).toMatchObject({
      attention: { reason: 'evidence_unavailable' },
    });
    expect(await desk.attempts(id)).toHaveLength(1);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('when its answer contradicts the event that came before it: nothing is bought anew, a person is told', async () => {
    await fault({ target: 'request', endpoint: 'createOrder', fault: { kind: 'latency', ms: 6_000, at: 'answer' } });
    await fault({ target: 'webhook', event: 'order.completed', fault: { kind: 'lost' } });
    await fault({
      target: 'request',
      endpoint: 'listWalletTransactions',
      count: null,
      fault: { kind: 'answer', status: 200, body: '{"data":[],"next_cursor":null}' },
    });
    const id = await desk.place(1001);
    const reference = (await stack.api.get(`/v1/orders/${id}`)).textAt('external_order_id');
    const sold = await waitFor('the service has sold', async () => {
      const orders = await stack.simulator.get(`/simulator/orders?external_order_id=${reference}`);
      return orders.at('data', 0) === undefined ? undefined : orders.textAt('data', 0, 'id');
    });
    await webhook('order.failed', { id: sold, external_order_id: reference, package_id: 1001, status: 'failed' });
    await desk.reaches(id, 'needs_attention');
    expect(await desk.cases(id)).toContainEqual({ reason: 'contradiction', open: true });
    expect(await desk.attempts(id)).toHaveLength(1);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('when it says more after it contradicted itself: each word is noted, and nothing moves before a person has judged', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once' });
    await fault({
      target: 'request',
      endpoint: 'listWalletTransactions',
      count: null,
      fault: { kind: 'server_error', status: 503 },
    });
    // The report arrives before the last unsuccessful read of the wallet.
    await fault({
      target: 'request',
      endpoint: 'listWalletTransactions',
      count: null,
      fault: { kind: 'latency', ms: 2_000, at: 'answer' },
    });
    const id = await desk.place(1001);
    await waitFor('the attempt has failed', async () => (await desk.attempts(id))[0]?.state === 'failed');
    const [attempt] = await desk.attempts(id);
    const data = {
      id: attempt!.serviceId,
      external_order_id: attempt!.reference,
      package_id: 1001,
      status: 'completed',
      esim_id: 'esim-none',
    };
    await webhook('order.completed', data);
    expect((await desk.reaches(id, 'needs_attention')).at('attention', 'reason')).toBe('contradiction');

    await webhook('order.completed', data);
    const applied = async () =>
      (await desk.inbox(id)).filter(({ event, state }) => event === 'order.completed' && state === 'applied').length;
    await expect.poll(applied).toBe(2);
    expect((await stack.api.get(`/v1/orders/${id}`)).body).toMatchObject({
      status: 'needs_attention',
      attention: { reason: 'contradiction' },
    });
    expect(await desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);

    await desk.simulator.calm();
    const notBought = {
      case: 'contradiction',
      verdict: 'not_bought',
      reason: 'The console of the service shows it as failed.',
    };
    expect((await stack.api.post(`/v1/orders/${id}/resolve`, notBought)).status).toBe(200);
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40', 'credit 2.40', 'debit 2.40']);
  });

  it('when what it lists under our reference is of another package: it is not taken for ours, a person is told', async () => {
    const reference = `ext-${randomUUID()}`;
    const byHand = {
      id: 'so-by-hand',
      external_order_id: reference,
      package_id: 1002,
      status: 'completed',
      esim_id: 'esim-by-hand',
    };
    await fault({ target: 'request', endpoint: 'createOrder', fault: { kind: 'server_error', status: 503 } });
    const listed = { data: [byHand], next_cursor: null };
    await fault({
      target: 'request',
      endpoint: 'listOrders',
      count: null,
      fault: { kind: 'answer', status: 200, body: JSON.stringify(listed) },
    });
    const id = await desk.place(1001, { external_order_id: reference });
    const parked = await desk.reaches(id, 'needs_attention');
    expect(parked.body).toMatchObject({
      attention: { reason: 'outcome_unknown' },
      service_order_id: null,
      esim_id: null,
      charged: null,
    });
    const { text } = await stack.api.get(`/v1/orders/${id}/timeline`);
    expect(text).toContain('so-by-hand for attempt 1, of package 1002, and package 1001 was ordered');
  });

  it('when an event under our reference is of another package: nothing is moved, a person is told', async () => {
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const id = await desk.place(1001);
    const order = await desk.reaches(id, 'processing');
    const named = { external_order_id: order.textAt('external_order_id'), id: order.textAt('service_order_id') };
    await webhook('order.completed', { ...named, package_id: 1002, status: 'completed', esim_id: 'esim-none' });
    await waitFor('a person is told', async () => (await desk.cases(id)).length > 0);
    expect(await desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);
    expect((await stack.api.get(`/v1/orders/${id}`)).body).toMatchObject({ status: 'processing', esim_id: null });
    expect((await desk.attempts(id)).map(({ state }) => state)).toEqual(['processing']);
  });

  it('when it calls a bought order failed: the order stays, a person is told, and nobody is told that submitting again is safe', async () => {
    const order = await desk.complete(1001);
    const id = order.textAt('id');
    const data = {
      id: order.textAt('service_order_id'),
      external_order_id: order.textAt('external_order_id'),
      status: 'failed',
    };
    await webhook('order.failed', data);
    await waitFor('a person is told', async () => (await desk.cases(id)).length > 0);
    expect((await stack.api.get(`/v1/orders/${id}`)).body).toMatchObject({
      status: 'completed',
      resubmission: { verdict: 'no' },
    });
    const other = await desk.complete(1001);
    expect((await stack.api.get(`/v1/orders/${other.textAt('id')}`)).at('resubmission', 'verdict')).toBe('not_needed');
  });

  it('when an event names the order of one purchase and the reference of another: neither is moved', async () => {
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const first = await desk.place(1001);
    await desk.reaches(first, 'processing');
    const second = await desk.complete(1002);
    const sold = (await stack.api.get(`/v1/orders/${first}`)).textAt('service_order_id');
    await webhook('order.failed', {
      id: sold,
      external_order_id: second.textAt('external_order_id'),
      status: 'failed',
    });
    await waitFor('a person is told', async () => (await desk.cases(first)).length > 0);
    expect(await desk.cases(first)).toEqual([{ reason: 'contradiction', open: true }]);
    expect((await stack.api.get(`/v1/orders/${first}`)).textAt('status')).toBe('processing');
    expect(await desk.attempts(first)).toHaveLength(1);
  });

  it('when an event names another price than the answer did: the known one stays, and a person is told', async () => {
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const id = await desk.place(1001);
    const order = await desk.reaches(id, 'processing');
    await waitFor('the price of the answer is stored', async () => (await desk.attempts(id))[0]?.chargedAmount != null);
    const sold = order.textAt('service_order_id');
    await stack.simulator.post(`/simulator/orders/${sold}/complete`);
    await webhook('order.completed', {
      id: sold,
      external_order_id: order.textAt('external_order_id'),
      status: 'completed',
      price_for_reseller: '0.10',
      currency: 'USD',
    });
    expect((await desk.reaches(id, 'completed')).body).toMatchObject({ charged: { amount: '2.40', currency: 'USD' } });
    await waitFor('a person is told', async () => (await desk.cases(id)).length > 0);
    expect(await desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);
  });

  it('when the eSIM it names was delivered for another order: it is not delivered twice, a person is told at once', async () => {
    const first = await desk.complete(1001);
    const taken = (await stack.api.get(`/v1/esims/${first.textAt('esim_id')}`)).textAt('service_esim_id');
    const reference = `ext-${randomUUID()}`;
    const sold = {
      id: 'so-strange',
      external_order_id: reference,
      package_id: 1001,
      status: 'completed',
      esim_id: taken,
    };
    await fault({
      target: 'request',
      endpoint: 'createOrder',
      fault: {
        kind: 'answer',
        status: 201,
        body: JSON.stringify({ ...sold, price_for_reseller: '2.40', currency: 'USD' }),
      },
    });
    const second = await desk.place(1001, { external_order_id: reference });
    expect((await desk.reaches(second, 'needs_attention')).body).toMatchObject({
      attention: { reason: 'contract_drift' },
    });
    expect((await stack.api.get(`/v1/orders/${second}`)).body).toMatchObject({ esim_id: null });
    expect((await stack.api.get(`/v1/esims/${first.textAt('esim_id')}`)).body).toMatchObject({
      order_id: first.textAt('id'),
    });
  });

  it('reports an answer with the order of another purchase, and does not take it for ours', async () => {
    const first = await desk.complete(1001);
    const reference = `ext-${randomUUID()}`;
    const others = {
      id: first.textAt('service_order_id'),
      external_order_id: reference,
      package_id: 1001,
      status: 'completed',
    };
    await fault({
      target: 'request',
      endpoint: 'createOrder',
      count: null,
      fault: { kind: 'answer', status: 201, body: JSON.stringify(others) },
    });
    const second = await desk.place(1001, { external_order_id: reference });
    const parked = await desk.reaches(second, 'needs_attention');
    expect(parked.body).toMatchObject({
      attention: { reason: 'outcome_unknown' },
      service_order_id: null,
      failure: { class: 'contract_drift' },
    });
    expect(parked.textAt('failure', 'detail')).toContain(`${others.id} for attempt 1, which belongs to another order`);
    expect((await stack.api.get(`/v1/orders/${first.textAt('id')}`)).body).toMatchObject({
      status: 'completed',
      service_order_id: others.id,
    });
  });

  it('when the eSIM that an event named is not known, and its record of the order says failed: a person is told at once', async () => {
    await desk.simulator.nextPurchases({ outcome: 'processing_then_failed', delay_ms: 1_000 });
    await fault({ target: 'webhook', event: 'order.failed', fault: { kind: 'lost' } });
    const id = await desk.place(1001);
    const order = await desk.reaches(id, 'processing');
    const sold = order.textAt('service_order_id');
    await webhook('order.completed', {
      id: sold,
      external_order_id: order.textAt('external_order_id'),
      status: 'completed',
      esim_id: 'esim-none',
    });
    const parked = await desk.reaches(id, 'needs_attention');
    expect(parked.body).toMatchObject({ attention: { reason: 'contradiction' }, resubmission: { verdict: 'no' } });
    expect(await desk.attempts(id)).toHaveLength(1);
  });

  it('when the eSIM that an event named is not known, and its record of the order names another: that one is delivered', async () => {
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const id = await desk.place(1001);
    const order = await desk.reaches(id, 'processing');
    const sold = order.textAt('service_order_id');
    await fault({ target: 'webhook', event: 'order.completed', fault: { kind: 'lost' } });
    await stack.simulator.post(`/simulator/orders/${sold}/complete`);
    await webhook('order.completed', {
      id: sold,
      external_order_id: order.textAt('external_order_id'),
      status: 'completed',
      esim_id: 'esim-none',
    });
    const completed = await desk.reaches(id, 'completed');
    const esim = await stack.api.get(`/v1/esims/${completed.textAt('esim_id')}`);
    const [record] = await desk.simulator.orders(order.textAt('external_order_id'));
    expect(record).toMatchObject({ id: sold, status: 'completed' });
    expect(esim.textAt('service_esim_id')).not.toBe('esim-none');
  });

  it('when an event names the eSIM of another order: nobody is given it, and the own one is delivered', async () => {
    const theirs = await desk.complete(1001);
    const { serviceEsimId } = await esimOf(theirs.textAt('esim_id'));
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const id = await desk.place(1001);
    const order = await desk.reaches(id, 'processing');
    const sold = order.textAt('service_order_id');
    await webhook('order.completed', {
      id: sold,
      external_order_id: order.textAt('external_order_id'),
      status: 'completed',
      esim_id: serviceEsimId,
    });
    expect((await desk.reaches(id, 'needs_attention')).body).toMatchObject({
      esim_id: null,
      attention: { reason: 'contract_drift' },
    });
    expect(await esimOf(theirs.textAt('esim_id'))).toMatchObject({ orderId: theirs.textAt('id') });

    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const other = await desk.place(1002);
    const known = await desk.reaches(other, 'processing');
    await fault({ target: 'webhook', event: 'order.completed', fault: { kind: 'lost' } });
    await stack.simulator.post(`/simulator/orders/${known.textAt('service_order_id')}/complete`);
    await webhook('order.completed', {
      id: known.textAt('service_order_id'),
      external_order_id: known.textAt('external_order_id'),
      status: 'completed',
      esim_id: serviceEsimId,
    });
    const completed = await desk.reaches(other, 'completed');
    expect((await esimOf(completed.textAt('esim_id'))).serviceEsimId).not.toBe(serviceEsimId);
  });

  it('when a price is negative: the delivery is quarantined and the order goes on', async () => {
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const id = await desk.place(1001);
    const order = await desk.reaches(id, 'processing');
    const sold = order.textAt('service_order_id');
    await webhook('order.completed', {
      id: sold,
      external_order_id: order.textAt('external_order_id'),
      status: 'completed',
      price_for_reseller: '-1.00',
      currency: 'USD',
    });
    await stack.simulator.post(`/simulator/orders/${sold}/complete`);
    expect((await desk.reaches(id, 'completed')).body).toMatchObject({ charged: { amount: '2.40', currency: 'USD' } });
  });
});

describe('what a person calls bought', () => {
  it('is never sent again without an id of the service: it is asked for, and the case comes back', async () => {
    await fault({
      target: 'request',
      endpoint: 'createOrder',
      count: 1,
      fault: { kind: 'answer', status: 200, body: '{}' },
    });
    const id = await desk.place(1001);
    await desk.reaches(id, 'needs_attention');
    const resolve = (verdict: string) =>
      stack.api.post(`/v1/orders/${id}/resolve`, { reason: 'seen in their console', case: 'outcome_unknown', verdict });
    expect((await resolve('bought')).status).toBe(200);
    const [closed, open] = [
      { reason: 'outcome_unknown', open: false },
      { reason: 'outcome_unknown', open: true },
    ];
    await expect.poll(() => desk.cases(id)).toEqual([closed, open]);
    // Nor by a further try.
    await desk.reaches(id, 'needs_attention');
    expect((await stack.api.post(`/v1/orders/${id}/retry`, { reason: 'once more' })).status).toBe(200);
    const parked = async () => (await desk.events(id)).filter((event) => event === 'order.needs_attention').length;
    await expect.poll(parked).toBe(3);
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.movements(id)).toEqual([]);
    // Until that person says otherwise.
    await desk.reaches(id, 'needs_attention');
    expect((await resolve('not_bought')).status).toBe(200);
    expect((await desk.reaches(id, 'completed')).at('attempts')).toBe(2);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});
