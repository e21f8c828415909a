/**
 * The content of `data` for each type of event. The description of the API, the types of the
 * client and docs/reference/events.md are generated from it, and a test compares written events with it. Events are not
 * parsed with it at run time, so events of earlier versions are shown unchanged.
 */
import * as z from 'zod';
import { attentionReason, failureClass } from '#api/fields/failure-classes.ts';
import { ourId, packageId } from '#api/fields/ids.ts';
import { instant } from '#api/fields/instant.ts';
import { meaningsOf } from '#api/fields/meanings.ts';
import { money } from '#api/fields/money.ts';
import { SELECTS_SCHEMA } from '#api/openapi/open-sets.ts';
import {
  announcedStatuses,
  EVENT_TYPES,
  statusEventTypes,
  type EventSubjectKind,
  type EventType,
  type StatusKind,
} from '#domain/events/event-types.ts';
import { DISABLED_REASONS } from '#domain/events/webhook-delivery.ts';
import { byKind } from '#domain/work/kinds.ts';

export const exampleEventId = 'evt_01JQ8ZC9J0KMNPQRSTVWXYZ123';
const exampleOrderId = 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD';
const exampleEsimId = 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM';

const orderId = ourId('order', exampleOrderId);
const esimId = ourId('esim', exampleEsimId);
/** For fields that were added later: stored events are shown unchanged. */
const LATER = 'Absent in events of earlier versions.';

const externalOrderId = z.string().meta({ description: 'Your reference of the order.', example: 'shop-2030-000123' });

/** A status, and the one before it. */
function statusFields<Kind extends StatusKind>(kind: Kind) {
  const status = z.enum(announcedStatuses(kind));
  return {
    status: status.meta({ description: 'The new status, which is also in the type.' }),
    previous_status: status.nullable().meta({
      description: 'The previously announced status; null when there was none, or its event is no longer stored.',
    }),
  };
}

/** Fields of the events about work of every kind. */
const reasonFields = {
  failure_class: failureClass.nullable().meta({
    description: 'Why it failed or is held; null otherwise. Equals `failure.class` of the resource.',
  }),
  attention_reason: attentionReason.nullable().meta({
    description: 'Why it needs attention; null when it does not. Equals `attention.reason` of the resource.',
  }),
};
const charged = money.nullable().meta({ description: 'Amount that the service charged; null until it is known.' });

const NOUNS = {
  ...byKind('noun'),
  refund: 'refund',
  esim: 'eSIM',
  wallet: 'wallet: there is one',
  webhook_endpoint: 'webhook endpoint',
} as const satisfies Record<EventSubjectKind, string>;
const DAY_SHARES = 'Days, to one decimal place.';
const THRESHOLD_SECONDS = 'Seconds before the end: the threshold that was reached.';

const orderEvent = variant('OrderEvent', 'order', statusEventTypes('order'), {
  ...statusFields('order'),
  external_order_id: externalOrderId,
  package_id: packageId,
  esim_id: esimId.nullable().meta({ description: 'Id of the eSIM; null until it is delivered.' }),
  ...reasonFields,
  charged,
});

const topupEvent = variant('TopupEvent', 'topup', statusEventTypes('topup'), {
  ...statusFields('topup'),
  external_topup_id: z
    .string()
    .nullable()
    .meta({ description: 'Your reference of the top-up; null when you gave none.', example: 'topup-17' }),
  package_id: packageId,
  esim_id: esimId.meta({ description: 'Id of the recharged eSIM.' }),
  ...reasonFields,
  charged,
});

const externalSubscriptionId = z
  .string()
  .meta({ description: 'Your reference of the VPN subscription.', example: 'vpn-2030-17' });

const vpnSubscriptionEvent = variant('VpnSubscriptionEvent', 'vpn_subscription', statusEventTypes('vpn_subscription'), {
  ...statusFields('vpn_subscription'),
  external_subscription_id: externalSubscriptionId,
  vpn_plan_id: z.int().meta({ description: 'Id of a VPN plan at the service.', example: 301 }),
  ...reasonFields,
  charged,
});

const vpnSubscriptionExpiringEvent = variant(
  'VpnSubscriptionExpiringEvent',
  'vpn_subscription',
  ['vpn_subscription.expiring'],
  {
    external_subscription_id: externalSubscriptionId
      .optional()
      .meta({ description: `Your reference of the VPN subscription. ${LATER}` }),
    expires_at: instant.meta({ description: 'End of the paid period. RFC 3339.' }),
    threshold_seconds: z.int().meta({ description: THRESHOLD_SECONDS, example: 259_200 }),
  },
);

const cancellationEvent = variant('CancellationEvent', 'cancellation', statusEventTypes('cancellation'), {
  ...statusFields('cancellation'),
  accept_without_refund: z.boolean().meta({ description: 'Whether it is cancelled even if no refund is expected.' }),
  esim_id: esimId.meta({ description: 'Id of the eSIM to cancel.' }),
  ...reasonFields,
});

const refundEvent = variant('RefundEvent', 'refund', statusEventTypes('refund'), {
  ...statusFields('refund'),
  cancellation_id: ourId('cancellation', 'can_01JQ8Z9F8G7H6J5K4M3N2P1Q0R').meta({
    description: 'Id of its cancellation.',
  }),
  order_id: orderId.meta({ description: 'Id of the refunded order.' }),
  esim_id: esimId.meta({ description: 'Id of the cancelled eSIM.' }),
  amount: money.nullable().meta({ description: 'Amount of the refund; null until it is known.' }),
});

const megabytes = z.number().min(0);
const share = z.number().min(0).max(1);

const esimDataLowEvent = variant('EsimDataLowEvent', 'esim', ['esim.data_low'], {
  order_id: orderId.optional().meta({ description: `Id of the order that delivered the eSIM. ${LATER}` }),
  external_order_id: externalOrderId.optional().meta({ description: `Your reference of the order. ${LATER}` }),
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
});

const esimExpiringEvent = variant('EsimExpiringEvent', 'esim', ['esim.expiring'], {
  order_id: orderId.optional().meta({ description: `Id of the order that delivered the eSIM. ${LATER}` }),
  external_order_id: externalOrderId.optional().meta({ description: `Your reference of the order. ${LATER}` }),
  expires_at: instant.meta({ description: 'End of the eSIM, as last reported by the service. RFC 3339.' }),
  threshold_seconds: z.int().meta({ description: THRESHOLD_SECONDS, example: 86_400 }),
});

const reported = (what: string) =>
  instant.nullable().meta({ description: `${what}, as the service reports it; null when it does not say. RFC 3339.` });

const esimMilestoneEvent = variant(
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
);

const walletBalanceEvent = variant('WalletBalanceEvent', 'wallet', ['wallet.balance_low', 'wallet.balance_restored'], {
  balance: money.meta({ description: 'Balance of the wallet when it was read.' }),
  threshold: money.nullable().meta({
    description: 'The threshold (`POLICY_LOW_BALANCE`); null when it was removed, which ends the state.',
  }),
});

const walletRunwayEvent = variant('WalletRunwayEvent', 'wallet', ['wallet.runway_low', 'wallet.runway_restored'], {
  days: z
    .number()
    .min(0)
    .meta({ description: `Time that the wallet lasts at the mean of recent sales. ${DAY_SHARES}`, example: 2.6 }),
  earliest_days: z
    .number()
    .min(0)
    .meta({ description: `The same with sales one standard deviation above the mean. ${DAY_SHARES}`, example: 2.1 }),
  latest_days: z
    .number()
    .min(0)
    .meta({ description: `The same with sales one standard deviation below the mean. ${DAY_SHARES}`, example: 3.2 }),
  threshold_days: z
    .number()
    .min(0)
    .meta({ description: `The threshold (\`POLICY_RUNWAY_LOW\`). ${DAY_SHARES}`, example: 3 }),
  available: money.meta({ description: 'The balance less what is reserved and held; may be below zero.' }),
  daily_sales: money.meta({ description: 'Mean sales in 24 hours.' }),
});

const { request: _request, ...DISABLED_BY_US } = DISABLED_REASONS;
type DisabledByUs = keyof typeof DISABLED_BY_US;

const webhookEndpointDisabledEvent = variant(
  'WebhookEndpointDisabledEvent',
  'webhook_endpoint',
  ['webhook_endpoint.disabled'],
  {
    reason: z.enum(Object.keys(DISABLED_BY_US) as [DisabledByUs, ...DisabledByUs[]]).meta({
      description: meaningsOf(DISABLED_BY_US),
    }),
    detail: z.string().meta({ description: 'Result of the last try, as text.' }),
    failing_since: instant
      .nullable()
      .meta({ description: 'Time of the first of the failed tries in a row. RFC 3339.' }),
  },
);

const webhookEndpointTestEvent = variant('WebhookEndpointTestEvent', 'webhook_endpoint', ['webhook_endpoint.test'], {
  message: z.string().meta({ description: 'A human-readable sentence.' }),
});

/** An event of any type; `type` determines `data`. */
export const eventOutput = z
  .discriminatedUnion('type', [
    orderEvent,
    topupEvent,
    vpnSubscriptionEvent,
    vpnSubscriptionExpiringEvent,
    cancellationEvent,
    refundEvent,
    esimMilestoneEvent,
    esimDataLowEvent,
    esimExpiringEvent,
    walletBalanceEvent,
    walletRunwayEvent,
    webhookEndpointDisabledEvent,
    webhookEndpointTestEvent,
  ])
  .meta({
    id: 'Event',
    description:
      '`type` determines the content of `data`. A later version may add types, and fields to `data`: ignore a `type` ' +
      'that you do not know, and do not refuse it.',
  });

// Does not compile while a type of event has no schema above.
'' as EventType satisfies z.output<typeof eventOutput>['type'];

/** Event schemas: one for all types with the same `data`. */
export const eventShapes = eventOutput.options;

/** @param id the name of the schema. */
function variant<Kind extends EventSubjectKind, Type extends EventType, Data extends z.ZodRawShape>(
  id: string,
  kind: Kind,
  types: readonly [Type, ...Type[]],
  data: Data,
) {
  return z
    .strictObject({
      id: ourId('event', exampleEventId),
      type: z.enum(types).meta({
        description: meaningsOf(Object.fromEntries(types.map((type) => [type, EVENT_TYPES[type]]))),
        [SELECTS_SCHEMA]: true,
      }),
      created_at: instant.meta({ description: 'Time of the change. RFC 3339.' }),
      subject: z.strictObject({
        kind: z.literal(kind),
        id: z.string().meta({ description: `Id of the ${NOUNS[kind]}.` }),
        href: z.string().meta({ description: 'Path of the current state.' }),
      }),
      data: z
        .strictObject(data)
        .meta({ description: 'Facts at the time of the event. Read `subject.href` for the current state.' }),
    })
    .meta({ id });
}
