import type { OpenLoadResult } from '#bench/drivers/protocol.ts';
import type { ScenarioResult } from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { compare, measure, openLatencies, percentile } from '#bench/support/figures.ts';
import { type Contestant, Orders } from '#bench/support/orders.ts';

interface Phase {
  readonly perSecond: number;
  readonly seconds: number;
}

const SEED = 20_301;
/** A third of what two quiet cores do, then ten times as many for a moment. */
const SIZES: Readonly<Record<'full' | 'quick', Readonly<Record<'steady' | 'burst', readonly Phase[]>>>> = {
  full: {
    steady: [{ perSecond: 5, seconds: 60 }],
    burst: [
      { perSecond: 5, seconds: 15 },
      { perSecond: 50, seconds: 6 },
      { perSecond: 5, seconds: 15 },
    ],
  },
  quick: {
    steady: [{ perSecond: 2, seconds: 2 }],
    burst: [
      { perSecond: 1, seconds: 1 },
      { perSecond: 10, seconds: 1 },
    ],
  },
};

/** A closed loop slows down with what it measures; arrivals do not. */
export async function measureOrderLoad(context: BenchContext): Promise<ScenarioResult[]> {
  const product = await context.product();
  const dbos = (await context.engines()).find(({ id }) => id === 'dbos');
  const results: ScenarioResult[] = [];
  for (const [name, phases] of Object.entries(SIZES[context.mode])) {
    const said = phases.map(({ perSecond, seconds }) => `${perSecond}/s for ${seconds} s`).join(', ');
    context.say(`order load: ${said}`);
    const ours = await arrive(product, phases);
    const common = {
      id: `order_load.${name}${dbos === undefined ? '' : '.dbos'}`,
      measured: `Orders that arrive at ${said}: 95th percentile of the time from the arrival to the delivery`,
      unit: 'ms',
      better: 'lower',
    } as const;
    const values = [percentile(tookMs(ours), 0.95)];
    if (dbos === undefined) {
      results.push(measure({ ...common, values, details: openLatencies('ours', ours) }));
      continue;
    }
    const peer = await arrive(dbos, phases);
    results.push(
      compare({
        ...common,
        ours: values,
        peer: { id: 'dbos', measured: 'the same arrivals on DBOS Transact', rounds: [percentile(tookMs(peer), 0.95)] },
        details: { ...openLatencies('ours', ours), ...openLatencies('dbos', peer) },
      }),
    );
  }
  return results;
}

async function arrive(contestant: Contestant, phases: readonly Phase[]): Promise<OpenLoadResult> {
  await using orders = new Orders(contestant);
  const result = await orders.arrive({ seed: SEED, phases });
  await orders.requireBooks();
  return result;
}

function tookMs({ orders }: OpenLoadResult): number[] {
  return orders.map((order) => order.tookMs);
}
