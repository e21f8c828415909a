/** Mistakes in the body of a request. */
import { ORDER, type Mistake } from '#test/support/mistakes/mistake.ts';

const NEW_ORDER = ['POST', '/v1/orders'] as const;
const json = { 'content-type': 'application/json' };

const ofBody = (name: string, change: Record<string, unknown>, detail: string): Mistake => ({
  name,
  call: NEW_ORDER,
  body: { ...ORDER, ...change },
  answers: [400, 'validation_failed', detail],
});

export const MISTAKES_IN_BODIES: readonly Mistake[] = [
  ofBody('camel case', { packageId: 101 }, 'The field `packageId` is not a known field; did you mean `package_id`?'),
  ofBody(
    'a similar name',
    { external_id: 'a' },
    'The field `external_id` is not a known field; did you mean `external_order_id`?',
  ),
  ofBody(
    'a field of nobody',
    { colour: 'red' },
    'The field `colour` is not a known field; known are `package_id`, `external_order_id`, `device_imei`, `max_price`, `customer_price`, `quote_id`, `if_unavailable`, `deadline`, `when_attempts_are_used_up`, `customer_reference`, `metadata`.',
  ),
  {
    name: 'no package',
    call: NEW_ORDER,
    body: { external_order_id: 'a' },
    answers: [400, 'validation_failed', 'The field `package_id` is required.'],
  },
  {
    name: 'nothing',
    call: NEW_ORDER,
    body: {},
    answers: [400, 'validation_failed', 'The field `package_id` is required. 1 more error is in `errors`.'],
  },
  ofBody('a number in a string', { package_id: '101' }, 'The field `package_id` must be a number, not a string.'),
  ofBody('a fraction', { package_id: 1.5 }, 'The field `package_id` must be a whole number.'),
  ofBody('a negative id', { package_id: -1 }, 'The field `package_id` must be from 1 to 2147483647.'),
  ofBody('a huge id', { package_id: 1e12 }, 'The field `package_id` must be from 1 to 2147483647.'),
  ofBody('null', { package_id: null }, 'The field `package_id` must be a number, not null.'),
  ofBody('a list', { package_id: [101] }, 'The field `package_id` must be a number, not a list.'),
  ofBody(
    'a reference as a number',
    { external_order_id: 7 },
    'The field `external_order_id` must be a string, not a number.',
  ),
  ofBody(
    'an empty reference',
    { external_order_id: '' },
    'The field `external_order_id` must have 1 to 64 visible ASCII characters other than `~`.',
  ),
  ofBody(
    'a reference with a space',
    { external_order_id: 'a b' },
    'The field `external_order_id` must have 1 to 64 visible ASCII characters other than `~`.',
  ),
  ofBody(
    'a long reference',
    { external_order_id: 'a'.repeat(65) },
    'The field `external_order_id` must have 1 to 64 visible ASCII characters other than `~`.',
  ),
  ofBody('a price as a number', { max_price: 12.5 }, 'The field `max_price` must be an object, not a number.'),
  ofBody('a price as a string', { max_price: '12.50' }, 'The field `max_price` must be an object, not a string.'),
  ofBody(
    'an amount as a number',
    { max_price: { amount: 12.5, currency: 'EUR' } },
    'The field `max_price.amount` must be a string, not a number.',
  ),
  ofBody(
    'an amount with a comma',
    { max_price: { amount: '12,50', currency: 'EUR' } },
    'The field `max_price.amount` must be a decimal in a string, not negative, with at most 15 digits before and 6 after the point.',
  ),
  ofBody(
    'a negative amount',
    { max_price: { amount: '-1', currency: 'EUR' } },
    'The field `max_price.amount` must be a decimal in a string, not negative, with at most 15 digits before and 6 after the point.',
  ),
  ofBody('no currency', { max_price: { amount: '1' } }, 'The field `max_price.currency` is required.'),
  ofBody(
    'a currency in lower case',
    { max_price: { amount: '1', currency: 'eur' } },
    'The field `max_price.currency` must be an ISO 4217 code in upper case, such as EUR.',
  ),
  ofBody(
    'a currency sign',
    { max_price: { amount: '1', currency: '€' } },
    'The field `max_price.currency` must be an ISO 4217 code in upper case, such as EUR.',
  ),
  ofBody(
    'a price with another field',
    { max_price: { amount: '1', curency: 'EUR' } },
    'The field `max_price.curency` is not a known field; did you mean `currency`? 1 more error is in `errors`.',
  ),
  ofBody(
    'an IMEI with a hyphen',
    { device_imei: '35-209900176148-1' },
    'The field `device_imei` must have 14 to 16 digits and nothing else.',
  ),
  ofBody(
    'an IMEI as a number',
    { device_imei: 352099001761481 },
    'The field `device_imei` must be a string, not a number.',
  ),
  ofBody('metadata as a list', { metadata: ['a'] }, 'The field `metadata` must be an object, not a list.'),
  ofBody('metadata with a number', { metadata: { a: 1 } }, 'The field `metadata.a` must be a string, not a number.'),
  ofBody(
    'metadata in metadata',
    { metadata: { a: { b: 'c' } } },
    'The field `metadata.a` must be a string, not an object.',
  ),
  ofBody(
    'a deadline in seconds',
    { deadline: 1_893_456_000 },
    'The field `deadline` must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z.',
  ),
  ofBody(
    'a deadline without a zone',
    { deadline: '2030-02-01T12:00:00' },
    'The field `deadline` must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z.',
  ),
  ofBody(
    'a day as deadline',
    { deadline: '2030-02-01' },
    'The field `deadline` must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z.',
  ),
  ofBody(
    'a deadline in the past',
    { deadline: '2020-02-01T12:00:00Z' },
    'The field `deadline` must lie in the future.',
  ),
  {
    name: 'a list as body',
    call: NEW_ORDER,
    body: [ORDER],
    answers: [400, 'validation_failed', 'The body must be an object, not a list.'],
  },
  {
    name: 'a string as body',
    call: NEW_ORDER,
    body: '"order"',
    headers: json,
    answers: [400, 'validation_failed', 'The body must be an object, not a string.'],
  },
  {
    name: 'no body',
    call: NEW_ORDER,
    headers: json,
    answers: [400, 'malformed_json', 'The body is empty. Send a JSON object.'],
  },
  {
    name: 'a form',
    call: NEW_ORDER,
    body: 'package_id=101',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    answers: [
      415,
      'unsupported_media_type',
      'The body has a Content-Type other than JSON. Send `Content-Type: application/json`.',
    ],
  },
  {
    name: 'text',
    call: NEW_ORDER,
    body: '{}',
    headers: { 'content-type': 'text/plain' },
    answers: [
      415,
      'unsupported_media_type',
      'The body has a Content-Type other than JSON. Send `Content-Type: application/json`.',
    ],
  },
  {
    name: 'a comma too much',
    call: NEW_ORDER,
    body: '{"package_id": 101,}',
    headers: json,
    answers: [
      400,
      'malformed_json',
      'The body is not valid JSON. Names and strings have double quotes, and no comma follows the last field.',
    ],
  },
  {
    name: 'single quotes',
    call: NEW_ORDER,
    body: "{'package_id': 101}",
    headers: json,
    answers: [
      400,
      'malformed_json',
      'The body is not valid JSON. Names and strings have double quotes, and no comma follows the last field.',
    ],
  },
  {
    name: 'a field twice',
    call: NEW_ORDER,
    body: '{"package_id": 101, "package_id": 102}',
    headers: json,
    answers: [400, 'malformed_json', 'The body contains a field twice, so its meaning is ambiguous. Send it once.'],
  },
  {
    name: 'no Idempotency-Key',
    call: NEW_ORDER,
    body: ORDER,
    headers: { 'idempotency-key': '' },
    answers: [
      400,
      'idempotency_key_missing',
      'The Idempotency-Key header is missing. Send a value that is unique for this operation, such as a UUID, and send it again with each retry.',
    ],
  },
  {
    name: 'an Idempotency-Key with a space',
    call: NEW_ORDER,
    body: ORDER,
    headers: { 'idempotency-key': 'a b' },
    answers: [
      400,
      'idempotency_key_invalid',
      'The Idempotency-Key header is not valid. Send 1 to 255 visible ASCII characters, bare or as a string in double quotes (RFC 9651), once.',
    ],
  },
];
