import * as z from 'zod';
import type { Processes } from '#bench/counters/processes.ts';
import { Driver, type LoadResult, type OpenLoadResult, openOrderDriver, orderDriver } from '#bench/drivers/protocol.ts';
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
  processes(): Processes;
}

/** The service completes it at once, and adds no time of its own. */
const COMPLETED_AT_ONCE = 2001;
// This is small against one order alone; with many, a look finds many at a time.
const POLL_ALONE_MS = 10;
const POLL_BUSY_MS = 25;
/** After an outage, work waits for its next try, and activities of a killed worker for their timeout. */
const DRAIN_WITHIN_MS = 1_800_000;

export class Orders implements AsyncDisposable {
  readonly #contestant: Contestant;
  readonly #driver = new Driver(orderDriver);

  constructor(contestant: Contestant) {
    this.#contestant = contestant;
  }

  /** Also checks the books. @throws Error when one does not get there. */
  async carryThrough(load: { readonly count: number; readonly atOnce: number }): Promise<LoadResult> {
    const result = await this.run(load);
    await this.requireBooks();
    return result;
  }

  /** @throws Error when one does not get there. */
  async run(load: { readonly count: number; readonly atOnce: number }): Promise<LoadResult> {
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

  async arrive(load: {
    readonly seed: number;
    readonly phases: readonly { readonly perSecond: number; readonly seconds: number }[];
  }): Promise<OpenLoadResult> {
    const { apiUrl, apiKey, databaseUrl } = this.#contestant;
    await using driver = new Driver(openOrderDriver);
    const result = await driver.run({
      ...load,
      apiUrl,
      apiKey,
      databaseUrl,
      packageId: COMPLETED_AT_ONCE,
      drainWithinMs: DRAIN_WITHIN_MS,
    });
    this.#contestant.ordersPlaced += result.orders.length;
    return result;
  }

  /** @throws Error unless all orders so far were delivered and paid once. */
  async requireBooks(): Promise<void> {
    await requireBooks(this.#contestant, this.#contestant.ordersPlaced);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver[Symbol.asyncDispose]();
  }
}

const rows = z.tuple([z.object({ orders: z.int(), esims: z.int(), debits: z.int() })]);
const state = z.object({ environments: z.object({ sandbox: z.object({ ledger: z.object({ debits: z.int() }) }) }) });

/** Compares the contestant's books with the service's. @throws Error when a number differs. */
async function requireBooks(contestant: Contestant, expected: number): Promise<void> {
  const answer = await withClient(contestant.databaseUrl, async (client) =>
    client.query<object>(`select /* bench */
      (select count(*)::int from orders where status = 'completed') as orders,
      (select count(*)::int from esims) as esims,
      (select count(*)::int from journal where direction = 'debit' and cause_kind = 'attempt') as debits`),
  );
  const [books] = rows.parse(answer.rows);
  const service = state.parse(await (await fetch(`${contestant.simulatorUrl}/simulator/state`)).json());
  const found = { ...books, debitsOfService: service.environments.sandbox.ledger.debits };
  if (Object.values(found).some((count) => count !== expected)) {
    throw new Error(`${contestant.id}: ${expected} orders were placed, but there are: ${JSON.stringify(found)}`);
  }
}
