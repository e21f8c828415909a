import { describe, expect, it } from 'vitest';
import { answer, judge, NOW } from '#test/support/judged-answers.ts';
import { judgeResult, type BodyResult, type Match } from '#upstream/client/error-mapping.ts';

const UNUSABLE: BodyResult<unknown> = { ok: false, problem: 'its body lacks or misstates status' };
const isOurs = (body: unknown, names: string | undefined) => {
  const judged = judgeResult(answer(200, JSON.stringify(body)), { read: () => UNUSABLE, names }, NOW);
  return 'isOurs' in judged;
};

describe('an unusable answer', () => {
  it.each<[string | undefined, unknown, boolean]>([
    ['shop-1', { id: 'shop-1' }, true],
    ['shop-1', { data: [{ id: 'other' }, { order: { id: 'SHOP-1' } }] }, true],
    ['shop-1', 'shop-1', true],
    ['00017', { id: 17 }, true],
    ['shop-123', { message: 'Your order shop-123 was taken.' }, true],
    ['shop-12', { message: 'Your order shop-12 was taken.' }, false],
    ['shop-123', { id: 'shop-124', other: null, number: 17, flag: true }, false],
    ['shop-123', 'order', false],
    ['shop-123', null, false],
    [undefined, { id: 'undefined' }, false],
  ])('to a request that names %j, with the body %j, is about our purchase: %s', (names, body, expected) => {
    expect(isOurs(body, names)).toBe(expected);
  });
});

describe('a usable answer', () => {
  const unused = { fields: ['data[].id'], items: 1 };
  const read = (more: object, matching: ReturnType<Match<number>> = {}) =>
    judgeResult(answer(201, {}), { read: () => ({ ok: true, value: 7, ...more }), match: () => matching }, NOW);

  it('names its unused parts and the names in another form, if there are any', () => {
    const plain = { ok: true, value: 7, status: 201 };
    expect(read({})).toStrictEqual(plain);
    expect(read({ unused }, { differing: [] })).toStrictEqual({ ...plain, unused });
    expect(read({}, { differing: ['id'] })).toStrictEqual({ ...plain, differing: ['id'] });
  });

  it('is read with its link header', () => {
    const links = [{ link: '<?page=2>; rel="next"' }, {}].map((headers) => {
      const judged = judgeResult(answer(200, {}, headers), { read: (_body, link) => ({ ok: true, value: link }) }, NOW);
      return judged.ok && judged.value;
    });
    expect(links).toEqual(['<?page=2>; rel="next"', undefined]);
  });
});

describe('a refusal with a code that does not say what is wrong', () => {
  it.each(['malformed_request', 'validation_failed'])('%s leads to a look-up when it says "taken"', (code) => {
    const body = { error: { code, message: 'The external_order_id has already been taken.' } };
    expect(judge(answer(422, body))).toMatchObject({ failure: 'key_or_reference_used' });
  });
});
