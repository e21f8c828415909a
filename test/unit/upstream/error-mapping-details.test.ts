import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { FailureClass } from '#domain/work/failure.ts';
import { answer, coded, expected, judge, NOW, readAs } from '#test/support/judged-answers.ts';
import { judgeResult } from '#upstream/client/error-mapping.ts';

describe('a success', () => {
  const order = { id: 17, status: 'processing', external_order_id: 'shop-1', something_new: true };

  it('is an answer with all needed fields and any unknown ones', () => {
    const value = { id: '17', status: 'processing' };
    expect(judge(answer(201, order))).toMatchObject({ ok: true, status: 201, value });
  });

  it('may have an id beyond exact numbers, which is read as its digits', () => {
    const body = '{"id":9007199254740993,"status":"completed","external_order_id":90071992547409931}';
    const value = { id: '9007199254740993', external_order_id: '90071992547409931' };
    expect(judge(answer(200, body))).toMatchObject({ value });
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
    ['an id with a fraction', '{"id":1.5,"status":"completed"}', 'contract_drift'],
    ['an array', [order], 'contract_drift'],
    ['null', 'null', 'contract_drift'],
    ['the fields under __proto__ only', '{"__proto__":{"id":"1","status":"completed"}}', 'contract_drift'],
  ])('is not %s', (_name, body, failure) => {
    expect(judge(answer(200, body))).toMatchObject({ ok: false, failure, status: 200 });
  });

  it('is not an answer that contradicts the request', () => {
    const match = () => ({ contradiction: 'it is about another order' });
    expect(judgeResult(answer(200, order), { ...expected, match }, NOW)).toMatchObject({
      failure: 'contract_drift',
      detail: 'The service answered 200, but it is about another order.',
    });
  });
});

describe('the detail of a failure', () => {
  it('contains status, code and field in our own words, and the sentence of the service', () => {
    const body = { error: { code: 'validation_failed', message: 'bad', fields: { device_imei: 'wrong', other: 'x' } } };
    expect(judge(answer(422, body))).toMatchObject({
      detail: 'The service answered 422 (validation_failed), about device_imei: “bad”',
      serviceMessage: 'bad',
    });
    const detail = 'The service answered 200, but its body lacks or misstates status.';
    expect(judge(answer(200, { id: '1' }))).toMatchObject({ detail });
  });

  it('contains nothing personal of the body', () => {
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

  it.each<[string, unknown]>([
    ['the envelope of the contract', { error: { code: 'validation_failed', message: 'No stock in ES.' } }],
    ['a text', { error: 'No stock in ES.' }],
    ['Laravel', { message: 'No stock in ES.', errors: { package_id: ['is not sold'] } }],
    ['problem details', { type: 'about:blank', title: 'Unprocessable', detail: 'No stock in ES.' }],
    ['JSON:API', { errors: [{ code: 'no_stock', detail: 'No stock in ES.' }] }],
    ['OAuth', { error: 'invalid_request', error_description: 'No stock in ES.' }],
    ['one line', { message: ' No stock\r\n\u202ein\tES. ' }],
  ])('has the sentence of %s', (_name, body) => {
    expect(judge(answer(422, body))).toMatchObject({ serviceMessage: 'No stock in ES.' });
  });

  it('has a sentence of at most 300 characters, without what was sent', () => {
    const sent = Buffer.from(JSON.stringify({ customer_reference: 'Ann Example', nested: [{ note: 'Ann' }] }));
    const message = `Ann Example (ann@example.com, 34600123456) is unknown; Ann. ${'é'.repeat(400)}`;
    const judged = judgeResult(answer(422, { error: { message } }), { ...expected, sent }, NOW);
    expect(judged).toMatchObject({
      serviceMessage: expect.stringMatching(/^\[…\] \(\[…\], \[…\]\) is unknown; \[…\]\. é+…$/),
    });
    expect(Array.from('serviceMessage' in judged ? (judged.serviceMessage ?? '') : '')).toHaveLength(300);
  });

  it('contains the paths of missing fields, or their number when there are many', () => {
    const detailOf = (schema: z.ZodType, body: unknown) => {
      const judged = judgeResult(answer(200, body), { read: readAs(schema) }, NOW);
      return judged.ok ? undefined : judged.detail;
    };
    const many = (count: number) =>
      z.object(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, z.string()])));
    const nested = z.object({ record: z.object({ a: z.string(), b: z.string() }) });
    expect(detailOf(nested, { record: {} })).toMatch(/ lacks or misstates record\.a, record\.b\.$/);
    expect(detailOf(many(5), {})).toMatch(/ f0, f1, f2, f3, f4\.$/);
    expect(detailOf(many(7), {})).toMatch(/ f0, f1, f2, f3, f4 and 2 more\.$/);
    expect(detailOf(many(1), '7')).toMatch(/misstates the object itself\.$/);
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
    const encoded = (status: number, body: unknown, encoding: string) =>
      judge(answer(status, body, { 'content-encoding': encoding }));
    const failed = { ok: false, kind: 'failure' };
    const plain = { ...failed, failure: 'invalid_request', detail: 'The service answered 422.', status: 422 };
    expect(judge(answer(422))).toStrictEqual(plain);
    const refusal = coded('package_unavailable');
    expect(encoded(422, refusal, 'gzip')).toStrictEqual(plain);
    expect(encoded(422, refusal, ' Identity ')).toMatchObject({ failure: 'package_unavailable' });
    const detail = 'The service answered 200, but with a content encoding that was not requested.';
    const unreadable = { ...failed, failure: 'unreadable_answer', detail, status: 200 };
    expect(encoded(200, { id: 'so_1', status: 'completed' }, 'gzip')).toStrictEqual(unreadable);
  });

  it('contains the status and the reason of an unreadable body, for every success status', () => {
    expect(judge(answer(422, coded('package_unavailable')))).toMatchObject({ code: 'package_unavailable' });
    for (const [body, reason] of [
      [Buffer.from([199, 0xff]), 'is not UTF-8'],
      ['<html>', 'is not JSON'],
      ['{"a":1,"a":2}', 'names a field twice'],
    ] as const)
      expect(judge(answer(299, body))).toMatchObject({
        detail: `The service answered 299, but its body ${reason}.`,
        status: 299,
      });
  });
});
