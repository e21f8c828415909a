import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { cpuMs, canReadProcesses } from '#bench/counters/processes.ts';
import { spanDriver, type LoadResult } from '#bench/drivers/protocol.ts';
import type { ScenarioResult } from '#bench/results.ts';
import { compare } from '#bench/support/comparison.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { Driver } from '#bench/support/driver.ts';
import { latencies, rates } from '#bench/support/loads.ts';
import { Orders } from '#bench/support/orders.ts';
import { Product, tracedVersion } from '#bench/support/product.ts';
import { inTurn } from '#bench/support/rounds.ts';

const SIZES = {
  full: { rounds: 8, load: { count: 100, atOnce: 20 }, spans: 20_000 },
  quick: { rounds: 1, load: { count: 4, atOnce: 4 }, spans: 1_000 },
} as const;

const SHARES = { all: 1, tenth: 0.1 } as const;
type Share = keyof typeof SHARES;
const SAID: Readonly<Record<Share, string>> = { all: 'every trace sampled', tenth: 'one trace of ten sampled' };

const UNTRACED = { id: 'untraced', measured: 'The same product without tracing' };
/** Spans are exported a second after the last order at the latest. */
const EXPORTED_AFTER_MS = 2_000;

interface Round {
  readonly load: LoadResult;
  /** CPU time of API and worker for one order. */
  readonly cpuMsPerOrder: number;
}

/** What tracing costs: the product with and without it, in turn, with a receiver of spans on the same machine. */
export async function measureTracing(context: BenchContext): Promise<ScenarioResult[]> {
  const { rounds, load, spans } = SIZES[context.mode];
  await using receiver = await startReceiver();
  context.say(`tracing: ${rounds} rounds of ${spans} spans, off and on in turn`);
  const ofSpan = await inTurn(
    { off: () => spanCpuUs(spans, null), on: () => spanCpuUs(spans, receiver.endpoint) },
    rounds,
  );
  const products = {
    off: await context.product(),
    all: await Product.start(context, tracedVersion('traced_all', receiver.endpoint, SHARES.all)),
    tenth: await Product.start(context, tracedVersion('traced_tenth', receiver.endpoint, SHARES.tenth)),
  };
  context.say(`tracing: ${rounds} rounds of ${load.count} orders, ${load.atOnce} at a time, off and on in turn`);
  const bytesBefore = receiver.bytes();
  const figures = await inTurn(
    {
      off: () => roundOf(products.off, load),
      all: () => roundOf(products.all, load),
      tenth: () => roundOf(products.tenth, load),
    },
    rounds,
  );
  const exported = receiver.bytes() - bytesBefore;
  if (exported === 0) throw new Error('no span was exported');
  await products.all.stop();
  await products.tenth.stop();
  const span = compare({
    id: 'tracing.span.cpu_us',
    measured: 'CPU time of a process for one span of six attributes, from its beginning to its export',
    unit: 'µs',
    better: 'lower',
    ours: ofSpan.on,
    peer: { ...UNTRACED, rounds: ofSpan.off },
  });
  const ofOrders = (Object.keys(SHARES) as Share[]).flatMap((share) => [
    compare({
      id: `tracing.${share}.rate`,
      measured: `Orders to their delivery, ${load.atOnce} under way at any time, ${SAID[share]}`,
      unit: 'orders/s',
      better: 'higher',
      ours: rates(figures[share].map((round) => round.load)),
      peer: { ...UNTRACED, rounds: rates(figures.off.map((round) => round.load)) },
      details: latencies(
        figures[share].map((round) => round.load),
        95,
      ),
    }),
    ...(canReadProcesses
      ? [
          compare({
            id: `tracing.${share}.cpu_ms`,
            measured: `CPU time of API and worker for one order, ${SAID[share]}`,
            unit: 'ms',
            better: 'lower',
            ours: figures[share].map((round) => round.cpuMsPerOrder),
            peer: { ...UNTRACED, rounds: figures.off.map((round) => round.cpuMsPerOrder) },
          }),
        ]
      : []),
  ]);
  return [span, ...ofOrders];
}

/** In a process of its own, which has started the SDK or not. */
async function spanCpuUs(count: number, endpoint: string | null): Promise<number> {
  await using driver = new Driver(spanDriver);
  return (await driver.run({ count, endpoint })).cpuUs;
}

async function roundOf(product: Product, load: { readonly count: number; readonly atOnce: number }): Promise<Round> {
  await using orders = new Orders(product);
  const own = () => {
    const { api = 0, worker = 0 } = cpuMs(product.processes());
    return api + worker;
  };
  const before = own();
  const result = await orders.run(load);
  await delay(EXPORTED_AFTER_MS);
  const cpuMsPerOrder = (own() - before) / load.count;
  await orders.requireBooks();
  return { load: result, cpuMsPerOrder };
}

/** Takes exports and throws them away: what a store of traces costs is not ours. */
async function startReceiver() {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => response.writeHead(200).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => bytes,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
