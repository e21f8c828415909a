import * as z from 'zod';
import { itemTimes } from '#api/catalogue/item-times.ts';
import { packageId } from '#api/fields/ids.ts';
import { priceForReseller } from '#api/fields/money.ts';
import { suggestedPriceField } from '#api/pricing/suggested-price.ts';

export const vpnPlanId = packageId.meta({ description: 'Id of a VPN plan at the service.', example: 301 });

export const vpnPlan = z
  .strictObject({
    id: vpnPlanId,
    name: z.string().meta({ example: 'VPN, one month' }),
    duration_days: z.int().nullable().meta({ description: 'Length of one period.', example: 30 }),
    price_for_reseller: priceForReseller('3.20'),
    available: z.boolean().meta({ description: 'False while the service does not sell it.', example: true }),
    suggested_price: suggestedPriceField.meta({ example: null }),
    ...itemTimes,
  })
  .meta({ id: 'VpnPlan' });
