import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { EVENT_KINDS, EVENT_SUBJECTS, type EventKind, eventSubject, type RecordName } from '#upstream/contract.ts';

export const brand = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be the beginning of a header name, such as X-Acme');

/** Forms combine with each other and with every dialect. Requests differ only in the query parameters of paging. */
export const shapeProperties = z.strictObject({
  envelope: z.enum(['none', 'data', 'data_named', 'named']),
  list: z.enum(['data', 'data_named', 'items', 'array']),
  ids: z.enum(['text', 'number']),
  package_ids: z.enum(['number', 'text']),
  money: z.enum(['text', 'number', 'object', 'minor']),
  currency: z.enum(['upper', 'lower']),
  times: z.enum(['utc', 'offset', 'no_zone', 'epoch_seconds', 'epoch_milliseconds']),
  status_words: z.enum(['ours', 'other', 'upper', 'canceled']),
  status_field: z.enum(['status', 'state']),
  paging: z.enum(['cursor', 'page', 'offset', 'link', 'has_more', 'none']),
  optional_fields: z.enum(['all', 'missing', 'null']),
  extra_fields: z.boolean(),
  without: z
    .array(z.string().regex(/^[a-z_]+\.[a-z_]+$/, 'must be a record and a field, such as order.esim_id'))
    .readonly(),
  failure: z.enum(['object', 'text']),
  token_type: z.enum(['Bearer', 'bearer', 'null']),
  odd_package: z.boolean(),
  errors: z.enum(['code', 'problem', 'problem_underscored', 'message', 'fields', 'html', 'empty']),
  header_prefix: brand,
  event_field: z.enum(['event', 'type']),
  event_data: z.enum(['bare', 'named']),
});

export type Shape = z.output<typeof shapeProperties>;

export const PLAIN: Shape = {
  envelope: 'none',
  list: 'data',
  ids: 'text',
  package_ids: 'number',
  money: 'text',
  currency: 'upper',
  times: 'utc',
  status_words: 'ours',
  status_field: 'status',
  paging: 'cursor',
  optional_fields: 'all',
  extra_fields: false,
  without: [],
  failure: 'object',
  token_type: 'Bearer',
  odd_package: false,
  errors: 'code',
  header_prefix: 'X-Service',
  event_field: 'event',
  event_data: 'bare',
};

const TRANSACTION_IDS = ['order_id', 'external_order_id', 'esim_id', 'topup_id', 'refund_id', 'vpn_subscription_id'];

/** The first is the default; the others are listed by their differences from it. */
const DIFFERENCES = {
  plain: {},
  data_envelope: { envelope: 'data' },
  data_named: { envelope: 'data_named', list: 'data_named', event_data: 'named' },
  named: { envelope: 'named', list: 'items' },
  bare_array: { list: 'array', paging: 'link' },
  number_ids: { ids: 'number' },
  text_package_ids: { package_ids: 'text' },
  money_numbers: { money: 'number' },
  money_objects: { money: 'object' },
  minor_units: { money: 'minor' },
  lower_case_currency: { currency: 'lower' },
  offset_times: { times: 'offset' },
  zoneless_times: { times: 'no_zone' },
  epoch_seconds: { times: 'epoch_seconds' },
  epoch_milliseconds: { times: 'epoch_milliseconds' },
  other_words: { status_words: 'other' },
  upper_case_words: { status_words: 'upper' },
  canceled_spelling: { status_words: 'canceled' },
  state_field: { status_field: 'state' },
  pages: { paging: 'page' },
  offset_limit: { paging: 'offset' },
  link_header: { paging: 'link' },
  has_more: { paging: 'has_more' },
  silent_lists: { paging: 'none' },
  missing_optionals: { optional_fields: 'missing' },
  null_optionals: { optional_fields: 'null' },
  extra_fields: { extra_fields: true },
  no_esim_id: { without: ['order.esim_id'] },
  no_vpn_access: { without: ['vpn_subscription.access'] },
  no_references: { without: ['order.external_order_id', 'vpn_subscription.external_subscription_id'] },
  no_transaction_ids: {
    without: [...TRANSACTION_IDS, 'external_subscription_id'].map((name) => `transaction.${name}`),
  },
  no_esim_times: { without: ['esim.installed_at', 'esim.activated_at'] },
  failure_text: { failure: 'text' },
  lower_case_bearer: { token_type: 'bearer' },
  null_bearer: { token_type: 'null' },
  odd_package: { odd_package: true },
  problem_json: { errors: 'problem' },
  problem_underscored: { errors: 'problem_underscored' },
  message_errors: { errors: 'message' },
  field_errors: { errors: 'fields' },
  html_errors: { errors: 'html' },
  empty_errors: { errors: 'empty' },
  branded: { header_prefix: 'X-Acme' },
  event_type: { event_field: 'type' },
  framework: {
    envelope: 'data',
    ids: 'number',
    times: 'no_zone',
    paging: 'page',
    errors: 'message',
    extra_fields: true,
    header_prefix: 'X-Acme',
  },
  ledger_like: {
    money: 'minor',
    currency: 'lower',
    times: 'epoch_seconds',
    status_words: 'other',
    paging: 'has_more',
    event_field: 'type',
    token_type: 'bearer',
  },
} as const satisfies Record<string, Partial<Shape>>;

export type ShapeName = keyof typeof DIFFERENCES;

export const shapeNames = Object.keys(DIFFERENCES) as [ShapeName, ...ShapeName[]];

export const SHAPES = Object.fromEntries(
  Object.entries(DIFFERENCES).map(([name, differences]) => [name, { ...PLAIN, ...differences }]),
) as Readonly<Record<ShapeName, Shape>>;

export const shapeChoice = z.strictObject({
  name: z.enum(shapeNames).default('plain'),
  properties: shapeProperties.partial().default({}),
});
export type ShapeChoice = z.output<typeof shapeChoice>;

export function looksPlain(shape: Shape): boolean {
  return isDeepStrictEqual(shape, PLAIN);
}

/** The choice overrides the prefix of the configuration. */
export function shapeOf({ name, properties }: ShapeChoice, headerPrefix?: string): Shape {
  const changed = Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
  return { ...SHAPES[name], ...(headerPrefix === undefined ? {} : { header_prefix: headerPrefix }), ...changed };
}

const OWN_NAMES: Readonly<Record<string, string>> = {
  access: 'token',
  plan: 'vpn_plan',
  subscription: 'vpn_subscription',
  secret: 'webhook_secret',
};

/** What this service calls a record of the contract. */
export function ownName(record: RecordName): string {
  return OWN_NAMES[record] ?? record;
}

export function contractName(own: string): string {
  return Object.keys(OWN_NAMES).find((record) => OWN_NAMES[record] === own) ?? own;
}

export function eventRecord(event: string): string | undefined {
  const subject = eventSubject(event);
  return subject && ownName(EVENT_SUBJECTS[subject].record);
}

/** For an unknown event, one with the same kind of subject. */
export function knownEvent(event: string): EventKind {
  const alike = EVENT_KINDS.find((kind) => eventSubject(kind) === eventSubject(event));
  return EVENT_KINDS.find((kind) => kind === event) ?? alike ?? 'ping';
}
