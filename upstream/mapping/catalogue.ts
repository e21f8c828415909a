import type { CatalogueItem, CataloguePackage, ReadCatalogue } from '#domain/catalogue/catalogue.ts';
import type { Money } from '#domain/money/money.ts';
import { storable } from '#domain/text.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { ListBounds } from '#upstream/client/lists.ts';
import type { PublicPackage, ServicePackage, VpnPlan } from '#upstream/contract.ts';

/** A failure of the public list is no failure. */
export async function readPackages(
  service: Pick<ServiceClient, 'listPackages' | 'listPublicPackages'>,
  bounds?: ListBounds,
): Promise<ServiceResult<ReadCatalogue<CataloguePackage>>> {
  const [own, listed] = await Promise.all([service.listPackages(bounds), service.listPublicPackages(bounds)]);
  if (!own.ok) return own;
  const prices = new Map(listed.ok ? listed.value.items.map((each) => [each.id, publicPriceOf(each)]) : []);
  const isWhole = listed.ok ? listed.value.complete : listed.kind === 'unsupported';
  const { items, complete } = own.value;
  const unread = isWhole ? [] : items.filter(({ id }) => !prices.has(id));
  return {
    ...own,
    value: {
      items: items.map((each) => ({ ...packageFrom(each), publicPrice: prices.get(each.id) ?? null })),
      complete,
      withoutPublicPrice: new Set(unread.map(({ id }) => id)),
    },
  };
}

export async function readPlans(
  service: Pick<ServiceClient, 'listVpnPlans'>,
  bounds?: ListBounds,
): Promise<ServiceResult<ReadCatalogue<CatalogueItem>>> {
  const plans = await service.listVpnPlans(bounds);
  if (!plans.ok) return plans;
  return { ...plans, value: { items: plans.value.items.map(planFrom), complete: plans.value.complete } };
}

function packageFrom({ data_mb: dataMb, validity_days: days, countries, ...each }: ServicePackage) {
  return {
    ...itemFrom(each, days),
    // Sorted: the service need not keep an order, and another order is no change.
    countries: [...new Set(countries.map(storable))].toSorted(),
    dataMb: dataMb ?? null,
    unlimited: dataMb === undefined ? null : dataMb === null,
  };
}

function planFrom({ duration_days: days, ...each }: VpnPlan): CatalogueItem {
  return itemFrom(each, days);
}

function itemFrom(
  { id, name, price_for_reseller: amount, currency, available }: Omit<VpnPlan, 'duration_days'>,
  days: number | null | undefined,
): CatalogueItem {
  return { id, name: storable(name), days: days ?? null, price: { amount, currency }, available };
}

function publicPriceOf({ price: amount, currency }: PublicPackage): Money | null {
  return amount == null || currency == null ? null : { amount, currency };
}
