/**
 * Every wire shape of the service, once.
 *
 * The specification states the endpoints and request fields and leaves most responses "not shown". Each part
 * therefore carries a mark: *stated* (the specification says it), *shape assumed* (the call is stated, the shape of
 * its answer is ours) or *call assumed* (nothing about it is stated). From this file come the TypeScript types, the
 * runtime checks of the client, the simulator's routes and its OpenAPI document.
 *
 * Answers are read tolerantly: unknown fields pass, a missing field that is needed is contract drift.
 */
import * as z from 'zod';
import { parseDecimal } from '#domain/money.ts';

/** How sure we are of a part of the contract. */
export type Mark = 'stated' | 'shape assumed' | 'call assumed';

/** What the specification calls the brand in header names; the original interface carries its own word there. */
export const SERVICE_HEADER_WORD = 'Service';

export const SERVICE_HEADERS = {
  event: `X-${SERVICE_HEADER_WORD}-Event`,
  delivery: `X-${SERVICE_HEADER_WORD}-Delivery`,
  timestamp: `X-${SERVICE_HEADER_WORD}-Timestamp`,
  signature: `X-${SERVICE_HEADER_WORD}-Signature`,
} as const;

export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';

export { WEBHOOK_TOLERANCE_SECONDS } from '#crypto/webhook-signature.ts';

// ---------------------------------------------------------------- field kinds

/**
 * An identifier; the specification says "string" for some and shows none, so numbers are taken too. Visible ASCII:
 * identifiers go into paths and text columns, where a NUL or half a character would do harm.
 */
const wireId = z
  .union([z.string().regex(/^[\x21-\x7e]{1,128}$/), z.number().int().nonnegative()])
  .transform(String)
  .meta({ description: 'Identifier (string, or a number that is read as one).' });

/** An exact amount: a JSON number or a decimal string. */
const wireDecimal = z
  .union([z.string(), z.number()])
  .transform((value, context) => {
    try {
      return parseDecimal(value);
    } catch {
      context.addIssue({ code: 'custom', message: 'not a decimal amount' });
      return z.NEVER;
    }
  })
  .meta({ description: 'Decimal amount.' });

const wireCurrency = z.string().regex(/^[A-Z]{3}$/).meta({ description: 'ISO 4217 currency code.' });
const wireTime = z.iso.datetime({ offset: true }).meta({ description: 'RFC 3339 time.' });

// ---------------------------------------------------------------- resources

export const loginRequest = z.object({
  email: z.email(),
  password: z.string().min(1),
  device_name: z.string().min(1).max(255),
  /** Accepted on production login only. */
  expires_in_days: z.int().min(1).max(3650).optional(),
});

export const loginResponse = z.object({
  /** Goes into a header: visible ASCII. */
  access_token: z.string().regex(/^[\x21-\x7e]{1,8192}$/),
  token_type: z.literal('Bearer').optional(),
  expires_at: wireTime.nullish(),
});

export const servicePackage = z.object({
  id: z.int().nonnegative(),
  name: z.string(),
  /** ISO 3166-1 alpha-2 codes. */
  countries: z.array(z.string()).default([]),
  /** Megabytes; null means unlimited. */
  data_mb: z.number().nonnegative().nullable().default(null),
  validity_days: z.int().positive().nullish(),
  price_for_reseller: wireDecimal,
  currency: wireCurrency,
  available: z.boolean().default(true),
});

export const orderRequest = z.object({
  package_id: z.int().nonnegative(),
  external_order_id: z.string().min(1).max(128),
  device_imei: z.string().regex(/^[0-9]{14,16}$/).optional(),
});

export const orderStatus = z.enum(['processing', 'completed', 'failed']);

export const serviceOrder = z.object({
  id: wireId,
  external_order_id: z.string().nullish(),
  package_id: z.int().nonnegative().nullish(),
  status: orderStatus,
  esim_id: wireId.nullish(),
  /** The amount charged to the reseller. */
  price_for_reseller: wireDecimal.nullish(),
  currency: wireCurrency.nullish(),
  failure: z.object({ code: z.string().regex(/^[\x20-\x7e]{1,128}$/), message: z.string().default('') }).nullish(),
  created_at: wireTime.nullish(),
});

export const serviceEsim = z.object({
  id: wireId,
  order_id: wireId.nullish(),
  iccid: z.string().regex(/^[0-9]{18,22}$/),
  /** `LPA:1$<SM-DP+ address>$<matching id>`. */
  activation_code: z.string().min(1),
  status: z.string().regex(/^[\x20-\x7e]{1,64}$/),
  installed_at: wireTime.nullish(),
  activated_at: wireTime.nullish(),
  expires_at: wireTime.nullish(),
});

export const serviceWallet = z.object({ balance: wireDecimal, currency: wireCurrency });

export const walletTransaction = z.object({
  id: wireId,
  type: z.enum(['debit', 'credit']),
  amount: wireDecimal,
  currency: wireCurrency,
  /** What the movement is for: `order`, `refund`, `deposit`, … */
  reason: z.string(),
  order_id: wireId.nullish(),
  external_order_id: z.string().nullish(),
  created_at: wireTime,
});

export const serviceErrorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string().default(''),
    fields: z.record(z.string(), z.string()).optional(),
  }),
});

/** A page of a list; `next_cursor` is null on the last one. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullish() });
}

// ---------------------------------------------------------------- endpoints

/** Error codes in `serviceErrorBody.error.code`; all assumed, none stated. */
export const SERVICE_ERROR_CODES = [
  'unauthenticated',
  'not_approved',
  'not_found',
  'validation_failed',
  'package_unavailable',
  'insufficient_balance',
  'idempotency_key_in_use',
  'idempotency_key_missing',
  'idempotency_key_reused',
  'reference_exists',
  'malformed_request',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
] as const;
export type ServiceErrorCode = (typeof SERVICE_ERROR_CODES)[number];

/** One call of the interface. */
export interface EndpointContract {
  readonly method: 'GET' | 'POST';
  /** Relative to `{base_url}` or `{sandbox_url}`; `{id}` is a path parameter. */
  readonly path: string;
  readonly purpose: string;
  readonly request: Mark;
  readonly response: Mark;
  /** Why it is assumed as it is. */
  readonly reason: string;
  readonly authorized: boolean;
  readonly idempotencyKey: boolean;
  readonly query?: readonly string[];
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
}

export const ENDPOINTS = {
  login: {
    method: 'POST',
    path: '/login',
    purpose: 'Creates an API token; under {sandbox_url} a sandbox token.',
    request: 'stated',
    response: 'shape assumed',
    reason: 'The name of the token field and the lifetime are not shown; access_token and expires_at are the OAuth words.',
    authorized: false,
    idempotencyKey: false,
    body: loginRequest,
    answer: loginResponse,
  },
  listPackages: {
    method: 'GET',
    path: '/packages',
    purpose: 'Lists eSIM packages with price_for_reseller.',
    request: 'call assumed',
    response: 'call assumed',
    reason: 'A public package listing is said to exist; its path is not shown.',
    authorized: true,
    idempotencyKey: false,
    query: ['cursor', 'limit'],
    answer: pageOf(servicePackage),
  },
  createOrder: {
    method: 'POST',
    path: '/orders',
    purpose: 'Buys an eSIM package.',
    request: 'stated',
    response: 'shape assumed',
    reason: 'Only the outcomes completed, processing and failed are named (events).',
    authorized: true,
    idempotencyKey: true,
    body: orderRequest,
    answer: serviceOrder,
  },
  getOrder: {
    method: 'GET',
    path: '/orders/{id}',
    purpose: 'Reads one order.',
    request: 'call assumed',
    response: 'call assumed',
    reason: 'No read of an order is shown; without it only webhooks tell how an order went on.',
    authorized: true,
    idempotencyKey: false,
    answer: serviceOrder,
  },
  listOrders: {
    method: 'GET',
    path: '/orders',
    purpose: 'Lists orders, newest first; filtered by external_order_id.',
    request: 'call assumed',
    response: 'call assumed',
    reason: 'No list is shown; it is the only way to find an order whose answer was lost.',
    authorized: true,
    idempotencyKey: false,
    query: ['external_order_id', 'cursor', 'limit'],
    answer: pageOf(serviceOrder),
  },
  getEsim: {
    method: 'GET',
    path: '/esims/{id}',
    purpose: 'Reads an eSIM: delivery (ICCID, activation code), installation and activation facts.',
    request: 'call assumed',
    response: 'call assumed',
    reason: 'eSIM delivery is said to exist; path and shape are not shown. The other eSIM paths start with /esims/{id}.',
    authorized: true,
    idempotencyKey: false,
    answer: serviceEsim,
  },
  getWallet: {
    method: 'GET',
    path: '/wallet',
    purpose: 'Reads the wallet balance.',
    request: 'call assumed',
    response: 'call assumed',
    reason: 'Reading wallet data is said to be possible; path and shape are not shown.',
    authorized: true,
    idempotencyKey: false,
    answer: serviceWallet,
  },
  listWalletTransactions: {
    method: 'GET',
    path: '/wallet/transactions',
    purpose: 'Lists debits and credits, newest first; filtered by external_order_id or from a time on.',
    request: 'call assumed',
    response: 'call assumed',
    reason: 'Reading wallet data is said to be possible; path and shape are not shown.',
    authorized: true,
    idempotencyKey: false,
    query: ['external_order_id', 'since', 'cursor', 'limit'],
    answer: pageOf(walletTransaction),
  },
} as const satisfies Record<string, EndpointContract>;

export type EndpointName = keyof typeof ENDPOINTS;

// ---------------------------------------------------------------- events

/** All event kinds of the specification. */
export const EVENT_KINDS = [
  'ping',
  'order.completed',
  'order.processing',
  'order.failed',
  'topup.completed',
  'topup.processing',
  'topup.failed',
  'esim.cancelled',
  'refund.completed',
  'refund.failed',
  'vpn.subscription.active',
  'vpn.subscription.cancelled',
  'vpn.subscription.expired',
  'vpn.subscription.failed',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** Shape assumed: the body layout of events is not shown. `event` in the signed body is what we act on. */
export const eventEnvelope = z.object({
  event: z.string().min(1),
  created_at: wireTime.nullish(),
  data: z.record(z.string(), z.unknown()).default({}),
});

/** Shape assumed: `data` of the three order events is the order as a read would return it. */
export const orderEventData = serviceOrder;

export type LoginRequest = z.input<typeof loginRequest>;
export type LoginResponse = z.output<typeof loginResponse>;
export type ServicePackage = z.output<typeof servicePackage>;
export type OrderRequest = z.output<typeof orderRequest>;
export type ServiceOrder = z.output<typeof serviceOrder>;
export type ServiceEsim = z.output<typeof serviceEsim>;
export type ServiceWallet = z.output<typeof serviceWallet>;
export type WalletTransaction = z.output<typeof walletTransaction>;
export type EventEnvelope = z.output<typeof eventEnvelope>;
