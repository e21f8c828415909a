import * as z from 'zod';
import {
  currency,
  FILLED_TEXT_PATTERN,
  instant,
  ourId,
  packageId,
  packageIdInQuery,
  pageOf,
  unsignedDecimal,
} from '#api/lists/fields.ts';
import { suggestedPriceField } from '#api/packages/pricing-schemas.ts';
import {
  callerReference,
  purchaseInput,
  workListQuery,
  workOutput,
  workOutputExample,
} from '#api/work/work-schemas.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';
import { resubmission } from '#domain/work/resubmission.ts';

const externalSubscriptionId = callerReference('vpn_subscription', 'shop-vpn-000042');
const vpnPlanId = packageId.meta({ description: 'Id of a VPN plan at the service.', example: 7 });

export const exampleSubscriptionId = 'vpn_01JQ8ZAF6G7H8J9K0MNPQRSTVW';

const MAX_CUSTOMER_REFERENCE = 255;

const customerReference = z
  .string()
  .min(1)
  .max(MAX_CUSTOMER_REFERENCE)
  .refine((text) => !text.includes('\0') && text.isWellFormed(), { message: 'must be well-formed text without NUL' })
  // A strict service refuses a blank one, after the work was accepted here.
  .refine((text) => text.trim() !== '', { message: 'must not be blank' })
  .meta({
    description: 'Your reference to the customer. Stored encrypted, given to the service, never returned.',
    example: 'C-2207',
    override: { pattern: FILLED_TEXT_PATTERN },
  });

export const vpnSubscriptionInput = z
  .strictObject({
    vpn_plan_id: vpnPlanId,
    external_subscription_id: externalSubscriptionId,
    customer_reference: customerReference,
    customer_price: unsignedDecimal.meta({
      description:
        'What the customer pays, in the currency of the plan. While the service charges more, the order is held.',
      example: '5.99',
    }),
    ...purchaseInput('vpn_subscription'),
  })
  .meta({ id: 'VpnSubscriptionInput' });

export const vpnSubscriptionInputExample = {
  vpn_plan_id: 7,
  external_subscription_id: 'shop-vpn-000042',
  customer_reference: 'C-2207',
  customer_price: '5.99',
};

export const vpnSubscriptionOutput = z
  .strictObject({
    id: ourId('vpn_subscription', exampleSubscriptionId),
    vpn_plan_id: vpnPlanId,
    external_subscription_id: z.string().meta({ example: 'shop-vpn-000042' }),
    service_subscription_id: z
      .string()
      .nullable()
      .meta({ description: 'Id of the subscription at the service.', example: '5120' }),
    customer_price: z.string().meta({ example: '5.99' }),
    has_access_data: z.boolean().meta({ description: 'True once `/access` has something to show.' }),
    started_at: instant.nullable(),
    expires_at: instant.nullable().meta({ description: 'When its time is over, where the service says so.' }),
    cancel_requested_at: instant
      .nullable()
      .meta({ description: 'When its customer has ended it; `cancelling` follows, then `cancelled`.' }),
    ...workOutput('vpn_subscription', statusesOf('vpn_subscription')),
  })
  .meta({ id: 'VpnSubscription' });

export type VpnSubscriptionOutput = z.input<typeof vpnSubscriptionOutput>;

export const vpnSubscriptionOutputExample: VpnSubscriptionOutput = {
  id: exampleSubscriptionId,
  vpn_plan_id: 7,
  external_subscription_id: 'shop-vpn-000042',
  service_subscription_id: null,
  customer_price: '5.99',
  has_access_data: false,
  started_at: null,
  expires_at: null,
  cancel_requested_at: null,
  ...workOutputExample,
  max_price: null,
  metadata: {},
};

export const vpnSubscriptionPage = pageOf(vpnSubscriptionOutput, 'VpnSubscriptionPage');

export const vpnSubscriptionListQuery = z.strictObject({
  external_subscription_id: externalSubscriptionId.optional(),
  vpn_plan_id: packageIdInQuery.optional(),
  customer_reference: customerReference.optional().meta({
    description:
      'Your reference to the customer, exactly. Compared by a keyed hash; it stands in the address all the same, which proxies may log.',
  }),
  ...workListQuery(statusesOf('vpn_subscription')),
});

/** {@link vpnSubscriptionOutputExample} once it is bought and its customer has ended it. */
export const cancelRequestedExample: VpnSubscriptionOutput = {
  ...vpnSubscriptionOutputExample,
  status: 'active',
  submit_again: resubmission({ kind: 'vpn_subscription', status: 'active', attempts: [], inDoubt: false }),
  service_subscription_id: '5120',
  charged: { amount: '3.20', currency: 'EUR' },
  has_access_data: true,
  attempts: 1,
  started_at: '2030-01-31T12:00:02.000Z',
  expires_at: '2030-03-02T12:00:02.000Z',
  completed_at: '2030-01-31T12:00:02.000Z',
  cancel_requested_at: '2030-02-03T09:00:00.000Z',
  updated_at: '2030-02-03T09:00:00.000Z',
};

/** The same once the service has cancelled it. */
export const cancelledExample: VpnSubscriptionOutput = {
  ...cancelRequestedExample,
  status: 'cancelled',
  submit_again: resubmission({ kind: 'vpn_subscription', status: 'cancelled', attempts: [], inDoubt: false }),
  updated_at: '2030-02-03T09:00:05.000Z',
};

export const vpnPlan = z
  .strictObject({
    id: vpnPlanId,
    name: z.string().meta({ example: 'VPN, one month' }),
    duration_days: z.int().nullable().meta({ description: 'Length of one period.', example: 30 }),
    price_for_reseller: z.string().meta({ description: 'What the service charges the reseller.', example: '3.20' }),
    currency,
    available: z.boolean().meta({ description: 'False while the service does not sell it.' }),
    suggested_price: suggestedPriceField,
  })
  .meta({ id: 'VpnPlan' });

export const vpnPlanExample: z.input<typeof vpnPlan> = {
  id: 7,
  name: 'VPN, one month',
  duration_days: 30,
  price_for_reseller: '3.20',
  currency: 'EUR',
  available: true,
  suggested_price: null,
};

export const vpnAccess = z
  .strictObject({
    subscription_id: ourId('vpn_subscription', exampleSubscriptionId),
    username: z.string(),
    password: z.string(),
    server: z.string().nullable(),
    configuration: z
      .string()
      .nullable()
      .meta({ description: "For the customer's app, or an address to fetch one from." }),
  })
  .meta({ id: 'VpnAccess' });
