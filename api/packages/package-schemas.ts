import * as z from 'zod';
import { packageId } from '#api/fields/ids.ts';
import { money, priceForReseller } from '#api/fields/money.ts';
import type { ListedPackage } from '#api/offers/package-list.ts';
import {
  type AnyPricingRule,
  pricedPackage,
  suggestedPriceExample,
  suggestedPriceField,
  suggestedPriceJson,
} from '#api/pricing/suggested-price.ts';
import { plainAmount } from '#domain/money/money.ts';
import type { ServicePackage } from '#upstream/contract.ts';

export const packageOutput = z
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
    price_for_reseller: priceForReseller,
    available: z.boolean().meta({ description: 'False while the service does not sell it.' }),
    public_price: money.nullable().meta({
      description: 'Public price at the service, to compare a margin with; null when the service does not show it.',
    }),
    suggested_price: suggestedPriceField,
  })
  .meta({ id: 'Package' });

export type PackageOutput = z.input<typeof packageOutput>;

export const packageExample: PackageOutput = {
  id: 1001,
  name: 'Europe 5 GB',
  countries: ['DE', 'FR'],
  data_mb: 5_120,
  unlimited: false,
  validity_days: 30,
  price_for_reseller: { amount: '9.80', currency: 'EUR' },
  available: true,
  public_price: { amount: '14.99', currency: 'EUR' },
  suggested_price: suggestedPriceExample,
};

/** @param rules those in force, for the suggested price. */
export function packageJson(
  each: ServicePackage & Partial<Pick<ListedPackage, 'publicPrice'>>,
  rules: readonly AnyPricingRule[],
): PackageOutput {
  const { publicPrice } = each;
  return {
    id: each.id,
    name: each.name,
    countries: each.countries,
    data_mb: each.data_mb ?? null,
    unlimited: each.data_mb === undefined ? null : each.data_mb === null,
    validity_days: each.validity_days ?? null,
    price_for_reseller: { amount: plainAmount(each.price_for_reseller), currency: each.currency },
    available: each.available,
    public_price:
      publicPrice == null ? null : { amount: plainAmount(publicPrice.amount), currency: publicPrice.currency },
    suggested_price: suggestedPriceJson(pricedPackage(each), rules),
  };
}
