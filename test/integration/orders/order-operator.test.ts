import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { orders } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { frequentUpkeep, reconcileBooks, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP, UNSOLD_STAYS_HELD } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';
import { explainQuery, retryUpdate } from '#workflows/messages.ts';
import { SEARCH_ATTRIBUTES } from '#workflows/search-attributes.ts';

// Long enough for a new run to overtake a send that still waits for its answer.
const stack = disposedAtEnd(
  await startStack({
    environment: { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP, ...UNSOLD_STAYS_HELD },
  }),
);
const desk = checkedDesk(stack);
const operator = disposedAtEnd(await TemporalOperator.connect(stack));

const serviceOrder = async (orderId: string) => {
  const [sold] = await desk.simulator.orders((await desk.attempts(orderId))[0]!.reference);
  return sold!.id;
};

describe('Terminate', () => {
  it('of a held order is repaired by the sweeper, and the order costs one debit', async () => {
    await frequentUpkeep(stack);
    await desk.simulator.setPackage(1006, { price_for_reseller: '250000.00' });
    const id = await desk.place(1006);
    await desk.reaches(id, 'held');
    await operator.terminate(id);
    await desk.simulator.setPackage(1006, { price_for_reseller: '2.55' });
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.55']);
    await operator.runReaches(id, 'COMPLETED');
  });

  it('loses no report of the service while the service processes the order', async () => {
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    await operator.terminate(id);
    await desk.simulator.completeOrder(await serviceOrder(id));
    await desk.reaches(id, 'completed');
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.movements(id)).toEqual(['debit 1.50']);
  });

  it('during a send does not let the late answer reopen the order that a new run has completed', async () => {
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 10_000, at: 'answer' });
    await desk.simulator.onWebhook('order.completed', { kind: 'late', ms: 500 });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await desk.bought(id);
    await operator.terminate(id);
    // The webhook starts a new run, which completes the order while the old send still waits for its answer.
    await desk.reaches(id, 'completed');
    const [send] = (await desk.sends(id)).flat();
    expect(send!.status).toBeNull();
    await waitFor('the old send has ended', async () => (await desk.events(id)).includes('attempt.accepted'));
    expect((await desk.reaches(id, 'completed')).at('esim_id')).toEqual(expect.any(String));
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});

describe('Reset to the first task', () => {
  it('sends nothing again while the service processes the order', async () => {
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    const run = await operator.resetToFirstTask(id);
    await waitFor('the new run waits for the service', async () => {
      const { status } = await operator.order(id).query(explainQuery);
      return status === 'processing';
    });
    expect(await operator.runReaches(id, 'RUNNING')).toBe(run);
    await desk.simulator.completeOrder(await serviceOrder(id));
    await desk.reaches(id, 'completed');
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.movements(id)).toEqual(['debit 1.50']);
  });

  it('of an order that has ended completes again at once, with the same result and no purchase', async () => {
    const order = await desk.complete(PACKAGE.completedAtOnce);
    const id = order.textAt('id');
    await operator.runReaches(id, 'COMPLETED');
    const before = await operator.order(id).result();
    await operator.resetToFirstTask(id);
    await operator.runReaches(id, 'COMPLETED');
    const { status, esimId } = before;
    expect(await operator.order(id).result()).toMatchObject({ status, esimId });
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});

describe('the workflow of an order', () => {
  it('shows the state in search attributes and current details, and continues on retry', async () => {
    await desk.simulator.setPackage(1007, { available: false });
    const id = await desk.place(1007);
    await desk.reaches(id, 'held');
    const shown = await waitFor('the workflow shows that it is held', async () => {
      const { typedSearchAttributes: found } = await operator.order(id).describe();
      return found.get(SEARCH_ATTRIBUTES.stage) === 'held' ? found : undefined;
    });
    expect(shown.get(SEARCH_ATTRIBUTES.product)).toBe('esim-order');
    expect(shown.get(SEARCH_ATTRIBUTES.failureClass)).toBe('package_unavailable');
    expect(shown.get(SEARCH_ATTRIBUTES.needsAttention)).toBe(false);
    expect(shown.get(SEARCH_ATTRIBUTES.nextRetryAt)).toBeInstanceOf(Date);
    expect(shown.get(SEARCH_ATTRIBUTES.packageId)).toBe(1007);
    expect(shown.get(SEARCH_ATTRIBUTES.environment)).toBe('sandbox');
    await desk.simulator.setPackage(1007, { available: true });
    await operator.order(id).executeUpdate(retryUpdate, { args: [{ by: 'Ada', reason: 'a test' }] });
    await desk.reaches(id, 'completed');
    const ended = await operator.order(id).query(explainQuery);
    expect(ended).toMatchObject({ status: 'completed' });
  });

  it('shows the reason of its case beside the failure class, and is judged again when the credit comes', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const id = await desk.place(1001);
    await desk.reaches(id, 'needs_attention');
    const shown = await waitFor('the workflow shows it', async () => {
      const { typedSearchAttributes: found } = await operator.order(id).describe();
      return found.get(SEARCH_ATTRIBUTES.needsAttention) === true ? found : undefined;
    });
    expect(shown.get(SEARCH_ATTRIBUTES.attentionReason)).toBe('failed_but_charged');
    expect(shown.get(SEARCH_ATTRIBUTES.failureClass)).toBe('supplier_failed');
    await desk.simulator.move({
      type: 'credit',
      amount: (await desk.ledger(id))[0]!.amount,
      reason: 'order',
      order_id: await serviceOrder(id),
    });
    // The wake is also the comparison of the run with a database that has started again.
    await stack.database.run((db) => db.update(orders).set({ comparedEpoch: 'before' }).where(eq(orders.id, id)));
    await reconcileBooks(stack);
    await desk.reaches(id, 'completed');
    expect(await desk.cases(id)).toEqual([{ reason: 'failed_but_charged', open: false }]);
    expect(await desk.events(id)).toContain('books.credited');
    expect(await desk.attempts(id)).toHaveLength(2);
  });
});
