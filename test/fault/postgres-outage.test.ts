import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { orders } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startOwnPostgres } from '#test/support/servers/own-servers.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';
import { plannedOrders, Seeded } from '#test/support/work/workload.ts';

const OUTAGE_MS = 10_000;

const postgres = disposedAtEnd(await startOwnPostgres());
const stack = disposedAtEnd(
  await startStack({
    postgres,
    simulator: { SIMULATOR_PROCESSING_DELAY: '1s', SIMULATOR_WEBHOOK_RETRY_DELAY: '500ms' },
  }),
);
const desk = new OrderDesk(stack);

describe('an outage of PostgreSQL for ten seconds', () => {
  it('gives callers a 503 and a second try; accepted work completes, and nothing is lost or bought twice', async () => {
    const seeded = new Seeded();
    const planned = plannedOrders(seeded, 14);
    process.stdout.write(`seed ${seeded.seed}: ${planned.map(({ packageId }) => packageId).join(' ')}\n`);
    const [before, during] = [planned.slice(0, 8), planned.slice(8)];
    // Two purchases are in progress when the database stops, so their answers cannot be stored.
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 1_500, at: 'answer' }, { count: 2 });
    await Promise.all(before.map(({ packageId, more }) => desk.place(packageId, more)));
    await waitFor('the service has two requests', async () => (await desk.simulator.orders()).length >= 2);

    await postgres.stop();
    const refusals: number[] = [];
    const repeated = during.map(({ packageId, more }) =>
      desk.placeStubbornly(packageId, more, (status) => refusals.push(status)),
    );
    await delay(OUTAGE_MS);
    expect(stack.process('api').running).toBe(true);
    expect(stack.process('worker').running).toBe(true);
    expect((await stack.api.get('/healthz')).status).toBe(200);
    expect((await stack.api.get('/readyz')).status).toBe(503);
    await postgres.start();

    const ids = await Promise.all(repeated);
    expect(refusals.length).toBeGreaterThanOrEqual(during.length);
    expect(new Set(refusals)).toEqual(new Set([503]));
    expect(new Set(ids).size).toBe(during.length);
    await desk.checkBooks();
    expect(await stack.database.run((db) => db.select().from(orders))).toHaveLength(planned.length);
  });
});
