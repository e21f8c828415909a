import { serviceCallDriver } from '#bench/drivers/protocol.ts';
import type { Limit, ScenarioResult } from '#bench/results.ts';
import { answersOk } from '#bench/support/children.ts';
import { compare } from '#bench/support/comparison.ts';
import type { BenchContext } from '#bench/support/context.ts';
import { Driver } from '#bench/support/driver.ts';
import { inTurn } from '#bench/support/rounds.ts';
import { freePort } from '#cli/embedded/ports.ts';

const SIZES = {
  full: { rounds: 5, count: 800, atOnce: 8 },
  quick: { rounds: 1, count: 40, atOnce: 8 },
} as const;

const PEER =
  'bare undici (Pool.request, JSON.parse), with connections kept or not as ours: no check of the answer, no deadline';

const CASES = {
  packages: {
    id: 'client_overhead.list_packages.undici',
    measured:
      'Our client: GET of a page of 50 packages, each field checked and each price read as an exact decimal. CPU time of ' +
      'the calling process per call.',
    limit: {
      of: 'ratio_to_peer',
      bound: 'at_most',
      amount: 4,
      reason:
        'Four hundred fields are checked where the peer takes what comes; the API keeps the list, so it is read now and then.',
    },
  },
  order: {
    id: 'client_overhead.create_order.undici',
    measured:
      'Our client: POST of an order with its stored bytes on a connection of its own, the answer checked. CPU time of the ' +
      'calling process per call.',
    limit: {
      of: 'ratio_to_peer',
      bound: 'at_most',
      amount: 3,
      reason:
        'Deadline, phases of the exchange, a strict reading of JSON and the check of the answer may not outweigh the call itself by far.',
    },
  },
} as const satisfies Record<string, { id: string; measured: string; limit: Limit }>;

/**
 * What our client costs in CPU time beside the HTTP client that it is made of, on the same calls to the same server.
 */
export async function measureClientOverhead(context: BenchContext): Promise<ScenarioResult[]> {
  const { rounds, ...load } = SIZES[context.mode];
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const server = await context.children.start({
    name: 'canned-service',
    script: 'bench/peers/canned-service.ts',
    environment: { PORT: String(port) },
    isReady: answersOk(`${origin}/packages`),
  });
  // A process each, so that neither pays for the other's garbage.
  await using ours = new Driver(serviceCallDriver);
  await using undici = new Driver(serviceCallDriver);
  const results: ScenarioResult[] = [];
  for (const call of ['packages', 'order'] as const) {
    const { id, measured, limit } = CASES[call];
    context.say(
      `client overhead: ${rounds} rounds of ${load.count} calls (${call}), by our client and by bare undici in turn`,
    );
    const cpu = await inTurn(
      {
        ours: () => ours.run({ ...load, client: 'ours', call, origin }),
        peer: () => undici.run({ ...load, client: 'undici', call, origin }),
      },
      rounds,
    );
    results.push(
      compare({
        id,
        measured,
        unit: 'µs',
        better: 'lower',
        ours: cpu.ours.map(({ cpuUsPerCall }) => cpuUsPerCall),
        peer: { id: 'undici', measured: PEER, rounds: cpu.peer.map(({ cpuUsPerCall }) => cpuUsPerCall) },
        limit,
      }),
    );
  }
  await server.stop(5_000);
  return results;
}
