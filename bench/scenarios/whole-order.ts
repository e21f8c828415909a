import { processesOf } from '#bench/counters/counters.ts';
import { cpuSpentBy } from '#bench/counters/processes.ts';
import type { Load, LoadResult } from '#bench/drivers/protocol.ts';
import {
  compare,
  inTurn,
  latencies,
  median,
  medians,
  type Peer,
  rates,
  type ScenarioResult,
  sum,
} from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { startEmptyWork } from '#bench/support/empty-work.ts';
import { type Contestant, Orders } from '#bench/support/orders.ts';

const SIZES = {
  full: { rounds: 5, alone: { count: 20, atOnce: 1 }, busy: { count: 200, atOnce: 50 } },
  quick: { rounds: 1, alone: { count: 1, atOnce: 1 }, busy: { count: 6, atOnce: 6 } },
} as const;

const EMPTY = {
  id: 'empty_workflow',
  measured: 'Empty workflow of as many turns as an order of ours, local and regular activities in the same order',
} as const;

interface Round {
  readonly load: LoadResult;
  /** CPU milliseconds for one order. */
  readonly cpu: Readonly<Record<string, number>>;
}

type BothOf<Figure> = Readonly<Record<'mine' | 'theirs', readonly Figure[]>>;

export async function measureWholeOrder(context: BenchContext): Promise<ScenarioResult[]> {
  const { rounds, alone, busy } = SIZES[context.mode];
  const [all, engines] = [await context.contestants(), await context.engines()];
  await using stack = new AsyncDisposableStack();
  const orders = all.map((contestant) => [contestant, stack.use(new Orders(contestant))] as const);
  // The empty workflow has the turns of an order that is delivered already.
  await orders[0]?.[1].carryThrough({ count: 1, atOnce: 1 });
  await using empty = await startEmptyWork(context);
  const contestants = (load: Load): Record<string, () => Promise<Round>> => ({
    ...Object.fromEntries(orders.map(([who, at]) => [who.id, async () => oneRound(context, who, at, load)])),
    [EMPTY.id]: async () => ({ load: await empty.sameTurns(load), cpu: {} }),
  });
  const names = [...all.map(({ id }) => id), EMPTY.id].join(', ');
  context.say(`whole orders: ${rounds} rounds of ${alone.count}, one at a time: ${names}`);
  const oneByOne = await inTurn(contestants(alone), rounds);
  context.say(`whole orders: ${rounds} rounds of ${busy.count}, ${busy.atOnce} at a time`);
  const atOnce = await inTurn(contestants(busy), rounds);
  context.say(`whole orders: ${rounds} rounds of ${busy.count} empty workflows on each engine: its share`);
  const onEngines: Record<string, () => Promise<number>> = {
    ours: async () => empty.onTemporal(busy),
    ...Object.fromEntries(engines.map((engine) => [engine.id, async () => empty.on(engine, busy)])),
  };
  const shares = await inTurn(onEngines, rounds);
  return [...all.slice(1), EMPTY].flatMap(({ id, measured }) => {
    const peer = { id, measured };
    const [mine, theirs] = [atOnce['ours'] ?? [], atOnce[id] ?? []];
    return [
      compare({
        id: `whole_order.alone.${id}`,
        measured: 'One order at a time: median time from its acceptance to its delivery',
        unit: 'ms',
        better: 'lower',
        ours: medians(loads(oneByOne['ours'])),
        peer: { ...peer, rounds: medians(loads(oneByOne[id])) },
        details: latencies(loads(oneByOne['ours']), 95),
      }),
      compare({
        id: `whole_order.at_50.${id}`,
        measured: `Orders over POST /v1/orders to their delivery, ${busy.atOnce} under way at any time`,
        unit: 'orders/s',
        better: 'higher',
        ours: rates(loads(mine)),
        peer: { ...peer, rounds: rates(loads(theirs)) },
        details: latencies(loads(mine), 95),
      }),
      ...(id === EMPTY.id ? [] : [cpu(peer, { mine, theirs })]),
      ...(id === 'dbos' || id === 'restate'
        ? [withoutEngine(peer, { mine, theirs }, { mine: shares['ours'] ?? [], theirs: shares[id] ?? [] })]
        : []),
    ];
  });
}

function cpu(peer: Peer, { mine, theirs }: BothOf<Round>): ScenarioResult {
  return compare({
    id: `whole_order.cpu.${peer.id}`,
    measured: 'CPU time of all processes for one order, 50 at a time; by process in the details',
    unit: 'ms',
    better: 'lower',
    ours: mine.map(totalOf),
    peer: { ...peer, rounds: theirs.map(totalOf) },
    details: { ...byProcess('ours', mine), ...byProcess(peer.id, theirs) },
  });
}

async function oneRound(context: BenchContext, contestant: Contestant, orders: Orders, load: Load): Promise<Round> {
  const { result, cpu } = await cpuSpentBy(processesOf(context, contestant), async () => orders.run(load));
  await orders.requireBooks();
  return { load: result, cpu: Object.fromEntries(Object.entries(cpu).map(([name, ms]) => [name, ms / load.count])) };
}

/** With all cores busy, the rate is the inverse of the CPU time: the ratio of the rests leaves the engines out. */
function withoutEngine(peer: Peer, { mine, theirs }: BothOf<Round>, engine: BothOf<number>): ScenarioResult {
  const rest = (rounds: readonly Round[], share: readonly number[]) =>
    rounds.map((round, number) => 1_000 / Math.max(0.1, totalOf(round) - (share[number] ?? 0)));
  return compare({
    id: `whole_order.without_engine.${peer.id}`,
    measured:
      'Orders for a second of CPU time, without what an empty workflow takes on the same engine: of as many turns on ' +
      'Temporal, of three steps on the peer',
    unit: 'orders/s',
    better: 'higher',
    ours: rest(mine, engine.mine),
    peer: { ...peer, rounds: rest(theirs, engine.theirs) },
    details: {
      ours_cpu_ms: median(mine.map(totalOf)),
      ours_engine_cpu_ms: median(engine.mine),
      [`${peer.id}_cpu_ms`]: median(theirs.map(totalOf)),
      [`${peer.id}_engine_cpu_ms`]: median(engine.theirs),
    },
  });
}

function loads(rounds: readonly Round[] | undefined): LoadResult[] {
  return (rounds ?? []).map(({ load }) => load);
}

function totalOf({ cpu }: Round): number {
  return sum(Object.values(cpu));
}

function byProcess(id: string, rounds: readonly Round[]): Record<string, number> {
  const medianOf = (name: string) => median(rounds.map(({ cpu }) => cpu[name] ?? 0));
  const names = Object.keys(rounds[0]?.cpu ?? {});
  return Object.fromEntries(names.map((name) => [`${id}_${name}_cpu_ms`, medianOf(name)]));
}
