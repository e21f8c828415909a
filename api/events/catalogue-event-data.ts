/** The content of `data` of events about packages and VPN plans. */
import * as z from 'zod';
import { variant } from '#api/events/event-variant.ts';
import { money } from '#api/fields/money.ts';

/** @param noun what the event is about. */
function fields(noun: 'package' | 'VPN plan', example: string) {
  return {
    name: z.string().meta({ description: `Name of the ${noun}.`, example }),
    available: z.boolean().meta({ description: `Whether the service sells the ${noun} now.` }),
    price_for_reseller: money.meta({
      description: 'Price that the service charges the reseller; the last known one when it is removed.',
    }),
    previous_price_for_reseller: money
      .nullable()
      .meta({ description: `The price before; equal if it has not changed, null for a new ${noun}.` }),
  };
}

export const packageEvent = variant(
  'PackageEvent',
  'package',
  ['package.created', 'package.removed', 'package.unavailable', 'package.available', 'package.price_changed'],
  fields('package', 'Europe 5 GB'),
);

export const vpnPlanEvent = variant(
  'VpnPlanEvent',
  'vpn_plan',
  ['vpn_plan.created', 'vpn_plan.removed', 'vpn_plan.unavailable', 'vpn_plan.available', 'vpn_plan.price_changed'],
  fields('VPN plan', 'VPN, one month'),
);
