import * as z from 'zod';
import { esimExampleId, esimIdInput } from '#api/esims/esim-schemas.ts';
import { failureClass } from '#api/fields/failure-classes.ts';
import { freshness } from '#api/fields/freshness.ts';
import { ourId, packageId } from '#api/fields/ids.ts';
import { instant } from '#api/fields/instant.ts';
import { money, moneyInput } from '#api/fields/money.ts';
import { suggestedPriceField } from '#api/pricing/suggested-price.ts';
import { vpnPlanId } from '#api/vpn/vpn-plan-schemas.ts';

/** How long the price of a quote can be used as the limit of a purchase, in milliseconds. */
export const QUOTE_VALID_MS = 15 * 60_000;

export const quoteInput = z
  .strictObject({
    package_id: packageId.optional().meta({ description: 'The package of an order or a top-up.', example: 1001 }),
    esim_id: esimIdInput.optional().meta({ description: 'With `package_id`: the eSIM of a top-up.' }),
    vpn_plan_id: vpnPlanId.optional().meta({ description: 'The plan of a VPN subscription.' }),
    max_price: moneyInput.optional().meta({ description: 'The limit that the purchase would have.' }),
  })
  .meta({ id: 'QuoteInput' });

export const quoteOutput = z
  .strictObject({
    id: z
      .string()
      .nullable()
      .meta({
        description:
          'Pass it as `quote_id` of the purchase: the price of the quote is then its `max_price`. Null when it ' +
          'cannot be bought, or costs more than the given `max_price`.',
        example: 'quo_AQRkZXYx…',
      }),
    kind: z
      .enum(['order', 'topup', 'vpn_subscription'])
      .meta({ description: 'The purchase: an order, a top-up, or a VPN subscription.' }),
    package_id: packageId.nullable(),
    esim_id: ourId('esim', esimExampleId).nullable(),
    vpn_plan_id: vpnPlanId.nullable(),
    name: z.string().nullable().meta({ description: 'The package or plan; null when it is unknown.' }),
    available: z.boolean().meta({ description: 'The service sells it now.' }),
    price: money.nullable().meta({ description: 'What the service charges the reseller now.' }),
    suggested_price: suggestedPriceField,
    objections: z
      .array(z.strictObject({ field: z.string(), message: z.string() }))
      .meta({ description: 'Why the purchase would be refused with 422 `purchase_not_possible`: all reasons.' }),
    holds: z
      .array(
        z.strictObject({
          failure_class: failureClass,
          meaning: z.string(),
          detail: z
            .string()
            .nullable()
            .meta({ description: 'A sentence about this purchase, if there is more to say.' }),
        }),
      )
      .meta({
        description:
          'Why the purchase would be accepted and then held: the known reasons. Empty for a key that may not buy it.',
      }),
    expires_at: instant.nullable().meta({ description: 'Until when `id` can be used.' }),
    ...freshness,
  })
  .meta({
    id: 'Quote',
    example: {
      id: 'quo_AQRkZXYxvT0kz2m1',
      package_id: 101,
      name: 'Europe 5 GB',
      available: true,
      price: { amount: '9.80', currency: 'USD' },
      objections: [],
      holds: [],
      expires_at: '2030-01-31T12:15:00.000Z',
    },
    description: 'What would happen with a purchase now. Nothing is bought, stored or reserved.',
  });
