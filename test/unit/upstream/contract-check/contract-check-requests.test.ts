import { describe, expect, it } from 'vitest';
import { breaking, documentWith, findingsOf, note, operation } from '#test/support/contract-findings.ts';
import { contractOpenApi, type Schema } from '#test/support/contract-openapi.ts';

const ORDER_BODY: Schema = {
  type: 'object',
  required: ['package_id', 'external_order_id'],
  properties: {
    package_id: { type: 'integer' },
    external_order_id: { type: 'string' },
    device_imei: { type: 'string' },
  },
};
const withProperty = (name: string, schema: unknown, required: readonly string[] = []): Schema => ({
  ...ORDER_BODY,
  required: [...(ORDER_BODY['required'] as string[]), ...required],
  properties: { ...(ORDER_BODY['properties'] as Schema), [name]: schema },
});

const whole = (message: string) => breaking('request', undefined, message);

describe('a request', () => {
  it.each<[string, Schema, ...object[]]>([
    [
      'takes our fields under another name',
      { type: 'object', properties: { packageId: { type: 'integer' }, order_reference: { type: 'string' } } },
      breaking('request', 'package_id', 'is missing', 'packageId'),
      breaking('request', 'external_order_id', 'is missing', 'order_reference'),
      note('request', 'device_imei', 'is missing there; we send it in some requests'),
    ],
    [
      'requires a field that we do not have',
      withProperty('currency', { type: 'string' }, ['currency']),
      breaking('request', 'currency', 'is required there, and we do not send it'),
    ],
    [
      'requires a field that we send only sometimes',
      withProperty('device_imei', { type: 'string' }, ['device_imei']),
      breaking('request', 'device_imei', 'is required there, and we do not always send it'),
    ],
    ['has no description', {}, whole('is not described; we send package_id, external_order_id')],
    [
      'has no value that fits',
      { allOf: [{ type: 'string' }, { type: 'object' }] },
      whole('is described so that no value fits'),
    ],
    ['takes one of several forms', { oneOf: [ORDER_BODY, { ...ORDER_BODY, required: ['coupon'], properties: {} }] }],
  ])('that %s', (_name, schema, ...findings) => {
    expect(findingsOf('createOrder', documentWith('createOrder request', schema))).toEqual(findings);
  });

  it('without a JSON body is breaking when we send one, and so is the reverse', () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(operation(document, '/orders'), 'requestBody');
    operation(document, '/topups')['requestBody'] = { content: { 'multipart/form-data': {} } };
    operation(document, '/esims/{id}/cancel')['requestBody'] = { required: true, content: {} };
    operation(document, '/vpn/subscriptions/{id}/cancel')['requestBody'] = { content: {} };
    expect(findingsOf('createOrder', document)).toEqual([whole('takes no body, and we send one')]);
    expect(findingsOf('createTopup', document)).toEqual([whole('takes no JSON body')]);
    expect(findingsOf('cancelEsim', document)).toEqual([whole('needs a body, and we send none')]);
    expect(findingsOf('cancelVpnSubscription', document)).toEqual([]);
  });
});

describe('parameters and authorization', () => {
  it('without a needed Idempotency-Key are breaking, and so is a required one elsewhere', () => {
    const document = contractOpenApi();
    for (const path of ['/orders', '/topups', '/vpn/orders', '/esims/{id}/cancel'])
      operation(document, path)['parameters'] = [];
    operation(document, '/vpn/orders')['parameters'] = [{ name: 'X-Idempotency-Key', in: 'header', required: true }];
    operation(document, '/vpn/subscriptions/{id}/cancel')['parameters'] = [
      { name: 'Idempotency-Key', in: 'header', required: true },
    ];
    const missing = (...suggestions: string[]) =>
      breaking('parameters', 'header Idempotency-Key', 'is missing', ...suggestions);
    const unsent = (name: string) =>
      breaking('parameters', `header ${name}`, 'is required there, and we do not always send it');
    expect(findingsOf('createOrder', document)).toEqual([missing()]);
    expect(findingsOf('createTopup', document)).toEqual([missing()]);
    expect(findingsOf('cancelEsim', document)).toEqual([missing()]);
    expect(findingsOf('createVpnOrder', document)).toEqual([missing('X-Idempotency-Key'), unsent('X-Idempotency-Key')]);
    expect(findingsOf('cancelVpnSubscription', document)).toEqual([unsent('Idempotency-Key')]);
  });

  it('with another authorization than a Bearer token are breaking', () => {
    const document = contractOpenApi();
    Object.assign(document.components.securitySchemes, { key: { type: 'apiKey', in: 'header', name: 'X-Key' } });
    operation(document, '/orders')['security'] = [{ key: [] }];
    operation(document, '/topups')['security'] = [{ key: [] }, { token: [] }];
    operation(document, '/vpn/orders')['security'] = [{ token: [], key: [] }];
    const other = breaking('call', undefined, 'asks for another authorization than a Bearer token');
    expect(findingsOf('createOrder', document)).toEqual([other]);
    expect(findingsOf('createTopup', document)).toEqual([]);
    expect(findingsOf('createVpnOrder', document)).toEqual([other]);
  });
});
