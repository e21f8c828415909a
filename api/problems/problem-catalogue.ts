import { ID_PREFIXES } from '#domain/work/identifiers.ts';
import { KINDS, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

interface ProblemRow {
  readonly status: number;
  readonly title: string;
  readonly advice: string;
}

function missing(what: string, advice: string): ProblemRow & { readonly status: 404 } {
  return { status: 404, title: `There is no such ${what}`, advice };
}

const WORK_NOT_FOUND = Object.fromEntries(
  WORK_KINDS.map((kind) => [
    `${kind}_not_found`,
    missing(KINDS[kind].noun, `Check the id; it begins with \`${ID_PREFIXES[kind]}_\`.`),
  ]),
) as Record<`${WorkKind}_not_found`, ReturnType<typeof missing>>;

function referenceTaken(kind: WorkKind, field: string): ProblemRow & { readonly status: 409 } {
  const { noun } = KINDS[kind];
  const title = `${/^[aeiou]/.test(noun) ? 'An' : 'A'} ${noun} with this ${field} exists`;
  const same = `Read the ${noun} in \`existing\`. If it is the one you meant, do nothing;`;
  return { status: 409, title, advice: `${same} for another one use a new ${field}.` };
}

const REFERENCE_TAKEN = {
  external_order_id_taken: referenceTaken('order', 'external_order_id'),
  external_topup_id_taken: referenceTaken('topup', 'external_topup_id'),
  external_subscription_id_taken: referenceTaken('vpn_subscription', 'external_subscription_id'),
};

/** RFC 9457. Callers switch on the codes: none is renamed or gets another meaning. */
export const PROBLEMS = {
  validation_failed: {
    status: 400,
    title: 'The request is not valid',
    advice: 'Correct the fields in `errors`. The same request will fail again.',
  },
  malformed_json: {
    status: 400,
    title: 'The body is not usable JSON',
    advice: 'Send one JSON object in UTF-8 (RFC 8259) without repeated fields and with at most 32 levels.',
  },
  malformed_request: {
    status: 400,
    title: 'The request is malformed',
    advice: 'Correct the percent-encoding of the address, a repeated header, or a body that ended too early.',
  },
  idempotency_key_missing: {
    status: 400,
    title: 'The Idempotency-Key header is missing',
    advice: 'Send a value that is unique for this operation, such as a UUID, and send it again with each retry.',
  },
  idempotency_key_invalid: {
    status: 400,
    title: 'The Idempotency-Key header is not valid',
    advice: 'Send 1 to 255 visible ASCII characters, bare or as a string in double quotes (RFC 9651), once.',
  },
  delivery_id_missing: {
    status: 400,
    title: 'The signed delivery has no usable delivery id',
    advice:
      'Send `X-Service-Delivery` (or the same under the prefix of SERVICE_HEADER_PREFIX) with 1 to 255 visible ASCII ' +
      'characters that do not begin with `read:`.',
  },
  unauthenticated: {
    status: 401,
    title: 'No valid API key',
    advice: 'Send `Authorization: Bearer <API key>` with a key that is neither revoked nor expired.',
  },
  invalid_signature: {
    status: 401,
    title: 'The signature is not valid',
    advice: 'Sign timestamp, full stop and raw body with the current secret; the timestamp is at most 300 seconds off.',
  },
  missing_scope: {
    status: 403,
    title: 'The API key lacks a scope',
    advice: 'Use a key with the scope in `detail`, or request one from an administrator.',
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
  },
  ...WORK_NOT_FOUND,
  order_batch_not_found: missing('batch of orders', 'Check the id; it begins with `bat_`.'),
  refund_not_found: missing('refund', 'Check the id; it begins with `ref_`.'),
  access_data_unavailable: {
    status: 404,
    title: 'There are no access data',
    advice: 'They are available once the subscription is active, unless the service delivers them itself.',
  },
  case_not_found: missing('case', 'Check the id; it begins with `case_`.'),
  dead_letter_not_found: missing('dead letter', 'It may have been requeued or dismissed already: see the list.'),
  drift_stop_not_found: missing('stop', 'See `GET /v1/purchase-gate`.'),
  pause_not_found: missing('pause', 'Check the id; it begins with `pause_`.'),
  pricing_rule_not_found: missing('pricing rule', 'Check the id; it begins with `rule_`.'),
  esim_not_found: missing('eSIM', 'Check the id; it begins with `esim_`.'),
  share_link_not_found: missing(
    'share link',
    'Check the id; it begins with `link_`. The secret in the address of a link is not its id.',
  ),
  wallet_transaction_not_found: missing(
    'movement of the wallet',
    'Check the id: it begins with `mov_` and is in the list with `cause=none`.',
  ),
  reconciliation_not_found: missing(
    'reconciliation',
    'Check the id; it begins with `rec_`. Reports are deleted after some months.',
  ),
  package_not_found: missing('package', 'Read GET /v1/packages again: the service may have withdrawn it.'),
  vpn_plan_not_found: missing('VPN plan', 'Read GET /v1/vpn/plans again: the service may have withdrawn it.'),
  webhook_endpoint_not_found: missing('webhook endpoint', 'Check the id; it begins with `we_`.'),
  webhook_delivery_not_found: missing(
    'delivery of this webhook endpoint',
    'Check the id; it begins with `wd_`. Ended deliveries are deleted after some weeks.',
  ),
  event_not_found: missing(
    'event',
    'Check the id; it begins with `evt_`. It is published a moment after the change, and deleted after some ' +
      'weeks.',
  ),
  problem_not_found: missing('problem', 'Compare the code with /openapi.json.'),
  method_not_allowed: {
    status: 405,
    title: 'This method is not allowed here',
    advice: 'Use one of the methods in the Allow header.',
  },
  pricing_rule_exists: {
    status: 409,
    title: 'A pricing rule with the same target and currency is in force',
    advice: 'Change the rule in `existing`, or end it first: it would be undefined which of two rules applies.',
  },
  pricing_rule_changed: {
    status: 409,
    title: 'The pricing rule has changed since you read it',
    advice: 'It was changed or ended meanwhile. Read it again and decide again.',
  },
  ...REFERENCE_TAKEN,
  external_batch_id_taken: {
    status: 409,
    title: 'A batch with this external_batch_id exists',
    advice:
      'Read the batch in `existing`. If it is the one you meant, do nothing; for another one use a new reference.',
  },
  nothing_delivered: {
    status: 409,
    title: 'No eSIM of the batch is delivered yet',
    advice: 'Wait until an order of the batch is completed, or for the event `order_batch.completed`.',
  },
  cancellation_exists: {
    status: 409,
    title: 'A cancellation of this eSIM exists',
    advice: 'Read the one in `existing`. Another one is possible after it was refused or abandoned.',
  },
  esim_ended: {
    status: 409,
    title: 'The eSIM is cancelled or expired, or is being cancelled',
    advice: 'It can no longer be installed, so it has nothing to share.',
  },
  sandbox_only: {
    status: 409,
    title: 'This is possible only in the sandbox',
    advice: 'Use an installation whose `SERVICE_MODE` is `sandbox`, with a key that begins with `rsk_test_`.',
  },
  action_not_possible: {
    status: 409,
    title: 'The action is not possible in its current state',
    advice: 'Read it again: `refusal` and `detail` contain the reason.',
  },
  webhook_endpoint_disabled: {
    status: 409,
    title: 'The webhook endpoint is disabled',
    advice: 'Enable it first: POST …/enable, which can also replay what it has missed.',
  },
  webhook_endpoint_limit: {
    status: 409,
    title: 'The maximum number of webhook endpoints is reached',
    advice: 'Delete one that is no longer needed. One endpoint can get events of several kinds.',
  },
  idempotency_in_progress: {
    status: 409,
    title: 'A request with this Idempotency-Key is in progress',
    advice: 'Send the same request again after the time in Retry-After.',
  },
  webhook_secret_exists: {
    status: 409,
    title: 'The service has a webhook secret already',
    advice: 'The service shows it only once. Rotate it to get one that is stored here.',
  },
  webhook_secret_missing: {
    status: 409,
    title: 'The service has no webhook secret to rotate',
    advice: 'Create the first one.',
  },
  webhook_secret_busy: {
    status: 409,
    title: 'Another request is changing the webhook secret',
    advice: 'Do nothing if you wanted that change; otherwise send the same request again after Retry-After.',
  },
  cursor_expired: {
    status: 410,
    title: 'The events after this cursor are no longer stored',
    advice:
      'You have missed events. Read the lists of the resources that you track (filter by `updated_after`), ' +
      'then continue the feed without a cursor, or with `since`.',
  },
  payload_too_large: {
    status: 413,
    title: 'The body is too large',
    advice: 'Send a smaller body; `detail` contains the limit.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The content type is not supported',
    advice: 'Send `Content-Type: application/json`.',
  },
  unsupported_encoding: {
    status: 415,
    title: 'The content encoding is not supported',
    advice: 'Send the body uncompressed, without Content-Encoding.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'This Idempotency-Key was used for another request',
    advice: 'Use a new key for a new request, and the same body for a retry.',
  },
  purchase_not_possible: {
    status: 422,
    title: 'This purchase is not possible',
    advice:
      'Correct the fields in `errors`. Nothing was stored, so the same reference and the same Idempotency-Key can be ' +
      'used again.',
  },
  quote_expired: {
    status: 422,
    title: 'The quote has expired',
    advice:
      'Ask for a new quote and pass its id, or give `max_price` instead. Nothing was stored, so the same reference ' +
      'and the same Idempotency-Key can be used again.',
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
  },
  service_does_not_offer: {
    status: 501,
    title: 'The service has no call for this',
    advice:
      'Use the console of the service. SERVICE_MISSING_CAPABILITIES lists the capabilities that are switched off.',
  },
  service_failed: {
    status: 502,
    title: 'The call to the service failed',
    advice: 'Try again later; `failure_class` contains the reason.',
  },
  service_unavailable: {
    status: 503,
    title: 'The service is not available to us',
    advice: 'Try again after the time in Retry-After; `failure_class` contains the reason.',
  },
  database_unavailable: {
    status: 503,
    title: 'The database is not available',
    advice:
      'Send the same request again, with the same Idempotency-Key, after the time in Retry-After. It may ' +
      'have been carried out; the key prevents a second execution.',
  },
  service_timeout: {
    status: 504,
    title: 'The service did not answer in time',
    advice: 'Try again after the time in Retry-After.',
  },
} as const satisfies Record<string, ProblemRow>;

export type ProblemCode = keyof typeof PROBLEMS;

export const problemCodes = Object.keys(PROBLEMS) as readonly ProblemCode[];
