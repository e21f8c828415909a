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

const environment = { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP, ...UNSOLD_STAYS_HELD };
const stack = disposedAtEnd(await startStack({ environment }));
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
});

it('Reset to the first task sends nothing again while the service processes the order', async () => {
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

describe('the workflow of an order', () => {
  it('shows the state in search attributes and current details, and continues on retry', async () => {
    await desk.simulator.setPackage(1007, { available: false });
    const id = await desk.place(1007);
    await desk.reaches(id, 'held');
    const held = { product: 'esim-order', failureClass: 'package_unavailable', needsAttention: false };
    expect(await operator.showsStage(id, 'held')).toMatchObject(held);
    const { typedSearchAttributes: shown } = await operator.order(id).describe();
    expect(shown.get(SEARCH_ATTRIBUTES.nextRetryAt)).toBeInstanceOf(Date);
    expect(shown.get(SEARCH_ATTRIBUTES.packageId)).toBe(1007);
    expect(shown.get(SEARCH_ATTRIBUTES.environment)).toBe('sandbox');
    await desk.simulator.setPackage(1007, { available: true });
    await operator.order(id).executeUpdate(retryUpdate, { args: [{ by: 'Ada', reason: 'a test' }] });
    await desk.reaches(id, 'completed');
    expect(await operator.order(id).query(explainQuery)).toMatchObject({ status: 'completed' });
  });

  it('shows the reason of its case beside the failure class, and is judged again when the credit comes', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const id = await desk.place(1001);
    await desk.reaches(id, 'needs_attention');
    const shown = { attentionReason: 'failed_but_charged', failureClass: 'supplier_failed' };
    expect(await operator.showsStage(id, 'needs_attention')).toMatchObject(shown);
    const { amount } = (await desk.ledger(id))[0]!;
    await desk.simulator.move({ type: 'credit', amount, reason: 'order', order_id: await serviceOrder(id) });
    // The wake is also the comparison of the run with a database that has started again.
    await stack.database.run((db) => db.update(orders).set({ comparedEpoch: 'before' }).where(eq(orders.id, id)));
    await reconcileBooks(stack);
    await desk.reaches(id, 'completed');
    expect(await desk.cases(id)).toEqual([{ reason: 'failed_but_charged', open: false }]);
    expect(await desk.events(id)).toContain('books.credited');
    expect(await desk.attempts(id)).toHaveLength(2);
  });
});
