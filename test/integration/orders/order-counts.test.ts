/**
 * What one order costs that the service completes at once: statements, transactions and events of its history. Counts
 * do not depend on the machine, so that what was saved cannot creep back. See `docs/adr/0020`.
 */
import pg from 'pg';
import { expect, it } from 'vitest';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

/** What all connections of this process run while something happens. */
async function counted(work: () => Promise<unknown>): Promise<{ statements: number; transactions: number }> {
  const prototype = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  const original = prototype.query;
  const texts: string[] = [];
  prototype.query = function query(this: object, ...args: unknown[]) {
    const [first] = args;
    texts.push(typeof first === 'string' ? first : (first as { text: string }).text);
    return original.apply(this, args);
  };
  try {
    await work();
  } finally {
    prototype.query = original;
  }
  return { statements: texts.length, transactions: texts.filter((text) => text === 'BEGIN').length };
}

it('an order that is completed at once costs so many statements and transactions in the worker', async () => {
  await using bench = await ActivityBench.start();
  const carry = async () => {
    const work = { kind: 'order', id: await bench.accept(PACKAGE.completedAtOnce) } as const;
    let attemptId = '';
    const begun = await counted(
      async () =>
        ({
          attempt: { id: attemptId },
        } = await bench.activities.beginWork({ work })),
    );
    const sent = await counted(() => bench.activities.sendPurchase({ work, attemptId, delivers: true }));
    return { begun, sent };
  };
  // The first one reads prices and the wallet.
  await carry();
  expect(await carry()).toEqual({
    // Work and attempts are read, the attempt is stored.
    begun: { statements: 5, transactions: 1 },
    // Admitted; claimed, recorded and delivered in one transaction each.
    sent: { statements: 20, transactions: 3 },
  });
});

it('an order that is completed at once has a history of thirteen events: one activity, and no wait', async () => {
  await using stack = await startStack();
  const desk = new OrderDesk(stack);
  await using temporal = await TemporalOperator.connect(stack);
  const order = await desk.complete(PACKAGE.completedAtOnce);
  const workflow = temporal.order(order.textAt('id'));
  await workflow.result();
  const { events } = await workflow.fetchHistory();
  expect(events).toHaveLength(13);
});
