import * as z from 'zod';
import { instant, instantJson, money, moneyInput, ourId, packageIdInQuery, usd } from '#api/fields/fields.ts';
import { type CsvColumns, fields } from '#api/lists/csv-file.ts';
import { accessOutput, subscriptionExpansions } from '#api/vpn/vpn-access.ts';
import { vpnPlanId } from '#api/vpn/vpn-plans.ts';
import {
  callerReferenceInput,
  callerReferencesInQuery,
  customerReference,
  customerReferenceInQuery,
  customerReferenceOutput,
  purchaseInput,
} from '#api/work/work-input.ts';
import { purchaseColumns, workColumns } from '#api/work/work-operations.ts';
import { referenceJson, type WorkJson, workJson } from '#api/work/work-resource.ts';
import { referenceOutput, workListQuery, workOutput } from '#api/work/work-schemas.ts';
import type { StoredVpnSubscription } from '#db/work/vpn-subscriptions.ts';
import { plainMoney } from '#domain/money/money.ts';
import { subscriptionPeriods, subscriptionTimes } from '#domain/money/subscription-periods.ts';
import { statusesOf } from '#domain/work/lifecycle.ts';

const examplePrice = usd('5.99');

const ENDS =
  '`active`: bought. `cancelling`: its customer has ended it. `cancelled`, `expired`, `failed` and `abandoned` are ' +
  'final; `failed` means definitely not bought.';

export const vpnSubscriptionInput = z
  .strictObject({
    vpn_plan_id: vpnPlanId,
    external_subscription_id: callerReferenceInput('vpn_subscription', 'shop-vpn-000042'),
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

const START = '2030-01-31T12:00:00.000Z';
const END = '2030-03-02T12:00:00.000Z';
const COST = usd('3.20');

const period = z
  .strictObject({
    start: instant.meta({ example: START }),
    end: instant.nullable().meta({ description: 'Null when the service has not stated it.', example: END }),
    charged: money
      .nullable()
      .meta({ description: 'What the service charged for it; null when no debit is known.', example: COST }),
  })
  .meta({ id: 'VpnSubscriptionPeriod' });

export const vpnSubscriptionOutput = z
  .strictObject({
    id: ourId('vpn_subscription'),
    vpn_plan_id: vpnPlanId,
    external_subscription_id: z.string().meta({ example: 'shop-vpn-000042' }),
    customer_reference: customerReferenceOutput,
    service_subscription_id: z
      .string()
      .nullable()
      .meta({ description: 'Id of the subscription at the service.', example: '5120' }),
    has_access_data: z.boolean().meta({ description: 'True once `/access` returns data.', example: true }),
    started_at: instant.nullable().meta({ example: START }),
    expires_at: instant.nullable().meta({
      example: END,
      description: 'When the subscription ends, if the service gives a time.',
    }),
    current_period_start: instant.nullable().meta({
      example: START,
      description: 'When its paid period began, the last one once it has ended; null until it is bought.',
    }),
    current_period_end: instant
      .nullable()
      .meta({ description: 'When this period ends: equals `expires_at`.', example: END }),
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
    ...referenceOutput('vpn_subscription'),
    ...workOutput('vpn_subscription', statusesOf('vpn_subscription'), ENDS),
    access: accessOutput
      .nullable()
      .optional()
      .meta({ description: 'With `expand=access`; null while `has_access_data` is false.' }),
  })
  .meta({ id: 'VpnSubscription', example: { charged: COST, customer_price: examplePrice } });

type VpnSubscriptionOutput = z.input<typeof vpnSubscriptionOutput>;

export const vpnSubscriptionListQuery = z.strictObject({
  external_subscription_id: callerReferencesInQuery('vpn_subscription'),
  vpn_plan_id: packageIdInQuery.optional(),
  customer_reference: customerReferenceInQuery,
  ...workListQuery('vpn_subscription', statusesOf('vpn_subscription'), subscriptionExpansions),
});

export function vpnSubscriptionJson(
  { row: subscription, serviceId, renewedAt, endRecordedAt, debits, ...facts }: StoredVpnSubscription,
  customer: string | null,
): VpnSubscriptionOutput & WorkJson {
  const start = subscription.completedAt && (subscription.startedAt ?? subscription.completedAt);
  const costs = {
    charged: plainMoney(subscription.chargedAmount, subscription.chargedCurrency),
    debits: debits.map(({ at, ...money }) => ({ at: new Date(at), money })),
  };
  const renewals = renewedAt.map((at) => new Date(at));
  const periods = start === null ? undefined : subscriptionPeriods(start, renewals, subscription.expiresAt, costs);
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

export const vpnSubscriptionCsv: CsvColumns<VpnSubscriptionOutput> = [
  fields('id', 'status', 'vpn_plan_id', 'external_subscription_id', 'service_subscription_id'),
  fields('started_at', 'expires_at', 'current_period_start', 'current_period_end'),
  fields('cancel_requested_at', 'cancelled_at', 'ended_at'),
  ...purchaseColumns,
  ...workColumns,
];
