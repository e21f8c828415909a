/** Mistakes beside those in the first table of bodies and addresses: bodies that are no object, repeated names, paths. */
import { ORDER, ULID, type Mistake } from '#test/support/mistakes/mistake.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

const noObject = (name: string, path: string, body: string, found: string): Mistake => ({
  name,
  call: ['POST', path],
  body,
  headers: JSON_TYPE,
  answers: [400, 'validation_failed', `The body must be an object, not ${found}.`],
});

const read = (name: string, path: string, answers: Mistake['answers']): Mistake => ({
  name,
  call: ['GET', path],
  answers,
});

const list = (name: string, query: string, detail: string): Mistake =>
  read(name, `/v1/orders?${query}`, [400, 'validation_failed', detail]);

const noCall = (name: string, path: string, hint = ''): Mistake =>
  read(name, path, [404, 'route_not_found', `There is no call at this path.${hint}`]);

export const FURTHER_MISTAKES: readonly Mistake[] = [
  noObject('null as a body', '/v1/orders', 'null', 'null'),
  noObject('a number as a body', '/v1/orders', '42', 'a number'),
  noObject('true as a body', '/v1/topups', 'true', 'a boolean'),
  noObject('a list as a quote', '/v1/quotes', '[]', 'a list'),
  noObject('a string as a quote', '/v1/quotes', '"1001"', 'a string'),
  noObject('null as a webhook endpoint', '/v1/webhook-endpoints', 'null', 'null'),
  noObject('a list as a VPN subscription', '/v1/vpn/subscriptions', '[{}]', 'a list'),
  {
    name: 'a quote without a body',
    call: ['POST', '/v1/quotes'],
    answers: [400, 'malformed_json', 'The body is empty. Send a JSON object.'],
  },
  {
    name: 'a quote of nothing',
    call: ['POST', '/v1/quotes'],
    body: {},
    answers: [400, 'validation_failed', 'The field `package_id` is required, unless `vpn_plan_id` is given.'],
  },
  {
    name: 'a quote of a package and a plan',
    call: ['POST', '/v1/quotes'],
    body: { package_id: 101, vpn_plan_id: 7 },
    answers: [400, 'validation_failed', 'The field `vpn_plan_id` must not be given with other ids.'],
  },
  {
    name: 'an invented quote',
    call: ['POST', '/v1/orders'],
    body: { ...ORDER, quote_id: 'quo_invented' },
    answers: [
      400,
      'validation_failed',
      'The field `quote_id` is not the id of a quote for this purchase by this API key.',
    ],
  },
  {
    name: 'a wrong choice',
    call: ['POST', '/v1/orders'],
    body: { ...ORDER, if_unavailable: 'wait' },
    answers: [400, 'validation_failed', 'The field `if_unavailable` must be one of "refuse", "hold".'],
  },
  {
    name: 'a metadata key with a space',
    call: ['POST', '/v1/orders'],
    body: { ...ORDER, metadata: { 'shop order': 'a' } },
    answers: [
      400,
      'validation_failed',
      'The field `metadata.shop order` is not a usable name: must have 1 to 40 letters, digits, `_`, `.` or `-` and begin with a letter or digit.',
    ],
  },
  {
    name: 'a long metadata value',
    call: ['POST', '/v1/orders'],
    body: { ...ORDER, metadata: { a: 'a'.repeat(501) } },
    answers: [400, 'validation_failed', 'The field `metadata.a` must have at most 500 characters.'],
  },
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
  list('a start', 'since=2030-01-01', 'The parameter `since` is not a known parameter; did you mean `created_after`?'),
  list('an end', 'until=2030-01-01', 'The parameter `until` is not a known parameter; did you mean `created_before`?'),
  list(
    'camel case in the query',
    'createdAfter=2030-01-01T00:00:00Z',
    'The parameter `createdAfter` is not a known parameter; did you mean `created_after`?',
  ),
  list(
    'half of a name in the query',
    'created=2030-01-01',
    'The parameter `created` is not a known parameter; did you mean `created_by`, `created_after` or `created_before`?',
  ),
  list('a slip of the hand', 'lmit=5', 'The parameter `lmit` is not a known parameter; did you mean `limit`?'),
  noCall(
    'a QR code without its format',
    `/v1/esims/esim_${ULID}/qr`,
    ' Did you mean `/v1/esims/{id}/qr.svg` or `/v1/esims/{id}/qr.png`?',
  ),
  noCall('a trailing slash', '/v1/orders/', ' Did you mean `/v1/orders`?'),
  noCall('a prefix', '/api/v1/orders', ' Did you mean `/v1/orders`?'),
  noCall('a capital in the path', '/v1/Orders', ' Did you mean `/v1/orders`?'),
  noCall('a path without its group', '/v1/plans', ' Did you mean `/v1/vpn/plans`?'),
  noCall('an underscore in the path', '/v1/webhook_endpoints', ' Did you mean `/v1/webhook-endpoints`?'),
  noCall('a path that only resembles another', `/v1/orders/ord_${ULID}/refund`),
  noCall('a balance', '/v1/balance'),
  {
    name: 'POST of a list that is only read',
    call: ['POST', '/v1/packages'],
    body: {},
    answers: [405, 'method_not_allowed', 'POST is not possible at this address. Possible are: GET, HEAD.'],
  },
  {
    name: 'a webhook endpoint without TLS',
    call: ['POST', '/v1/webhook-endpoints'],
    body: { url: 'http://shop.example.com/hooks', event_types: ['*'] },
    answers: [400, 'validation_failed', 'The field `url` must begin with https://.'],
  },
  {
    name: 'a type of event of nobody',
    call: ['POST', '/v1/webhook-endpoints'],
    body: { url: 'https://shop.example.com/hooks', event_types: ['order.done'] },
    answers: [
      400,
      'validation_failed',
      'The field `event_types.0` must be `*`, a type such as order.completed, or all of one kind such as order.*.',
    ],
  },
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
