import { describe, expect, it } from 'vitest';
import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capabilities.ts';
import { Draft } from '#test/support/contract-differences/draft.ts';
import { contractBodies, contractOpenApi, PLAIN, type BodyName, type Schema } from '#test/support/contract-openapi.ts';
import { checkContract, readDocument, type Finding } from '#upstream/contract-check.ts';
import { matches } from '#upstream/contract-check/schema/patterns.ts';
import type { EndpointName, EventKind } from '#upstream/contract.ts';

type Document = ReturnType<typeof contractOpenApi>;

function check(document: unknown, capabilities: Partial<Capabilities> = {}) {
  return checkContract(readDocument(Buffer.from(JSON.stringify(document))), { ...ALL_CAPABILITIES, ...capabilities });
}

/** The findings of one call or event in a document. */
function findingsOf(of: EndpointName | EventKind, document: unknown): readonly Finding[] {
  const { calls, events } = check(document);
  return (calls.find(({ name }) => name === of) ?? events.find(({ event }) => event === of))?.findings ?? [];
}

function documentWith(body: BodyName, schema: Schema): Document {
  return contractOpenApi(PLAIN, contractBodies().set(body, schema));
}

function operation(document: Document, path: string, method = 'post'): Schema {
  return document.paths[path]?.[method] as Schema;
}

const breaking = (part: Finding['part'], name: string | undefined, message: string, ...suggestions: string[]) => ({
  severity: 'breaking',
  part,
  ...(name === undefined ? {} : { name }),
  message,
  ...(suggestions.length === 0 ? {} : { suggestions }),
});
const note = (...parts: Parameters<typeof breaking>) => ({ ...breaking(...parts), severity: 'note' });

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
const WALLET = { balance: { type: 'string' }, currency: { type: 'string' } };
const walletOf = (schema: Schema) => documentWith('getWallet answer', schema);
const REQUIRED = ['balance', 'currency'];

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
      'wants another type',
      withProperty('package_id', { type: 'string' }),
      breaking('request', 'package_id', 'is of type string there, and integer here'),
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
      'has no description of its fields',
      { type: 'object' },
      breaking('request', undefined, 'is not described; we send package_id, external_order_id'),
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
    ['takes numbers where we send integers', withProperty('package_id', { type: 'number' })],
    ['takes either form of an id', withProperty('package_id', { type: ['integer', 'string'] })],
  ])('that %s', (_name, schema, ...findings) => {
    expect(findingsOf('createOrder', documentWith('createOrder request', schema))).toEqual(findings);
  });

  it('that accepts only integers for an amount is breaking', () => {
    const bodies = contractBodies();
    const properties = bodies.get('createVpnOrder request')?.['properties'] as Schema;
    properties['customer_price'] = { type: 'integer' };
    expect(findingsOf('createVpnOrder', contractOpenApi(PLAIN, bodies))).toEqual([
      breaking('request', 'customer_price', 'is an integer there, and may be any number here'),
    ]);
  });

  it('that does not accept one of our values is breaking', () => {
    const bodies = contractBodies();
    const properties = bodies.get('simulateEsim request')?.['properties'] as Schema;
    properties['state'] = { type: 'string', enum: ['installed', 'active', 'used_up'] };
    expect(findingsOf('simulateEsim', contractOpenApi(PLAIN, bodies))).toEqual([
      breaking('request', 'state', 'may not be "consumed", which we send'),
    ]);
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

describe('an answer', () => {
  it.each<[string, Schema, ...object[]]>([
    [
      'has a field under another name',
      {
        type: 'object',
        required: ['amount', 'currency'],
        properties: { walletBalance: { type: 'string' }, currency: { type: 'string' } },
      },
      breaking('answer', 'balance', 'is missing', 'walletBalance'),
    ],
    [
      'has a field of another type',
      { type: 'object', required: REQUIRED, properties: { ...WALLET, currency: { type: 'object' } } },
      breaking('answer', 'currency', 'is of type object there, and string here'),
    ],
    [
      'does not promise its fields',
      { type: 'object', properties: WALLET },
      note('answer', undefined, 'does not list balance, currency as required, which we need'),
    ],
    [
      'may have null in a field',
      { type: 'object', required: REQUIRED, properties: { ...WALLET, currency: { type: ['string', 'null'] } } },
      breaking('answer', 'currency', 'may be null there, which we do not take'),
    ],
    [
      'may have null the way of OpenAPI 3.0',
      { type: 'object', required: REQUIRED, properties: { ...WALLET, currency: { type: 'string', nullable: true } } },
      breaking('answer', 'currency', 'may be null there, which we do not take'),
    ],
    [
      'is in parts',
      {
        allOf: [
          { properties: { balance: { type: 'string' } }, required: ['balance'] },
          { properties: { currency: { type: 'string' } }, required: ['currency'] },
        ],
      },
    ],
    [
      'has one of two forms',
      { anyOf: [{ properties: WALLET, required: REQUIRED }, { properties: { error: { type: 'string' } } }] },
      note('answer', 'balance', 'is there in some forms of the answer only'),
      note('answer', 'currency', 'is there in some forms of the answer only'),
    ],
    [
      'is not described',
      { type: 'object' },
      breaking('answer', undefined, 'is not described; we need balance, currency'),
    ],
    [
      'is a list',
      { type: 'array', items: { properties: WALLET } },
      breaking('answer', undefined, 'is of type array there, and object here'),
    ],
    [
      'has a field without a type',
      { type: 'object', required: REQUIRED, properties: { balance: {}, currency: true } },
      note('answer', 'balance', 'is not described'),
      note('answer', 'currency', 'is not described'),
    ],
    [
      'refers to something outside of the file',
      { $ref: 'wallet.json#/Wallet' },
      breaking(
        'answer',
        undefined,
        'refers to "wallet.json#/Wallet", which is outside of the file; bundle everything into one document',
      ),
    ],
    [
      'refers to something that is not there',
      { $ref: '#/components/schemas/Wallet' },
      breaking('answer', undefined, 'refers to "#/components/schemas/Wallet", which is not in the document'),
    ],
    [
      'refers to itself',
      { $ref: '#/paths/~1wallet/get/responses/200/content/application~1json/schema' },
      breaking('answer', undefined, 'is not described; we need balance, currency'),
    ],
  ])('that %s', (_name, schema, ...findings) => {
    expect(findingsOf('getWallet', walletOf(schema))).toEqual(findings);
  });

  it('with other list items is compared item by item', () => {
    const bodies = contractBodies();
    bodies.set('listVpnPlans answer', {
      type: 'object',
      required: ['data'],
      properties: {
        data: {
          type: 'array',
          items: { properties: { id: { type: 'string' }, title: { type: 'string' }, price: { type: 'number' } } },
        },
      },
    });
    expect(findingsOf('listVpnPlans', contractOpenApi(PLAIN, bodies))).toEqual([
      breaking('answer', 'data[].name', 'is missing'),
      breaking('answer', 'data[].price_for_reseller', 'is missing', 'price'),
      breaking('answer', 'data[].currency', 'is missing'),
      note('answer', undefined, 'has no paging that we can read, so the product does not treat the list as complete'),
      note('answer', 'data[]', 'does not list id as required, which we need'),
    ]);
  });

  it('with an unknown state, or without a state, is breaking', () => {
    const bodies = contractBodies();
    const properties = bodies.get('createOrder answer')?.['properties'] as Schema;
    properties['status'] = { type: 'string', enum: ['completed', 'failed', 'dreaming'] };
    expect(findingsOf('createOrder', contractOpenApi(PLAIN, bodies))).toEqual([
      breaking('answer', 'status', 'may be "dreaming", which we do not know'),
    ]);
  });

  it('with a recursive schema is compared only as far as needed', () => {
    const document = walletOf({ $ref: '#/components/schemas/Node' });
    const node = {
      type: 'object',
      required: REQUIRED,
      properties: { ...WALLET, parent: { $ref: '#/components/schemas/Node' } },
    };
    Object.assign(document.components, { schemas: { Node: node } });
    expect(check(document).compatible).toBe(true);
  });

  it('described for some successes only is compared for those', () => {
    const document = contractOpenApi();
    const responses = operation(document, '/orders')['responses'] as Schema;
    responses['202'] = { description: 'Accepted.' };
    expect(findingsOf('createOrder', document)).toEqual([
      note('answer', undefined, 'with 202 has no JSON body; it would count as unknown'),
    ]);
    Reflect.deleteProperty(responses, '200');
    expect(findingsOf('createOrder', document)).toEqual([
      breaking('answer', undefined, 'is not described as JSON for any success (2xx)'),
    ]);
  });

  it('of a call without dependencies may be undescribed', () => {
    const document = documentWith('getOpenApi answer', { type: 'object' });
    expect(check(document).compatible).toBe(true);
    expect(findingsOf('getOpenApi', document)).toEqual([
      note('answer', undefined, 'is not described; we need openapi, paths'),
    ]);
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

  it('compare header names without case, may be at the path, and ignore standard headers', () => {
    const document = contractOpenApi();
    operation(document, '/orders')['parameters'] = [
      { name: 'Accept', in: 'header', required: true },
      { name: 'Authorization', in: 'header', required: true },
    ];
    Object.assign(document.paths['/orders'] ?? {}, { parameters: [{ name: 'idempotency-key', in: 'header' }] });
    expect(findingsOf('createOrder', document)).toEqual([]);
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

describe('a call', () => {
  const moved = (from: string, to: string) => {
    const { paths, ...document } = contractOpenApi();
    return {
      ...document,
      paths: Object.fromEntries(Object.entries(paths).map(([path, item]) => [path === from ? to : path, item])),
    };
  };

  it('at another path is missing, and the other path is suggested', () => {
    const report = check(moved('/esims/{id}/topup-options', '/esims/{id}/recharge-options'));
    expect(report.calls.find(({ name }) => name === 'listTopupOptions')).toMatchObject({
      status: 'missing',
      findings: [breaking('call', undefined, 'is not in the document', '/esims/{id}/recharge-options')],
    });
    expect(report).toMatchObject({ compatible: false, switchOff: [] });
  });

  it('with another method is reported with that method', () => {
    const document = contractOpenApi();
    document.paths['/topups'] = { put: operation(document, '/topups') };
    expect(findingsOf('createTopup', document)).toEqual([
      breaking('call', undefined, 'is not in the document with POST, only with PUT'),
    ]);
  });

  it.each([
    '/orders/',
    '/api/reseller/v1/orders',
    'https://service.example/api/reseller/v1/orders',
    '{base_url}/orders',
    '/{sandbox_url}/orders',
    '/sandbox/orders',
    '/api/reseller/v1/sandbox/orders',
  ])('is found as %s', (path) => {
    const report = check(moved('/orders', path));
    expect(report.compatible).toBe(true);
    expect(report.calls.find(({ name }) => name === 'createOrder')).toMatchObject({ status: 'matches', foundAs: path });
  });

  it('is found when the servers share the prefix with the paths', () => {
    const document = {
      ...moved('/orders', '/v1/orders'),
      servers: [{ url: '{scheme}://service.example/api/reseller' }],
    };
    expect(check(document).calls.find(({ name }) => name === 'createOrder')).toMatchObject({ foundAs: '/v1/orders' });
  });

  it('of production takes precedence over that of the sandbox', () => {
    const document = contractOpenApi();
    const sandbox = { '/sandbox/login': { post: { responses: {} } } };
    expect(check({ ...document, paths: { ...sandbox, ...document.paths } }).compatible).toBe(true);
  });

  it('with a switched-off capability is not compared', () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/topups/{id}');
    expect(check(document)).toMatchObject({ compatible: false, switchOff: ['topup_read'] });
    const report = check(document, { topup_read: false });
    expect(report).toMatchObject({ compatible: true, switchOff: [] });
    expect(report.calls.find(({ name }) => name === 'getTopup')).toMatchObject({
      status: 'switched_off',
      findings: [],
    });
  });

  it('without a fallback leaves no capability to switch off', () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/topups/{id}');
    Reflect.deleteProperty(document.paths, '/vpn/plans');
    expect(check(document)).toMatchObject({ compatible: false, switchOff: [] });
  });
});

describe('events', () => {
  it('may be undescribed, and so may their data', () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document, 'webhooks');
    const undescribed = Array.from({ length: 14 }, () => ({ status: 'undocumented' }));
    expect(check(document)).toMatchObject({ compatible: true, events: undescribed });
    const freeForm = documentWith('event topup.failed', {
      type: 'object',
      required: ['event', 'data'],
      properties: { event: { type: 'string' }, data: { type: 'object' } },
    });
    expect(check(freeForm).compatible).toBe(true);
    expect(findingsOf('topup.failed', freeForm)).toEqual([
      note('answer', 'data', 'is not described; we need id, status'),
    ]);
  });

  it('with another form are breaking', () => {
    const flat = documentWith('event topup.failed', {
      type: 'object',
      properties: { name: { type: 'string' }, topup: { type: 'object' } },
    });
    expect(check(flat).compatible).toBe(false);
    expect(findingsOf('topup.failed', flat)).toEqual([
      breaking('answer', 'event', 'is missing'),
      breaking('answer', 'data', 'is missing'),
    ]);
  });
});

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

describe('capabilities', () => {
  it('are suggested to switch off only if the document is compatible without them', () => {
    const draft = new Draft();
    draft.removeParameter('listOrders', 'external_order_id');
    expect(check(draft.document)).toMatchObject({ compatible: false, switchOff: ['order_list'] });
    // Then no remaining read of a subscription has its access data, and neither has the answer to the order.
    const access = new Draft();
    const bodies = ['getVpnSubscription answer', 'listVpnSubscriptions answer', 'createVpnOrder answer'] as const;
    access.remove(bodies, 'access');
    expect(check(access.document)).toMatchObject({ compatible: false, switchOff: [] });
  });

  it('that are switched off require the needed fields in the answer to the purchase', () => {
    const off = { vpn_subscription_read: false, vpn_subscription_list: false };
    const draft = new Draft();
    draft.remove(
      ['getVpnSubscription answer', 'listVpnSubscriptions answer', 'cancelVpnSubscription answer'],
      'access',
    );
    expect(check(draft.document, off).compatible).toBe(true);
    draft.remove(['createVpnOrder answer'], 'access');
    const report = check(draft.document, off);
    expect(report.calls.find(({ name }) => name === 'createVpnOrder')?.findings).toContainEqual(
      breaking('answer', 'access', 'is missing, and is needed for giving the customer access'),
    );
  });
});

describe('a document file is refused with a reason when it is', () => {
  it.each([
    ['nothing', '', 'is not JSON (of YAML, make JSON first)'],
    ['YAML', 'openapi: 3.1.0\npaths: {}\n', 'is not JSON (of YAML, make JSON first)'],
    ['cut off', '{"openapi":"3.1.0","paths":{', 'is not JSON (of YAML, make JSON first)'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'is not UTF-8 text'],
    [
      'ambiguous',
      '{"openapi":"3.1.0","paths":{},"paths":{}}',
      'names a field twice in one object, so that it has no single meaning',
    ],
    ['a list', '[]', 'is JSON, but not an object'],
    ['Swagger', '{"swagger":"2.0","paths":{}}', 'is a Swagger 2 document; convert it to OpenAPI 3 first'],
    ['something else', '{"name":"reseller"}', 'has no field "openapi", so it is no OpenAPI document'],
    [
      'of another version',
      '{"openapi":"4.0.0","paths":{}}',
      'says that it is OpenAPI "4.0.0", and only version 3 is read',
    ],
    [
      'of a version that is no text',
      '{"openapi":3.1,"paths":{}}',
      'says that it is OpenAPI 3.1, and only version 3 is read',
    ],
    ['without paths', '{"openapi":"3.1.0"}', 'is an OpenAPI document without "paths"'],
    ['with a list of paths', '{"openapi":"3.1.0","paths":[]}', 'is an OpenAPI document without "paths"'],
  ])('%s', (_name, content, message) => {
    expect(() => readDocument(Buffer.from(content))).toThrow(message);
  });
});
