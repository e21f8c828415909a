import { describe, expect, it } from 'vitest';
import type { SimulatorOptions } from '#simulator/options.ts';
import { DAY_MS, PACKAGE, PLAN, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

/** Every operation with an Idempotency-Key, as `send(key)`; sends of one `thing` have the same bytes. */
const OPERATIONS = {
  createOrder: async (simulator: SimulatorClient, thing: string) => (key: string) =>
    simulator.order(JSON.stringify({ package_id: PACKAGE, external_order_id: thing }), key),
  createVpnOrder: async (simulator: SimulatorClient, thing: string) => (key: string) =>
    simulator.orderVpn({ vpn_plan_id: PLAN, external_subscription_id: thing }, key),
  createTopup: async (simulator: SimulatorClient) => {
    const esim = await simulator.esim();
    return (key: string) => simulator.topUp(esim, PACKAGE, key);
  },
  cancelEsim: async (simulator: SimulatorClient) => {
    const esim = await simulator.esim();
    return (key: string) => simulator.cancel(esim, key);
  },
} as const;
type Operation = keyof typeof OPERATIONS;
const operations = Object.keys(OPERATIONS) as Operation[];

const IN_PRODUCTION: Readonly<Record<Operation, readonly [string, unknown]>> = {
  createOrder: ['/orders', { package_id: PACKAGE, external_order_id: 'p' }],
  createVpnOrder: [
    '/vpn/orders',
    { vpn_plan_id: PLAN, external_subscription_id: 'p', customer_reference: 'c', customer_price: 1 },
  ],
  createTopup: ['/topups', { esim_id: 'x', package_id: PACKAGE }],
  cancelEsim: ['/esims/x/cancel', undefined],
};

async function prepared(operation: Operation, options: SimulatorOptions = {}) {
  const simulator = await startTestSimulator(options);
  const send = await OPERATIONS[operation](simulator, 'one');
  const other = await OPERATIONS[operation](simulator, 'other');
  const before = (await simulator.ledger()).length;
  const moved = async (): Promise<number> => (await simulator.ledger()).length - before;
  return { simulator, send, other, moved, [Symbol.asyncDispose]: () => simulator.simulator.close() };
}

const codeOf = (answer: HttpAnswer) => [answer.status, answer.at('error', 'code')];

describe.each(operations)('%s', (operation) => {
  it('gives the same answer to each repetition of its key, also after a day', async () => {
    await using run = await prepared(operation);
    const first = await run.send('key');
    expect(first.status).toBeLessThan(300);
    expect((await run.send('key')).text).toBe(first.text);
    await run.simulator.advance(DAY_MS);
    const later = await run.send('key');
    expect([later.status, later.text]).toEqual([first.status, first.text]);
    expect(await run.moved()).toBe(1);
  });

  it('sent twenty times concurrently with one key, changes the wallet once', async () => {
    await using run = await prepared(operation);
    const answers = await Promise.all(Array.from({ length: 20 }, () => run.send('key')));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await run.moved()).toBe(1);
  });

  it('refuses a key that was used with another request', async () => {
    await using run = await prepared(operation);
    await run.send('key');
    expect(codeOf(await run.other('key'))).toEqual([409, 'idempotency_key_reused']);
    for (const another of operations.filter((name) => name !== operation)) {
      const send = await OPERATIONS[another](run.simulator, 'third');
      expect(codeOf(await send('key'))).toEqual([409, 'idempotency_key_reused']);
    }
    expect((await run.other('fresh')).status).toBeLessThan(300);
  });

  it('refuses a key that is in use, and replays it afterwards', async () => {
    await using run = await prepared(operation);
    await run.simulator.admin.post('/dialect', { properties: { purchase_takes_ms: 1_000 } });
    const answers = await Promise.all([run.send('key'), run.send('key'), run.send('key')]);
    const done = answers.filter(({ status }) => status < 300);
    expect(done).toHaveLength(1);
    const others = answers.filter(({ status }) => status >= 300).map(codeOf);
    expect(others).toEqual([
      [409, 'idempotency_key_in_use'],
      [409, 'idempotency_key_in_use'],
    ]);
    expect((await run.send('key')).text).toBe(done[0]?.text);
  });

  it('conflicts: refuses every repetition', async () => {
    await using run = await prepared(operation, { dialect: 'conflicts' });
    await run.send('key');
    expect(codeOf(await run.send('key'))).toEqual([409, 'idempotency_key_reused']);
    expect(await run.moved()).toBe(1);
  });

  it('is refused in production before approval', async () => {
    await using run = await prepared(operation);
    const [path, body] = IN_PRODUCTION[operation];
    const headers = { 'idempotency-key': 'p' };
    expect(codeOf(await run.simulator.production.post(path, body, { headers }))).toEqual([403, 'not_approved']);
  });
});

describe('an Idempotency-Key', () => {
  const body = JSON.stringify({ package_id: PACKAGE, external_order_id: 'r' });

  it('belongs to the exact bytes of its request', async () => {
    await using simulator = await startTestSimulator();
    await simulator.order(body, 'key');
    expect(codeOf(await simulator.order(` ${body}`, 'key'))).toEqual([409, 'idempotency_key_reused']);
    expect(await simulator.debits('r')).toHaveLength(1);
  });

  it('does not allow a reference that was used under another key', async () => {
    await using simulator = await startTestSimulator();
    await simulator.order(body, 'key-1');
    expect(codeOf(await simulator.order(body, 'key-2'))).toEqual([409, 'reference_exists']);
  });
});

describe('a dialect with unsafe repetitions', () => {
  it.each(['createOrder', 'createVpnOrder', 'createTopup'] as const)(
    'ignores_keys: %s debits each time',
    async (operation) => {
      await using run = await prepared(operation, { dialect: 'ignores_keys' });
      await run.send('key');
      await run.send('key');
      expect(await run.moved()).toBe(2);
    },
  );

  it('ignores_keys: an eSIM is still cancelled only once', async () => {
    await using run = await prepared('cancelEsim', { dialect: 'ignores_keys' });
    await run.send('key');
    expect(codeOf(await run.send('key'))).toEqual([409, 'already_cancelled']);
    expect(await run.moved()).toBe(1);
  });

  it('forgets_keys: a late repetition of a top-up is a second top-up', async () => {
    await using run = await prepared('createTopup', { dialect: 'forgets_keys' });
    await run.send('key');
    await run.send('key');
    expect(await run.moved()).toBe(1);
    await run.simulator.advance(1_000);
    await run.send('key');
    expect(await run.moved()).toBe(2);
  });

  it('stores_refusals: a top-up that was refused because of the balance stays refused', async () => {
    await using run = await prepared('createTopup', { dialect: 'stores_refusals', sandboxBalance: '4.80' });
    const refused = await run.send('key');
    expect(codeOf(refused)).toEqual([402, 'insufficient_balance']);
    await run.simulator.admin.post('/deposits', { environment: 'sandbox', amount: '10.00' });
    expect((await run.send('key')).text).toBe(refused.text);
    expect((await run.send('other')).status).toBe(201);
  });

  it('balance_first: a repeated VPN order is refused once its own debit has used up the balance', async () => {
    await using run = await prepared('createVpnOrder', { dialect: 'balance_first', sandboxBalance: '2.90' });
    expect((await run.send('key')).status).toBe(201);
    expect((await run.send('key')).status).toBe(402);
    expect(await run.moved()).toBe(1);
  });
});
