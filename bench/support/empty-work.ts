import { cpuSpentBy, residentMb } from '#bench/counters/processes.ts';
import { historySizes, type Turn } from '#bench/counters/server-counters.ts';
import { Driver, type Load, type LoadResult } from '#bench/drivers/protocol.ts';
import type { BenchContext } from '#bench/support/context.ts';
import type { EnginePeer } from '#bench/support/engines.ts';
import { NAMESPACE } from '#bench/support/product.ts';
import type { Child } from '#cli/embedded/child.ts';

const TASK_QUEUE = 'peer_turns';

/** Shows the engines' own costs. */
export class EmptyWork implements AsyncDisposable {
  readonly #context: BenchContext;
  readonly #worker: Child;
  readonly #turns: readonly Turn[];
  readonly #workflows = new Driver('workflows');
  readonly #calls = new Driver('api-calls');

  private constructor(context: BenchContext, worker: Child, turns: readonly Turn[]) {
    this.#context = context;
    this.#worker = worker;
    this.#turns = turns;
  }

  /** The product must have delivered an order: its turns are taken from its history. */
  static async start(context: BenchContext): Promise<EmptyWork> {
    const [size] = await historySizes(context.temporalAddress, NAMESPACE, 1);
    const worker = await context.children.start({
      name: 'peer-worker',
      script: 'bench/peers/empty-worker.ts',
      environment: {
        TEMPORAL_ADDRESS: context.temporalAddress,
        TEMPORAL_NAMESPACE: NAMESPACE,
        TASK_QUEUE,
      },
      ready: (child) => child.tail().includes('the peer runs'),
    });
    return new EmptyWork(context, worker, size?.turns ?? []);
  }

  async sameTurns(load: Load): Promise<LoadResult> {
    return this.#workflows.run({
      ...load,
      address: this.#context.temporalAddress,
      namespace: NAMESPACE,
      taskQueue: TASK_QUEUE,
      workflowType: 'sameTurns',
      args: [this.#turns],
    });
  }

  /** CPU milliseconds for one. */
  async onTemporal(load: Load): Promise<number> {
    return cpuOf({ temporal: this.#context.temporal.child, worker: this.#worker }, load, () => this.sameTurns(load));
  }

  /** CPU milliseconds for one. */
  async on({ processes, apiUrl: origin, apiKey, emptyPath }: EnginePeer, load: Load): Promise<number> {
    const { simulator: _, ...own } = processes;
    const call = { kind: 'post', pathPrefix: emptyPath } as const;
    return cpuOf({ ...own, postgres: this.#context.postgres.child }, load, () =>
      this.#calls.run({ ...load, origin, apiKey, call }),
    );
  }

  residentMb(): number {
    return residentMb(this.#worker);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workflows[Symbol.asyncDispose]();
    await this.#calls[Symbol.asyncDispose]();
    await this.#context.children.stop(this.#worker);
  }
}

async function cpuOf(
  processes: Parameters<typeof cpuSpentBy>[0],
  { count }: Load,
  work: () => Promise<unknown>,
): Promise<number> {
  const { cpu } = await cpuSpentBy(processes, work);
  return Object.values(cpu).reduce((sum, ms) => sum + ms, 0) / count;
}
