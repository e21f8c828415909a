/** How the service says no; all assumed, none stated. */
import * as z from 'zod';

export const serviceErrorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string().default(''),
    fields: z.record(z.string(), z.string()).optional(),
  }),
});

/** Error codes in `serviceErrorBody.error.code` that we know the meaning of. */
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
