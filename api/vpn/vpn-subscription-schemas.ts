import * as z from 'zod';
import { ourId, packageIdInQuery } from '#api/fields/ids.ts';
import { instant, instantJson } from '#api/fields/instant.ts';
import { money, moneyInput } from '#api/fields/money.ts';
import { pageOf } from '#api/lists/page-schemas.ts';
import { accessOutput, exampleSubscriptionId, subscriptionExpansions } from '#api/vpn/revealed-access.ts';
import { vpnPlanId } from '#api/vpn/vpn-plan-schemas.ts';
import { customerReference, customerReferenceInQuery, customerReferenceOutput } from '#api/work/customer-reference.ts';
import { callerReference, callerReferencesInQuery, purchaseInput } from '#api/work/work-input.ts';
import { referenceJson, workJson } from '#api/work/work-json.ts';
import type { WorkJson } from '#api/work/work-resource.ts';
import {
  referenceOutput,
  referenceOutputExample,
  workListQuery,
  workOutput,
  workOutputExample,
} from '#api/work/work-schemas.ts';
import type { StoredVpnSubscription } from '#db/work/vpn-subscriptions.ts';
import { plainMoney } from '#domain/money/money.ts';
import { subscriptionPeriods, subscriptionTimes } from '#domain/money/subscription-periods.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';

const externalSubscriptionId = callerReference('vpn_subscription', 'shop-vpn-000042');

const examplePrice = { amount: '5.99', currency: 'USD' };

const ENDS =
  '`active`: bought. `cancelling`: its customer has ended it. `cancelled`, `expired`, `failed` and `abandoned` are ' +
  'final; `failed` means definitely not bought.';

export const vpnSubscriptionInput = z
  .strictObject({
    vpn_plan_id: vpnPlanId,
    external_subscription_id: externalSubscriptionId,
    ...purchaseInput('vpn_subscription'),
    customer_price: moneyInput.meta({
      description:
        'Price that the customer pays, in the currency of the plan. While the service charges more, the order is held.',
      example: examplePrice,
    }),
    customer_reference: customerReference.meta({
      description: 'Your reference of the customer. Stored encrypted, and sent to the service.',
    }),
  })
  .meta({ id: 'VpnSubscriptionInput' });

export const vpnSubscriptionInputExample = {
  vpn_plan_id: 301,
  external_subscription_id: 'shop-vpn-000042',
  customer_reference: 'C-2207',
  customer_price: examplePrice,
};

const period = z
  .strictObject({
    start: instant,
    end: instant.nullable().meta({ description: 'Null when the service has not stated it.' }),
    charged: money.nullable().meta({ description: 'What the service charged for it; null when no debit is known.' }),
  })
  .meta({ id: 'VpnSubscriptionPeriod' });

export const vpnSubscriptionOutput = z
  .strictObject({
    id: ourId('vpn_subscription', exampleSubscriptionId),
    vpn_plan_id: vpnPlanId,
    external_subscription_id: z.string().meta({ example: 'shop-vpn-000042' }),
    customer_reference: customerReferenceOutput,
    service_subscription_id: z
      .string()
      .nullable()
      .meta({ description: 'Id of the subscription at the service.', example: '5120' }),
    has_access_data: z.boolean().meta({ description: 'True once `/access` returns data.' }),
    started_at: instant.nullable(),
    expires_at: instant.nullable().meta({ description: 'When the subscription ends, if the service gives a time.' }),
    current_period_start: instant.nullable().meta({
      description: 'When its paid period began, the last one once it has ended; null until it is bought.',
    }),
    current_period_end: instant.nullable().meta({ description: 'When this period ends: equals `expires_at`.' }),
    periods: z.array(period).meta({
      description:
        'Its paid periods, oldest first. `charged` of the top level is what the first one cost. A debit that belongs ' +
        'to no reported period stands last, with its time as `start`.',
    }),
    ended_at: instant.nullable().meta({
      description: 'When it ended, as `cancelled` or `expired`: when we learned it, but not later than `expires_at`.',
    }),
    cancelled_at: instant.nullable().meta({
      description: 'When the service accepted its cancellation, or cancelled it by itself.',
    }),
    cancel_requested_at: instant
      .nullable()
      .meta({ description: 'When its customer has ended it; `cancelling` follows, then `cancelled`.' }),
    ...referenceOutput('vpn_subscription', exampleSubscriptionId),
    ...workOutput('vpn_subscription', statusesOf('vpn_subscription'), ENDS),
    access: accessOutput
      .nullable()
      .optional()
      .meta({ description: 'With `expand=access`; null while `has_access_data` is false.' }),
  })
  .meta({ id: 'VpnSubscription' });

export type VpnSubscriptionOutput = z.input<typeof vpnSubscriptionOutput>;

export const vpnSubscriptionOutputExample: VpnSubscriptionOutput = {
  id: exampleSubscriptionId,
  vpn_plan_id: 301,
  external_subscription_id: 'shop-vpn-000042',
  customer_reference: 'C-2207',
  service_subscription_id: null,
  has_access_data: false,
  started_at: null,
  expires_at: null,
  current_period_start: null,
  current_period_end: null,
  periods: [],
  ended_at: null,
  cancelled_at: null,
  cancel_requested_at: null,
  ...referenceOutputExample,
  customer_price: examplePrice,
  ...workOutputExample,
  max_price: null,
  metadata: {},
};

export const vpnSubscriptionPage = pageOf(vpnSubscriptionOutput, 'VpnSubscriptionPage');

export const vpnSubscriptionListQuery = z.strictObject({
  external_subscription_id: callerReferencesInQuery('vpn_subscription'),
  vpn_plan_id: packageIdInQuery.optional(),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('vpn_subscription', statusesOf('vpn_subscription'), subscriptionExpansions),
});

/** {@link vpnSubscriptionOutputExample} once it is bought and its customer has ended it. */
export const cancelRequestedExample: VpnSubscriptionOutput = {
  ...vpnSubscriptionOutputExample,
  status: 'active',
  service_subscription_id: '5120',
  charged: { amount: '3.20', currency: 'USD' },
  has_access_data: true,
  started_at: '2030-01-31T12:00:02.000Z',
  expires_at: '2030-03-02T12:00:02.000Z',
  current_period_start: '2030-01-31T12:00:02.000Z',
  current_period_end: '2030-03-02T12:00:02.000Z',
  periods: [
    {
      start: '2030-01-31T12:00:02.000Z',
      end: '2030-03-02T12:00:02.000Z',
      charged: { amount: '3.20', currency: 'USD' },
    },
  ],
  completed_at: '2030-01-31T12:00:02.000Z',
  cancel_requested_at: '2030-02-03T09:00:00.000Z',
  updated_at: '2030-02-03T09:00:00.000Z',
};

/** The same once the service has cancelled it. */
export const cancelledExample: VpnSubscriptionOutput = {
  ...cancelRequestedExample,
  status: 'cancelled',
  ended_at: '2030-02-03T09:00:05.000Z',
  cancelled_at: '2030-02-03T09:00:05.000Z',
  updated_at: '2030-02-03T09:00:05.000Z',
};

/** A VPN subscription as the API shows it. @param customer the reference of its customer. */
export function vpnSubscriptionJson(
  { row: subscription, serviceId, renewedAt, endRecordedAt, debits, ...facts }: StoredVpnSubscription,
  customer: string | null,
): VpnSubscriptionOutput & WorkJson {
  const start = subscription.completedAt && (subscription.startedAt ?? subscription.completedAt);
  const costs = {
    charged: plainMoney(subscription.chargedAmount, subscription.chargedCurrency),
    debits: debits.map(({ at, ...money }) => ({ at: new Date(at), money })),
  };
  const periods =
    start === null
      ? undefined
      : subscriptionPeriods(
          start,
          renewedAt.map((at) => new Date(at)),
          subscription.expiresAt,
          costs,
        );
  const { endedAt, cancelledAt } = subscriptionTimes(subscription, endRecordedAt);
  return {
    id: subscription.id,
    status: subscription.status,
    vpn_plan_id: subscription.vpnPlanId,
    external_subscription_id: subscription.externalSubscriptionId,
    customer_reference: customer,
    service_subscription_id: serviceId,
    has_access_data: subscription.encryptedAccess !== null,
    started_at: instantJson(subscription.startedAt),
    expires_at: instantJson(subscription.expiresAt),
    current_period_start: instantJson(periods?.current.start ?? null),
    current_period_end: instantJson(periods?.current.end ?? null),
    periods: (periods?.all ?? []).map((each) => ({
      start: each.start.toISOString(),
      end: instantJson(each.end),
      charged: each.charged,
    })),
    ended_at: instantJson(endedAt),
    cancelled_at: instantJson(cancelledAt),
    cancel_requested_at: instantJson(subscription.cancelRequestedAt),
    ...referenceJson(subscription, facts),
    ...workJson('vpn_subscription', subscription, facts),
  };
}
