/**
 * What one order costs that the service completes at once: transactions and events of its history. Counts do not depend
 * on the machine. See `docs/adr/0020`.
 */
import pg from 'pg';
import { expect, it } from 'vitest';
import { readDatabaseEpoch } from '#db/connection/database-epoch.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

/** The transactions of all connections of this process. */
async function transactionsOf(work: () => Promise<unknown>): Promise<number> {
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
  return texts.filter((text) => text === 'BEGIN').length;
}

it('an order that is completed at once costs three transactions in the worker: claim, answer and delivery', async () => {
  await using bench = await ActivityBench.start();
  const carry = async () => {
    const work = { kind: 'order', id: await bench.accept(PACKAGE.completedAtOnce) } as const;
    const sentIn = await bench.database.run(readDatabaseEpoch);
    const firstSend = { delivers: true } as const;
    return transactionsOf(() => bench.activities.beginWork({ work, sentIn, firstSend }));
  };
  // The first one reads prices and the wallet.
  await carry();
  expect(await carry()).toBe(3);
});

it('an order that is completed at once has a history of six events: one task with one local activity', async () => {
  await using stack = await startStack();
  const desk = new OrderDesk(stack);
  await using temporal = await TemporalOperator.connect(stack);
  const order = await desk.complete(PACKAGE.completedAtOnce);
  const workflow = temporal.order(order.textAt('id'));
  await workflow.result();
  const { events } = await workflow.fetchHistory();
  expect(events).toHaveLength(6);
});
