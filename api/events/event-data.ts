/** A test compares written events with these schemas. Events are not parsed with them at run time. */
import * as z from 'zod';
import { accountEventShapes, variant } from '#api/events/event-variants.ts';
import {
  attentionReason,
  IDS,
  failureClass,
  failureEnd,
  instant,
  money,
  ourId,
  packageId,
  serviceMessage,
  usd,
} from '#api/fields/fields.ts';
import { ON_UNMET_CONDITIONS } from '#domain/cancellation/refund-conditions.ts';
import {
  announcedStatuses,
  statusEventTypes,
  workEventTypes,
  type EventType,
  type StatusKind,
} from '#domain/events/event-types.ts';

const orderId = ourId('order');
const esimId = ourId('esim');

const externalOrderId = z.string().meta({ description: 'Your reference of the order.', example: 'shop-2030-000123' });

function statusFields<Kind extends StatusKind>(kind: Kind) {
  const status = z.enum(announcedStatuses(kind));
  return {
    status: status.meta({ description: 'The new status, which is also in the type.' }),
    previous_status: status.nullable().meta({
      description: 'The previously announced status; null when there was none, or its event is no longer stored.',
    }),
  };
}

const reasonFields = {
  failure_class: failureClass.nullable().meta({
    description: 'Why it failed or is held; null otherwise. Equals `failure.class` of the resource.',
  }),
  failure_ended_by: failureEnd.meta({
    description: 'Why it was not tried again. Equals `failure.ended_by` of the resource.',
  }),
  service_message: serviceMessage.meta({
    description: 'The reason in the words of the service, as `failure.service_message` of the resource.',
  }),
  attention_reason: attentionReason.nullable().meta({
    description: 'Why it needs attention; null when it does not. Equals `operations.attention.reason` of the resource.',
  }),
};
const charged = money.nullable().meta({ description: 'Amount that the service charged; null until it is known.' });

const COMPLETED = { status: 'completed', previous_status: 'processing' } as const;
const COST = usd('9.80');

const THRESHOLD_SECONDS = 'Seconds before the end: the threshold that was reached.';

const batchCount = (end: string) =>
  z
    .int()
    .min(0)
    .meta({ description: `Number of orders that ended as \`${end}\`.` });

const externalSubscriptionId = z
  .string()
  .meta({ description: 'Your reference of the VPN subscription.', example: 'vpn-2030-17' });

const timeOfSubscription = (meaning: string) =>
  instant.nullable().meta({ description: `${meaning} RFC 3339.`, example: null });

const megabytes = z.number().min(0);
const share = z.number().min(0).max(1);

const reported = (what: string) =>
  instant.nullable().meta({ description: `${what}, as the service reports it; null when it does not say. RFC 3339.` });

/** In the order of the description. */
export const eventShapes = [
  variant(
    'OrderEvent',
    'order',
    workEventTypes('order'),
    {
      ...statusFields('order'),
      external_order_id: externalOrderId,
      package_id: packageId,
      esim_id: esimId.nullable().meta({ description: 'Id of the eSIM; null until it is delivered.' }),
      batch_id: ourId('orderBatch')
        .nullable()
        .meta({ description: 'Id of the batch that it was accepted with; null: ordered by itself.', example: null }),
      ...reasonFields,
      charged,
    },
    { type: 'order.completed', data: { ...COMPLETED, esim_id: IDS.esim.example, charged: COST } },
  ),
  variant(
    'OrderBatchEvent',
    'order_batch',
    ['order_batch.completed'],
    {
      external_batch_id: z.string().meta({ description: 'Your reference of the batch.', example: 'campaign-2030' }),
      size: z.int().min(1).meta({ description: 'Number of its orders.', example: 200 }),
      completed: batchCount('completed'),
      failed: batchCount('failed'),
      abandoned: batchCount('abandoned'),
    },
    { data: { completed: 199, abandoned: 1 } },
  ),
  variant(
    'TopupEvent',
    'topup',
    workEventTypes('topup'),
    {
      ...statusFields('topup'),
      external_topup_id: z
        .string()
        .nullable()
        .meta({ description: 'Your reference of the top-up; null when you gave none.', example: 'topup-17' }),
      package_id: packageId,
      esim_id: esimId.meta({ description: 'Id of the recharged eSIM.' }),
      ...reasonFields,
      charged,
    },
    { type: 'topup.completed', data: { ...COMPLETED, charged: COST } },
  ),
  variant(
    'VpnSubscriptionEvent',
    'vpn_subscription',
    workEventTypes('vpn_subscription'),
    {
      ...statusFields('vpn_subscription'),
      external_subscription_id: externalSubscriptionId,
      vpn_plan_id: z.int().meta({ description: 'Id of a VPN plan at the service.', example: 301 }),
      current_period_end: timeOfSubscription('When its paid period ends, if the service gives a time.'),
      ended_at: timeOfSubscription('When it ended; null until then.'),
      cancelled_at: timeOfSubscription('When the service accepted its cancellation, or cancelled it by itself.'),
      ...reasonFields,
      charged,
    },
    {
      type: 'vpn_subscription.active',
      data: {
        status: 'active',
        previous_status: 'processing',
        current_period_end: '2030-03-02T12:00:00.000Z',
        charged: COST,
      },
    },
  ),
  variant('VpnSubscriptionRenewedEvent', 'vpn_subscription', ['vpn_subscription.renewed'], {
    external_subscription_id: externalSubscriptionId,
    expires_at: instant.meta({ description: 'End of the paid period now. RFC 3339.' }),
    previous_expires_at: instant.meta({ description: 'End of the paid period before. RFC 3339.' }),
  }),
  variant('VpnSubscriptionExpiringEvent', 'vpn_subscription', ['vpn_subscription.expiring'], {
    external_subscription_id: externalSubscriptionId,
    expires_at: instant.meta({ description: 'End of the paid period. RFC 3339.' }),
    threshold_seconds: z.int().meta({ description: THRESHOLD_SECONDS, example: 259_200 }),
  }),
  variant(
    'CancellationEvent',
    'cancellation',
    workEventTypes('cancellation'),
    {
      ...statusFields('cancellation'),
      on_unmet_conditions: z.enum(ON_UNMET_CONDITIONS).meta({
        description: 'What the caller wants if a condition of the refund is not met.',
      }),
      esim_id: esimId.meta({ description: 'Id of the eSIM to cancel.' }),
      ...reasonFields,
    },
    { type: 'cancellation.completed', data: COMPLETED },
  ),
  variant(
    'RefundEvent',
    'refund',
    statusEventTypes('refund'),
    {
      ...statusFields('refund'),
      cancellation_id: ourId('cancellation').meta({ description: 'Id of its cancellation.' }),
      order_id: orderId.meta({ description: 'Id of the refunded order.' }),
      esim_id: esimId.meta({ description: 'Id of the cancelled eSIM.' }),
      amount: money.nullable().meta({ description: 'Amount of the refund; null until it is known.' }),
    },
    { type: 'refund.completed', data: { status: 'completed', previous_status: 'expected', amount: COST } },
  ),
  variant(
    'EsimMilestoneEvent',
    'esim',
    ['esim.installed', 'esim.activated', 'esim.used_up', 'esim.expired'],
    {
      order_id: orderId.meta({ description: 'Id of the order that delivered the eSIM.' }),
      external_order_id: externalOrderId,
      installed_at: reported('Time of the installation'),
      activated_at: reported('Time of the first use'),
      expires_at: reported('End of the eSIM'),
      data_used_mb: megabytes.nullable().meta({ description: 'Used megabytes; null when they were not read.' }),
      data_total_mb: megabytes
        .nullable()
        .meta({ description: 'Total megabytes; null when they are unlimited or were not read.' }),
      read_at: instant.meta({ description: 'When it was read from the service. RFC 3339.' }),
    },
    { data: { installed_at: '2030-01-31T11:58:00.000Z' } },
  ),
  variant('EsimDataLowEvent', 'esim', ['esim.data_low'], {
    order_id: orderId.meta({ description: 'Id of the order that delivered the eSIM.' }),
    external_order_id: externalOrderId,
    data_used_mb: megabytes.meta({ description: 'Used megabytes.', example: 820 }),
    data_total_mb: megabytes.meta({ description: 'Total megabytes.', example: 1_024 }),
    data_left_mb: megabytes.meta({ description: 'Remaining megabytes.', example: 204 }),
    share_left: share.meta({
      description: 'The remaining share, from 0 to 1, with four decimal places: 0.1992 is 19.92 %.',
      example: 0.1992,
    }),
    threshold_share: share.meta({
      description: 'The reached threshold, as a share from 0 to 1; the lowest of several.',
      example: 0.2,
    }),
    measured_at: instant
      .nullable()
      .meta({ description: 'When the supplier measured it; null when the service does not say. RFC 3339.' }),
    read_at: instant.meta({ description: 'When it was read from the service. RFC 3339.' }),
  }),
  variant('EsimExpiringEvent', 'esim', ['esim.expiring'], {
    order_id: orderId.meta({ description: 'Id of the order that delivered the eSIM.' }),
    external_order_id: externalOrderId,
    expires_at: instant.meta({ description: 'End of the eSIM, as last reported by the service. RFC 3339.' }),
    threshold_seconds: z.int().meta({ description: THRESHOLD_SECONDS, example: 86_400 }),
  }),
  ...accountEventShapes,
] as const;

export const eventOutput = z.discriminatedUnion('type', eventShapes).meta({
  id: 'Event',
  description:
    '`type` determines the content of `data`. A later version may add types, and fields to `data`: ignore a `type` ' +
    'that you do not know, and do not refuse it.',
});

// Does not compile while a type of event has no schema above.
'' as EventType satisfies z.output<typeof eventOutput>['type'];
