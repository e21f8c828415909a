import type { ProblemCode } from '#api/problems/problem-catalogue.ts';

/** Of problems whose title does not suffice. */
export const PROBLEM_MEANINGS: Partial<Record<ProblemCode, string>> = {
  validation_failed:
    'A field, a parameter or the whole body does not match the API description, or has an unknown field. Nothing ' +
    'was done.',
  purchase_not_possible:
    'The service does not sell what the request names, or sells it in another currency than `max_price`. `read_at` ' +
    'tells when its offers were read. Nothing was bought.',
  quote_expired: 'The price of a quote holds for 15 minutes. Nothing was bought.',
  malformed_json: 'The body could not be read as one unambiguous JSON object. Nothing was done.',
  malformed_request:
    'The address is not valid percent-encoding, or the connection broke before the body was complete. Nothing ' +
    'was done.',
  idempotency_key_missing:
    'Calls that create something need a key, so that a retry after a lost answer cannot create it twice. Nothing ' +
    'was done.',
  idempotency_key_invalid:
    'The key is empty, too long, has characters other than visible ASCII, or was repeated. Nothing was done.',
  delivery_id_missing:
    'A webhook of the service was signed correctly, but without an id its retries cannot be recognised. It was not ' +
    'stored.',
  unauthenticated:
    'The request has no key, or one that is unknown, revoked or expired. The answer does not say which, so that ' +
    'it reveals no keys.',
  invalid_signature:
    'The signature of the webhook matches no current secret, or its timestamp is too old. It was not stored.',
  missing_scope: 'The key is valid, but lacks the scope of this call.',
  route_not_found: 'No call has this address. A trailing slash or a capital letter makes another address.',
  order_not_found:
    'No order has this id. An `external_order_id` goes into the list: `GET /v1/orders?external_order_id=…`.',
  access_data_unavailable: 'The subscription exists, but its access data are not known.',
  package_not_found: 'The service sells no package with this id to this reseller at the moment.',
  vpn_plan_not_found: 'The service sells no VPN plan with this id to this reseller at the moment.',
  method_not_allowed: 'The address exists, but not with this method.',
  external_order_id_taken:
    'You have ordered under this reference before, perhaps in a request whose answer was lost. Nothing new was bought.',
  external_batch_id_taken:
    'You have ordered a batch under this reference before, perhaps in a request whose answer was lost. Nothing new ' +
    'was bought.',
  nothing_delivered: 'A sheet or archive of QR codes would be empty.',
  external_topup_id_taken:
    'You have topped up under this reference before, perhaps in a request whose answer was lost. Nothing new was ' +
    'bought.',
  external_subscription_id_taken:
    'You have subscribed under this reference before, perhaps in a request whose answer was lost. Nothing new ' +
    'was bought.',
  cancellation_exists: 'This eSIM is being cancelled, or was cancelled. Nothing new was sent.',
  sandbox_only: 'In production only the phone of the customer changes an eSIM. Nothing was done.',
  action_not_possible:
    'The status of the work does not allow the action: finished work cannot be retried, and work that may have ' +
    'bought something cannot be abandoned.',
  idempotency_in_progress:
    'The first request with this key is still in progress, probably because you retried before its answer.',
  webhook_secret_exists: 'The service keeps one secret and shows it once, at its creation.',
  payload_too_large: 'The body is longer than `API_BODY_LIMIT`; for a batch, longer than 3 MiB.',
  unsupported_media_type: 'The body is JSON, and its Content-Type must be `application/json`.',
  unsupported_encoding:
    'Compressed bodies are refused: signatures cover the bytes as sent, and a small body must stay small.',
  idempotency_key_reused: 'The key was used before with another body or for another call. Nothing was done.',
  internal_error: 'A bug, or an unexpected error. The request may have been carried out.',
  service_does_not_offer: 'The upstream service is configured as not offering this call.',
  service_failed: 'The call to the upstream service failed, or its answer could not be read.',
  service_unavailable: 'The upstream service is down, limits our requests, or refuses this reseller.',
  database_unavailable: 'PostgreSQL is restarting, failing over or overloaded.',
  service_timeout: 'The call to the upstream service timed out.',
};
