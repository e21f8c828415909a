/** Mistakes that people make with an API, one for each kind of refusal: the call, and what its answer must say. */
interface Mistake {
  readonly name: string;
  readonly call: readonly [method: string, path: string];
  /** Sent as JSON, unless it is a string. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** True for a call without an API key. */
  readonly anonymous?: true;
  readonly answers: readonly [status: number, code: string, detail: string];
}

const ORDER = { package_id: 101, external_order_id: 'shop-1' };
/** The second half of an id. */
const ULID = '01JQ8Z5YV7N4M2K3H6T9R0WXCD';
const JSON_TYPE = { 'content-type': 'application/json' };

const posted = (name: string, path: string, body: unknown, detail: string): Mistake => ({
  name,
  call: ['POST', path],
  body,
  answers: [400, 'validation_failed', detail],
});
const order = (name: string, change: Record<string, unknown>, detail: string): Mistake =>
  posted(name, '/v1/orders', { ...ORDER, ...change }, detail);
const read = (name: string, path: string, answers: Mistake['answers']): Mistake => {
  return { name, call: ['GET', path], answers };
};
const list = (name: string, query: string, detail: string): Mistake =>
  read(name, `/v1/orders?${query}`, [400, 'validation_failed', detail]);
const noOrder = (name: string, id: string, detail: string): Mistake =>
  read(name, `/v1/orders/${id}`, [404, 'order_not_found', detail]);
const noCall = (name: string, path: string, hint = ''): Mistake =>
  read(name, path, [404, 'route_not_found', `There is no call at this path.${hint}`]);
const sent = (name: string, headers: Record<string, string>, body: unknown, answers: Mistake['answers']): Mistake => ({
  name,
  call: ['POST', '/v1/orders'],
  body,
  headers,
  answers,
});
const keyed = (name: string, authorization: string | undefined, detail: string): Mistake => ({
  name,
  call: ['GET', '/v1/orders'],
  anonymous: true,
  ...(authorization !== undefined && { headers: { authorization } }),
  answers: [401, 'unauthenticated', detail],
});

const AMOUNT = 'a decimal in a string, not negative, with at most 15 digits before and 6 after the point.';
const TIME = 'an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z.';
const STATUSES =
  'accepted, held, submitting, processing, needs_attention, completed, failed, abandoned, or several, separated by commas';
const A_KEY = `rsk_test_AbCd1234_${'a'.repeat(43)}`;

const IN_BODIES: readonly Mistake[] = [
  order('camel case', { packageId: 101 }, 'The field `packageId` is not a known field; did you mean `package_id`?'),
  order(
    'a field of nobody',
    { colour: 'red' },
    'The field `colour` is not a known field; known are `package_id`, `external_order_id`, `device_imei`, `max_price`, `customer_price`, `quote_id`, `if_unavailable`, `deadline`, `when_attempts_are_used_up`, `customer_reference`, `metadata`.',
  ),
  posted('nothing', '/v1/orders', {}, 'The field `package_id` is required. 1 more error is in `errors`.'),
  order('a number in a string', { package_id: '101' }, 'The field `package_id` must be a number, not a string.'),
  order(
    'a reference with a space',
    { external_order_id: 'a b' },
    'The field `external_order_id` must have 1 to 64 visible ASCII characters other than `~`.',
  ),
  order('a price as a number', { max_price: 12.5 }, 'The field `max_price` must be an object, not a number.'),
  order(
    'an amount with a comma',
    { max_price: { amount: '12,50', currency: 'EUR' } },
    `The field \`max_price.amount\` must be ${AMOUNT}`,
  ),
  order(
    'a currency in lower case',
    { max_price: { amount: '1', currency: 'eur' } },
    'The field `max_price.currency` must be an ISO 4217 code in upper case, such as EUR.',
  ),
  order(
    'an IMEI with a hyphen',
    { device_imei: '35-209900176148-1' },
    'The field `device_imei` must have 14 to 16 digits and nothing else.',
  ),
  order('metadata with a number', { metadata: { a: 1 } }, 'The field `metadata.a` must be a string, not a number.'),
  order(
    'a long metadata value',
    { metadata: { a: 'a'.repeat(501) } },
    'The field `metadata.a` must have at most 500 characters.',
  ),
  order('a deadline in the past', { deadline: '2020-02-01T12:00:00Z' }, 'The field `deadline` must lie in the future.'),
  order('a wrong choice', { if_unavailable: 'wait' }, 'The field `if_unavailable` must be one of "refuse", "hold".'),
  order(
    'an invented quote',
    { quote_id: 'quo_invented' },
    'The field `quote_id` is not the id of a quote for this purchase by this API key.',
  ),
  posted('a quote of nothing', '/v1/quotes', {}, 'The field `package_id` is required, unless `vpn_plan_id` is given.'),
  posted(
    'an ICCID as an eSIM',
    '/v1/topups',
    { package_id: 101, external_topup_id: 'a', esim_id: '8943108165000000001' },
    'The field `esim_id` must be the id of an eSIM; it begins with `esim_`.',
  ),
  posted(
    'a webhook endpoint without events',
    '/v1/webhook-endpoints',
    { url: 'https://example.com/hooks', event_types: [] },
    'The field `event_types` must have at least 1 entry.',
  ),
  posted(
    'a type of event of nobody',
    '/v1/webhook-endpoints',
    { url: 'https://shop.example.com/hooks', event_types: ['order.done'] },
    'The field `event_types.0` must be `*`, a type such as order.completed, or all of one kind such as order.*.',
  ),
  posted(
    'a webhook endpoint in a private network',
    '/v1/webhook-endpoints',
    { url: 'https://10.0.0.1/hooks', event_types: ['*'] },
    'The field `url` must lead to a public address: its host is in a private or reserved network that WEBHOOK_ALLOWED_ADDRESSES does not name.',
  ),
  posted('a list as body', '/v1/orders', [ORDER], 'The body must be an object, not a list.'),
  sent('no body', JSON_TYPE, undefined, [400, 'malformed_json', 'The body is empty. Send a JSON object.']),
  sent('a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'package_id=101', [
    415,
    'unsupported_media_type',
    'The body has a Content-Type other than JSON. Send `Content-Type: application/json`.',
  ]),
  sent('a comma too much', JSON_TYPE, '{"package_id": 101,}', [
    400,
    'malformed_json',
    'The body is not valid JSON. Names and strings have double quotes, and no comma follows the last field.',
  ]),
  sent('a field twice', JSON_TYPE, '{"package_id": 101, "package_id": 102}', [
    400,
    'malformed_json',
    'The body contains a field twice, so its meaning is ambiguous. Send it once.',
  ]),
  sent('no Idempotency-Key', { 'idempotency-key': '' }, ORDER, [
    400,
    'idempotency_key_missing',
    'The Idempotency-Key header is missing. Send a value that is unique for this operation, such as a UUID, and send it again with each retry.',
  ]),
  sent('an Idempotency-Key with a space', { 'idempotency-key': 'a b' }, ORDER, [
    400,
    'idempotency_key_invalid',
    'The Idempotency-Key header is not valid. Send 1 to 255 visible ASCII characters, bare or as a string in double quotes (RFC 9651), once.',
  ]),
];

const IN_QUERIES: readonly Mistake[] = [
  list('page numbers', 'page=2', 'The parameter `page` is not a known parameter; did you mean `cursor`?'),
  list('a limit of zero', 'limit=0', 'The parameter `limit` must be a whole number from 1 to 100.'),
  list(
    'a status in capitals',
    'status=COMPLETED',
    `The parameter \`status\` must be one of ${STATUSES}; did you mean \`completed\`?`,
  ),
  list('a day in the query', 'created_after=2030-01-01', `The parameter \`created_after\` must be ${TIME}`),
  list('an invented cursor', 'cursor=2', 'The parameter `cursor` is not a cursor of this list.'),
  list(
    'an id of another kind in the query',
    `esim_id=ord_${ULID}`,
    'The parameter `esim_id` must be the id of an eSIM; it begins with `esim_`.',
  ),
  list('the same parameter twice', 'limit=1&limit=2', 'The parameter `limit` is given 2 times; give it once.'),
  list(
    'a list of values as a repeated parameter',
    'status=held&status=completed',
    'The parameter `status` is given 2 times; give it once, with commas between its values.',
  ),
  list(
    'brackets for a list',
    'status[]=held',
    'The parameter `status[]` is not a known parameter; did you mean `status`?',
  ),
  read('a type of event of nobody in the query', '/v1/events?type=order.done', [
    400,
    'validation_failed',
    'The parameter `type` must be existing types of events, such as order.completed or order.*, separated by commas.',
  ]),
  read('a country in words', '/v1/packages?country=Spain', [
    400,
    'validation_failed',
    'The parameter `country` must be an ISO 3166-1 alpha-2 code in upper case, such as DE, or several, separated by commas.',
  ]),
];

const IN_ADDRESSES: readonly Mistake[] = [
  noOrder(
    'an id of the service',
    '48151',
    'The path contains none of our ids. This call takes the id of an order, which begins with `ord_`.',
  ),
  noOrder(
    'half of an id',
    'ord_01JQ8Z5YV7',
    'The id in the path is not complete. This call takes the id of an order, which begins with `ord_`.',
  ),
  noOrder(
    'an unknown id',
    `ord_${ULID}`,
    'The id has the right form, but there is no such resource, or this API key may not see it.',
  ),
  noOrder(
    'a top-up id for an order',
    `top_${ULID}`,
    'The path contains the id of a top-up. This call takes the id of an order, which begins with `ord_`.',
  ),
  read('an unknown package', '/v1/packages/77777', [
    404,
    'package_not_found',
    'There is no such package. Read GET /v1/packages again: the service may have withdrawn it.',
  ]),
  noCall('a singular path with an id', `/v1/esim/esim_${ULID}`, ' Did you mean `/v1/esims/{id}`?'),
  noCall('a path without the version', '/orders', ' Did you mean `/v1/orders`?'),
  noCall(
    'a QR code without its format',
    `/v1/esims/esim_${ULID}/qr`,
    ' Did you mean `/v1/esims/{id}/qr.svg` or `/v1/esims/{id}/qr.png`?',
  ),
  noCall('a path without its group', '/v1/plans', ' Did you mean `/v1/vpn/plans`?'),
  noCall('a path that only resembles another', `/v1/orders/ord_${ULID}/refund`),
  {
    name: 'PUT',
    call: ['PUT', '/v1/orders'],
    body: ORDER,
    answers: [405, 'method_not_allowed', 'PUT is not possible at this address. Possible are: POST, GET, HEAD.'],
  },
  keyed('no key', undefined, 'The Authorization header is missing. Send `Authorization: Bearer <API key>`.'),
  keyed(
    'Basic',
    'Basic cnNrOg==',
    'The Authorization header uses the scheme Basic. Send `Authorization: Bearer <API key>`.',
  ),
  keyed(
    'a key without a scheme',
    A_KEY,
    'The Authorization header contains an API key without the scheme Bearer. Send `Authorization: Bearer <API key>`.',
  ),
  keyed(
    'a shortened key',
    'Bearer rsk_test_AbCd1234_...',
    'The value in the Authorization header is no API key of this product: a key begins with `rsk_test_` or `rsk_live_` and has 61 characters.',
  ),
  keyed('an unknown key', `Bearer ${A_KEY}`, 'The API key is not valid: unknown, revoked or expired.'),
];

export const MISTAKES: readonly Mistake[] = [...IN_BODIES, ...IN_QUERIES, ...IN_ADDRESSES];
