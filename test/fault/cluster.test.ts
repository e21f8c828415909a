import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { startOwnCluster, type OwnCluster } from '#test/support/servers/own-cluster.ts';
import { startProcess, type TestProcess } from '#test/support/servers/processes.ts';
import { definedOf, startStack, type Stack } from '#test/support/servers/stack.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const ORDERS = 12;

let cluster: OwnCluster;
let stack: Stack;
let desk: OrderDesk;
let second: TestProcess | undefined;

/** The Temporal server proper, on PostgreSQL, with the settings of `ops/temporal/dynamic-config.yaml`. */
beforeAll(async () => {
  cluster = await startOwnCluster();
  stack = await startStack({ temporal: cluster });
  desk = new OrderDesk(stack);
  const port = await freePort();
  second = await startProcess({
    name: 'worker',
    script: 'worker/main.ts',
    environment: { ...definedOf(stack.environments.worker), WORKER_PROBE_PORT: String(port) },
    readyUrl: `http://127.0.0.1:${port}/readyz`,
  });
});
afterAll(async () => {
  await second?.[Symbol.asyncDispose]();
  await stack.stop();
  await cluster[Symbol.asyncDispose]();
});

describe('a Temporal cluster on PostgreSQL with two workers', () => {
  it('completes every order with one debit, across a killed worker and a restart of the server', async () => {
    const placed: string[] = [];
    const place = async () => {
      for (let n = 0; n < ORDERS; n += 1)
        placed.push(await desk.place(n % 2 === 0 ? PACKAGE.processingThenCompleted : PACKAGE.completedAtOnce));
    };
    await place();
    await second?.kill();
    await place();
    await Promise.all([cluster.restart(), place()]);

    for (const id of placed) await desk.reaches(id, 'completed');
    const lines = await desk.simulator.ledger();
    expect(lines.filter(({ type }) => type === 'debit')).toHaveLength(placed.length);
    await desk.checkBooks();
  });
});
