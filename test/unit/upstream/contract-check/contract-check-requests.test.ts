import { afterEach, describe, expect, it } from 'vitest';
import { Draft } from '#test/support/contract-differences/draft.ts';
import { breaking, documentWith, findingsOf, note, operation } from '#test/support/contract-findings.ts';
import { contractOpenApi, type Schema } from '#test/support/contract-openapi.ts';
import { VARIANTS } from '#upstream/contract/variants.ts';

const INTEGER = { type: 'integer' };
const TEXT = { type: 'string' };
const ORDER_BODY = {
  type: 'object',
  required: ['package_id', 'external_order_id'],
  properties: { package_id: INTEGER, external_order_id: TEXT, device_imei: TEXT },
};
const requiring = (name: string): Schema => ({
  ...ORDER_BODY,
  required: [...ORDER_BODY.required, name],
  properties: { ...ORDER_BODY.properties, [name]: TEXT },
});

const whole = (message: string) => breaking('request', undefined, message);
const requires = (name: string, sent: string) =>
  breaking('request', name, `is required there, and we do not ${sent} it`);

describe('a request', () => {
  it.each<[string, Schema, ...object[]]>([
    [
      'takes our fields under another name',
      { type: 'object', properties: { packageId: INTEGER, order_reference: TEXT } },
      breaking('request', 'package_id', 'is missing', 'packageId'),
      breaking('request', 'external_order_id', 'is missing', 'order_reference'),
      note('request', 'device_imei', 'is missing there; we send it in some requests'),
    ],
    ['requires a field that we do not have', requiring('currency'), requires('currency', 'send')],
    ['requires a field that we send only sometimes', requiring('device_imei'), requires('device_imei', 'always send')],
    ['has no description', {}, whole('is not described; we send package_id, external_order_id')],
    ['has no value that fits', { allOf: [TEXT, { type: 'object' }] }, whole('is described so that no value fits')],
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
    const key = { name: 'Idempotency-Key', in: 'header', required: true };
    operation(document, '/vpn/subscriptions/{id}/cancel')['parameters'] = [key];
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

describe('other names of query parameters', () => {
  afterEach(() => {
    for (const name of ['external_order_id', 'limit', 'cursor']) Reflect.deleteProperty(VARIANTS.parameters, name);
  });

  it('a query parameter that is not sent is a note, and breaking where the service requires it', () => {
    Object.assign(VARIANTS.parameters, { cursor: null });
    const draft = new Draft();
    const named = () => findingsOf('listOrders', draft.document).filter(({ name }) => name === 'query cursor');
    const unsent = note('parameters', 'query cursor', 'is not sent (`parameters` in upstream/contract/variants.ts)');
    expect(named()).toEqual([unsent]);
    draft.parameter('listOrders', 'cursor').required = true;
    const required = breaking('parameters', 'query cursor', 'is required there, and we do not always send it');
    expect(named()).toEqual([required, unsent]);
  });

  it('a query parameter with another name at the service is compared with that name', () => {
    Object.assign(VARIANTS.parameters, { external_order_id: 'reference', limit: 'per_page' });
    const missing = 'is missing, and is needed for finding an order whose answer was lost';
    const ours = findingsOf('listOrders', new Draft().document);
    expect(ours).toContainEqual(breaking('parameters', 'query reference', missing));
    const draft = new Draft();
    draft.parameter('listOrders', 'external_order_id').name = 'reference';
    Object.assign(draft.parameter('listOrders', 'limit'), { name: 'per_page', required: true });
    expect(findingsOf('listOrders', draft.document)).toEqual([]);
  });
});
