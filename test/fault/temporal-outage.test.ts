import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { orders } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startOwnTemporal } from '#test/support/servers/own-servers.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const OUTAGE_MS = 30_000;
const ORDERS = 20;

const temporal = disposedAtEnd(await startOwnTemporal());
const stack = disposedAtEnd(await startStack({ temporal }));
const desk = new OrderDesk(stack);

describe('an outage of Temporal for thirty seconds', () => {
  it('prevents no acceptance of orders; all complete afterwards, each with one debit', async () => {
    const before = [await desk.place(PACKAGE.processingThenCompleted), await desk.place(PACKAGE.completedAtOnce)];
    await desk.reaches(before[1]!, 'completed');
    // In progress at the service: its webhook arrives while Temporal is down.
    await desk.reaches(before[0]!, 'processing', 'completed');

    await temporal.stop();
    const meanwhile: string[] = [];
    for (let n = 0; n < ORDERS; n += 1) {
      // `place` accepts only a 202.
      meanwhile.push(await desk.place(n % 4 === 0 ? PACKAGE.processingThenCompleted : PACKAGE.completedAtOnce));
      await delay(OUTAGE_MS / ORDERS);
    }
    const rows = await stack.database.run((db) => db.select().from(orders));
    expect(rows.filter(({ status }) => status === 'accepted')).toHaveLength(ORDERS);
    expect(stack.process('worker').running).toBe(true);
    await temporal.start();

    // The core of the SDK warns of its calls without an answer.
    const lines = stack.process('worker').output().split('\n').filter(Boolean);
    expect(lines.filter((line) => !line.startsWith('{'))).toEqual([]);
    for (const id of [...before, ...meanwhile]) await desk.reaches(id, 'completed');
    await desk.checkBooks();
  });
});
