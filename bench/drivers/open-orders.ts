/** Arrivals do not wait for earlier orders. A latency begins at the planned arrival. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Pool } from 'undici';
import * as z from 'zod';
import { openOrderDriver } from '#bench/drivers/protocol.ts';
import { placeOrder, serve } from '#bench/drivers/serve.ts';
import { seeded } from '#bench/support/figures.ts';

type Task = z.output<typeof openOrderDriver.task>;

const CONNECTIONS = 100;
const LOOK_EVERY_MS = 100;

const ended = z.array(z.object({ id: z.string(), status: z.string(), endedAt: z.coerce.number().nullable() }));

interface Placed {
  readonly id: string;
  /** Planned arrival, from the beginning. */
  readonly arrivedMs: number;
  readonly acceptedMs: number;
}

serve(openOrderDriver, async (task) => {
  const api = new Pool(task.apiUrl, { connections: CONNECTIONS, pipelining: 1 });
  const client = new pg.Client({ connectionString: task.databaseUrl, application_name: 'bench-orders' });
  await client.connect();
  const beganAt = Date.now();
  try {
    const placed = await placeAll(api, task, beganAt);
    const orders = await endsOf(client, task, beganAt, placed);
    return { orders, drainedMs: Math.max(...orders.map(({ arrivedMs, tookMs }) => arrivedMs + tookMs)) };
  } finally {
    await api.close();
    await client.end();
  }
});

async function placeAll(api: Pool, task: Task, beganAt: number): Promise<readonly Placed[]> {
  const placed: Promise<Placed>[] = [];
  for (const arrivedMs of arrivalsOf(task)) {
    const wait = beganAt + arrivedMs - Date.now();
    if (wait > 0) await delay(wait);
    const one = place(api, task, beganAt, arrivedMs);
    // Awaited below, after all others were placed.
    one.catch(() => undefined);
    placed.push(one);
  }
  return Promise.all(placed);
}

/** Arrivals form a Poisson process. */
function arrivalsOf({ seed, phases }: Task): number[] {
  const random = seeded(seed);
  const arrivals: number[] = [];
  let from = 0;
  for (const { perSecond, seconds } of phases) {
    const until = from + seconds * 1_000;
    for (let at = from; ;) {
      at += (-Math.log(1 - random()) / perSecond) * 1_000;
      if (at >= until) break;
      arrivals.push(at);
    }
    from = until;
  }
  return arrivals;
}

async function place(api: Pool, task: Task, beganAt: number, arrivedMs: number): Promise<Placed> {
  const id = await placeOrder(api, task);
  return { id, arrivedMs, acceptedMs: Math.max(0, Date.now() - beganAt - arrivedMs) };
}

/** @throws Error when one ends otherwise, or too late. */
async function endsOf(client: pg.Client, task: Task, beganAt: number, placed: readonly Placed[]) {
  const open = new Map(placed.map((one) => [one.id, one]));
  const orders: { arrivedMs: number; acceptedMs: number; tookMs: number }[] = [];
  const deadline = Date.now() + task.drainWithinMs;
  while (open.size > 0) {
    const { rows } = await client.query({
      name: 'ended',
      text: `select /* bench */ id, status, extract(epoch from completed_at) * 1000 as "endedAt" from orders
             where id = any($1) and status in ('completed', 'failed', 'abandoned', 'needs_attention')`,
      values: [[...open.keys()]],
    });
    for (const { id, status, endedAt } of ended.parse(rows)) {
      const one = open.get(id);
      if (status !== 'completed' || endedAt === null || one === undefined) throw new Error(`order ${id} is ${status}`);
      open.delete(id);
      orders.push({ ...one, tookMs: Math.max(0, endedAt - beganAt - one.arrivedMs) });
    }
    if (Date.now() > deadline) throw new Error(`${open.size} orders are not completed after ${task.drainWithinMs} ms`);
    await delay(LOOK_EVERY_MS);
  }
  return orders;
}
