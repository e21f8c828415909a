import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { frequentUpkeep } from '#test/support/servers/stack-temporal.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

let stack: Stack;
let desk: OrderDesk;

beforeAll(async () => {
  const simulator = { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' };
  stack = await startStack({ environment: { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP }, simulator });
  desk = new OrderDesk(stack);
});
afterEach(async () => {
  await desk.simulator.calm();
  await desk.checkBooks();
});
afterAll(() => stack.stop());

describe('an order', () => {
  it('that the service completes at once is delivered as an installable eSIM, with one send and one debit [spec: record.charged-price]', async () => {
    const order = await desk.complete(PACKAGE.completedAtOnce);
    const id = order.textAt('id');
    expect(order.body).toMatchObject({
      attempts: 1,
      charged: { amount: '2.40', currency: 'USD' },
      failure: null,
      attention: null,
    });
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
    expect(await desk.sends(id)).toEqual([[expect.objectContaining({ status: 201 })]]);

    const activation = await stack.api.get(`/v1/esims/${order.textAt('esim_id')}/activation`);
    expect(activation.textAt('activation_code')).toMatch(/^LPA:1\$smdp\.simulator\.example\$\S+$/);
  });

  it('in progress at the service is completed by the webhook, without being asked for [spec: event.order.completed]', async () => {
    await desk.refuseReads();
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
    await desk.simulator.completeOrder(sold!.id);
    await desk.reaches(id, 'completed');
    expect(
      (await desk.inbox(id)).map(({ source, outcome, decision }) => ({ source, outcome, decision })),
    ).toContainEqual({
      source: 'webhook',
      outcome: 'completed',
      decision: 'advance',
    });
    expect((await desk.inbox(id)).every(({ source }) => source === 'webhook')).toBe(true);
    expect(await desk.movements(id)).toEqual(['debit 1.50']);
  });

  it('whose webhook comes before the HTTP answer is bought and delivered once', async () => {
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 4_000, at: 'answer' });
    const order = await desk.complete(PACKAGE.completedAtOnce);
    const id = order.textAt('id');
    const [send] = (await desk.sends(id)).flat();
    const [webhook] = await desk.inbox(id);
    expect(webhook).toMatchObject({ source: 'webhook', outcome: 'completed' });
    expect(webhook!.receivedAt.getTime()).toBeLessThan(send!.received_at + 4_000);
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('of which no webhook ever tells is found out about by the reconciler', async () => {
    await frequentUpkeep(stack);
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const order = await desk.complete(PACKAGE.processingThenCompleted);
    const id = order.textAt('id');
    expect(await desk.inbox(id)).toMatchObject([{ source: 'read', outcome: 'completed', state: 'applied' }]);
    expect(await desk.movements(id)).toEqual(['debit 1.50']);
  });

  it('that the service refuses for good fails after one send, and costs nothing', async () => {
    const id = await desk.place(PACKAGE.unknownToTheService);
    const order = await desk.reaches(id, 'failed');
    expect(order.body).toMatchObject({ failure: { class: 'invalid_request' }, attempts: 1, charged: null });
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.ledger(id)).toEqual([]);
  });
});

describe('an order that is held', () => {
  it('for want of money goes on when there is some, with the same key and the same bytes', async () => {
    await desk.simulator.setPackage(1002, { price_for_reseller: '250000.00' });
    try {
      const id = await desk.place(1002);
      const held = await desk.reaches(id, 'held');
      expect(held.body).toMatchObject({ failure: { class: 'insufficient_balance' }, next_step_at: expect.any(String) });
      expect(await desk.ledger(id)).toEqual([]);
      await desk.simulator.deposit('250000.00');
      await desk.reaches(id, 'completed');
      const [sends, ...others] = await desk.sends(id);
      expect(others).toEqual([]);
      expect(sends!.at(-1)).toMatchObject({ status: 201 });
      expect(new Set(sends!.map(({ body_sha256: hash }) => hash)).size).toBe(1);
      expect(await desk.movements(id)).toEqual(['debit 250000.00']);
    } finally {
      await desk.simulator.setPackage(1002, { price_for_reseller: '5.10' });
    }
  });

  it('by the rate limit waits for as long as the service says', async () => {
    await desk.simulator.onRequest('createOrder', { kind: 'rate_limited', retry_after: 5 });
    const id = await desk.place(PACKAGE.completedAtOnce);
    expect((await desk.reaches(id, 'held')).body).toMatchObject({ failure: { class: 'rate_limited' } });
    await desk.reaches(id, 'completed');
    const [refused, served] = (await desk.sends(id)).flat();
    expect(refused).toMatchObject({ status: 429 });
    expect(served!.received_at - refused!.received_at).toBeGreaterThanOrEqual(5_000);
  });

  it('until its deadline fails, and nothing was bought', async () => {
    const id = await desk.place(PACKAGE.unavailable, { deadline: new Date(Date.now() + 8_000).toISOString() });
    expect((await desk.reaches(id, 'held')).body).toMatchObject({ failure: { class: 'package_unavailable' } });
    expect((await desk.reaches(id, 'failed')).body).toMatchObject({
      failure: { class: 'deadline_passed' },
      charged: null,
    });
    expect(await desk.ledger(id)).toEqual([]);
    expect(await desk.simulator.orders((await desk.attempts(id))[0]!.reference)).toEqual([]);
  });

  it('by its max_price is not sent to the service before the price has fallen [spec: record.package.id, record.package.price_for_reseller]', async () => {
    await desk.simulator.setPackage(1004, { price_for_reseller: '9.00' });
    try {
      const id = await desk.place(1004, { max_price: { amount: '2.50', currency: 'USD' } });
      expect((await desk.reaches(id, 'held')).body).toMatchObject({ failure: { class: 'price_above_limit' } });
      expect((await desk.sends(id)).flat()).toEqual([]);
      await desk.simulator.setPackage(1004, { price_for_reseller: '2.35' });
      expect((await desk.reaches(id, 'completed')).body).toMatchObject({
        charged: { amount: '2.35', currency: 'USD' },
      });
      expect(await desk.cases(id)).toEqual([]);
    } finally {
      await desk.simulator.setPackage(1004, { price_for_reseller: '2.35' });
    }
  });

  it('never charges above its max_price without telling a person', async () => {
    // The price rises after we looked and before the service debits.
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 5_000, at: 'work' });
    try {
      const id = await desk.place(1005, { max_price: { amount: '7.25', currency: 'USD' } });
      await expect.poll(async () => (await desk.sends(id)).flat().length).toBe(1);
      await desk.simulator.setPackage(1005, { price_for_reseller: '8.00' });
      expect((await desk.reaches(id, 'completed')).body).toMatchObject({
        charged: { amount: '8.00', currency: 'USD' },
      });
      expect(await desk.cases(id)).toEqual([{ reason: 'charged_above_limit', open: true }]);
    } finally {
      await desk.simulator.setPackage(1005, { price_for_reseller: '7.25' });
    }
  });
});
