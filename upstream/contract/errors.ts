/** All forms are assumed; the specification states none. */
import * as z from 'zod';
import { topupRequest } from '#upstream/contract/esims.ts';
import { loginRequest } from '#upstream/contract/login.ts';
import { orderRequest } from '#upstream/contract/orders.ts';
import { simulationRequest, updateQuery } from '#upstream/contract/service.ts';
import { vpnOrderRequest } from '#upstream/contract/vpn.ts';

export const serviceErrorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string().default(''),
    fields: z.record(z.string(), z.string()).optional(),
  }),
});

export const SERVICE_ERROR_CODES = [
  'unauthenticated',
  'not_approved',
  'not_found',
  'validation_failed',
  'package_unavailable',
  'plan_unavailable',
  'insufficient_balance',
  'topup_incompatible',
  'cancellation_refused',
  'already_cancelled',
  'esim_busy',
  'idempotency_key_in_use',
  'idempotency_key_missing',
  'idempotency_key_reused',
  'reference_exists',
  'webhook_secret_exists',
  'malformed_request',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal_error',
] as const;
export type ServiceErrorCode = (typeof SERVICE_ERROR_CODES)[number];

export interface NamedError {
  readonly code?: ServiceErrorCode;
  /** Only fields of our requests. */
  readonly fields: readonly string[];
  /** The body concerns only our reference or key, or says that something exists already. */
  readonly isKnownAlready: boolean;
  /** Foreign text that may repeat what was sent. */
  readonly message?: string;
}

const CODES: ReadonlySet<string> = new Set(SERVICE_ERROR_CODES);

const purchaseFields = [orderRequest, topupRequest, vpnOrderRequest].flatMap(({ shape }) => Object.keys(shape));
const otherFields = [loginRequest, simulationRequest, updateQuery].flatMap(({ shape }) => Object.keys(shape));
const REQUEST_FIELDS: readonly string[] = [...new Set([...purchaseFields, ...otherFields])];

const REFERENCES = [
  'external_order_id',
  'external_subscription_id',
  'external_order',
  'external_subscription',
  'external_id',
  'reference',
  'idempotency_key',
];
const isOther = (field: string) => !REFERENCES.includes(field);

const LISTS = ['fields', 'errors', 'field_errors', 'violations', 'invalid_params', 'details', 'detail', 'data'];
const FIELD_KEYS = ['field', 'name', 'param', 'parameter', 'property', 'property_path', 'path', 'pointer', 'loc'];
const TEXT_KEYS = ['message', 'error', 'title', 'detail', 'description', 'error_description', 'reason', 'msg', 'code'];

/**
 * Reads `{"error": {code, fields}}`, `{"error": "code"}`, `{"code": …}`, problem details (RFC 9457), fields as keys
 * (`{"errors": {field: […]}}`), fields in a list (`{"errors": [{"field": …}]}`, `{"detail": [{"loc": […]}]}`,
 * JSON:API), and plain sentences. Never throws.
 */
export function readErrorBody(body: unknown): NamedError {
  const layers = [at(body, 'error'), body];
  const lists = layers.flatMap((layer) => LISTS.map((name) => at(layer, name)));
  const entries = lists.flatMap((list): readonly unknown[] => (Array.isArray(list) ? list.slice(0, MOST_PARTS) : []));
  const codes = [...layers, ...entries].flatMap((each) => [each, at(each, 'code'), lastSegment(at(each, 'type'))]);
  const code = codes.map(codeOf).find((each) => each !== undefined);
  // The body may repeat the request; only a list of complaints shows that a field is refused.
  const refused = partsOf(body).flatMap(([name, value]) => (Array.isArray(value) && isOurs(name) ? [name] : []));
  const listed = [...lists.flatMap(keysOf), ...[...lists, ...entries].flatMap(fieldsOf), ...fieldsOf(layers[0])];
  const named = new Set([...refused, ...listed].map(plainName));
  const texts = [...layers, ...entries, ...lists.flatMap(valuesOf), ...[...layers, ...entries].flatMap(textsOf)]
    .filter((text) => typeof text === 'string')
    .map(plainName);
  const message = sentenceOf([...layers, ...entries]);
  return {
    ...(code === undefined ? {} : { code }),
    fields: REQUEST_FIELDS.filter((field) => named.has(field)),
    isKnownAlready: isKnownAlready(named, texts),
    ...(message === undefined ? {} : { message }),
  };
}

const SENTENCE_KEYS = ['message', 'detail', 'description', 'error_description', 'error_message', 'reason', 'msg'];

function sentenceOf(layers: readonly unknown[]): string | undefined {
  const named = layers.flatMap((layer) => SENTENCE_KEYS.map((key) => at(layer, key)));
  const others = layers.flatMap((layer) => [layer, at(layer, 'title')]);
  const isSentence = (text: unknown): text is string =>
    typeof text === 'string' && text.trim() !== '' && codeOf(text) === undefined;
  return [...named, ...others].find(isSentence);
}

const SAYS_KNOWN = /(?:^|_)(?:duplicated?|already_(?:been_)?(?:taken|exists?|processed)|must_be_unique)(?:_|\W|$)/;
const COMPLAINTS: ReadonlySet<string> = new Set(['taken', 'unique']);

/**
 * A refusal of our reference alone is never final: the service may have the purchase under it. Sentences are read only
 * when no other field of our request is listed.
 */
function isKnownAlready(named: ReadonlySet<string>, texts: readonly string[]): boolean {
  if (REQUEST_FIELDS.some((field) => named.has(field) && isOther(field))) return false;
  if (REFERENCES.some((name) => named.has(name))) return true;
  return texts.some((text) => {
    if (SAYS_KNOWN.test(text) || COMPLAINTS.has(text)) return true;
    const namesAnother = purchaseFields.some((field) => isOther(field) && text.includes(field));
    return !namesAnother && REFERENCES.some((name) => text.includes(name));
  });
}

function isOurs(name: string): boolean {
  return REQUEST_FIELDS.includes(plainName(name));
}

function codeOf(value: unknown): ServiceErrorCode | undefined {
  const code = typeof value === 'string' ? plainName(value) : '';
  return CODES.has(code) ? (code as ServiceErrorCode) : undefined;
}

function plainName(text: string): string {
  const words = text.slice(0, MOST_OF_A_TEXT).trim();
  return words
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

/** Sentences of errors are shorter: the rest is not read. */
const MOST_OF_A_TEXT = 1_000;
const MOST_PARTS = 100;

function lastSegment(name: unknown): unknown {
  if (Array.isArray(name)) return lastSegment(name.slice(0, MOST_PARTS).findLast((each) => typeof each === 'string'));
  return typeof name === 'string' ? name.split(/[/#:.]/).at(-1) : undefined;
}

function partsOf(holder: unknown): readonly (readonly [string, unknown])[] {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return [];
  return Object.entries(holder).slice(0, MOST_PARTS);
}

function keysOf(holder: unknown): readonly string[] {
  const complaints = partsOf(holder).filter(([, value]) => typeof value === 'string' || typeof value === 'object');
  return complaints.map(([name]) => name.split('.').at(-1) ?? name);
}

function valuesOf(holder: unknown): readonly unknown[] {
  return typeof holder === 'string' ? [holder] : partsOf(holder).flatMap(([, value]): unknown => value);
}

function fieldsOf(entry: unknown): readonly string[] {
  const named = [entry, at(entry, 'source')].flatMap((each) => FIELD_KEYS.map((key) => lastSegment(at(each, key))));
  return named.filter((name) => typeof name === 'string');
}

function textsOf(entry: unknown): readonly unknown[] {
  return TEXT_KEYS.map((key) => at(entry, key));
}

function at(value: unknown, name: string): unknown {
  return partsOf(value).find(([key]) => key === name || plainName(key) === name)?.[1];
}
