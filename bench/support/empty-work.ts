import { differences } from '#bench/counters/counters.ts';
import { cpuMs, type Processes, residentMb } from '#bench/counters/processes.ts';
import { historySizes, type Turn } from '#bench/counters/server-counters.ts';
import { apiCallDriver, Driver, type LoadResult, workflowDriver } from '#bench/drivers/protocol.ts';
import type { BenchContext } from '#bench/support/context.ts';
import type { EnginePeer } from '#bench/support/engines.ts';
import { NAMESPACE } from '#bench/support/product.ts';
import type { Child } from '#cli/embedded/child.ts';

const TASK_QUEUE = 'peer_turns';

interface Load {
  readonly count: number;
  readonly atOnce: number;
}

/** Shows the engines' own costs. */
export class EmptyWork implements AsyncDisposable {
  readonly #context: BenchContext;
  readonly #worker: Child;
  readonly #turns: readonly Turn[];
  readonly #workflows = new Driver(workflowDriver);
  readonly #calls = new Driver(apiCallDriver);

  private constructor(context: BenchContext, worker: Child, turns: readonly Turn[]) {
    this.#context = context;
    this.#worker = worker;
    this.#turns = turns;
  }

  /** The product must have delivered an order: its turns are taken from its history. */
  static async start(context: BenchContext): Promise<EmptyWork> {
    const [size] = await historySizes(context.temporalAddress, NAMESPACE, 1);
    const worker = await startEmptyWorker(context, TASK_QUEUE);
    return new EmptyWork(context, worker, size?.turns ?? []);
  }

  get turns(): readonly Turn[] {
    return this.#turns;
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
    const { temporal } = this.#context.sharedProcesses;
    const processes = { temporal, worker: this.#worker.identity?.pid ?? 0 };
    return cpuOf(processes, load, async () => this.sameTurns(load));
  }

  /** CPU milliseconds for one. */
  async on(peer: EnginePeer, load: Load): Promise<number> {
    const { simulator: _, ...own } = peer.processes();
    const { postgres } = this.#context.sharedProcesses;
    return cpuOf({ ...own, postgres }, load, async () =>
      this.#calls.run({
        ...load,
        origin: peer.apiUrl,
        apiKey: peer.apiKey,
        call: { kind: 'post', pathPrefix: peer.emptyPath },
      }),
    );
  }

  residentMb(): number {
    return residentMb(this.#worker.identity?.pid ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workflows[Symbol.asyncDispose]();
    await this.#calls[Symbol.asyncDispose]();
    await this.#context.children.stop(this.#worker);
  }
}

export async function startEmptyWorker(context: BenchContext, taskQueue: string): Promise<Child> {
  return context.children.start({
    name: 'peer-worker',
    script: 'bench/peers/empty-worker.ts',
    environment: {
      TEMPORAL_ADDRESS: context.temporalAddress,
      TEMPORAL_NAMESPACE: NAMESPACE,
      TASK_QUEUE: taskQueue,
    },
    isReady: async (child) => child.tail().includes('the peer runs'),
  });
}

async function cpuOf(processes: Processes, { count }: Load, work: () => Promise<unknown>): Promise<number> {
  const before = cpuMs(processes);
  await work();
  return Object.values(differences(before, cpuMs(processes))).reduce((sum, ms) => sum + ms, 0) / count;
}
