/** Error bodies of the service. All forms are assumed; the specification states none. */
import * as z from 'zod';

export const serviceErrorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string().default(''),
    fields: z.record(z.string(), z.string()).optional(),
  }),
});

/** Error codes in `serviceErrorBody.error.code` with a known meaning. */
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

/** The known names in an error body. */
export interface NamedError {
  readonly code?: ServiceErrorCode;
  /** Field names that the body lists beside a problem. They are not checked: any text may be among them. */
  readonly fields: readonly string[];
}

const CODES: ReadonlySet<string> = new Set(SERVICE_ERROR_CODES);

/**
 * Reads the usual forms of an error body: `{"error": {code, fields}}`, `{"error": "code"}`, `{"code": …}`, problem
 * details with a `type` that ends with the code (RFC 9457), `{"errors": {field: […]}}` and `{"errors": [{"code": …,
 * "field": …}]}`. Never throws.
 */
export function readErrorBody(body: unknown): NamedError {
  const layers = [at(body, 'error'), body];
  const listed = layers.flatMap((layer): readonly unknown[] => {
    const errors = at(layer, 'errors');
    return Array.isArray(errors) ? errors : [];
  });
  const codes = [...layers, ...listed].flatMap((each) => [each, at(each, 'code'), lastSegment(at(each, 'type'))]);
  const code = codes.map(codeOf).find((each) => each !== undefined);
  const fields = layers.flatMap((layer) => [...fieldsOf(at(layer, 'fields')), ...fieldsOf(at(layer, 'errors'))]);
  return { ...(code === undefined ? {} : { code }), fields: [...new Set(fields)] };
}

function codeOf(value: unknown): ServiceErrorCode | undefined {
  const snake = typeof value === 'string' ? value.trim().replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2') : '';
  const code = snake.toLowerCase().replaceAll('-', '_');
  return CODES.has(code) ? (code as ServiceErrorCode) : undefined;
}

function lastSegment(type: unknown): unknown {
  return typeof type === 'string' ? type.split(/[/#:]/).at(-1) : undefined;
}

function fieldsOf(errors: unknown): readonly string[] {
  if (!Array.isArray(errors)) return typeof errors === 'object' && errors !== null ? Object.keys(errors) : [];
  const named = errors.flatMap((each: unknown) => [
    at(each, 'field'),
    at(each, 'name'),
    lastSegment(at(each, 'pointer')),
  ]);
  return named.filter((name) => typeof name === 'string');
}

function at(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
