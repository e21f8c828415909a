import type { ProblemCode } from '#api/problems/problem-catalogue.ts';

/**
 * What has happened, in a sentence or two, where the title does not say it all; on the problem's page and in the
 * reference.
 */
export const PROBLEM_MEANINGS: Partial<Record<ProblemCode, string>> = {
  validation_failed:
    'A field, a parameter or the body as a whole is not what the description allows, or there is one that it does not know. Nothing was done.',
  malformed_json: 'The body could not be read as one JSON object with a single meaning. Nothing was done.',
  malformed_request:
    'The address is not valid percent-encoding, or the connection broke before the body was complete. Nothing was done.',
  idempotency_key_missing:
    'Calls that make something need a key, so that a retry after a lost answer cannot make it twice. Nothing was done.',
  idempotency_key_invalid:
    'The key is empty, too long, has characters other than visible ASCII, or came twice. Nothing was done.',
  delivery_id_missing:
    'A webhook of the service was signed correctly, but cannot be told from its own retries. It was not stored.',
  unauthenticated:
    'No key came, or one that is unknown, revoked or expired; the answer does not tell which, so that strangers learn nothing.',
  invalid_signature: 'A webhook is not signed with any secret in force, or too long ago. It was not stored.',
  missing_scope:
    'The key is valid, but was not made for this. Keys are given the scopes that their user needs and no others.',
  route_not_found: 'No call has this address. A trailing slash or a capital letter makes another address.',
  order_not_found:
    'No order has this id. An `external_order_id` goes into the list: `GET /v1/orders?external_order_id=…`.',
  access_data_not_there: 'The subscription exists, but there is nothing to show for it.',
  package_not_found: 'The service sells no package with this id to this reseller at the moment.',
  method_not_allowed: 'The address is right and the method is not.',
  external_order_id_taken:
    'You have ordered under this reference before, perhaps in a request whose answer was lost. Nothing new was bought.',
  external_topup_id_taken:
    'You have topped up under this reference before, perhaps in a request whose answer was lost. Nothing new was bought.',
  external_subscription_id_taken:
    'You have subscribed under this reference before, perhaps in a request whose answer was lost. Nothing new was bought.',
  cancellation_exists: 'This eSIM is being cancelled, or was. Nothing new was sent.',
  action_not_possible:
    'The act does not fit where the work stands: finished work cannot be retried, and what may be bought cannot be abandoned.',
  idempotency_in_progress:
    'The first request with this key is still under way, most likely because you came back before it was answered.',
  webhook_secret_exists: 'The service keeps one secret and shows it once, at its creation.',
  payload_too_large: 'The body is longer than `API_BODY_LIMIT`.',
  unsupported_media_type: 'Bodies are JSON, and have to say so.',
  unsupported_encoding:
    'Compressed bodies are refused: signatures cover the bytes as sent, and a small body must stay small.',
  idempotency_key_reused:
    'The key was used with another body or for another call, so that the stored answer is not the one to this request. Nothing was done.',
  internal_error: 'A bug of ours, or something that we did not foresee. What was asked for may have been done.',
  service_lacks_call: 'The upstream service is known not to offer this.',
  service_failed:
    'The upstream service had to be asked and answered with an error, or with something that cannot be read.',
  service_unavailable: 'The upstream service is down, asks for patience, or does not let this reseller in.',
  database_unavailable: 'PostgreSQL is restarting, failing over or overloaded.',
  service_timeout: 'The upstream service had to be asked and did not answer in time.',
};
