/** Documents that would take too long to compare, or are nested deeper than the stack. */
import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES } from '#domain/service/capability-profile.ts';
import { Draft } from '#test/support/contract-differences/draft.ts';
import type { Schema } from '#test/support/contract-openapi.ts';
import { checkContract, type ContractReport } from '#upstream/contract-check.ts';

const LAYERS = 3_000;

function nested(keyword: string, leaf: Schema): Schema {
  let schema = leaf;
  for (let layer = 0; layer < LAYERS; layer += 1) schema = { [keyword]: [schema] };
  return schema;
}

/** A chain of schemas, each with a reference to the next. */
function chained(of: (next: Schema) => Schema, count = LAYERS): Schema {
  const links = Array.from({ length: count }, (_, index) => {
    return [`S${index}`, of({ $ref: `#/components/schemas/S${index + 1}` })] as const;
  });
  return { ...Object.fromEntries(links), [`S${count}`]: { type: 'string' } };
}

function reportOf(draft: Draft, schemas: Schema = {}): ContractReport {
  draft.document['components'] = { ...(draft.document['components'] as Schema), schemas };
  return checkContract(draft.document, ALL_CAPABILITIES);
}

const TOO_DEEP = { severity: 'breaking', message: 'is nested too deeply to be compared' };

function findingsOf(report: ContractReport, call: string) {
  return report.calls.find(({ name }) => name === call)?.findings ?? [];
}

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
    expect(findingsOf(report, 'getOrder')[0]).toMatchObject(isDeep ? TOO_DEEP : { severity: 'breaking' });
  });

  it('is breaking in an optional field, in an amount and beside a list as well', () => {
    const deep = nested('allOf', { type: 'string' });
    const optional = new Draft();
    optional.set('getOrder answer', 'created_at', deep);
    expect(findingsOf(reportOf(optional), 'getOrder')).toMatchObject([{ ...TOO_DEEP, name: 'created_at' }]);
    const amount = new Draft();
    amount.set('getOrder answer', 'price_for_reseller', deep);
    expect(findingsOf(reportOf(amount), 'getOrder')).toMatchObject([TOO_DEEP]);
    const paged = new Draft();
    paged.fields('listOrders answer')['meta'] = deep;
    expect(findingsOf(reportOf(paged), 'listOrders')).toMatchObject([TOO_DEEP]);
  });

  it('is breaking in a parameter, an event and its headers', () => {
    const deep = nested('allOf', { type: 'string' });
    const draft = new Draft();
    draft.parameter('listOrders', 'external_order_id').schema = deep;
    draft.media('event order.failed')['schema'] = deep;
    const report = reportOf(draft);
    expect(findingsOf(report, 'listOrders')).toMatchObject([TOO_DEEP]);
    expect(report.events.find(({ event }) => event === 'order.failed')?.findings).toMatchObject([TOO_DEEP]);
  });
});
