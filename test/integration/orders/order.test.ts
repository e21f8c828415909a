import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FAILURE_ENDS } from '#domain/work/failure.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const simulator = { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' };
const stack = disposedAtEnd(await startStack({ environment: { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP }, simulator }));
const desk = checkedDesk(stack);

describe('an order', () => {
  it('is delivered as an installable eSIM, with one send and one debit', async () => {
    const order = await desk.complete(PACKAGE.completedAtOnce);
    const id = order.textAt('id');
    const charged = { amount: '2.40', currency: 'USD' };
    expect(order.body).toMatchObject({ operations: { attempts: 1, attention: null }, charged, failure: null });
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
    expect(await desk.sends(id)).toEqual([[expect.objectContaining({ status: 201 })]]);

    const activation = await stack.api.get(`/v1/esims/${order.textAt('esim_id')}/activation`);
    expect(activation.textAt('activation_code')).toMatch(/^LPA:1\$smdp\.simulator\.example\$\S+$/);
  });

  it('is completed by its webhook without a look-up', async () => {
    await desk.refuseReads();
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
    await desk.simulator.completeOrder(sold!.id);
    await desk.reaches(id, 'completed');
    const reports = await desk.inbox(id);
    const completion = { source: 'webhook', outcome: 'completed', decision: 'advance' };
    expect(reports).toContainEqual(expect.objectContaining(completion));
    expect(reports.every(({ source }) => source === 'webhook')).toBe(true);
    expect(await desk.movements(id)).toEqual(['debit 1.50']);
  });
});

describe('a held order', () => {
  it('without enough balance continues after a deposit, with the same key and the same bytes', async () => {
    await desk.simulator.setPackage(1002, { price_for_reseller: '250000.00' });
    onTestFinished(() => desk.simulator.setPackage(1002, { price_for_reseller: '5.10' }));
    const id = await desk.place(1002);
    const held = { failure: { class: 'insufficient_balance' }, operations: { next_step_at: expect.any(String) } };
    expect((await desk.reaches(id, 'held')).body).toMatchObject(held);
    expect(await desk.ledger(id)).toEqual([]);
    await desk.simulator.deposit('250000.00');
    await desk.reaches(id, 'completed');
    const [sends, ...others] = await desk.sends(id);
    expect(others).toEqual([]);
    expect(sends!.at(-1)).toMatchObject({ status: 201 });
    expect(new Set(sends!.map(({ body_sha256: hash }) => hash)).size).toBe(1);
    expect(await desk.movements(id)).toEqual(['debit 250000.00']);
  });

  it('fails at its deadline, and nothing was bought', async () => {
    const id = await desk.place(PACKAGE.unavailable, { deadline: new Date(Date.now() + 8_000).toISOString() });
    expect((await desk.reaches(id, 'held')).body).toMatchObject({ failure: { class: 'package_unavailable' } });
    const { advice } = FAILURE_ENDS.deadline_passed;
    const failure = { class: 'package_unavailable', ended_by: 'deadline_passed', advice };
    expect((await desk.reaches(id, 'failed')).body).toMatchObject({ failure, charged: null });
    expect(await desk.ledger(id)).toEqual([]);
    expect(await desk.simulator.orders((await desk.attempts(id))[0]!.reference)).toEqual([]);
  });

  it('waits for a price below its max_price', async () => {
    await desk.simulator.setPackage(1004, { price_for_reseller: '9.00' });
    onTestFinished(() => desk.simulator.setPackage(1004, { price_for_reseller: '2.35' }));
    const id = await desk.place(1004, { max_price: { amount: '2.50', currency: 'USD' } });
    expect((await desk.reaches(id, 'held')).body).toMatchObject({ failure: { class: 'price_above_limit' } });
    expect((await desk.sends(id)).flat()).toEqual([]);
    await desk.simulator.setPackage(1004, { price_for_reseller: '2.35' });
    const charged = { amount: '2.35', currency: 'USD' };
    expect((await desk.reaches(id, 'completed')).body).toMatchObject({ charged });
    expect(await desk.cases(id)).toEqual([]);
  });
});

describe('an order with a reference that was used before', () => {
  it('of an order that the service refused is bought once, with a key and a reference that the service never saw', async () => {
    const external_order_id = `again-${randomUUID()}`;
    const first = await desk.placeRefused({ external_order_id });
    const refused = { failure: { class: 'invalid_request' }, charged: null, operations: { attempts: 1 } };
    expect((await desk.reaches(first, 'failed')).body).toMatchObject(refused);
    const second = await desk.place(PACKAGE.completedAtOnce, { external_order_id });
    expect((await desk.reaches(second, 'completed')).body).toMatchObject({ external_order_id, replaces: first });

    const [[sentFirst], [sentSecond]] = [await desk.attempts(first), await desk.attempts(second)];
    expect(sentFirst?.reference).toBe(external_order_id);
    expect(sentSecond?.reference).toBe(`${external_order_id}~2.1`);
    expect(sentSecond?.idempotencyKey).not.toBe(sentFirst?.idempotencyKey);
    expect(await desk.movements(first)).toEqual([]);
    expect(await desk.movements(second)).toEqual(['debit 2.40']);
    const esims = await stack.api.get(`/v1/esims?external_order_id=${external_order_id}`);
    expect(esims.body).toMatchObject({ data: [{ order_id: second, external_order_id }] });
  });
});
