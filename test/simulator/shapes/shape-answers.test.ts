import { describe, expect, it } from 'vitest';
import { SHAPES, type ShapeName } from '#simulator/shapes/shape.ts';
import { lastOf, LOGIN, startShaped } from '#test/simulator/shapes/shape-support.ts';
import { startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const NOW = Date.parse('2026-01-01T10:00:00.250Z');

type Look = (simulator: SimulatorClient) => Promise<unknown>;
const order: Look = async (simulator) => (await simulator.order({ external_order_id: 'r' })).body;
const failed: Look = async (simulator) => (await simulator.order({ package_id: 9003 })).body;
const wallet: Look = async (simulator) => (await simulator.sandbox.get('/wallet')).body;
const orders: Look = async (simulator) => {
  await order(simulator);
  return (await simulator.sandbox.get('/orders')).body;
};
const login: Look = async (simulator) => (await simulator.open.post('/sandbox/login', LOGIN)).body;
const packages: Look = async (simulator) => (await simulator.sandbox.get('/packages')).body;
const subscription: Look = async (simulator) => (await simulator.orderVpn()).body;
const stopped: Look = async (simulator) => {
  await subscription(simulator);
  const { id } = await lastOf(simulator, '/vpn-subscriptions');
  return (await simulator.sandbox.post(`/vpn/subscriptions/${String(id)}/cancel`)).body;
};
const refund: Look = async (simulator) => {
  await order(simulator);
  return (await simulator.cancel(String((await lastOf(simulator, '/esims'))['id']))).body;
};
const esim: Look = async (simulator) => {
  await order(simulator);
  return (await simulator.sandbox.get(`/esims/${String((await lastOf(simulator, '/esims'))['id'])}`)).body;
};
const movement: Look = async (simulator) => {
  await order(simulator);
  return (await simulator.sandbox.get('/wallet/transactions?limit=1')).body;
};
const event: Look = async (simulator) => {
  await order(simulator);
  return JSON.parse(String((await lastOf(simulator, '/deliveries'))['body'])) as unknown;
};
const invalid: Look = async (simulator) => {
  const { status, headers, body, text } = await simulator.order({ external_order_id: '' });
  return { status, type: headers.get('content-type'), body: body ?? text };
};
const absent: Look = async (simulator) => {
  const { status, body } = await simulator.sandbox.get('/orders/nobody');
  return { status, body };
};

const has = (fields: Record<string, unknown>): unknown => expect.objectContaining(fields);
const someText: unknown = expect.any(String);
/** The names of its fields instead of a record. */
const fields =
  (look: Look): Look =>
  async (simulator) =>
    Object.keys((await look(simulator)) as object);
const dataFields: Look = async (simulator) => Object.keys(((await event(simulator)) as { data: object }).data);

const PAID = ['status', 'price_for_reseller', 'currency', 'failure'];
const WITHOUT_ESIM = ['id', 'external_order_id', 'package_id', ...PAID, 'created_at'];
const PERIOD = ['started_at', 'expires_at', 'cancelled_at'];
const WITHOUT_ACCESS = ['id', 'external_subscription_id', 'vpn_plan_id', ...PAID, ...PERIOD];
const MOVEMENT = { type: 'debit', amount: '2.40', currency: 'USD', reason: 'order' };

const LOOKS: readonly (readonly [ShapeName, Look, unknown])[] = [
  ['data_envelope', order, { data: has({ external_order_id: 'r' }) }],
  ['data_named', order, { data: { order: has({ external_order_id: 'r' }) } }],
  ['data_named', orders, { data: { orders: [has({ external_order_id: 'r' })] }, next_cursor: null }],
  ['data_named', event, has({ event: 'order.completed', data: { order: has({ external_order_id: 'r' }) } })],
  ['named', order, { order: has({ external_order_id: 'r' }) }],
  ['named', orders, { items: [has({ external_order_id: 'r' })], next_cursor: null }],
  ['bare_array', orders, [has({ external_order_id: 'r' })]],
  ['text_package_ids', order, has({ package_id: '1001' })],
  ['text_package_ids', packages, has({ data: expect.arrayContaining([has({ id: '1001' })]) })],
  ['money_numbers', order, has({ price_for_reseller: 2.4 })],
  ['money_numbers', wallet, { balance: 100_000, currency: 'USD' }],
  ['money_objects', order, has({ price_for_reseller: { amount: '2.40', currency: 'USD' } })],
  ['money_objects', wallet, { balance: { amount: '100000.00', currency: 'USD' } }],
  ['minor_units', order, has({ price_for_reseller: 240 })],
  ['minor_units', wallet, { balance: 10_000_000, currency: 'USD' }],
  ['lower_case_currency', order, has({ price_for_reseller: '2.40', currency: 'usd' })],
  ['offset_times', order, has({ created_at: '2026-01-01T12:00:00.250+02:00' })],
  ['zoneless_times', order, has({ created_at: '2026-01-01 10:00:00' })],
  ['epoch_seconds', order, has({ created_at: Math.floor(NOW / 1_000) })],
  ['epoch_milliseconds', event, has({ created_at: NOW, data: has({ created_at: NOW }) })],
  ['other_words', order, has({ status: 'success' })],
  ['other_words', failed, has({ status: 'error' })],
  ['other_words', subscription, has({ status: 'live' })],
  ['other_words', stopped, has({ status: 'stopped' })],
  ['other_words', esim, has({ status: 'delivered' })],
  ['other_words', refund, has({ status: 'stopped', refund: has({ status: 'success', review: 'approved' }) })],
  ['upper_case_words', event, has({ event: 'order.completed', data: has({ status: 'COMPLETED' }) })],
  ['canceled_spelling', stopped, has({ status: 'canceled' })],
  ['state_field', order, has({ state: 'completed' })],
  ['failure_text', failed, has({ failure: 'The supplier could not deliver the eSIM.' })],
  ['lower_case_bearer', login, has({ token_type: 'bearer' })],
  ['null_bearer', login, has({ token_type: null })],
  ['odd_package', packages, has({ data: expect.arrayContaining([has({ id: 1004, countries: null })]) })],
  ['odd_package', packages, has({ data: expect.arrayContaining([has({ id: 1001, countries: ['ES'] })]) })],
  ['missing_optionals', fields(order), ['id', 'external_order_id', 'status', 'esim_id']],
  ['null_optionals', order, has({ id: someText, esim_id: someText, price_for_reseller: null, created_at: null })],
  ['extra_fields', order, has({ internal_reference: 'r-1', tags: [], audit: { version: 3, by: null } })],
  ['no_esim_id', fields(order), WITHOUT_ESIM],
  ['no_esim_id', dataFields, WITHOUT_ESIM],
  ['no_vpn_access', fields(subscription), WITHOUT_ACCESS],
  ['no_transaction_ids', movement, has({ data: [{ ...MOVEMENT, id: someText, created_at: someText }] })],
  ['event_type', event, has({ type: 'order.completed' })],
  ['event_type', fields(event), ['type', 'created_at', 'data']],
  [
    'problem_json',
    invalid,
    {
      status: 422,
      type: 'application/problem+json',
      body: {
        type: 'https://errors.simulator.example/problems/validation-failed',
        title: 'validation failed',
        status: 422,
        detail: 'Not accepted: external_order_id.',
        errors: { external_order_id: [someText] },
      },
    },
  ],
  ['problem_underscored', absent, { status: 404, body: has({ type: expect.stringMatching(/\/not_found$/) }) }],
  ['message_errors', absent, { status: 404, body: { message: 'There is no such order.' } }],
  ['field_errors', invalid, has({ status: 422, body: { errors: { external_order_id: [someText] } } })],
  ['field_errors', absent, { status: 404, body: { errors: { base: ['There is no such order.'] } } }],
  ['html_errors', invalid, { status: 422, type: 'text/html', body: expect.stringMatching(/^<html>/) }],
  ['empty_errors', invalid, { status: 422, type: null, body: '' }],
  ['pages', orders, { data: [has({})], meta: { current_page: 1, last_page: 1, per_page: 25, total: 1 } }],
  ['silent_lists', orders, { data: [has({ external_order_id: 'r' })] }],
];

describe('a shape', () => {
  it.each(LOOKS.map(([name, look, expected], index) => [name, index, look, expected] as const))(
    'matches its name: %s (%i)',
    async (name, _index, look, expected) => {
      await using simulator = await startTestSimulator({ shape: 'plain', now: () => NOW }, false);
      await simulator.admin.post('/shape', { name });
      expect(await look(simulator)).toEqual(expected);
    },
  );
});

describe('ids that are numbers', () => {
  it('identify the same resources in paths, in esim_id and for operators, also after a restart', async () => {
    const dataFile = `${temporaryFolder('shape')}/simulator.sqlite`;
    const ids = { order: 0, esim: 0 };
    {
      await using simulator = await startShaped({ name: 'number_ids' }, { dataFile });
      const answer = await simulator.order();
      Object.assign(ids, { order: answer.at('id'), esim: answer.at('esim_id') });
      expect([typeof ids.order, typeof ids.esim, ids.order === ids.esim]).toEqual(['number', 'number', false]);
      expect((await simulator.topUp(String(ids.esim))).at('esim_id')).toBe(ids.esim);
    }
    await using simulator = await startTestSimulator({ dataFile }, false);
    expect((await simulator.sandbox.get(`/orders/${ids.order}`)).at('id')).toBe(ids.order);
    expect((await simulator.sandbox.get(`/topups?esim_id=${ids.esim}`)).at('data', 0, 'esim_id')).toBe(ids.esim);
    expect((await simulator.admin.get(`/esims/${ids.esim}`)).status).toBe(200);
    for (const path of ['/orders/1', `/orders/${ids.esim}`, '/esims/99999992']) {
      expect((await simulator.sandbox.get(path)).status).toBe(404);
    }
  });
});

describe('a choice of shape', () => {
  it('changes single properties of a named shape, for all clients at once, until a reset', async () => {
    await using simulator = await startTestSimulator({ shape: 'money_numbers' }, false);
    const properties = { money: 'minor', without: ['order.failure'] };
    const chosen = await simulator.admin.post('/shape', { name: 'data_envelope', properties });
    expect(chosen.at('properties')).toEqual({ ...SHAPES.data_envelope, ...properties });
    expect((await simulator.order()).at('data', 'price_for_reseller')).toBe(240);
    expect((await simulator.admin.post('/reset')).at('shape', 'name')).toBe('money_numbers');
  });
});
