import { type Counter, COUNTERS, countOrders, type OrderCounts } from '#bench/counters/counters.ts';
import { canReadProcesses } from '#bench/counters/processes.ts';
import { compare, measure, rounded, type ScenarioResult, sum } from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { Orders } from '#bench/support/orders.ts';

const SIZES = {
  full: { alone: { count: 30, atOnce: 1 }, at_50: { count: 200, atOnce: 50 } },
  quick: { alone: { count: 2, atOnce: 1 }, at_50: { count: 8, atOnce: 4 } },
} as const;
const LOADS = ['alone', 'at_50'] as const;
type Load = (typeof LOADS)[number];

const PEER = { id: 'dbos', measured: 'the same order on DBOS Transact' } as const;
const SHOWN = 40;

/** Counters hardly depend on what else the machine does, so each contestant is measured once for each load. */
export async function measureOrderCounters(context: BenchContext): Promise<ScenarioResult[]> {
  const contestants = await context.contestants();
  const figures: Record<Load, Record<string, OrderCounts>> = { alone: {}, at_50: {} };
  for (const load of LOADS) {
    const size = SIZES[context.mode][load];
    for (const contestant of contestants) {
      context.say(`counters: ${size.count} orders, ${size.atOnce} at a time, ${contestant.id}`);
      await using orders = new Orders(contestant);
      if (load === 'alone') await orders.carryThrough({ count: Math.min(10, size.count), atOnce: 1 });
      figures[load][contestant.id] = await countOrders(context, contestant, size.count, async () => orders.run(size));
      await orders.requireBooks();
    }
    show(context, load, figures[load]['ours']);
  }
  return LOADS.flatMap((load) => [
    ...(Object.keys(COUNTERS) as Counter[]).map((counter) => counted(load, counter, figures[load])),
    ...(canReadProcesses ? [cpu(load, figures[load])] : []),
  ]);
}

function counted(load: Load, counter: Counter, figures: Readonly<Record<string, OrderCounts>>): ScenarioResult {
  const by = Object.fromEntries(Object.entries(figures).map(([id, { counts }]) => [id, counts[counter]]));
  const [ours = Number.NaN, peer = 0] = [by['ours'], by['dbos']];
  const common = {
    id: `order_counters.${load}.${counter}`,
    measured: `For one order, ${loadName(load)}: ${COUNTERS[counter].measured}`,
    unit: COUNTERS[counter].unit,
    better: 'lower',
    details: by,
  } as const;
  // It has no history and no calls of Temporal.
  if (peer === 0) return measure({ ...common, values: [ours] });
  return compare({ ...common, ours: [ours], peer: { ...PEER, rounds: [peer] } });
}

function cpu(load: Load, figures: Readonly<Record<string, OrderCounts>>): ScenarioResult {
  const total = (id: string) => sum(Object.values(figures[id]?.cpu ?? {}));
  const details = Object.entries(figures).flatMap(([id, { cpu: parts }]) =>
    Object.entries(parts).map(([name, ms]) => [`${id}_${name}`, ms] as const),
  );
  const common = {
    id: `order_counters.${load}.cpu_ms`,
    measured: `For one order, ${loadName(load)}: CPU time of all processes, by process in the details`,
    unit: 'ms',
    better: 'lower',
    details: Object.fromEntries(details),
  } as const;
  if (figures['dbos'] === undefined) return measure({ ...common, values: [total('ours')] });
  return compare({ ...common, ours: [total('ours')], peer: { ...PEER, rounds: [total('dbos')] } });
}

function loadName(load: Load): string {
  return load === 'alone' ? 'one at a time' : '50 at a time';
}

/** The output shows what could be spared. */
function show(context: BenchContext, load: Load, figures: OrderCounts | undefined): void {
  context.say(`counters: what one order of ours asks for, ${loadName(load)}`);
  for (const [query, calls] of figures?.statements.slice(0, SHOWN) ?? []) context.say(line(calls, query));
  for (const [operation, calls] of figures?.operations ?? []) context.say(line(calls, `Temporal: ${operation}`));
}

function line(calls: number, text: string): string {
  const short = text
    .replaceAll(/\s+/g, ' ')
    .replace(/^select .*? from /i, 'select … from ')
    .slice(0, 140);
  return `  ${String(rounded(calls)).padStart(6)}  ${short}`;
}
