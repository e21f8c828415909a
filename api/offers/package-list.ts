import type { ApiDependencies } from '#api/dependencies.ts';
import { within } from '#api/offers/within.ts';
import { valueOf } from '#api/problems/service-problem.ts';
import type { Money } from '#domain/money/money.ts';
import { CachedRead } from '#upstream/cached-read.ts';
import type { Listing } from '#upstream/client.ts';
import type { PublicPackage, ServicePackage } from '#upstream/contract.ts';

/** Price lists change at most hourly. `max_price` protects a caller against a change in between. */
export const PRICES_MAX_AGE_MS = 30_000;

/** How long a reading waits for the public prices, in milliseconds. */
const PUBLIC_WAIT_MS = 500;

/** A package with its public price, if the service shows one. */
export type ListedPackage = ServicePackage & { readonly publicPrice: Money | null };

/** The packages of the service by id, at most half a minute old; one read serves every call that needs them. */
export type PackageList = CachedRead<Listing<ListedPackage>>;

/** The cached list of packages, with public prices where the service shows them. */
export function packageList({ service, now }: Pick<ApiDependencies, 'service' | 'now'>): PackageList {
  const read = async (): Promise<Listing<ListedPackage>> => {
    const [packages, listed] = await Promise.all([
      service.listPackages(),
      within(PUBLIC_WAIT_MS, service.listPublicPackages()),
    ]);
    // The public price is only for comparison, so it does not matter when it is late or fails.
    const publicPrices = new Map(
      'ok' in listed && listed.ok ? listed.value.items.map((each) => [each.id, publicPriceOf(each)]) : [],
    );
    const { items, complete } = valueOf(packages);
    const shown = items
      .map((each) => ({ ...each, publicPrice: publicPrices.get(each.id) ?? null }))
      .toSorted((left, right) => left.id - right.id);
    return { items: shown, complete };
  };
  return new CachedRead(read, { maxAgeMs: PRICES_MAX_AGE_MS, now });
}

function publicPriceOf({ price: amount, currency }: PublicPackage): Money | null {
  return amount == null || currency == null ? null : { amount, currency };
}
