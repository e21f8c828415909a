import { describe, expect, it } from 'vitest';
import type { SimulatorOptions } from '#simulator/options.ts';
import { codeOf, PACKAGE, PLAN, startTestSimulator, type SimulatorClient } from '#test/simulator/support.ts';

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

async function prepared(operation: Operation, options: SimulatorOptions = {}) {
  const simulator = await startTestSimulator(options);
  const send = await OPERATIONS[operation](simulator, 'one');
  const other = await OPERATIONS[operation](simulator, 'other');
  const before = (await simulator.ledger()).length;
  const moved = async (): Promise<number> => (await simulator.ledger()).length - before;
  return { simulator, send, other, moved, [Symbol.asyncDispose]: () => simulator.simulator.close() };
}

const REUSED = [409, 'idempotency_key_reused'];

describe.each(operations)('%s', (operation) => {
  it('gives one answer to all sends of its key, concurrent ones and those after a day', async () => {
    await using run = await prepared(operation);
    const answers = await Promise.all(Array.from({ length: 20 }, () => run.send('key')));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBeLessThan(300);
    await run.simulator.advance(86_400_000);
    expect((await run.send('key')).text).toBe(answers[0]?.text);
    expect(await run.moved()).toBe(1);
  });

  it('refuses a key that was used with another request', async () => {
    await using run = await prepared(operation);
    await run.send('key');
    expect(codeOf(await run.other('key'))).toEqual(REUSED);
    for (const another of operations.filter((name) => name !== operation)) {
      const send = await OPERATIONS[another](run.simulator, 'third');
      expect(codeOf(await send('key'))).toEqual(REUSED);
    }
    expect((await run.other('fresh')).status).toBeLessThan(300);
  });

  it('refuses a key that is in use, and replays it afterwards', async () => {
    await using run = await prepared(operation);
    await run.simulator.admin.post('/dialect', { properties: { purchase_takes_ms: 1_000 } });
    const answers = await Promise.all([run.send('key'), run.send('key'), run.send('key')]);
    const done = answers.find(({ status }) => status < 300);
    const others = answers.filter(({ status }) => status >= 300).map(codeOf);
    expect(others).toEqual(Array.from({ length: 2 }, () => [409, 'idempotency_key_in_use']));
    expect((await run.send('key')).text).toBe(done?.text);
  });

  it('repeated, is refused where keys conflict, and happens again where they are ignored, except for a cancellation', async () => {
    for (const dialect of ['ignores_keys', 'conflicts'] as const) {
      await using run = await prepared(operation, { dialect });
      await run.send('key');
      const repeated = await run.send('key');
      const isSafe = dialect === 'conflicts' || operation === 'cancelEsim';
      expect(repeated.status).toBe(isSafe ? 409 : 201);
      expect(await run.moved()).toBe(isSafe ? 1 : 2);
    }
  });
});

describe('an Idempotency-Key', () => {
  const body = JSON.stringify({ package_id: PACKAGE, external_order_id: 'r' });

  it('belongs to the exact bytes of its request, and allows no reference of another key', async () => {
    await using simulator = await startTestSimulator();
    await simulator.order(body, 'key');
    expect(codeOf(await simulator.order(` ${body}`, 'key'))).toEqual(REUSED);
    expect(codeOf(await simulator.order(body, 'key-2'))).toEqual([409, 'reference_exists']);
    expect(await simulator.debits('r')).toHaveLength(1);
  });

  it('stores_refusals: a top-up that was refused because of the balance stays refused', async () => {
    await using run = await prepared('createTopup', { dialect: 'stores_refusals', sandboxBalance: '4.80' });
    const refused = await run.send('key');
    expect(codeOf(refused)).toEqual([402, 'insufficient_balance']);
    await run.simulator.admin.post('/deposits', { environment: 'sandbox', amount: '10.00' });
    expect((await run.send('key')).text).toBe(refused.text);
    expect((await run.send('other')).status).toBe(201);
  });
});
