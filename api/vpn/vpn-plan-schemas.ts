import * as z from 'zod';
import { itemTimes, itemTimesExample } from '#api/catalogue/item-times.ts';
import { packageId } from '#api/fields/ids.ts';
import { priceForReseller } from '#api/fields/money.ts';
import { suggestedPriceField } from '#api/pricing/suggested-price.ts';

export const vpnPlanId = packageId.meta({ description: 'Id of a VPN plan at the service.', example: 301 });

export const vpnPlan = z
  .strictObject({
    id: vpnPlanId,
    name: z.string().meta({ example: 'VPN, one month' }),
    duration_days: z.int().nullable().meta({ description: 'Length of one period.', example: 30 }),
    price_for_reseller: priceForReseller,
    available: z.boolean().meta({ description: 'False while the service does not sell it.' }),
    suggested_price: suggestedPriceField,
    ...itemTimes,
  })
  .meta({ id: 'VpnPlan' });

export const vpnPlanExample: z.input<typeof vpnPlan> = {
  id: 301,
  name: 'VPN, one month',
  duration_days: 30,
  price_for_reseller: { amount: '3.20', currency: 'EUR' },
  available: true,
  suggested_price: null,
  ...itemTimesExample,
};
