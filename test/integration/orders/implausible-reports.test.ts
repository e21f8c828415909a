import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';

let stack: Stack;
let desk: OrderDesk;

beforeAll(async () => {
  // In these tests an operator, an event or an answer reports first, so the reconciler must not.
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

describe('an implausible report of the service', () => {
  it('buys nothing again when a debit in our books is missing from the wallet', async () => {
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

  it('opens a case and buys nothing again when an answer contradicts an earlier event', async () => {
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

  it('is recorded after a contradiction, and changes nothing until an operator resolves it', async () => {
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

  it('opens a case when a listed order has our reference and another package', async () => {
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
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({
      attention: { reason: 'outcome_unknown' },
      service_order_id: null,
      esim_id: null,
      charged: null,
    });
    const { text } = await stack.api.get(`/v1/orders/${id}/timeline`);
    expect(text).toContain('so-by-hand for attempt 1, of package 1002, and package 1001 was ordered');
  });

  it('opens a case and changes nothing when an event has our reference and another package', async () => {
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const id = await desk.place(1001);
    const order = await desk.reaches(id, 'processing');
    const named = { external_order_id: order.textAt('external_order_id'), id: order.textAt('service_order_id') };
    await webhook('order.completed', { ...named, package_id: 1002, status: 'completed', esim_id: 'esim-none' });
    await waitFor('a case is open', async () => (await desk.cases(id)).length > 0);
    expect(await desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);
    expect((await stack.api.get(`/v1/orders/${id}`)).body).toMatchObject({ status: 'processing', esim_id: null });
    expect((await desk.attempts(id)).map(({ state }) => state)).toEqual(['processing']);
  });

  it('of a bought order as failed opens a case, and resubmission stays unsafe', async () => {
    const order = await desk.complete(1001);
    const id = order.textAt('id');
    const data = {
      id: order.textAt('service_order_id'),
      external_order_id: order.textAt('external_order_id'),
      status: 'failed',
    };
    await webhook('order.failed', data);
    await waitFor('a case is open', async () => (await desk.cases(id)).length > 0);
    expect((await stack.api.get(`/v1/orders/${id}`)).body).toMatchObject({
      status: 'completed',
      resubmission: { verdict: 'no' },
    });
    const other = await desk.complete(1001);
    expect((await stack.api.get(`/v1/orders/${other.textAt('id')}`)).at('resubmission', 'verdict')).toBe('not_needed');
  });

  it('changes neither purchase when an event has the order of one and the reference of the other', async () => {
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
    await waitFor('a case is open', async () => (await desk.cases(first)).length > 0);
    expect(await desk.cases(first)).toEqual([{ reason: 'contradiction', open: true }]);
    expect((await stack.api.get(`/v1/orders/${first}`)).textAt('status')).toBe('processing');
    expect(await desk.attempts(first)).toHaveLength(1);
  });

  it('opens a case and keeps the known price when an event contains another price', async () => {
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
    await waitFor('a case is open', async () => (await desk.cases(id)).length > 0);
    expect(await desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);
  });

  it('opens a case at once when it delivers the eSIM of another order', async () => {
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

  it('opens a case when the answer contains the order of another purchase', async () => {
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
    const withCase = await desk.reaches(second, 'needs_attention');
    expect(withCase.body).toMatchObject({
      attention: { reason: 'outcome_unknown' },
      service_order_id: null,
      failure: { class: 'contract_drift' },
    });
    expect(withCase.textAt('failure', 'detail')).toContain(
      `${others.id} for attempt 1, which belongs to another order`,
    );
    expect((await stack.api.get(`/v1/orders/${first.textAt('id')}`)).body).toMatchObject({
      status: 'completed',
      service_order_id: others.id,
    });
  });

  it('opens a case at once when the eSIM of the event is unknown and the order reads as failed', async () => {
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
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({ attention: { reason: 'contradiction' }, resubmission: { verdict: 'no' } });
    expect(await desk.attempts(id)).toHaveLength(1);
  });

  it('delivers the eSIM of the order when the eSIM of the event is unknown', async () => {
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

  it('delivers the eSIM of the order when the event names the eSIM of another order', async () => {
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

  it('with a negative price is quarantined, and the order continues', async () => {
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

describe('the verdict bought without an id of the service', () => {
  it('never causes a resend; the service is looked up, and the case opens again', async () => {
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
    expect((await desk.reaches(id, 'completed')).at('attempts')).toBe(2);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});
