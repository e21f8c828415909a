import { setTimeout as delay } from 'node:timers/promises';
import { installEngines } from '#bench/contestants/engine-package.ts';
import { residentMb } from '#bench/counters/processes.ts';
import type { BenchServers } from '#bench/support/servers.ts';
import type { Child } from '#cli/embedded/child.ts';
import { withClient } from '#cli/embedded/postgres.ts';

const LOOK_EVERY_MS = 250;
const WOKEN_WITHIN_MS = 120_000;

/** Sleeping jobs of graphile-worker, beside sleeping workflows. */
export class SleepingJobs implements AsyncDisposable {
  readonly #context: BenchServers;
  readonly #url: string;
  readonly #worker: Child;

  private constructor(context: BenchServers, url: string, worker: Child) {
    this.#context = context;
    this.#url = url;
    this.#worker = worker;
  }

  static async start(context: BenchServers): Promise<SleepingJobs> {
    await installEngines((text) => context.say(text));
    await context.postgres.createDatabase('peer_graphile');
    const url = context.postgres.url('peer_graphile');
    const worker = await context.children.start({
      name: 'peer-graphile',
      script: 'bench/peers/engines/graphile-sleeper.ts',
      environment: { NODE_ENV: 'production', DATABASE_URL: url },
      isReady: async (child) => child.tail().includes('the peer runs'),
    });
    return new SleepingJobs(context, url, worker);
  }

  /** Adds jobs that are due at a time. */
  async add(count: number, dueAt: Date, prefix = 'sleeping'): Promise<void> {
    await withClient(this.#url, async (client) =>
      client.query(
        `select graphile_worker.add_job('wake', json_build_object('id', $1 || '-' || n), run_at => $2)
         from generate_series(1, $3::int) n`,
        [prefix, dueAt, count],
      ),
    );
  }

  /** Adds jobs and waits until they have run. @returns milliseconds from their time to their end, each. */
  async lateness(count: number, dueAt: Date): Promise<number[]> {
    await this.add(count, dueAt, 'woken');
    return withClient(this.#url, async (client) => {
      const deadline = Date.now() + WOKEN_WITHIN_MS;
      while (Date.now() < deadline) {
        const { rows } = await client.query<{ late: string }>(
          `select extract(epoch from at - $1) * 1000 as late from woken where id like 'woken-%'`,
          [dueAt],
        );
        if (rows.length === count) return rows.map(({ late }) => Number(late));
        await delay(LOOK_EVERY_MS);
      }
      throw new Error('the jobs of graphile-worker have not run');
    });
  }

  residentMb(): number {
    return residentMb(this.#worker.identity?.pid ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.children.stop(this.#worker);
  }
}
