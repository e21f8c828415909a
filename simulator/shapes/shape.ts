import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { RecordName } from '#simulator/shapes/fields.ts';
import { type EndpointName, EVENT_KINDS, type EventKind, eventSubject, type EventSubject } from '#upstream/contract.ts';

const brand = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, 'must be the beginning of a header name, such as X-Acme');

/** Forms combine with each other and with every dialect. Requests differ only in the query parameters of paging. */
export const shapeProperties = z.strictObject({
  envelope: z.enum(['none', 'data', 'data_named', 'named']).meta({
    description: 'A single resource: bare, {"data": …}, {"data": {"order": …}} or {"order": …}.',
  }),
  list: z.enum(['data', 'data_named', 'items', 'array']).meta({
    description: 'A list: {"data": […]}, {"data": {"orders": […]}}, {"items": […]} or a bare array.',
  }),
  ids: z.enum(['text', 'number']).meta({ description: 'Ids of orders, eSIMs, refunds and so on.' }),
  package_ids: z.enum(['number', 'text']).meta({ description: 'Ids of packages and VPN plans.' }),
  money: z.enum(['text', 'number', 'object', 'minor']).meta({
    description: 'Amounts: "3.20", 3.2, {"amount": "3.20", "currency": "USD"} or 320.',
  }),
  currency: z.enum(['upper', 'lower']).meta({ description: 'USD or usd.' }),
  times: z.enum(['utc', 'offset', 'no_zone', 'epoch_seconds', 'epoch_milliseconds']).meta({
    description: 'RFC 3339 with Z, with +02:00, "2026-01-01 10:00:00" in UTC, or Unix time.',
  }),
  status_words: z.enum(['ours', 'other', 'upper', 'canceled']).meta({
    description: 'completed; success, pending, error, live and so on; COMPLETED; or canceled with one l.',
  }),
  status_field: z.enum(['status', 'state']).meta({ description: 'Name of the field.' }),
  paging: z.enum(['cursor', 'page', 'offset', 'link', 'has_more', 'none']).meta({
    description: 'How a list goes on. A page has 25 items at most, for any limit; cursor keeps to the limit.',
  }),
  optional_fields: z.enum(['all', 'missing', 'null']).meta({
    description: 'Fields that the contract has as optional and the product does not depend on.',
  }),
  extra_fields: z.boolean().meta({ description: 'Every record has fields that the contract does not know.' }),
  without: z
    .array(z.string().regex(/^[a-z_]+\.[a-z_]+$/, 'must be a record and a field, such as order.esim_id'))
    .readonly()
    .meta({ description: 'Fields that are missing in answers and events, such as order.esim_id.' }),
  failure: z.enum(['object', 'text']).meta({ description: 'Why a purchase failed.' }),
  token_type: z.enum(['Bearer', 'bearer', 'null']).meta({ description: 'token_type of a login.' }),
  odd_package: z.boolean().meta({ description: 'One package has countries: null.' }),
  errors: z
    .enum(['code', 'problem', 'problem_underscored', 'message', 'fields', 'html', 'empty'])
    .meta({ description: 'Bodies of refusals. Their statuses are the same in all shapes.' }),
  header_prefix: brand.meta({ description: 'Beginning of the names of webhook headers.' }),
  event_field: z.enum(['event', 'type']).meta({ description: 'Name of the field of a webhook that names its event.' }),
  event_data: z.enum(['bare', 'named']).meta({ description: 'data of a webhook: the order, or {"order": …}.' }),
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

/** The first is the default; the others list their differences from it. */
export const SHAPES = {
  plain: PLAIN,
  data_envelope: { ...PLAIN, envelope: 'data' },
  data_named: { ...PLAIN, envelope: 'data_named', list: 'data_named', event_data: 'named' },
  named: { ...PLAIN, envelope: 'named', list: 'items' },
  bare_array: { ...PLAIN, list: 'array', paging: 'link' },
  number_ids: { ...PLAIN, ids: 'number' },
  text_package_ids: { ...PLAIN, package_ids: 'text' },
  money_numbers: { ...PLAIN, money: 'number' },
  money_objects: { ...PLAIN, money: 'object' },
  minor_units: { ...PLAIN, money: 'minor' },
  lower_case_currency: { ...PLAIN, currency: 'lower' },
  offset_times: { ...PLAIN, times: 'offset' },
  zoneless_times: { ...PLAIN, times: 'no_zone' },
  epoch_seconds: { ...PLAIN, times: 'epoch_seconds' },
  epoch_milliseconds: { ...PLAIN, times: 'epoch_milliseconds' },
  other_words: { ...PLAIN, status_words: 'other' },
  upper_case_words: { ...PLAIN, status_words: 'upper' },
  canceled_spelling: { ...PLAIN, status_words: 'canceled' },
  state_field: { ...PLAIN, status_field: 'state' },
  pages: { ...PLAIN, paging: 'page' },
  offset_limit: { ...PLAIN, paging: 'offset' },
  link_header: { ...PLAIN, paging: 'link' },
  has_more: { ...PLAIN, paging: 'has_more' },
  silent_lists: { ...PLAIN, paging: 'none' },
  missing_optionals: { ...PLAIN, optional_fields: 'missing' },
  null_optionals: { ...PLAIN, optional_fields: 'null' },
  extra_fields: { ...PLAIN, extra_fields: true },
  no_esim_id: { ...PLAIN, without: ['order.esim_id'] },
  no_vpn_access: { ...PLAIN, without: ['vpn_subscription.access'] },
  no_references: { ...PLAIN, without: ['order.external_order_id', 'vpn_subscription.external_subscription_id'] },
  no_transaction_ids: {
    ...PLAIN,
    without: [...TRANSACTION_IDS, 'external_subscription_id'].map((name) => `transaction.${name}`),
  },
  no_esim_times: { ...PLAIN, without: ['esim.installed_at', 'esim.activated_at'] },
  failure_text: { ...PLAIN, failure: 'text' },
  lower_case_bearer: { ...PLAIN, token_type: 'bearer' },
  null_bearer: { ...PLAIN, token_type: 'null' },
  odd_package: { ...PLAIN, odd_package: true },
  problem_json: { ...PLAIN, errors: 'problem' },
  problem_underscored: { ...PLAIN, errors: 'problem_underscored' },
  message_errors: { ...PLAIN, errors: 'message' },
  field_errors: { ...PLAIN, errors: 'fields' },
  html_errors: { ...PLAIN, errors: 'html' },
  empty_errors: { ...PLAIN, errors: 'empty' },
  branded: { ...PLAIN, header_prefix: 'X-Acme' },
  event_type: { ...PLAIN, event_field: 'type' },
  framework: {
    ...PLAIN,
    envelope: 'data',
    ids: 'number',
    times: 'no_zone',
    paging: 'page',
    errors: 'message',
    extra_fields: true,
    header_prefix: 'X-Acme',
  },
  ledger_like: {
    ...PLAIN,
    money: 'minor',
    currency: 'lower',
    times: 'epoch_seconds',
    status_words: 'other',
    paging: 'has_more',
    event_field: 'type',
    token_type: 'bearer',
  },
} as const satisfies Record<string, Shape>;

export type ShapeName = keyof typeof SHAPES;

export const shapeNames = Object.keys(SHAPES) as [ShapeName, ...ShapeName[]];

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

/** The OpenAPI document is not a record. */
export const SUBJECTS: Readonly<Record<Exclude<EndpointName, 'getOpenApi'>, RecordName>> = {
  login: 'token',
  listPackages: 'package',
  createOrder: 'order',
  getOrder: 'order',
  listOrders: 'order',
  getEsim: 'esim',
  getWallet: 'wallet',
  listWalletTransactions: 'transaction',
  getEsimUsage: 'usage',
  listTopupOptions: 'package',
  createTopup: 'topup',
  getTopup: 'topup',
  listTopups: 'topup',
  cancelEsim: 'cancellation',
  getRefund: 'refund',
  listRefunds: 'refund',
  listVpnPlans: 'vpn_plan',
  createVpnOrder: 'vpn_subscription',
  getVpnSubscription: 'vpn_subscription',
  listVpnSubscriptions: 'vpn_subscription',
  cancelVpnSubscription: 'vpn_subscription',
  listPublicPackages: 'package',
  getLatestUpdate: 'update',
  simulateEsim: 'esim',
  createWebhookSecret: 'webhook_secret',
  rotateWebhookSecret: 'webhook_secret',
};

const EVENT_RECORDS: Readonly<Record<EventSubject, RecordName>> = {
  order: 'order',
  topup: 'topup',
  esim: 'cancellation',
  refund: 'refund',
  vpn: 'vpn_subscription',
};

export function eventRecord(event: string): RecordName | undefined {
  const subject = eventSubject(event);
  return subject && EVENT_RECORDS[subject];
}

/** For an unknown event, one with the same kind of subject. */
export function knownEvent(event: string): EventKind {
  const alike = EVENT_KINDS.find((kind) => eventSubject(kind) === eventSubject(event));
  return EVENT_KINDS.find((kind) => kind === event) ?? alike ?? 'ping';
}
