import * as z from 'zod';
import { eventShapes } from '#api/events/event-data.ts';
import type { EventData } from '#db/schema/events.ts';
import { EVENT_TYPES, type EventSubjectKind, type EventType } from '#domain/events/event-types.ts';
import { ID_PREFIXES } from '#domain/work/identifiers.ts';
import { webhookBody } from '#outbound/event-message.ts';

const MONEY = { amount: '3.20', currency: 'USD' };
const HELD = { previous_status: 'accepted', failure_class: 'insufficient_balance', attention_reason: null };
const NO_REASON = { failure_class: null, attention_reason: null };
const ORDER = { external_order_id: 'shop-2030-000123', package_id: 1001, batch_id: null };
const TOPUP = { external_topup_id: 'topup-17', package_id: 1001, esim_id: ulid('esim') };
const SUBSCRIPTION = { external_subscription_id: 'vpn-2030-17', vpn_plan_id: 301 };
const CANCELLATION = { on_unmet_conditions: 'refuse', esim_id: ulid('esim') };
const REFUND = { cancellation_id: ulid('cancellation'), order_id: ulid('order'), esim_id: ulid('esim') };
const OF_ORDER = { order_id: ulid('order'), external_order_id: 'shop-2030-000123' };
const RUNWAY = { threshold_days: 3, daily_sales: { amount: '14.285714', currency: 'USD' } };

/** Examples of `data`. The first of each shape is shown as a whole body, the others as `data` only. */
export const EXAMPLES: Partial<Record<EventType, EventData>> = {
  'order.completed': {
    status: 'completed',
    previous_status: 'processing',
    ...ORDER,
    esim_id: ulid('esim'),
    ...NO_REASON,
    charged: MONEY,
  },
  'order.held': { status: 'held', ...HELD, ...ORDER, esim_id: null, charged: null },
  'order.needs_attention': {
    status: 'needs_attention',
    previous_status: 'processing',
    ...ORDER,
    esim_id: null,
    failure_class: 'timeout',
    attention_reason: 'outcome_unknown',
    charged: null,
  },
  'order.failed': {
    status: 'failed',
    previous_status: 'held',
    ...ORDER,
    esim_id: null,
    failure_class: 'supplier_failed',
    failure_ended_by: 'attempts_used_up',
    service_message: 'The supplier could not deliver the eSIM.',
    attention_reason: null,
    charged: null,
  },
  'order_batch.completed': { external_batch_id: 'campaign-2030', size: 200, completed: 199, failed: 0, abandoned: 1 },
  'topup.completed': { status: 'completed', previous_status: 'processing', ...TOPUP, ...NO_REASON, charged: MONEY },
  'topup.failed': {
    status: 'failed',
    previous_status: 'accepted',
    ...TOPUP,
    failure_class: 'topup_not_offered',
    attention_reason: null,
    charged: null,
  },
  'vpn_subscription.active': {
    status: 'active',
    previous_status: 'processing',
    ...SUBSCRIPTION,
    current_period_end: '2030-02-01T12:00:00.000Z',
    ended_at: null,
    cancelled_at: null,
    ...NO_REASON,
    charged: MONEY,
  },
  'vpn_subscription.held': { status: 'held', ...HELD, ...SUBSCRIPTION, charged: null },
  'vpn_subscription.renewed': {
    external_subscription_id: 'vpn-2030-17',
    expires_at: '2030-03-03T12:00:00.000Z',
    previous_expires_at: '2030-02-01T12:00:00.000Z',
  },
  'order.in_doubt': {
    status: 'failed',
    previous_status: 'failed',
    ...ORDER,
    esim_id: null,
    failure_class: 'supplier_failed',
    failure_ended_by: 'attempts_used_up',
    service_message: 'The supplier could not deliver the eSIM.',
    attention_reason: 'contradiction',
    charged: null,
  },
  'vpn_subscription.expiring': {
    external_subscription_id: 'vpn-2030-17',
    expires_at: '2030-02-01T12:00:00.000Z',
    threshold_seconds: 86_400,
  },
  'cancellation.completed': { status: 'completed', previous_status: 'processing', ...CANCELLATION, ...NO_REASON },
  'cancellation.refused': {
    status: 'refused',
    previous_status: 'accepted',
    ...CANCELLATION,
    failure_class: 'refund_not_expected',
    attention_reason: null,
  },
  'refund.completed': { status: 'completed', previous_status: 'expected', ...REFUND, amount: MONEY },
  'refund.expected': { status: 'expected', previous_status: null, ...REFUND, amount: null },
  'esim.used_up': {
    ...OF_ORDER,
    installed_at: '2030-01-30T09:12:00.000Z',
    activated_at: '2030-01-30T09:15:00.000Z',
    expires_at: '2030-03-01T09:15:00.000Z',
    data_used_mb: 1024,
    data_total_mb: 1024,
    read_at: '2030-01-31T12:00:00.000Z',
  },
  'esim.data_low': {
    ...OF_ORDER,
    data_used_mb: 820,
    data_total_mb: 1024,
    data_left_mb: 204,
    share_left: 0.1992,
    threshold_share: 0.2,
    measured_at: '2030-01-31T11:58:00.000Z',
    read_at: '2030-01-31T12:00:00.000Z',
  },
  'esim.expiring': { ...OF_ORDER, expires_at: '2030-02-03T11:40:00.000Z', threshold_seconds: 259_200 },
  'package.price_changed': {
    name: 'Europe 5 GB',
    available: true,
    price_for_reseller: { amount: '9.50', currency: 'USD' },
    previous_price_for_reseller: { amount: '9.80', currency: 'USD' },
  },
  'package.created': {
    name: 'Europe 5 GB',
    available: true,
    price_for_reseller: { amount: '9.80', currency: 'USD' },
    previous_price_for_reseller: null,
  },
  'vpn_plan.unavailable': {
    name: 'VPN, one month',
    available: false,
    price_for_reseller: MONEY,
    previous_price_for_reseller: MONEY,
  },
  'wallet.balance_low': {
    balance: { amount: '41.20', currency: 'USD' },
    threshold: { amount: '50.00', currency: 'USD' },
  },
  'wallet.runway_low': {
    days: 2.8,
    earliest_days: 2.4,
    latest_days: 3.3,
    ...RUNWAY,
    available: { amount: '40.00', currency: 'USD' },
  },
  'wallet.runway_restored': {
    days: 7,
    earliest_days: 6.3,
    latest_days: 7.8,
    ...RUNWAY,
    available: { amount: '100.00', currency: 'USD' },
  },
  'webhook_endpoint.disabled': {
    reason: 'failing',
    detail: 'it answered 503',
    failing_since: '2030-01-26T12:00:00.000Z',
  },
  'webhook_endpoint.test': { message: 'This is a test.' },
};

type Shape = (typeof eventShapes)[number];

/** The page *Events* in Markdown: each type, and the fields of its `data` with examples. */
export function eventsPage(): string {
  const byKind = Map.groupBy(eventShapes, (shape): EventSubjectKind => shape.shape.subject.shape.kind.value);
  return [
    '# Events',
    '',
    'All events of the feed and of [event webhooks](docs/how-to/webhooks-out.md). The set is closed: new types',
    'come with a new version and an entry in the changelog. An event announces a change; read the current state from',
    '`subject.href`. Later versions may add fields to bodies. Ignore unknown values of `type`, and answer their',
    'webhooks with `2xx`.',
    '',
    'Webhook endpoints choose by type (`order.completed`), by kind (`order.*`), or all events (`*`).',
    '',
    'Every field of `data` is always present, except those that the table calls absent in older events. A field',
    'without a value is `null`, if the table allows it. A *time* is RFC 3339 in UTC; an *amount* is an object with',
    '`amount` (a decimal in a string) and `currency`. In `/openapi.json`, the schema `Event` defines the same, and',
    '`WebhookEvent` the body of webhooks.',
    '',
    ...[...byKind].flatMap(([kind, shapes]) => [
      `## \`${kind}.*\``,
      '',
      ...shapes.flatMap((shape) => section(kind, shape)),
    ]),
  ].join('\n');
}

function section(kind: EventSubjectKind, shape: Shape): string[] {
  const types: readonly EventType[] = shape.shape.type.options;
  const shown = Object.keys(EXAMPLES) as EventType[];
  const [first, ...others] = shown.filter((type) => types.includes(type));
  if (first === undefined) throw new Error(`no example of ${types.join(', ')}`);
  const id = idOf(kind);
  const body: unknown = JSON.parse(
    webhookBody({ ...EVENT, type: first, subjectKind: kind, subjectId: id, data: EXAMPLES[first] ?? {} }).toString(
      'utf8',
    ),
  );
  return [
    '| type | when |',
    '|---|---|',
    ...types.map((type) => `| \`${type}\` | ${EVENT_TYPES[type]} |`),
    '',
    '| field of `data` | type | meaning |',
    '|---|---|---|',
    ...fieldsOf(shape),
    '',
    ...json(body),
    ...others.flatMap((type) => [`\`data\` of \`${type}\`:`, '', ...json(EXAMPLES[type])]),
  ];
}

function json(value: unknown): string[] {
  return ['```json', JSON.stringify(value, null, 2), '```', ''];
}

const field = z.looseObject({
  description: z.string().default(''),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  $ref: z.string().optional(),
  allOf: z.array(z.looseObject({ $ref: z.string().optional() })).optional(),
});
const nullable = field.extend({ anyOf: z.array(field).optional() });

/** Longer lists of values are only in the description of the resource. A nullable field has the same values. */
const MANY = 12;

function fieldsOf({ shape: { data } }: Shape): string[] {
  const { properties } = z
    .object({ properties: z.record(z.string(), nullable) })
    .parse(z.toJSONSchema(data, { io: 'output' }));
  return Object.entries(properties).map(([name, { anyOf, ...own }]) => {
    const is = (anyOf ?? [own]).flatMap(namesOf).join(' or ');
    const { enum: values = [] } = own;
    const listed =
      values.length > 0 && values.length < MANY && !own.description.includes('`: ')
        ? ` One of ${values.map((value) => `\`${value}\``).join(', ')}.`
        : '';
    return `| \`${name}\` | ${is} | ${own.description}${listed} |`;
  });
}

/** The types of a field, one word each. */
function namesOf({ type = 'string', format, $ref, allOf }: z.output<typeof field>): string[] {
  if ([$ref, allOf?.[0]?.$ref].some((each) => each?.endsWith('/Money'))) return ['amount'];
  return [type]
    .flat()
    .map((each) => (each === 'null' ? '`null`' : each === 'string' && format === 'date-time' ? 'time' : each));
}

const EVENT = {
  sequence: 1n,
  position: 1n,
  id: 'evt_01JQ8ZD5P7QRSTVWXYZ0123456',
  apiKeyId: null,
  traceparent: null,
  occurredAt: new Date('2030-01-31T12:00:00.000Z'),
};

/** An id of a subject for an example. */
function idOf(kind: EventSubjectKind): string {
  switch (kind) {
    case 'wallet':
      return 'wallet';
    case 'package':
      return '1001';
    case 'vpn_plan':
      return '301';
    case 'webhook_endpoint':
      return ulid('webhookEndpoint');
    case 'order_batch':
      return ulid('orderBatch');
    default:
      return ulid(kind);
  }
}

function ulid(kind: keyof typeof ID_PREFIXES): string {
  return `${ID_PREFIXES[kind]}_01JQ8Z5YV7N4M2K3H6T9R0WXCD`;
}
