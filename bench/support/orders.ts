import { orderDriver, type LoadResult } from '#bench/drivers/protocol.ts';
import { requireBooks } from '#bench/support/books.ts';
import { Driver } from '#bench/support/driver.ts';
import type { Product } from '#bench/support/product.ts';

/** The service completes it at once, so that what is measured is ours and not its patience. */
const COMPLETED_AT_ONCE = 2001;
// Small against what one order takes alone; with many at once, a look that finds many at a time is enough.
const POLL_ALONE_MS = 10;
const POLL_BUSY_MS = 25;

/** Places orders at a product and counts them. */
export class Orders implements AsyncDisposable {
  readonly #product: Product;
  readonly #driver = new Driver(orderDriver);

  constructor(product: Product) {
    this.#product = product;
  }

  /** Carries orders through to delivery. @throws Error when one does not get there. */
  async carryThrough(load: { readonly count: number; readonly atOnce: number }): Promise<LoadResult> {
    const { apiUrl, apiKey, databaseUrl } = this.#product;
    const result = await this.#driver.run({
      ...load,
      apiUrl,
      apiKey,
      databaseUrl,
      packageId: COMPLETED_AT_ONCE,
      pollMs: load.atOnce === 1 ? POLL_ALONE_MS : POLL_BUSY_MS,
    });
    this.#product.ordersPlaced += load.count;
    await requireBooks(this.#product, this.#product.ordersPlaced);
    return result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#driver[Symbol.asyncDispose]();
  }
}
