import type { Contestant } from '#bench/contestants/contestant.ts';
import { orderDriver, type LoadResult } from '#bench/drivers/protocol.ts';
import { requireBooks } from '#bench/support/books.ts';
import { Driver } from '#bench/support/driver.ts';

/** The service completes it at once, so that what is measured is ours and not its patience. */
const COMPLETED_AT_ONCE = 2001;
// Small against what one order takes alone; with many at once, a look that finds many at a time is enough.
const POLL_ALONE_MS = 10;
const POLL_BUSY_MS = 25;

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

  /** @throws Error unless all orders so far were delivered and paid once. */
  async requireBooks(): Promise<void> {
    await requireBooks(this.#contestant, this.#contestant.ordersPlaced);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver[Symbol.asyncDispose]();
  }
}
