import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '#api/http/idempotency.ts';
import { readJsonBody } from '#api/http/read-request.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { Problem } from '#api/problems/problem.ts';
import { readDelivery } from '#api/service-webhooks/service-webhooks.ts';

const ORDER = 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD';

const { order: orders, timeline } = CURSORS;

describe('cursors', () => {
  it('decode to their position', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }), (createdAt) => {
        expect(orders.read(orders.write({ row: { createdAt, id: ORDER } }))).toEqual({ createdAt, id: ORDER });
      }),
    );
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (last) => {
        expect(timeline.read(timeline.write({ id: last }))).toBe(last);
      }),
    );
  });

  it('of other origin are refused as an invalid parameter, with any content', () => {
    const refusal = (cursor: string) => {
      try {
        orders.read(cursor);
        return 'taken';
      } catch (error) {
        return error instanceof Problem ? error.code : error;
      }
    };
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(refusal(text)).toBe('validation_failed');
      }),
    );
    const own = orders.write({ row: { createdAt: new Date(0), id: ORDER } });
    for (const cursor of [`${own}=`, ` ${own}`, `${own}!`, timeline.write({ id: 5n })])
      expect(refusal(cursor)).toBe('validation_failed');
  });
});

describe('the reader of JSON bodies', () => {
  it('accepts any JSON of bounded depth, and compares content independent of order and white space', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'));
        const text = JSON.stringify(value, null, 2);
        const read = readJsonBody(Buffer.from(text), 'application/json; charset=utf-8');
        expect(canonicalJson(read)).toBe(canonicalJson(JSON.parse(JSON.stringify(value))));
      }),
    );
    expect(canonicalJson({ b: 1, a: { d: 2, c: [{ f: 1, e: 2 }] } })).toBe('{"a":{"c":[{"e":2,"f":1}],"d":2},"b":1}');
    expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }));
  });

  it('accepts 32 levels and refuses 33', () => {
    const nested = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
    expect(readJsonBody(nested(32), 'application/json')).toBeInstanceOf(Array);
    expect(() => readJsonBody(nested(34), 'application/json')).toThrow('nested');
  });
});

describe('the reader of deliveries', () => {
  it('returns a storable value for any bytes, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(readDelivery(Buffer.from(bytes)).state).toBe('quarantined');
      }),
    );
  });

  it('never passes a NUL to a text column', () => {
    const text = fc.string({ unit: fc.constantFrom('\0', 'a', '1'), maxLength: 8 });
    fc.assert(
      fc.property(text, text, (id, reference) => {
        const body = { event: 'order.failed', data: { id, external_order_id: reference, status: 'failed' } };
        expect(JSON.stringify(readDelivery(Buffer.from(JSON.stringify(body))))).not.toContain('\\u0000');
      }),
    );
  });
});
