import * as z from 'zod';
import type { Processes } from '#bench/counters/processes.ts';
import { Driver, type Load, type LoadResult } from '#bench/drivers/protocol.ts';
import { withClient } from '#cli/embedded/postgres.ts';

/** This version of the product, another one, or a peer. */
export interface Contestant {
  readonly id: 'ours' | 'before' | 'dbos' | 'restate';
  readonly measured: string;
  /** `POST {apiUrl}/v1/orders`. */
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly databaseUrl: string;
  /** Each contestant has its own, with the same settings. */
  readonly simulatorUrl: string;
  /** Undefined with another engine. */
  readonly namespace: string | undefined;
  /** Counts all scenarios so far. */
  ordersPlaced: number;
  /** Without the shared servers. */
  readonly processes: Processes;
  /** @throws Error when one has ended by itself or does not stop. */
  stop(): Promise<void>;
}

/** The service completes it at once, and adds no time of its own. */
const COMPLETED_AT_ONCE = 2001;
// This is small against one order alone; with many, a look finds many at a time.
const POLL_ALONE_MS = 10;
const POLL_BUSY_MS = 25;

export class Orders implements AsyncDisposable {
  readonly #contestant: Contestant;
  readonly #driver = new Driver('orders');

  constructor(contestant: Contestant) {
    this.#contestant = contestant;
  }

  /** Also checks the books. @throws Error when one does not get there. */
  async carryThrough(load: Load): Promise<LoadResult> {
    const result = await this.run(load);
    await this.requireBooks();
    return result;
  }

  /** @throws Error when one does not get there. */
  async run(load: Load): Promise<LoadResult> {
    const { apiUrl, apiKey, databaseUrl } = this.#contestant;
    this.#contestant.ordersPlaced += load.count;
    return this.#driver.run({
      ...load,
      apiUrl,
      apiKey,
      databaseUrl,
      packageId: COMPLETED_AT_ONCE,
      pollMs: load.atOnce === 1 ? POLL_ALONE_MS : POLL_BUSY_MS,
    });
  }

  /** Compares its books with the service's. @throws Error unless all orders were delivered and paid once. */
  async requireBooks(): Promise<void> {
    const { id, databaseUrl, ordersPlaced } = this.#contestant;
    const answer = await withClient(databaseUrl, async (client) =>
      client.query<object>(`select /* bench */
        (select count(*)::int from orders where status = 'completed') as orders,
        (select count(*)::int from esims) as esims,
        (select count(*)::int from journal where direction = 'debit' and cause_kind = 'attempt') as debits`),
    );
    const [books] = rows.parse(answer.rows);
    const { ledger } = await sandboxOf(this.#contestant);
    const found = { ...books, debitsOfService: ledger.debits };
    if (Object.values(found).some((count) => count !== ordersPlaced))
      throw new Error(`${id}: ${ordersPlaced} orders were placed, but there are: ${JSON.stringify(found)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver[Symbol.asyncDispose]();
  }
}

const rows = z.tuple([z.object({ orders: z.int(), esims: z.int(), debits: z.int() })]);
const sandbox = z.object({ requests: z.int(), ledger: z.object({ debits: z.int() }) });
const state = z.object({ environments: z.object({ sandbox }) });

/** What the service has counted. */
export async function sandboxOf({ simulatorUrl }: Contestant): Promise<z.output<typeof sandbox>> {
  const answer = await fetch(`${simulatorUrl}/simulator/state`);
  return state.parse(await answer.json()).environments.sandbox;
}
