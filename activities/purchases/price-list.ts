import type { Money } from '#domain/money/money.ts';
import type { ServiceClient } from '#upstream/client.ts';

/** A list that could not be read is not asked for by every purchase anew. */
const RETRY_AFTER_MS = 5_000;

/**
 * Prices of packages, a few minutes old at most, for reserving money and counting what is spent. Purchases at the same
 * time share one read. Without an answer a price is not known, which stops nobody.
 */
export class PriceList {
  readonly #service: Pick<ServiceClient, 'listPackages'>;
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  #prices: ReadonlyMap<number, Money> | undefined;
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;

  /** @param options.now epoch milliseconds. */
  constructor(
    service: Pick<ServiceClient, 'listPackages'>,
    options: { readonly maxAgeMs: number; readonly now: () => number },
  ) {
    this.#service = service;
    this.#maxAgeMs = options.maxAgeMs;
    this.#now = options.now;
  }

  /** @returns undefined when the service does not list the package, or could not be asked. */
  async priceOf(packageId: number): Promise<Money | undefined> {
    const maxAgeMs = this.#prices === undefined ? Math.min(RETRY_AFTER_MS, this.#maxAgeMs) : this.#maxAgeMs;
    if (Math.abs(this.#now() - this.#readAt) >= maxAgeMs) {
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
      await this.#reading;
    }
    return this.#prices?.get(packageId);
  }

  async #read(): Promise<void> {
    const readAt = this.#now();
    const packages = await this.#service.listPackages();
    this.#readAt = readAt;
    this.#prices = packages.ok
      ? new Map(packages.value.items.map(({ id, price_for_reseller: amount, currency }) => [id, { amount, currency }]))
      : undefined;
  }
}
