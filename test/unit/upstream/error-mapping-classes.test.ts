import { describe, expect, it } from 'vitest';
import { isDefinite, type FailureClass } from '#domain/work/failure.ts';
import { answer, coded, judge } from '#test/support/judged-answers.ts';
import { SERVICE_ERROR_CODES } from '#upstream/contract.ts';

/** Codes that say that the service knows the request, or its subject, already. */
const KNOWN = [
  'already_cancelled',
  'esim_busy',
  'idempotency_key_in_use',
  'idempotency_key_reused',
  'reference_exists',
  'webhook_secret_exists',
];

describe('the class of a refusal', () => {
  it.each([404, 405])('%i proves nothing without an error code of the service', (status) => {
    const page = answer(status, '<html>no such page</html>', { 'content-type': 'text/html' });
    expect(judge(page)).toMatchObject({ ok: false, failure: 'unreadable_answer' });
  });

  it.each<[number, string, FailureClass]>([
    [400, 'malformed_request', 'invalid_request'],
    [401, 'unauthenticated', 'unauthorized'],
    [402, '', 'insufficient_balance'],
    [403, 'not_approved', 'not_approved'],
    [403, 'insufficient_balance', 'insufficient_balance'],
    [404, 'not_found', 'invalid_request'],
    [404, 'plan_unavailable', 'package_unavailable'],
    [405, 'method_not_allowed', 'invalid_request'],
    [408, '', 'timeout'],
    [409, '', 'key_or_reference_used'],
    [409, 'insufficient_balance', 'key_or_reference_used'],
    [413, '', 'invalid_request'],
    [422, 'validation_failed', 'invalid_request'],
    [422, 'package_unavailable', 'package_unavailable'],
    [422, 'plan_unavailable', 'package_unavailable'],
    [422, 'topup_incompatible', 'invalid_request'],
    [422, 'cancellation_refused', 'cancellation_refused'],
    [422, 'insufficient_balance', 'insufficient_balance'],
    [422, 'a_code_that_we_do_not_know', 'invalid_request'],
    [425, '', 'rate_limited'],
    [429, 'rate_limited', 'rate_limited'],
    [500, 'internal_error', 'server_error'],
    [500, 'insufficient_balance', 'server_error'],
    [599, '', 'server_error'],
    [100, '', 'unreadable_answer'],
    [301, '', 'unreadable_answer'],
    [302, 'reference_exists', 'unreadable_answer'],
    [399, 'insufficient_balance', 'unreadable_answer'],
    [499, 'reference_exists', 'key_or_reference_used'],
    [600, 'reference_exists', 'unreadable_answer'],
    [406, '', 'unreadable_answer'],
    [499, '', 'unreadable_answer'],
    [600, '', 'unreadable_answer'],
    [999, '', 'unreadable_answer'],
  ])('%i with the code "%s" is %s', (status, code, failure) => {
    expect(judge(answer(status, coded(code)))).toMatchObject({ ok: false, failure, status });
  });

  it.each([400, 403, 404, 409, 422, 429])('for "known already" leads to a look-up with every status: %i', (status) => {
    for (const code of KNOWN)
      expect(judge(answer(status, coded(code)))).toMatchObject({ failure: 'key_or_reference_used' });
  });

  it.each([
    ['an empty body', ''],
    ['HTML', '<html>Bad Gateway</html>'],
    ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe])],
    ['another error shape', { message: 'Unprocessable', errors: { email: ['taken'] } }],
    ['an array', []],
    ['a number where the code should be', { error: { code: 7 } }],
    ['null', 'null'],
  ])('follows from the status alone with %s', (_name, body) => {
    expect(judge(answer(402, body))).toMatchObject({ failure: 'insufficient_balance' });
    expect(judge(answer(502, body))).toMatchObject({ failure: 'server_error' });
  });

  it('never proves anything for 5xx, 408 and 409', () => {
    for (const status of [408, 409, ...Array.from({ length: 100 }, (_, index) => 500 + index)]) {
      for (const code of SERVICE_ERROR_CODES) {
        const result = judge(answer(status, coded(code)));
        expect(!result.ok && isDefinite(result.failure)).toBe(false);
      }
    }
  });
});

describe('Retry-After', () => {
  const waitOf = (value: string | string[], status = 429) => {
    const result = judge(answer(status, '', { 'retry-after': value }));
    return result.ok ? undefined : result.retryAfterMs;
  };

  it.each<[string, number | undefined]>([
    ['30', 30_000],
    [' 30 ', 30_000],
    ['0', 1_000],
    ['3600', 3_600_000],
    ['86400', 3_600_000],
    ['999999999999999', 3_600_000],
    ['Sun, 01 Jun 2025 12:01:30 GMT', 90_000],
    ['Sun, 01 Jun 2025 11:00:00 GMT', 1_000],
    ['Mon, 01 Jun 2026 12:00:00 GMT', 3_600_000],
    ['Sun, 99 Jun 2025 12:01:30 GMT', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['', undefined],
    ['2025-06-01T12:01:30Z', undefined],
  ])('"%s" means %s ms', (value, wait) => {
    expect(waitOf(value)).toBe(wait);
  });

  it('is the longest of several values', () => {
    expect(waitOf(['5', 'soon', '20'])).toBe(20_000);
  });

  it('of a 503 is kept, and the outcome stays unknown', () => {
    const busy = judge(answer(503, '', { 'retry-after': '7' }));
    expect(busy).toMatchObject({ failure: 'server_error', retryAfterMs: 7_000 });
  });
});

describe('an error body in another form', () => {
  it.each<[string, unknown]>([
    ['problem details', { type: 'https://errors.example/problems/insufficient-balance', title: 'x', status: 422 }],
    ['a code alone', { code: 'INSUFFICIENT_BALANCE' }],
    ['a text', { error: 'insufficient_balance' }],
    ['camel case', { error: { code: 'insufficientBalance' } }],
    ['a list of errors', { errors: [{ code: 'insufficient_balance', field: 'package_id' }] }],
  ])('is understood: %s', (_name, body) => {
    expect(judge(answer(422, body))).toMatchObject({ failure: 'insufficient_balance', code: 'insufficient_balance' });
  });

  it('names our refused fields', () => {
    const bodies = [
      { errors: { device_imei: ['wrong'] } },
      { errors: [{ field: 'device_imei' }] },
      { errors: [{ pointer: '/device_imei' }] },
    ];
    for (const body of bodies)
      expect(judge(answer(422, body))).toMatchObject({ detail: 'The service answered 422, about device_imei.' });
  });
});

describe('a refusal of our reference alone', () => {
  const taken = 'The external order id has already been taken.';
  it.each<[string, unknown]>([
    ['Laravel', { message: taken, errors: { external_order_id: [taken] } }],
    ['Laravel, about a nested field', { message: taken, errors: { 'order.external_order_id': [taken] } }],
    ['Rails', { errors: { external_order_id: ['has already been taken'] } }],
    ['Rails, as sentences', { errors: ['External order has already been taken'] }],
    ['Django REST framework', { external_order_id: ['order with this external order id already exists.'] }],
    [
      'Django REST framework, a set',
      { non_field_errors: ['x'], detail: 'The fields reseller, external_order_id clash.' },
    ],
    ['FastAPI', { detail: [{ loc: ['body', 'external_order_id'], msg: 'already used', type: 'value_error' }] }],
    ['JSON:API', { errors: [{ source: { pointer: '/data/attributes/external_order_id' }, title: 'taken' }] }],
    ['ASP.NET', { title: 'One or more errors occurred.', status: 400, errors: { ExternalOrderId: ['In use.'] } }],
    ['Spring', { fieldErrors: [{ field: 'externalOrderId', defaultMessage: 'in use' }] }],
    ['Symfony', { violations: [{ propertyPath: 'external_order_id', message: 'in use' }] }],
    ['Stripe', { error: { type: 'invalid_request_error', param: 'external_order_id', message: 'in use' } }],
    ['JSend', { status: 'fail', data: { external_order_id: 'in use' } }],
    ['express-validator', { errors: [{ type: 'field', path: 'external_order_id', msg: 'in use' }] }],
    ['our assumed form', { error: { code: 'validation_failed', fields: { external_order_id: 'in use' } } }],
    ['our assumed form, of a subscription', { error: { fields: { external_subscription_id: 'in use' } } }],
    ['problem details', { type: 'about:blank', title: 'x', 'invalid-params': [{ name: 'external_order_id' }] }],
    ['a sentence', { message: 'external_order_id was used before' }],
    ['a sentence without a field', { error: 'This order already exists' }],
    ['a code that we do not know', { code: 'DUPLICATE_ORDER', message: 'x' }],
    ['a key', { errors: { 'Idempotency-Key': ['in use'] } }],
  ])('leads to a look-up, as it may be our own purchase: %s', (_style, body) => {
    for (const status of [400, 422])
      expect(judge(answer(status, body))).toMatchObject({ failure: 'key_or_reference_used' });
  });

  const unavailable = { code: 'package_unavailable', fields: { external_order_id: 'x' } };
  it.each<[string, unknown, FailureClass]>([
    ['another field alone', { errors: { package_id: ['is unknown'] } }, 'invalid_request'],
    ['another field that is taken', { errors: { device_imei: ['has already been taken'] } }, 'invalid_request'],
    ['another field beside it', { errors: { package_id: ['x'], external_order_id: ['x'] } }, 'invalid_request'],
    ['a sentence about another field', { message: 'The package_id is unknown' }, 'invalid_request'],
    ['no field', { message: 'Unprocessable' }, 'invalid_request'],
    ['a repetition of the request', { message: 'Unprocessable', external_order_id: 'shop-1' }, 'invalid_request'],
    ['a code of another problem beside it', { error: unavailable }, 'package_unavailable'],
  ])('is not one that names %s', (_name, body, failure) => {
    expect(judge(answer(422, body))).toMatchObject({ failure });
  });

  it('is read only in part when it is endless', () => {
    const errors = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`f${index}`, ['x'.repeat(20)]]));
    expect(judge(answer(422, { errors, message: 'already exists '.repeat(20_000) }))).toMatchObject({ status: 422 });
  });
});
