import { cpuSpentBy, residentMb } from '#bench/counters/processes.ts';
import { historySizes } from '#bench/counters/server-counters.ts';
import { Driver, type Load, type LoadResult } from '#bench/drivers/protocol.ts';
import { sum } from '#bench/results.ts';
import type { BenchContext } from '#bench/support/context.ts';
import type { EnginePeer } from '#bench/support/engines.ts';
import { NAMESPACE } from '#bench/support/product.ts';

const TASK_QUEUE = 'peer_turns';

/** Shows the engines' own costs. The product must have delivered an order: its turns are taken from its history. */
export async function startEmptyWork({ temporalAddress: address, temporal, postgres, children }: BenchContext) {
  const [size] = await historySizes(address, NAMESPACE, 1);
  const worker = await children.start({
    name: 'peer-worker',
    script: 'bench/peers/empty-worker.ts',
    environment: { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: NAMESPACE, TASK_QUEUE },
    ready: (child) => child.tail().includes('the peer runs'),
  });
  const workflows = new Driver('workflows');
  const calls = new Driver('api-calls');
  const workflow = { address, namespace: NAMESPACE, taskQueue: TASK_QUEUE, workflowType: 'sameTurns' };
  const sameTurns = async (load: Load): Promise<LoadResult> =>
    workflows.run({ ...load, ...workflow, args: [size?.turns ?? []] });
  return {
    sameTurns,
    /** CPU milliseconds for one. */
    onTemporal: async (load: Load): Promise<number> =>
      cpuOf({ temporal: temporal.child, worker }, load, () => sameTurns(load)),
    /** CPU milliseconds for one. */
    on: async ({ processes, apiUrl: origin, apiKey, emptyPath }: EnginePeer, load: Load): Promise<number> => {
      const { simulator: _, ...own } = processes;
      const call = { kind: 'post', pathPrefix: emptyPath } as const;
      const work = () => calls.run({ ...load, origin, apiKey, call });
      return cpuOf({ ...own, postgres: postgres.child }, load, work);
    },
    residentMb: (): number => residentMb(worker),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await workflows[Symbol.asyncDispose]();
      await calls[Symbol.asyncDispose]();
      await children.stop(worker);
    },
  };
}

async function cpuOf(
  processes: Parameters<typeof cpuSpentBy>[0],
  { count }: Load,
  work: () => Promise<unknown>,
): Promise<number> {
  const { cpu } = await cpuSpentBy(processes, work);
  return sum(Object.values(cpu)) / count;
}
