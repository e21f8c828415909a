import { RESOURCE_PROBLEMS } from '#api/problems/resource-problems.ts';

/** `meaning`: where the title does not suffice. */
export interface ProblemRow {
  readonly status: number;
  readonly title: string;
  readonly advice: string;
  readonly meaning?: string;
}

/** RFC 9457. Callers switch on the codes: none is renamed or gets another meaning. */
export const PROBLEMS = {
  validation_failed: {
    status: 400,
    title: 'The request is not valid',
    advice: 'Correct the fields in `errors`. The same request will fail again.',
    meaning:
      'A field, a parameter or the whole body does not match the API description, or has an unknown field. Nothing ' +
      'was done.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not usable JSON',
    advice: 'Send one JSON object in UTF-8 (RFC 8259) without repeated fields and with at most 32 levels.',
    meaning: 'The body could not be read as one unambiguous JSON object. Nothing was done.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is malformed',
    advice: 'Correct the percent-encoding of the address, a repeated header, or a body that ended too early.',
    meaning:
      'The address is not valid percent-encoding, or the connection broke before the body was complete. Nothing ' +
      'was done.',
  },
  idempotency_key_missing: {
    status: 400,
    title: 'The Idempotency-Key header is missing',
    advice: 'Send a value that is unique for this operation, such as a UUID, and send it again with each retry.',
    meaning:
      'Calls that create something need a key, so that a retry after a lost answer cannot create it twice. Nothing ' +
      'was done.',
  },
  idempotency_key_invalid: {
    status: 400,
    title: 'The Idempotency-Key header is not valid',
    advice: 'Send 1 to 255 visible ASCII characters, bare or as a string in double quotes (RFC 9651), once.',
    meaning: 'The key is empty, too long, has characters other than visible ASCII, or was repeated. Nothing was done.',
  },
  delivery_id_missing: {
    status: 400,
    title: 'The signed delivery has no usable delivery id',
    advice:
      'Send `X-Service-Delivery` (or the same under the prefix of SERVICE_HEADER_PREFIX) with 1 to 255 visible ASCII ' +
      'characters that do not begin with `read:`.',
    meaning:
      'A webhook of the service was signed correctly, but without an id its retries cannot be recognised. It was not ' +
      'stored.',
  },
  unauthenticated: {
    status: 401,
    title: 'No valid API key',
    advice: 'Send `Authorization: Bearer <API key>` with a key that is neither revoked nor expired.',
    meaning:
      'The request has no key, or one that is unknown, revoked or expired. The answer does not say which, so that ' +
      'it reveals no keys.',
  },
  invalid_signature: {
    status: 401,
    title: 'The signature is not valid',
    advice: 'Sign timestamp, full stop and raw body with the current secret; the timestamp is at most 300 seconds off.',
    meaning: 'The signature of the webhook matches no current secret, or its timestamp is too old. It was not stored.',
  },
  missing_scope: {
    status: 403,
    title: 'The API key lacks a scope',
    advice: 'Use a key with the scope in `detail`, or request one from an administrator.',
    meaning: 'The key is valid, but lacks the scope of this call.',
  },
  account_wide_only: {
    status: 403,
    title: 'The API key is limited to its own work',
    advice: 'The call is about the whole account: use a key that was created without `--own-work-only`.',
  },
  route_not_found: {
    status: 404,
    title: 'There is no call at this address',
    advice: 'Compare the address with /openapi.json.',
    meaning: 'No call has this address. A trailing slash or a capital letter makes another address.',
  },
  problem_not_found: { status: 404, title: 'There is no such problem', advice: 'Compare the code with /openapi.json.' },
  method_not_allowed: {
    status: 405,
    title: 'This method is not allowed here',
    advice: 'Use one of the methods in the Allow header.',
    meaning: 'The address exists, but not with this method.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    advice: 'Send the same request again after the time in Retry-After.',
    meaning: 'The first request with this key is still in progress, probably because you retried before its answer.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    advice: 'Send a smaller body; `detail` contains the limit.',
    meaning: 'The body is longer than `API_BODY_LIMIT`; for a batch, longer than 3 MiB.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The content type is not supported',
    advice: 'Send `Content-Type: application/json`.',
    meaning: 'The body is JSON, and its Content-Type must be `application/json`.',
  },
  unsupported_encoding: {
    status: 415,
    title: 'The content encoding is not supported',
    advice: 'Send the body uncompressed, without Content-Encoding.',
    meaning: 'Compressed bodies are refused: signatures cover the bytes as sent, and a small body must stay small.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'This Idempotency-Key was used for another request',
    advice: 'Use a new key for a new request, and the same body for a retry.',
    meaning: 'The key was used before with another body or for another call. Nothing was done.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    advice: 'Send it again after the time in Retry-After. `RateLimit` shows the requests left, `detail` other limits.',
  },
  too_many_streams: {
    status: 429,
    title: 'This API key has too many streams or downloads open',
    advice: 'Close one, wait until a download has ended, or share one stream among its readers.',
  },
  internal_error: {
    status: 500,
    title: 'An internal error occurred',
    advice: 'Send the same request again with the same Idempotency-Key; if it fails again, report the `request_id`.',
    meaning: 'A bug, or an unexpected error. The request may have been carried out.',
  },
  service_does_not_offer: {
    status: 501,
    title: 'The service has no call for this',
    advice:
      'Use the console of the service. SERVICE_MISSING_CAPABILITIES lists the capabilities that are switched off.',
    meaning: 'The upstream service is configured as not offering this call.',
  },
  service_failed: {
    status: 502,
    title: 'The call to the service failed',
    advice: 'Try again later; `failure_class` contains the reason.',
    meaning: 'The call to the upstream service failed, or its answer could not be read.',
  },
  service_unavailable: {
    status: 503,
    title: 'The service is not available to us',
    advice: 'Try again after the time in Retry-After; `failure_class` contains the reason.',
    meaning: 'The upstream service is down, limits our requests, or refuses this reseller.',
  },
  database_unavailable: {
    status: 503,
    title: 'The database is not available',
    advice:
      'Send the same request again, with the same Idempotency-Key, after the time in Retry-After. It may ' +
      'have been carried out; the key prevents a second execution.',
    meaning: 'PostgreSQL is restarting, failing over or overloaded.',
  },
  service_timeout: {
    status: 504,
    title: 'The service did not answer in time',
    advice: 'Try again after the time in Retry-After.',
    meaning: 'The call to the upstream service timed out.',
  },
  ...RESOURCE_PROBLEMS,
} as const satisfies Record<string, ProblemRow>;

export type ProblemCode = keyof typeof PROBLEMS;

export const problemCodes = Object.keys(PROBLEMS) as readonly ProblemCode[];

/** The row, in which the meaning may be absent. */
export function problemRow(code: ProblemCode): ProblemRow {
  return PROBLEMS[code];
}
