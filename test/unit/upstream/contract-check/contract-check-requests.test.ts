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
    [
      'wants one of a list of values',
      withProperty('external_order_id', { enum: ['a', 'b'] }),
      breaking('request', 'external_order_id', 'is one of ["a","b"] there, and ours may be "ORD-1042"'),
    ],
    [
      'wants shorter texts than ours may be',
      withProperty('external_order_id', { type: 'string', maxLength: 40 }),
      note(
        'request',
        'external_order_id',
        'has at most 40 characters there; a caller may choose one of 67 characters, which is refused',
      ),
    ],
    [
      'has no description',
      {},
      breaking('request', undefined, 'is not described; we send package_id, external_order_id'),
    ],
    [
      'has no value that fits',
      { allOf: [{ type: 'string' }, { type: 'object' }] },
      breaking('request', undefined, 'is described so that no value fits'),
    ],
    [
      'takes a list of them',
      { type: 'array', items: ORDER_BODY },
      breaking('request', undefined, 'is of type array there, and object here'),
    ],
    [
      'takes it in one of several forms',
      { oneOf: [ORDER_BODY, { ...ORDER_BODY, required: ['coupon'], properties: {} }] },
    ],
  ])('that %s', (_name, schema, ...findings) => {
    expect(findingsOf('createOrder', documentWith('createOrder request', schema))).toEqual(findings);
  });

  it('without a JSON body is breaking when we send one, and so is the reverse', () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(operation(document, '/orders'), 'requestBody');
    operation(document, '/topups')['requestBody'] = { content: { 'multipart/form-data': {} } };
    operation(document, '/esims/{id}/cancel')['requestBody'] = { required: true, content: {} };
    operation(document, '/vpn/subscriptions/{id}/cancel')['requestBody'] = { content: {} };
    expect(findingsOf('createOrder', document)).toEqual([
      breaking('request', undefined, 'takes no body, and we send one'),
    ]);
    expect(findingsOf('createTopup', document)).toEqual([breaking('request', undefined, 'takes no JSON body')]);
    expect(findingsOf('cancelEsim', document)).toEqual([
      breaking('request', undefined, 'needs a body, and we send none'),
    ]);
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

  it('without a needed query are breaking, and so is another required one; paging is a note', () => {
    const document = contractOpenApi();
    operation(document, '/updates/latest', 'get')['parameters'] = [{ name: 'version', in: 'query' }];
    operation(document, '/orders', 'get')['parameters'] = [{ name: 'from', in: 'query', required: true }];
    expect(findingsOf('getLatestUpdate', document)).toEqual([
      breaking('parameters', 'query current_version', 'is missing', 'version'),
      breaking('parameters', 'query channel', 'is missing'),
    ]);
    expect(findingsOf('listOrders', document)).toEqual([
      breaking(
        'parameters',
        'query external_order_id',
        'is missing, and is needed for finding an order whose answer was lost',
      ),
      breaking('parameters', 'query from', 'is required there, and we do not always send it'),
      ...['cursor', 'limit'].map((name) =>
        note('parameters', `query ${name}`, 'is not in the document, so the service may ignore or refuse it'),
      ),
    ]);
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
