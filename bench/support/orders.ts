import type { Contestant } from '#bench/contestants/contestant.ts';
import { openOrderDriver, orderDriver, type LoadResult, type OpenLoadResult } from '#bench/drivers/protocol.ts';
import { requireBooks } from '#bench/support/books.ts';
import { Driver } from '#bench/support/driver.ts';

/** The service completes it at once, so that what is measured is ours and not its patience. */
const COMPLETED_AT_ONCE = 2001;
// Small against what one order takes alone; with many at once, a look that finds many at a time is enough.
const POLL_ALONE_MS = 10;
const POLL_BUSY_MS = 25;
/** After an outage, work waits for its next try, and activities of a killed worker for their timeout. */
const DRAIN_WITHIN_MS = 1_800_000;

/** Places orders at a contestant and counts them. */
export class Orders implements AsyncDisposable {
  readonly #contestant: Contestant;
  readonly #driver = new Driver(orderDriver);

  constructor(contestant: Contestant) {
    this.#contestant = contestant;
  }

  /** Carries orders through to delivery, and checks the books. @throws Error when one does not get there. */
  async carryThrough(load: { readonly count: number; readonly atOnce: number }): Promise<LoadResult> {
    const result = await this.run(load);
    await this.requireBooks();
    return result;
  }

  /** Carries orders through to delivery. @throws Error when one does not get there. */
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

  /**
   * Has orders arrive by themselves, and waits until all are delivered.
   *
   * @param load.phases rates and their durations, one after the other.
   */
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
