import { setTimeout as delay } from 'node:timers/promises';
import type { OpenLoadResult } from '#bench/drivers/protocol.ts';
import type { ScenarioResult } from '#bench/results.ts';
import { measure } from '#bench/support/comparison.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { openLatencies, overTime } from '#bench/support/loads.ts';
import { Orders } from '#bench/support/orders.ts';
import type { Product } from '#bench/support/product.ts';
import { percentile } from '#bench/support/statistics.ts';
import { withClient } from '#cli/embedded/postgres.ts';

const SIZES = {
  full: { perSecond: 2, before: 10, down: 60, refusing: 30, after: 20, killed: 2_000, killAfter: 200 },
  quick: { perSecond: 1, before: 1, down: 2, refusing: 1, after: 1, killed: 12, killAfter: 2 },
} as const;
const SEED = 20_302;
/** Orders of the crash arrive this fast, so that nearly all are under way when the worker is killed. */
const CROWD_PER_SECOND = 200;
const LOOK_EVERY_MS = 250;

/** What an outage of the service and the death of the worker cost, and that nothing is bought twice. */
export async function measureOrderFaults(context: BenchContext): Promise<ScenarioResult[]> {
  const product = await context.product();
  await using orders = new Orders(product);
  return [await outage(context, product, orders), await crash(context, product, orders)];
}

/** The service does not run, and answers 429 when it is back. */
async function outage(context: BenchContext, product: Product, orders: Orders): Promise<ScenarioResult> {
  const { perSecond, before, down, refusing, after } = SIZES[context.mode];
  const seconds = before + down + refusing + after;
  context.say(`order faults: ${perSecond}/s; the service is down for ${down} s, then answers 429 for ${refusing} s`);
  const arriving = orders.arrive({ seed: SEED, phases: [{ perSecond, seconds }] });
  const troubles = async () => {
    await delay(before * 1_000);
    await product.killProcess('simulator');
    await delay(down * 1_000);
    await product.startProcess('simulator');
    await simulator(product, 'POST', {
      target: 'request',
      endpoint: 'createOrder',
      fault: { kind: 'rate_limited', retry_after: 1 },
      count: null,
    });
    await delay(refusing * 1_000);
    await simulator(product, 'DELETE');
  };
  const [result] = await Promise.all([arriving, troubles()]);
  await orders.requireBooks();
  const healedMs = (before + down + refusing) * 1_000;
  return measure({
    id: 'order_faults.service_down',
    measured:
      `Orders at ${perSecond}/s while the service is down for ${down} s and then answers 429 for ${refusing} s: ` +
      'time from its recovery until all are delivered, each paid once',
    unit: 's',
    better: 'lower',
    values: [Math.max(0, result.drainedMs - healedMs) / 1_000],
    details: { ...openLatencies('ours', result), accepted_p99_ms: acceptedP99(result), orders: result.orders.length },
    series: { ours: overTime(result) },
  });
}

/** The worker ends by SIGKILL with many orders under way, and is started again at once. */
async function crash(context: BenchContext, product: Product, orders: Orders): Promise<ScenarioResult> {
  const { killed, killAfter } = SIZES[context.mode];
  context.say(`order faults: the worker is killed with ${killed - killAfter} orders under way`);
  const completedBefore = await completed(product);
  const seconds = Math.max(1, killed / CROWD_PER_SECOND);
  const beganAt = Date.now();
  const arriving = orders.arrive({ seed: SEED, phases: [{ perSecond: killed / seconds, seconds }] });
  const killing = async () => {
    while ((await completed(product)) - completedBefore < killAfter || Date.now() - beganAt < seconds * 1_000)
      await delay(LOOK_EVERY_MS);
    const underWay = await unfinished(product);
    await product.killProcess('worker');
    const killedMs = Date.now() - beganAt;
    await product.startProcess('worker');
    return { underWay, killedMs };
  };
  const [result, { underWay, killedMs }] = await Promise.all([arriving, killing()]);
  await orders.requireBooks();
  return measure({
    id: 'order_faults.worker_killed',
    measured: `The worker is killed with ${underWay} orders under way: time until all are delivered, each paid once`,
    unit: 's',
    better: 'lower',
    values: [(result.drainedMs - killedMs) / 1_000],
    details: { under_way: underWay, ...openLatencies('ours', result) },
  });
}

async function completed({ databaseUrl }: Product): Promise<number> {
  return countOf(databaseUrl, `status = 'completed'`);
}

async function unfinished({ databaseUrl }: Product): Promise<number> {
  return countOf(databaseUrl, `status <> 'completed'`);
}

async function countOf(url: string, condition: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ count: string }>(
      `select /* bench */ count(*) from orders where ${condition}`,
    );
    return Number(rows[0]?.count);
  });
}

/** Adds a fault of the service, or removes all. */
async function simulator({ simulatorUrl }: Product, method: 'POST' | 'DELETE', fault?: object): Promise<void> {
  const answer = await fetch(`${simulatorUrl}/simulator/faults`, {
    method,
    ...(fault && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(fault) }),
  });
  if (!answer.ok) throw new Error(`the simulator answered ${answer.status}: ${await answer.text()}`);
}

function acceptedP99({ orders }: OpenLoadResult): number {
  return percentile(
    orders.map(({ acceptedMs }) => acceptedMs),
    0.99,
  );
}
