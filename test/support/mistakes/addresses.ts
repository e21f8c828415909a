/** Mistakes in paths, queries and keys, and with other calls than the one that orders. */
import { ORDER, ULID, type Mistake } from '#test/support/mistakes/mistake.ts';

const ORDERS = (query: string) => ['GET', `/v1/orders?${query}`] as const;

const ofQuery = (name: string, query: string, detail: string): Mistake => ({
  name,
  call: ORDERS(query),
  answers: [400, 'validation_failed', detail],
});

export const MISTAKES_IN_ADDRESSES: readonly Mistake[] = [
  ofQuery('page numbers', 'page=2', 'The parameter `page` is not a known parameter; did you mean `cursor`?'),
  ofQuery('an offset', 'offset=20', 'The parameter `offset` is not a known parameter; did you mean `cursor`?'),
  ofQuery('page size', 'per_page=20', 'The parameter `per_page` is not a known parameter; did you mean `limit`?'),
  ofQuery('a limit of zero', 'limit=0', 'The parameter `limit` must be a whole number from 1 to 100.'),
  ofQuery('a large limit', 'limit=5000', 'The parameter `limit` must be a whole number from 1 to 100.'),
  ofQuery('a limit in words', 'limit=ten', 'The parameter `limit` must be a whole number from 1 to 100.'),
  ofQuery(
    'a status of nobody',
    'status=done',
    'The parameter `status` must be one of accepted, held, submitting, processing, needs_attention, completed, failed, abandoned, or several, separated by commas.',
  ),
  ofQuery(
    'a status in capitals',
    'status=COMPLETED',
    'The parameter `status` must be one of accepted, held, submitting, processing, needs_attention, completed, failed, abandoned, or several, separated by commas; did you mean `completed`?',
  ),
  ofQuery(
    'an expansion in the plural',
    'expand=esims',
    'The parameter `expand` must be one of operations, esim, activation, or several, separated by commas; did you mean `esim`?',
  ),
  ofQuery(
    'an expansion as Stripe writes it',
    'expand[]=esim',
    'The parameter `expand[]` is not a known parameter; did you mean `expand`?',
  ),
  ofQuery(
    'a singular',
    'statuses=completed',
    'The parameter `statuses` is not a known parameter; did you mean `status`?',
  ),
  ofQuery(
    'a day in the query',
    'created_after=2030-01-01',
    'The parameter `created_after` must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z.',
  ),
  ofQuery('an invented cursor', 'cursor=2', 'The parameter `cursor` is not a cursor of this list.'),
  ofQuery(
    'an id of another kind in the query',
    `esim_id=ord_${ULID}`,
    'The parameter `esim_id` must be the id of an eSIM; it begins with `esim_`.',
  ),
  {
    name: 'an order id for an eSIM',
    call: ['GET', `/v1/esims/ord_${ULID}`],
    answers: [
      404,
      'esim_not_found',
      'The path contains the id of an order. This call takes the id of an eSIM, which begins with `esim_`.',
    ],
  },
  {
    name: 'an id of the service',
    call: ['GET', '/v1/orders/48151'],
    answers: [
      404,
      'order_not_found',
      'The path contains none of our ids. This call takes the id of an order, which begins with `ord_`.',
    ],
  },
  {
    name: 'half of an id',
    call: ['GET', '/v1/orders/ord_01JQ8Z5YV7'],
    answers: [
      404,
      'order_not_found',
      'The id in the path is not complete. This call takes the id of an order, which begins with `ord_`.',
    ],
  },
  {
    name: 'an unknown id',
    call: ['GET', `/v1/orders/ord_${ULID}`],
    answers: [
      404,
      'order_not_found',
      'The id has the right form, but there is no such resource, or this API key may not see it.',
    ],
  },
  {
    name: 'a reference as an id',
    call: ['GET', '/v1/orders/shop-1'],
    answers: [
      404,
      'order_not_found',
      'The path contains none of our ids. This call takes the id of an order, which begins with `ord_`.',
    ],
  },
  {
    name: 'a top-up id for an order',
    call: ['GET', `/v1/orders/top_${ULID}`],
    answers: [
      404,
      'order_not_found',
      'The path contains the id of a top-up. This call takes the id of an order, which begins with `ord_`.',
    ],
  },
  {
    name: 'an unknown package',
    call: ['GET', '/v1/packages/77777'],
    answers: [
      404,
      'package_not_found',
      'There is no such package. Read GET /v1/packages again: the service may have withdrawn it.',
    ],
  },
  {
    name: 'a singular path',
    call: ['GET', '/v1/order'],
    answers: [404, 'route_not_found', 'There is no call at this path. Did you mean `/v1/orders`?'],
  },
  {
    name: 'a path without the version',
    call: ['GET', '/orders'],
    answers: [404, 'route_not_found', 'There is no call at this path. Did you mean `/v1/orders`?'],
  },
  {
    name: 'another version',
    call: ['GET', '/v2/orders'],
    answers: [404, 'route_not_found', 'There is no call at this path. Did you mean `/v1/orders`?'],
  },
  {
    name: 'a singular path with an id',
    call: ['GET', `/v1/esim/esim_${ULID}`],
    answers: [404, 'route_not_found', 'There is no call at this path. Did you mean `/v1/esims/{id}`?'],
  },
  {
    name: 'a path of nobody',
    call: ['GET', '/v1/xyzzy'],
    answers: [404, 'route_not_found', 'There is no call at this path.'],
  },
  {
    name: 'DELETE of an order',
    call: ['DELETE', `/v1/orders/ord_${ULID}`],
    answers: [405, 'method_not_allowed', 'DELETE is not possible at this address. Possible are: GET, HEAD.'],
  },
  {
    name: 'PUT',
    call: ['PUT', '/v1/orders'],
    body: ORDER,
    answers: [405, 'method_not_allowed', 'PUT is not possible at this address. Possible are: POST, GET, HEAD.'],
  },
  {
    name: 'no key',
    call: ORDERS(''),
    anonymous: true,
    answers: [401, 'unauthenticated', 'The Authorization header is missing. Send `Authorization: Bearer <API key>`.'],
  },
  {
    name: 'Basic',
    call: ORDERS(''),
    anonymous: true,
    headers: { authorization: 'Basic cnNrOg==' },
    answers: [
      401,
      'unauthenticated',
      'The Authorization header uses the scheme Basic. Send `Authorization: Bearer <API key>`.',
    ],
  },
  {
    name: 'Token',
    call: ORDERS(''),
    anonymous: true,
    headers: { authorization: 'Token abc' },
    answers: [
      401,
      'unauthenticated',
      'The Authorization header does not use the scheme Bearer. Send `Authorization: Bearer <API key>`.',
    ],
  },
  {
    name: 'a key without a scheme',
    call: ORDERS(''),
    anonymous: true,
    headers: { authorization: `rsk_test_AbCd1234_${'a'.repeat(43)}` },
    answers: [
      401,
      'unauthenticated',
      'The Authorization header contains an API key without the scheme Bearer. Send `Authorization: Bearer <API key>`.',
    ],
  },
  {
    name: 'a key in quotes',
    call: ORDERS(''),
    anonymous: true,
    headers: { authorization: `Bearer "rsk_test_AbCd1234_${'a'.repeat(43)}"` },
    answers: [
      401,
      'unauthenticated',
      'The value in the Authorization header is no API key of this product: a key begins with `rsk_test_` or `rsk_live_` and has 61 characters.',
    ],
  },
  {
    name: 'a shortened key',
    call: ORDERS(''),
    anonymous: true,
    headers: { authorization: 'Bearer rsk_test_AbCd1234_...' },
    answers: [
      401,
      'unauthenticated',
      'The value in the Authorization header is no API key of this product: a key begins with `rsk_test_` or `rsk_live_` and has 61 characters.',
    ],
  },
  {
    name: 'a key of another product',
    call: ORDERS(''),
    anonymous: true,
    headers: { authorization: 'Bearer sk_test_123' },
    answers: [
      401,
      'unauthenticated',
      'The value in the Authorization header is no API key of this product: a key begins with `rsk_test_` or `rsk_live_` and has 61 characters.',
    ],
  },
  {
    name: 'an unknown key',
    call: ORDERS(''),
    anonymous: true,
    headers: { authorization: `Bearer rsk_test_AbCd1234_${'a'.repeat(43)}` },
    answers: [401, 'unauthenticated', 'The API key is not valid: unknown, revoked or expired.'],
  },
  {
    name: 'a top-up without its eSIM',
    call: ['POST', '/v1/topups'],
    body: { package_id: 101, external_topup_id: 'a' },
    answers: [400, 'validation_failed', 'The field `esim_id` is required.'],
  },
  {
    name: 'an ICCID as an eSIM',
    call: ['POST', '/v1/topups'],
    body: { package_id: 101, external_topup_id: 'a', esim_id: '8943108165000000001' },
    answers: [400, 'validation_failed', 'The field `esim_id` must be the id of an eSIM; it begins with `esim_`.'],
  },
  {
    name: 'a webhook endpoint without events',
    call: ['POST', '/v1/webhook-endpoints'],
    body: { url: 'https://example.com/hooks', event_types: [] },
    answers: [400, 'validation_failed', 'The field `event_types` must have at least 1 entry.'],
  },
  {
    name: 'a webhook endpoint in a private network',
    call: ['POST', '/v1/webhook-endpoints'],
    body: { url: 'https://10.0.0.1/hooks', event_types: ['*'] },
    answers: [
      400,
      'validation_failed',
      'The field `url` must lead to a public address: its host is in a private or reserved network that WEBHOOK_ALLOWED_ADDRESSES does not name.',
    ],
  },
  {
    name: 'a pricing rule for a planet',
    call: ['POST', '/v1/pricing/rules'],
    body: { target: { kind: 'planet' }, currency: 'EUR', terms: {} },
    answers: [
      400,
      'validation_failed',
      'The field `target.kind` must be one of "default", "country", "package", "vpn_plan". 1 more error is in `errors`.',
    ],
  },
];
