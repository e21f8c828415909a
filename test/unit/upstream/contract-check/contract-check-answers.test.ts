import { describe, expect, it } from 'vitest';
import { breaking, check, documentWith, findingsOf, note, operation } from '#test/support/contract-findings.ts';
import { contractOpenApi, type Schema } from '#test/support/contract-openapi.ts';

const TEXT = { type: 'string' };
const WALLET = { balance: TEXT, currency: TEXT };
const walletOf = (schema: Schema) => documentWith('getWallet answer', schema);
const REQUIRED = ['balance', 'currency'];
const whole = (message: string) => breaking('answer', undefined, message);
const UNDESCRIBED = whole('is not described; we need balance, currency');

describe('an answer', () => {
  it.each<[string, Schema, ...object[]]>([
    [
      'has a field under another name',
      { type: 'object', required: ['amount', 'currency'], properties: { walletBalance: TEXT, currency: TEXT } },
      breaking('answer', 'balance', 'is missing', 'walletBalance'),
    ],
    [
      'does not promise its fields',
      { type: 'object', properties: WALLET },
      note('answer', undefined, 'does not list balance, currency as required, which we need'),
    ],
    [
      'has one of two forms',
      { anyOf: [{ properties: WALLET, required: REQUIRED }, { properties: { error: { type: 'string' } } }] },
      note('answer', 'balance', 'is there in some forms of the answer only'),
      note('answer', 'currency', 'is there in some forms of the answer only'),
    ],
    ['is not described', { type: 'object' }, UNDESCRIBED],
    ['is a list', { type: 'array', items: { properties: WALLET } }, whole('is of type array there, and object here')],
    [
      'has a field without a type',
      { type: 'object', required: REQUIRED, properties: { balance: {}, currency: true } },
      note('answer', 'balance', 'is not described'),
      note('answer', 'currency', 'is not described'),
    ],
    [
      'refers to something outside of the file',
      { $ref: 'wallet.json#/Wallet' },
      whole('refers to "wallet.json#/Wallet", which is outside of the file; bundle everything into one document'),
    ],
    [
      'refers to something that is not there',
      { $ref: '#/components/schemas/Wallet' },
      whole('refers to "#/components/schemas/Wallet", which is not in the document'),
    ],
    ['refers to itself', { $ref: '#/paths/~1wallet/get/responses/200/content/application~1json/schema' }, UNDESCRIBED],
  ])('that %s', (_name, schema, ...findings) => {
    expect(findingsOf('getWallet', walletOf(schema))).toEqual(findings);
  });

  it('with a recursive schema is compared only as far as needed', () => {
    const document = walletOf({ $ref: '#/components/schemas/Node' });
    const properties = { ...WALLET, parent: { $ref: '#/components/schemas/Node' } };
    const node = { type: 'object', required: REQUIRED, properties };
    Object.assign(document.components, { schemas: { Node: node } });
    expect(check(document).compatible).toBe(true);
  });

  it('described for some successes only is compared for those', () => {
    const document = contractOpenApi();
    const responses = operation(document, '/orders')['responses'] as Schema;
    responses['202'] = { description: 'Accepted.' };
    const without = note('answer', undefined, 'with 202 has no JSON body; it would count as unknown');
    expect(findingsOf('createOrder', document)).toEqual([without]);
    Reflect.deleteProperty(responses, '200');
    expect(findingsOf('createOrder', document)).toEqual([whole('is not described as JSON for any success (2xx)')]);
  });
});

describe('events', () => {
  it('may be undescribed, and so may their data', () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document, 'webhooks');
    const undescribed = Array.from({ length: 14 }, () => ({ status: 'undocumented' }));
    expect(check(document)).toMatchObject({ compatible: true, events: undescribed });
    const properties = { event: TEXT, data: { type: 'object' } };
    const freeForm = documentWith('event topup.failed', { type: 'object', required: ['event', 'data'], properties });
    expect(check(freeForm).compatible).toBe(true);
    expect(findingsOf('topup.failed', freeForm)).toEqual([note('answer', 'data', 'is not described')]);
  });
});
