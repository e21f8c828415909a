import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { isDefinite, type FailureClass } from '#domain/work/failure.ts';
import { judgeResult } from '#upstream/client/error-mapping.ts';
import type { HttpAnswer, HttpResult } from '#upstream/client/http.ts';
import { serviceOrder, SERVICE_ERROR_CODES } from '#upstream/contract.ts';
import { readBody } from '#upstream/reading/body.ts';

const NOW = Date.UTC(2025, 5, 1, 12, 0, 0);
const readAs = (answer: z.ZodType) => (body: unknown) => readBody({ answer, record: 'order' }, body, undefined);
const expected = { read: readAs(serviceOrder) };

function answer(status: number, body: unknown = '', headers: HttpAnswer['headers'] = {}): HttpResult {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { kind: 'answer', answer: { status, headers, body: bytes } };
}

const judge = (result: HttpResult) => judgeResult(result, expected, NOW);
const coded = (code: string) => ({ error: { code, message: 'whatever' } });

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
    [409, 'idempotency_key_in_use', 'key_or_reference_used'],
    [409, 'idempotency_key_reused', 'key_or_reference_used'],
    [409, 'reference_exists', 'key_or_reference_used'],
    [409, 'already_cancelled', 'key_or_reference_used'],
    [409, 'insufficient_balance', 'key_or_reference_used'],
    [413, '', 'invalid_request'],
    [415, '', 'invalid_request'],
    [422, 'validation_failed', 'invalid_request'],
    [422, 'package_unavailable', 'package_unavailable'],
    [422, 'plan_unavailable', 'package_unavailable'],
    [422, 'topup_incompatible', 'invalid_request'],
    [422, 'cancellation_refused', 'cancellation_refused'],
    [422, 'already_cancelled', 'key_or_reference_used'],
    [422, 'insufficient_balance', 'insufficient_balance'],
    [422, 'a_code_that_we_do_not_know', 'invalid_request'],
    [425, '', 'rate_limited'],
    [429, 'rate_limited', 'rate_limited'],
    [500, 'internal_error', 'server_error'],
    [500, 'insufficient_balance', 'server_error'],
    [502, '', 'server_error'],
    [503, '', 'server_error'],
    [504, '', 'server_error'],
    [599, '', 'server_error'],
    [100, '', 'unreadable_answer'],
    [301, '', 'unreadable_answer'],
    [302, 'reference_exists', 'unreadable_answer'],
    [399, 'insufficient_balance', 'unreadable_answer'],
    [499, 'reference_exists', 'key_or_reference_used'],
    [600, 'reference_exists', 'unreadable_answer'],
    [304, '', 'unreadable_answer'],
    [307, '', 'unreadable_answer'],
    [406, '', 'unreadable_answer'],
    [410, '', 'unreadable_answer'],
    [418, '', 'unreadable_answer'],
    [499, '', 'unreadable_answer'],
    [600, '', 'unreadable_answer'],
    [999, '', 'unreadable_answer'],
  ])('%i with the code "%s" is %s [spec: gap.errors, environments.approval]', (status, code, failure) => {
    expect(judge(answer(status, coded(code)))).toMatchObject({ ok: false, failure, status });
  });

  it.each([400, 403, 404, 409, 422, 429])(
    'for "known already" leads to a look-up with every status: %i [spec: gap.reference-unique, gap.repeated-key]',
    (status) => {
      const known = [
        'already_cancelled',
        'esim_busy',
        'idempotency_key_in_use',
        'idempotency_key_reused',
        'reference_exists',
        'webhook_secret_exists',
      ];
      for (const code of known) {
        expect(judge(answer(status, coded(code)))).toMatchObject({ failure: 'key_or_reference_used' });
      }
    },
  );

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

  it('is the longest of several values [spec: gap.rate-limits]', () => {
    expect(waitOf(['5', 'soon', '20'])).toBe(20_000);
  });

  it('of a 503 is kept, and the outcome stays unknown', () => {
    expect(judge(answer(503, '', { 'retry-after': '7' }))).toMatchObject({
      failure: 'server_error',
      retryAfterMs: 7_000,
    });
  });
});

describe('a success', () => {
  const order = { id: 17, status: 'processing', external_order_id: 'shop-1', something_new: true };

  it('is an answer with all needed fields and any unknown ones [spec: gap.compatibility, gap.answers]', () => {
    expect(judge(answer(201, order))).toMatchObject({
      ok: true,
      status: 201,
      value: { id: '17', status: 'processing' },
    });
  });

  it.each<[string, unknown, FailureClass]>([
    ['an empty body', '', 'unreadable_answer'],
    ['HTML', '<html>', 'unreadable_answer'],
    ['truncated JSON', '{"id":"1","status":"comp', 'unreadable_answer'],
    ['bytes that are not UTF-8', Buffer.from('{"id":"\xff","status":"completed"}', 'latin1'), 'unreadable_answer'],
    ['a duplicate status', '{"id":"1","status":"failed","status":"completed"}', 'unreadable_answer'],
    ['no id', { status: 'completed' }, 'contract_drift'],
    ['no status', { id: '1' }, 'contract_drift'],
    ['a status we do not know', { id: '1', status: 'done' }, 'contract_drift'],
    ['an id with a NUL', { id: '1\0', status: 'completed' }, 'contract_drift'],
    ['an id beyond exact numbers', '{"id":9007199254740993,"status":"completed"}', 'contract_drift'],
    ['an array', [order], 'contract_drift'],
    ['null', 'null', 'contract_drift'],
    ['the fields under __proto__ only', '{"__proto__":{"id":"1","status":"completed"}}', 'contract_drift'],
  ])('is not %s', (_name, body, failure) => {
    expect(judge(answer(200, body))).toMatchObject({ ok: false, failure, status: 200 });
  });

  it('is not a compressed body, because none was requested', () => {
    expect(judge(answer(200, order, { 'content-encoding': 'gzip' }))).toMatchObject({ failure: 'unreadable_answer' });
    expect(judge(answer(200, order, { 'content-encoding': 'identity' }))).toMatchObject({ ok: true });
  });

  it('is not an answer that contradicts the request', () => {
    const result = judgeResult(
      answer(200, order),
      { ...expected, contradiction: () => 'it is about another order' },
      NOW,
    );
    expect(result).toMatchObject({
      failure: 'contract_drift',
      detail: 'The service answered 200, but it is about another order.',
    });
  });
});

describe('the detail of a failure', () => {
  it('contains status, code and field in our own words', () => {
    const body = { error: { code: 'validation_failed', message: 'bad', fields: { device_imei: 'wrong', other: 'x' } } };
    expect(judge(answer(422, body))).toMatchObject({
      detail: 'The service answered 422 (validation_failed), about device_imei.',
    });
    expect(judge(answer(200, { id: '1' }))).toMatchObject({
      detail: 'The service answered 200, but its body lacks or misstates status.',
    });
  });

  it('contains nothing of the body', () => {
    const imei = '490154203237518';
    const bodies = [
      { error: { code: `imei_${imei}`, message: `IMEI ${imei}`, fields: { [imei]: imei, device_imei: imei } } },
      { id: { [imei]: imei }, status: imei, [imei]: imei },
      imei,
      `{"${imei}":1,"${imei}":2}`,
    ];
    for (const status of [200, 302, 400, 409, 422, 500]) {
      for (const body of bodies) expect(JSON.stringify(judge(answer(status, body)))).not.toContain(imei);
    }
  });

  it('contains the paths of missing fields, or their number when there are many', () => {
    const nested = { read: readAs(z.object({ record: z.object({ a: z.string(), b: z.string() }) })) };
    expect(judgeResult(answer(200, { record: {} }), nested, NOW)).toMatchObject({
      detail: 'The service answered 200, but its body lacks or misstates record.a, record.b.',
    });
    const of = (count: number) => ({
      read: readAs(
        z.object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, z.string()]))),
      ),
    });
    expect(judgeResult(answer(200, {}), of(5), NOW)).toMatchObject({
      detail: expect.stringMatching(/ f0, f1, f2, f3, f4\.$/),
    });
    expect(judgeResult(answer(200, {}), of(7), NOW)).toMatchObject({
      detail: expect.stringMatching(/ f0, f1, f2, f3, f4 and 2 more\.$/),
    });
    expect(judge(answer(200, '7'))).toMatchObject({ detail: expect.stringMatching(/misstates the object itself\.$/) });
  });

  it('contains several of our fields that the service refuses', () => {
    const body = {
      error: { code: 'validation_failed', message: 'bad', fields: { package_id: 'x', device_imei: 'y' } },
    };
    expect(judge(answer(422, body))).toMatchObject({
      detail: expect.stringMatching(/about (package_id, device_imei|device_imei, package_id)\.$/),
    });
  });

  it('gives the reason for a missing answer, as a sentence', () => {
    expect(judge({ kind: 'no_answer', failure: 'not_sent', reason: 'the name could not be resolved' })).toStrictEqual({
      ok: false,
      kind: 'failure',
      failure: 'not_sent',
      detail: 'The name could not be resolved.',
    });
  });

  it('has only fields of the answer, and none of an encoded body', () => {
    const plain = {
      ok: false,
      kind: 'failure',
      failure: 'invalid_request',
      detail: 'The service answered 422.',
      status: 422,
    };
    expect(judge(answer(422))).toStrictEqual(plain);
    expect(judge(answer(422, coded('package_unavailable'), { 'content-encoding': 'gzip' }))).toStrictEqual(plain);
    expect(judge(answer(422, coded('package_unavailable'), { 'content-encoding': ' Identity ' }))).toMatchObject({
      failure: 'package_unavailable',
    });
    expect(judge(answer(200, { id: 'so_1', status: 'completed' }, { 'content-encoding': 'gzip' }))).toStrictEqual({
      ok: false,
      kind: 'failure',
      failure: 'unreadable_answer',
      detail: 'The service answered 200, but with a content encoding that was not requested.',
      status: 200,
    });
  });

  it('contains the status and the reason of an unreadable body, for every success status', () => {
    expect(judge(answer(422, coded('package_unavailable')))).toMatchObject({ code: 'package_unavailable' });
    const details = [[199, 0xff], Buffer.from('<html>'), Buffer.from('{"a":1,"a":2}')].map((body) =>
      judge(answer(299, Buffer.from(body))),
    );
    expect(details).toEqual([
      expect.objectContaining({ detail: 'The service answered 299, but its body is not UTF-8.', status: 299 }),
      expect.objectContaining({ detail: 'The service answered 299, but its body is not JSON.' }),
      expect.objectContaining({ detail: 'The service answered 299, but its body names a field twice.' }),
    ]);
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
