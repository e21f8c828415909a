import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fieldsOf, PACKAGE, PLAN, startTestSimulator } from '#test/simulator/support.ts';
import { serviceErrorBody } from '#upstream/contract.ts';

let simulator: Awaited<ReturnType<typeof startTestSimulator>>;
beforeAll(async () => {
  simulator = await startTestSimulator();
});
afterAll(() => simulator.simulator.close());

const order = { package_id: PACKAGE, external_order_id: 'strict' };

describe('an invalid order', () => {
  it.each([
    ['an unknown field', { ...order, color: 'red' }, 'color'],
    ['no package', { external_order_id: 'x' }, 'package_id'],
    ['a package that is text', { ...order, package_id: '1001' }, 'package_id'],
    ['a package that does not exist', { ...order, package_id: 1 }, 'package_id'],
    ['no reference', { package_id: PACKAGE }, 'external_order_id'],
    ['an empty reference', { ...order, external_order_id: '' }, 'external_order_id'],
    ['a reference that is too long', { ...order, external_order_id: 'x'.repeat(129) }, 'external_order_id'],
    ['an IMEI of 13 digits', { ...order, device_imei: '1'.repeat(13) }, 'device_imei'],
    ['an IMEI of 17 digits', { ...order, device_imei: '1'.repeat(17) }, 'device_imei'],
    ['an IMEI with letters', { ...order, device_imei: '35693803564380a' }, 'device_imei'],
    ['an array', [order], 'body'],
    ['null', 'null', 'body'],
  ])('is refused with 422 that names the field: %s', async (_what, body, field) => {
    const answer = await simulator.sandbox.post('/orders', body, { headers: { 'idempotency-key': 'strict-1' } });
    expect(answer.status).toBe(422);
    const { error } = answer.read(serviceErrorBody);
    expect(error.code).toBe('validation_failed');
    expect(Object.keys(error.fields ?? {})).toEqual([field]);
  });

  it.each([['{"package_id":'], [''], [new Uint8Array([0x7b, 0xff, 0x7d])], ['{}{}']])(
    'is refused with 400 when its body is no JSON',
    async (body) => {
      const headers = { 'idempotency-key': 'k', 'content-type': 'application/json' };
      const answer = await simulator.sandbox.post('/orders', body, { headers });
      expect([answer.status, answer.at('error', 'code')]).toEqual([400, 'malformed_request']);
    },
  );

  it.each(['text/plain', 'application/xml', 'application/json; charset=latin1', 'application/jsonx'])(
    'is refused with 415 when it is declared as %s',
    async (type) => {
      const headers = { 'idempotency-key': 'k', 'content-type': type };
      const answer = await simulator.sandbox.post('/orders', JSON.stringify(order), { headers });
      expect([answer.status, answer.at('error', 'code')]).toEqual([415, 'unsupported_media_type']);
    },
  );

  it('is refused with 400 without an Idempotency-Key, with 422 for one that is too long', async () => {
    const missing = await simulator.sandbox.post('/orders', order);
    expect([missing.status, missing.at('error', 'code')]).toEqual([400, 'idempotency_key_missing']);
    const long = await simulator.order(order, 'k'.repeat(256));
    expect([long.status, fieldsOf(long)]).toEqual([422, ['Idempotency-Key']]);
  });

  it('leaves no order and no movement behind', async () => {
    expect((await simulator.sandbox.get('/orders')).at('data')).toEqual([]);
    expect(await simulator.ledger()).toHaveLength(1);
  });
});

describe('an invalid top-up, VPN order or simulation', () => {
  const vpn = { vpn_plan_id: 301, external_subscription_id: 'v', customer_reference: 'c', customer_price: 5.5 };
  it.each([
    ['/topups', {}, ['esim_id', 'package_id']],
    ['/topups', { esim_id: 'nobody', package_id: PACKAGE }, ['esim_id']],
    ['/topups', { esim_id: 'a b', package_id: PACKAGE }, ['esim_id']],
    ['/topups', { esim_id: 'x', package_id: '1001' }, ['package_id']],
    ['/topups', { esim_id: 'x', package_id: 1, color: 'red' }, ['color']],
    ['/vpn/orders', {}, ['vpn_plan_id', 'external_subscription_id', 'customer_reference', 'customer_price']],
    ['/vpn/orders', { ...vpn, vpn_plan_id: 1 }, ['vpn_plan_id']],
    ['/vpn/orders', { ...vpn, customer_price: '5.50' }, ['customer_price']],
    ['/vpn/orders', { ...vpn, customer_price: -1 }, ['customer_price']],
    ['/vpn/orders', { ...vpn, customer_reference: '' }, ['customer_reference']],
    ['/vpn/orders', { ...vpn, external_subscription_id: 'x'.repeat(129) }, ['external_subscription_id']],
    ['/vpn/orders', { ...vpn, color: 'red' }, ['color']],
    ['/esims/x/simulate', { state: 'melted' }, ['state']],
    ['/esims/x/simulate', { state: 'active', color: 'red' }, ['color']],
  ])('is refused with 422 that names the fields: %s %j', async (path, body, fields) => {
    const call = path.endsWith('/simulate') ? {} : { headers: { 'idempotency-key': 'strict-2' } };
    const answer = await simulator.sandbox.post(path, body, call);
    expect([answer.status, answer.at('error', 'code')]).toEqual([422, 'validation_failed']);
    expect(fieldsOf(answer)).toEqual(fields);
  });
});

describe('a body that is ambiguous or contains invalid text', () => {
  const references = { package_id: PACKAGE, external_order_id: 'twice' };
  const written = JSON.stringify(references);
  const vpn = { vpn_plan_id: PLAN, external_subscription_id: 'v', customer_reference: 'c', customer_price: 5.5 };

  it.each([
    ['a name twice', written.replace('{', '{"package_id":9003,'), 'package_id'],
    ['a name twice, once with an escape', written.replace('{', '{"package\\u005fid":9003,'), 'package_id'],
    ['a name twice deep inside', written.replace('{', '{"device":[{"a":{"b":1,"c":"}{","b":2}}],'), 'device.0.a.b'],
  ])('is refused with 400 that names the field: %s', async (_what, body, field) => {
    const answer = await simulator.order(body);
    expect([answer.status, answer.at('error', 'code'), fieldsOf(answer)]).toEqual([400, 'malformed_request', [field]]);
  });

  it.each([
    ['/orders', { ...references, external_order_id: 'a\0b' }, 'external_order_id'],
    ['/orders', { ...references, external_order_id: 'a\ud800b' }, 'external_order_id'],
    ['/orders', { ...references, external_order_id: '\udc00\ud800' }, 'external_order_id'],
    ['/orders', { ...references, external_order_id: ' ' }, 'external_order_id'],
    ['/orders', { ...references, external_order_id: '\t\u00a0\u2003' }, 'external_order_id'],
    ['/orders', { ...references, 'x\0': 1 }, 'x?'],
    ['/vpn/orders', { ...vpn, external_subscription_id: '  ' }, 'external_subscription_id'],
    ['/vpn/orders', { ...vpn, customer_reference: '\n' }, 'customer_reference'],
    ['/vpn/orders', { ...vpn, customer_reference: '\0' }, 'customer_reference'],
    ['/topups', { esim_id: 'a\ud800', package_id: PACKAGE }, 'esim_id'],
  ])('is refused with 422 that names the field: %s %j', async (path, body, field) => {
    const answer = await simulator.sandbox.post(path, body, { headers: { 'idempotency-key': `two-ways-${field}` } });
    expect([answer.status, answer.at('error', 'code'), fieldsOf(answer)]).toEqual([422, 'validation_failed', [field]]);
  });
});
