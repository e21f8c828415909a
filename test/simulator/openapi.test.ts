import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ENDPOINTS, serviceErrorBody } from '#upstream/contract.ts';
import { PACKAGE, startReceiver, startTestSimulator } from '#test/simulator/support.ts';
import type { HttpAnswer } from '#test/support/http.ts';

const content = z.object({ 'application/json': z.object({ schema: z.unknown() }) });
const operation = z.object({
  operationId: z.string(),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ content: content.optional() })),
});
const documentShape = z.object({
  openapi: z.literal('3.1.0'),
  paths: z.record(z.string(), z.record(z.string(), operation)),
  webhooks: z.record(z.string(), z.object({ post: operation })),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});
type Document = z.output<typeof documentShape>;

/** A validator that is not ours, over the document as it is served. */
function validatorOf(document: Document) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'openapi', ...document });
  return (schema: unknown, value: unknown): string => {
    const resolved = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components'));
    const validate = ajv.compile(resolved);
    return validate(value) ? 'valid' : ajv.errorsText(validate.errors);
  };
}

describe('the OpenAPI document', () => {
  it('is served without a token and has every call of the contract', async () => {
    await using simulator = await startTestSimulator();
    for (const path of ['/openapi.json', '/sandbox/openapi.json']) {
      const document = (await simulator.open.get(path)).read(documentShape);
      const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
      expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(Object.keys(ENDPOINTS).toSorted());
    }
  });

  it('describes each answer that the simulator gives, and each body that it takes', async () => {
    await using receiver = await startReceiver();
    await using simulator = await startTestSimulator({ webhook: { url: receiver.url, secret: 'whsec_test' } });
    const document = (await simulator.open.get('/sandbox/openapi.json')).read(documentShape);
    const validate = validatorOf(document);
    const check = (path: string, method: string, answer: HttpAnswer): void => {
      const described = document.paths[path]?.[method]?.responses[String(answer.status)]?.content;
      expect(described, `${method} ${path} ${answer.status}`).toBeDefined();
      expect(validate(described?.['application/json'].schema, answer.body)).toBe('valid');
    };

    const body = { package_id: PACKAGE, external_order_id: 'r', device_imei: '356938035643809' };
    const completed = await simulator.order(body, 'k');
    const failed = await simulator.order({ package_id: 9003 });
    const processing = await simulator.order({ package_id: 9004 });
    for (const answer of [completed, failed, processing]) check('/orders', 'post', answer);
    const requestSchema = document.paths['/orders']?.['post']?.requestBody?.content['application/json'].schema;
    expect(validate(requestSchema, body)).toBe('valid');
    expect(validate(requestSchema, { ...body, color: 'red' })).not.toBe('valid');
    expect(validate(requestSchema, { ...body, device_imei: '1' })).not.toBe('valid');

    check('/packages', 'get', await simulator.sandbox.get('/packages'));
    check('/orders', 'get', await simulator.sandbox.get('/orders'));
    check('/orders/{id}', 'get', await simulator.sandbox.get(`/orders/${failed.textAt('id')}`));
    check('/esims/{id}', 'get', await simulator.sandbox.get(`/esims/${completed.textAt('esim_id')}`));
    check('/wallet', 'get', await simulator.sandbox.get('/wallet'));
    check('/wallet/transactions', 'get', await simulator.sandbox.get('/wallet/transactions'));
    const login = { email: 'reseller@example.com', password: 'simulator-password', device_name: 'x' };
    check('/login', 'post', await simulator.open.post('/sandbox/login', login));

    check('/orders', 'post', await simulator.order({ color: 'red' }));
    check('/orders', 'post', await simulator.order('{'));
    check('/orders', 'post', await simulator.order({ ...body, external_order_id: 'other' }, 'k'));
    check('/orders', 'post', await simulator.order({}, 'k2', { headers: { 'content-type': 'text/plain' } }));
    check('/orders', 'post', await simulator.order({ padding: 'x'.repeat(70_000) }));
    check('/orders', 'get', await simulator.sandbox.get('/orders?limit=0'));
    check('/orders/{id}', 'get', await simulator.sandbox.get('/orders/nobody'));
    check('/wallet', 'get', await simulator.open.get('/sandbox/wallet'));
    await simulator.admin.post('/packages/1003', { price_for_reseller: '999999.00' });
    check('/orders', 'post', await simulator.order({ package_id: 1003 }));
    const unapproved = await simulator.production.post('/orders', body, { headers: { 'idempotency-key': 'k' } });
    check('/orders', 'post', unapproved);

    for (const webhook of await receiver.count(3)) {
      const schema = document.webhooks[webhook.event]?.post.requestBody?.content['application/json'].schema;
      expect(validate(schema, JSON.parse(webhook.body.toString()))).toBe('valid');
    }
  });

  it('has expires_in_days on production login only', async () => {
    await using simulator = await startTestSimulator();
    const loginSchema = async (path: string): Promise<unknown> => {
      const document = (await simulator.open.get(path)).read(documentShape);
      return document.paths['/login']?.['post']?.requestBody?.content['application/json'].schema;
    };
    expect(await loginSchema('/openapi.json')).toHaveProperty('properties.expires_in_days');
    expect(await loginSchema('/sandbox/openapi.json')).not.toHaveProperty('properties.expires_in_days');
  });
});

describe('every error body', () => {
  it('has the shape of the contract, the admin API’s too', async () => {
    await using simulator = await startTestSimulator();
    const answers = [
      await simulator.sandbox.get('/nothing'),
      await simulator.sandbox.call('DELETE', '/wallet', {}),
      await simulator.admin.get('/nothing'),
      await simulator.admin.post('/faults', { target: 'request' }),
      await simulator.admin.post('/faults', '{'),
    ];
    for (const answer of answers) expect(serviceErrorBody.safeParse(answer.body).success).toBe(true);
    expect(answers.map(({ status }) => status)).toEqual([404, 405, 404, 422, 400]);
  });
});
