import type { Money } from '#domain/money/money.ts';
import { CachedRead } from '#upstream/cached-read.ts';
import type { ServiceClient } from '#upstream/client.ts';

/** After a failed read, purchases do not read the list again for this long. */
const RETRY_AFTER_MS = 5_000;

/** By the id of the package; undefined when the list could not be read. */
type Prices = ReadonlyMap<number, Money> | undefined;

/**
 * Prices of packages for reserving money and counting daily limits. A missing price stops no purchase.
 *
 * @param options.maxAgeMs how old a price may be.
 * @param options.now epoch milliseconds.
 */
export function priceList(
  service: Pick<ServiceClient, 'listPackages'>,
  { maxAgeMs, now }: { readonly maxAgeMs: number; readonly now: () => number },
): CachedRead<Prices> {
  const read = async (): Promise<Prices> => {
    const packages = await service.listPackages();
    if (!packages.ok) return undefined;
    return new Map(
      packages.value.items.map(({ id, price_for_reseller: amount, currency }) => [id, { amount, currency }]),
    );
  };
  const ageOf = (prices: Prices) => (prices === undefined ? Math.min(RETRY_AFTER_MS, maxAgeMs) : maxAgeMs);
  return new CachedRead(read, { maxAgeMs: ageOf, now });
}
