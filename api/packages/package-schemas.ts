import * as z from 'zod';
import { itemTimes, itemTimesJson } from '#api/catalogue/item-times.ts';
import { packageId } from '#api/fields/ids.ts';
import { money, priceForReseller } from '#api/fields/money.ts';
import {
  type AnyPricingRule,
  listedPrice,
  pricedPackage,
  suggestedPriceField,
  suggestedPriceJson,
} from '#api/pricing/suggested-price.ts';
import type { PackageRow } from '#db/catalogue/stored-items.ts';
import { plainAmount, plainMoney } from '#domain/money/money.ts';
import type { ServicePackage } from '#upstream/contract.ts';

/** A package that recharges an eSIM. */
export const topupOption = z
  .strictObject({
    id: packageId,
    name: z.string().meta({ example: 'Europe 5 GB' }),
    countries: z.array(z.string()).meta({ description: 'ISO 3166-1 alpha-2 codes.', example: ['DE', 'FR'] }),
    data_mb: z
      .number()
      .nullable()
      .meta({ description: 'Megabytes; null when it is unlimited or not known.', example: 5_120 }),
    unlimited: z
      .boolean()
      .nullable()
      .meta({ description: 'Has no data limit; null when the service does not say.', example: false }),
    validity_days: z.int().nullable().meta({ example: 30 }),
    price_for_reseller: priceForReseller('9.80'),
    available: z.boolean().meta({ description: 'False while the service does not sell it.', example: true }),
    public_price: money.nullable().meta({
      description: 'Public price at the service, to compare a margin with; null when the service does not show it.',
      example: { amount: '14.99', currency: 'USD' },
    }),
    suggested_price: suggestedPriceField,
  })
  .meta({ id: 'TopupOption' });

/** A package of the catalogue. */
export const packageOutput = z.strictObject({ ...topupOption.shape, ...itemTimes }).meta({ id: 'Package' });

type TopupOption = z.input<typeof topupOption>;

/** @param rules those in force, for the suggested price. */
export function topupOptionJson(each: ServicePackage, rules: readonly AnyPricingRule[]): TopupOption {
  return {
    id: each.id,
    name: each.name,
    countries: each.countries,
    data_mb: each.data_mb ?? null,
    unlimited: each.data_mb === undefined ? null : each.data_mb === null,
    validity_days: each.validity_days ?? null,
    price_for_reseller: { amount: plainAmount(each.price_for_reseller), currency: each.currency },
    available: each.available,
    public_price: null,
    suggested_price: suggestedPriceJson(pricedPackage(listedPrice(each)), rules),
  };
}

/** A stored package. @param rules those in force, for the suggested price. */
export function storedPackageJson(row: PackageRow, rules: readonly AnyPricingRule[]): z.input<typeof packageOutput> {
  const { dataMb, unlimited, days, priceAmount, priceCurrency, publicPriceAmount, publicPriceCurrency } = row;
  const { id, name, countries, available } = row;
  const cost = { amount: priceAmount, currency: priceCurrency };
  return {
    id,
    name,
    countries,
    data_mb: dataMb,
    unlimited,
    validity_days: days,
    price_for_reseller: { amount: plainAmount(cost.amount), currency: cost.currency },
    available,
    public_price: plainMoney(publicPriceAmount, publicPriceCurrency),
    suggested_price: suggestedPriceJson(pricedPackage({ id, countries, price: cost }), rules),
    ...itemTimesJson(row),
  };
}
