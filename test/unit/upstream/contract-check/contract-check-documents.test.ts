import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { Draft } from '#test/support/contract-differences/draft.ts';
import { callOf } from '#test/support/contract-findings.ts';
import type { Schema } from '#test/support/contract-openapi.ts';
import { checkContract, readDocument, type ContractReport } from '#upstream/contract-check.ts';
import { matches } from '#upstream/contract-check/constraints.ts';

describe('a pattern of a document', () => {
  it.each([
    ['^[a-z]+$', 'abc', true],
    ['^[a-z]+$', 'ABC', false],
    [String.raw`^[\w-.]+$`, 'a-b', true],
    ['^(?<', 'abc', undefined],
    ['^(a+)+$', `${'a'.repeat(80)}!`, undefined],
  ] as const)('%s is matched, or ignored when it is invalid or endless', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });
});

describe('a document file is refused with a reason when it is', () => {
  const twice = 'names a field twice in one object, so that it has no single meaning';
  const version = (named: string) => `says that it is OpenAPI ${named}, and only version 3 is read`;

  it.each([
    ['nothing', '', 'is not JSON (of YAML, make JSON first)'],
    ['YAML', 'openapi: 3.1.0\npaths: {}\n', 'is not JSON (of YAML, make JSON first)'],
    ['cut off', '{"openapi":"3.1.0","paths":{', 'is not JSON (of YAML, make JSON first)'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'is not UTF-8 text'],
    ['ambiguous', '{"openapi":"3.1.0","paths":{},"paths":{}}', twice],
    ['a list', '[]', 'is JSON, but not an object'],
    ['Swagger', '{"swagger":"2.0","paths":{}}', 'is a Swagger 2 document; convert it to OpenAPI 3 first'],
    ['something else', '{"name":"reseller"}', 'has no field "openapi", so it is no OpenAPI document'],
    ['of another version', '{"openapi":"4.0.0","paths":{}}', version('"4.0.0"')],
    ['of a version that is no text', '{"openapi":3.1,"paths":{}}', version('3.1')],
    ['without paths', '{"openapi":"3.1.0"}', 'is an OpenAPI document without "paths"'],
    ['with a list of paths', '{"openapi":"3.1.0","paths":[]}', 'is an OpenAPI document without "paths"'],
  ])('%s', (_name, content, message) => {
    expect(() => readDocument(Buffer.from(content))).toThrow(message);
  });
});

// Documents that would take too long to compare, or are nested deeper than the stack.
const LAYERS = 3_000;

function nested(keyword: string, leaf: Schema): Schema {
  let schema = leaf;
  for (let layer = 0; layer < LAYERS; layer += 1) schema = { [keyword]: [schema] };
  return schema;
}

/** A chain of schemas, each with a reference to the next. */
function chained(of: (next: Schema) => Schema, count = LAYERS): Schema {
  const schemas: Schema = { [`S${count}`]: { type: 'string' } };
  for (let link = 0; link < count; link += 1) schemas[`S${link}`] = of({ $ref: `#/components/schemas/S${link + 1}` });
  return schemas;
}

function reportOf(draft: Draft, schemas: Schema = {}): ContractReport {
  draft.document['components'] = { ...(draft.document['components'] as Schema), schemas };
  return checkContract(draft.document, ALL_CAPABILITIES);
}

const TOO_DEEP = { severity: 'breaking', message: 'is nested too deeply to be compared' };

const FIRST: Schema = { $ref: '#/components/schemas/S0' };
const DOCUMENTS: readonly (readonly [string, Schema, Schema])[] = [
  ['3000 nested allOf', nested('allOf', { type: 'string' }), {}],
  ['3000 nested oneOf', nested('oneOf', { type: 'string' }), {}],
  ['3000 chained $ref', FIRST, chained((next) => next)],
  ['an allOf that names the next one twice', FIRST, chained((next) => ({ allOf: [next, next] }), 60)],
  ['an anyOf that names the next one twice', FIRST, chained((next) => ({ anyOf: [next, next] }), 60)],
  [
    'an allOf of 3000 parts with the same field',
    { allOf: Array.from({ length: LAYERS }, () => ({ properties: { id: { type: 'string' } } })) },
    {},
  ],
];

describe('a part with excessive nesting', () => {
  it.each(DOCUMENTS)('in a needed field is a breaking finding of the call within a short time: %s', (...document) => {
    const [name, schema, schemas] = document;
    const draft = new Draft();
    draft.set('getOrder answer', 'status', schema);
    const before = performance.now();
    const report = reportOf(draft, schemas);
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(report.compatible).toBe(false);
    const isDeep = !name.endsWith('the same field');
    expect(callOf(report, 'getOrder')?.findings[0]).toMatchObject(isDeep ? TOO_DEEP : { severity: 'breaking' });
  });

  it('is breaking in an optional field, in an amount and beside a list as well', () => {
    const deep = nested('allOf', { type: 'string' });
    const optional = new Draft();
    optional.set('getOrder answer', 'created_at', deep);
    expect(callOf(reportOf(optional), 'getOrder')?.findings).toMatchObject([{ ...TOO_DEEP, name: 'created_at' }]);
    const amount = new Draft();
    amount.set('getOrder answer', 'price_for_reseller', deep);
    expect(callOf(reportOf(amount), 'getOrder')?.findings).toMatchObject([TOO_DEEP]);
    const paged = new Draft();
    paged.fields('listOrders answer')['meta'] = deep;
    expect(callOf(reportOf(paged), 'listOrders')?.findings).toMatchObject([TOO_DEEP]);
  });

  it('is breaking in a parameter, an event and its headers', () => {
    const deep = nested('allOf', { type: 'string' });
    const draft = new Draft();
    draft.parameter('listOrders', 'external_order_id').schema = deep;
    draft.media('event order.failed')['schema'] = deep;
    const report = reportOf(draft);
    expect(callOf(report, 'listOrders')?.findings).toMatchObject([TOO_DEEP]);
    expect(report.events.find(({ event }) => event === 'order.failed')?.findings).toMatchObject([TOO_DEEP]);
  });
});
