import * as z from 'zod';
import { IDS, instant, enumOf, meaningsOf, money, ourId } from '#api/fields/fields.ts';
import { SELECTS_SCHEMA } from '#api/openapi/open-sets.ts';
import { EVENT_TYPES, type EventSubjectKind, type EventType } from '#domain/events/event-types.ts';
import { DISABLED_REASONS } from '#domain/events/webhook-delivery.ts';
import { subjectPath } from '#outbound/event-message.ts';

const SUBJECTS: Readonly<Record<EventSubjectKind, { readonly noun: string; readonly example: string }>> = {
  ...IDS,
  order_batch: IDS.orderBatch,
  webhook_endpoint: IDS.webhookEndpoint,
  package: { noun: 'package at the service', example: '1001' },
  vpn_plan: { noun: 'VPN plan at the service', example: '301' },
  wallet: { noun: 'wallet: there is one', example: 'wallet' },
};

export function variant<Kind extends EventSubjectKind, Type extends EventType, Data extends z.ZodRawShape>(
  id: string,
  kind: Kind,
  types: readonly Type[],
  data: Data,
  /** Fields of its example that differ from the examples of the fields. */
  example: { readonly type?: Type; readonly data?: Partial<z.input<z.ZodObject<Data>>> } = {},
) {
  const { noun, example: exampleId } = SUBJECTS[kind];
  return z
    .strictObject({
      id: ourId('event'),
      type: z.enum(types).meta({
        description: meaningsOf(Object.fromEntries(types.map((type) => [type, EVENT_TYPES[type]]))),
        [SELECTS_SCHEMA]: true,
      }),
      created_at: instant.meta({ description: 'Time of the change. RFC 3339.' }),
      subject: z.strictObject({
        kind: z.literal(kind),
        id: z.string().meta({ description: `Id of the ${noun}.`, example: exampleId }),
        href: z
          .string()
          .meta({ description: 'Path of the current state.', example: subjectPath({ kind, id: exampleId }) }),
      }),
      data: z.strictObject(data).meta({
        description: 'Facts at the time of the event. Read `subject.href` for the current state.',
        example: example.data,
      }),
    })
    .meta({ id, ...(example.type !== undefined && { example: { type: example.type } }) });
}

function daysField(meaning: string, example: number) {
  return z
    .number()
    .min(0)
    .meta({ description: `${meaning} Days, to one decimal place.`, example });
}

const { request: _request, ...DISABLED_BY_US } = DISABLED_REASONS;

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

export const accountEventShapes = [
  variant(
    'PackageEvent',
    'package',
    ['package.created', 'package.removed', 'package.unavailable', 'package.available', 'package.price_changed'],
    fields('package', 'Europe 5 GB'),
  ),
  variant(
    'VpnPlanEvent',
    'vpn_plan',
    ['vpn_plan.created', 'vpn_plan.removed', 'vpn_plan.unavailable', 'vpn_plan.available', 'vpn_plan.price_changed'],
    fields('VPN plan', 'VPN, one month'),
  ),
  variant('WalletBalanceEvent', 'wallet', ['wallet.balance_low', 'wallet.balance_restored'], {
    balance: money.meta({ description: 'Balance of the wallet when it was read.' }),
    threshold: money.nullable().meta({
      description: 'The threshold (`wallet.low_balance`); null when it was removed, which ends the state.',
    }),
  }),
  variant('WalletRunwayEvent', 'wallet', ['wallet.runway_low', 'wallet.runway_restored'], {
    days: daysField('Time that the wallet lasts at the mean of recent sales.', 2.6),
    earliest_days: daysField('The same with sales one standard deviation above the mean.', 2.1),
    latest_days: daysField('The same with sales one standard deviation below the mean.', 3.2),
    threshold_days: daysField('The threshold (`wallet.runway_low`).', 3),
    available: money.meta({ description: 'The balance less what is reserved and held; may be below zero.' }),
    daily_sales: money.meta({ description: 'Mean sales in 24 hours.' }),
  }),
  variant('WebhookEndpointDisabledEvent', 'webhook_endpoint', ['webhook_endpoint.disabled'], {
    reason: enumOf(DISABLED_BY_US).meta({ description: meaningsOf(DISABLED_BY_US) }),
    detail: z.string().meta({ description: 'Result of the last try, as text.', example: 'it answered 503' }),
    failing_since: instant.nullable().meta({
      description: 'Time of the first of the failed tries in a row. RFC 3339.',
      example: '2030-01-26T12:00:00.000Z',
    }),
  }),
  variant('WebhookEndpointTestEvent', 'webhook_endpoint', ['webhook_endpoint.test'], {
    message: z.string().meta({ description: 'A human-readable sentence.', example: 'This is a test.' }),
  }),
] as const;
