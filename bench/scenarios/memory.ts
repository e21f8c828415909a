import { setTimeout as delay } from 'node:timers/promises';
import { residentMb } from '#bench/counters/processes.ts';
import { compare, measure, median, type ScenarioResult } from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { startEmptyWork } from '#bench/support/empty-work.ts';
import { Orders } from '#bench/support/orders.ts';
import type { Product } from '#bench/support/product.ts';

const SIZES = {
  full: { half: { count: 500, atOnce: 50 }, more: { count: 300, atOnce: 50 }, readings: 5 },
  quick: { half: { count: 10, atOnce: 10 }, more: { count: 10, atOnce: 10 }, readings: 2 },
} as const;

const PROCESSES = ['api', 'worker'] as const;

const READING_EVERY_MS = 500;

/** Finished orders must not make the processes keep more. Wants a product without any orders. */
export async function measureMemory(context: BenchContext): Promise<ScenarioResult[]> {
  const { half, more, readings } = SIZES[context.mode];
  const all = 2 * half.count;
  const product = await context.product();
  await using orders = new Orders(product);
  const residentNow = async () => ({
    api: await repeated(readings, () => residentMb(product.api)),
    worker: await repeated(readings, () => residentMb(product.worker)),
  });
  const before = await residentNow();
  context.say(`memory: ${all} orders, ${half.atOnce} at a time, read before, in the middle and after`);
  await orders.carryThrough(half);
  const middle = await residentNow();
  await orders.carryThrough(half);
  const after = await residentNow();

  context.say(`memory: what is kept after a collection, before and after ${more.count} more orders`);
  const keptBefore = await kept(context, product);
  await orders.carryThrough(more);
  const keptAfter = await kept(context, product);

  await using empty = await startEmptyWork(context);
  context.say(`memory: as many empty workflows with as many turns, on a worker of the SDK alone`);
  await empty.sameTurns({ count: all, atOnce: half.atOnce });
  const ofTheSdk = await repeated(readings, () => empty.residentMb());

  const beside = compare({
    id: 'memory.worker.empty_worker',
    measured: `Resident memory of the worker process after ${all} orders, ${half.atOnce} at a time`,
    unit: 'MB',
    better: 'lower',
    ours: after.worker,
    peer: {
      id: 'empty_worker',
      measured: 'A worker of the SDK with the same limits after as many empty workflows with as many turns',
      rounds: ofTheSdk,
    },
  });
  const ofEach = PROCESSES.flatMap((name) => [
    measure({
      id: `memory.${name}`,
      measured: `Resident memory of the ${name} process after ${all} orders, ${half.atOnce} at a time`,
      unit: 'MB',
      better: 'lower',
      values: after[name],
      details: {
        before_orders_mb: median(before[name]),
        [`after_${half.count}_orders_mb`]: median(middle[name]),
        [`after_${all}_orders_mb`]: median(after[name]),
      },
    }),
    measure({
      id: `memory_growth.${name}`,
      measured:
        `JavaScript heaps of the ${name} process after a full collection: ` +
        `after ${all + more.count} orders, divided by after ${all}`,
      unit: 'ratio',
      better: 'lower',
      values: [keptAfter[name] / keptBefore[name]],
      details: {
        [`after_${all}_orders_mb`]: keptBefore[name],
        [`after_${all + more.count}_orders_mb`]: keptAfter[name],
      },
    }),
  ]);
  return [...ofEach, beside];
}

async function repeated(readings: number, one: () => number): Promise<number[]> {
  const values: number[] = [];
  for (let reading = 0; reading < readings; reading += 1) {
    await delay(READING_EVERY_MS);
    values.push(one());
  }
  return values;
}

async function kept({ children }: BenchContext, { api, worker }: Product) {
  return { api: await children.liveHeapMb(api), worker: await children.liveHeapMb(worker) };
}
