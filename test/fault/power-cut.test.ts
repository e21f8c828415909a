import { describe, expect, it } from 'vitest';
import { orders } from '#db/schema.ts';
import { isFinal, statusesOf } from '#domain/work/lifecycle.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';
import { faultTrace, injectFaults, plannedOrders, Seeded } from '#test/support/work/workload.ts';

const stack = disposedAtEnd(
  await startStack({
    simulator: { SIMULATOR_PROCESSING_DELAY: '700ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '300ms' },
  }),
);
const desk = new OrderDesk(stack);

async function statuses(): Promise<Record<string, number>> {
  const rows = await stack.database.run((db) => db.select({ status: orders.status }).from(orders));
  return Object.fromEntries(
    statusesOf('order').map((status) => [status, rows.filter((row) => row.status === status).length]),
  );
}

const ended = (counts: Record<string, number>) =>
  statusesOf('order')
    .filter((status) => isFinal(status))
    .reduce((sum, status) => sum + (counts[status] ?? 0), 0);

describe('a power cut', () => {
  it('during twenty orders, with every fault of the service, loses nothing and buys nothing twice', async () => {
    const seeded = new Seeded();
    const planned = plannedOrders(seeded, 20);
    process.stdout.write(`seed ${seeded.seed}: ${planned.map(({ packageId }) => packageId).join(' ')}\n`);
    await injectFaults(desk, seeded);
    const [atFirst, meanwhile] = [planned.slice(0, 12), planned.slice(12)];
    await Promise.all(atFirst.map(({ packageId, more }) => desk.place(packageId, more)));
    await waitFor('some orders have ended', async () => ended(await statuses()) >= 3);

    // These requests are sent during the power cut. Their callers repeat them with the same key.
    const repeated = meanwhile.map(({ packageId, more }) => desk.placeStubbornly(packageId, more));
    await stack.killAll();
    const atTheCut = await statuses();
    process.stdout.write(`at the cut: ${JSON.stringify(atTheCut)}\n`);
    expect(ended(atTheCut)).toBeLessThan(20);
    await Promise.all((['simulator', 'api', 'worker'] as const).map((name) => stack.start(name)));

    const ids = await Promise.all(repeated);
    expect(new Set([...desk.accepted, ...ids]).size).toBe(20);
    await desk.checkBooks();
    expect(await stack.database.run((db) => db.select().from(orders))).toHaveLength(20);
    const { lines, unfired } = await faultTrace(desk);
    process.stdout.write(`${lines.join('\n')}\nafter all: ${JSON.stringify(await statuses())}\n`);
    expect(unfired).toEqual([]);
  });
});
