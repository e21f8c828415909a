import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { listCircuits } from '#fulfilment/gate/circuits.ts';
import { readGate } from '#fulfilment/gate/overview.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { gateSteps } from '#test/support/work/gate-steps.ts';

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
  return () => bench[Symbol.asyncDispose]();
});

const { send, sends, later, look, circuit, begin, operate } = gateSteps(() => bench);

describe('a circuit', () => {
  /** Three purchases fail and open the circuit. It holds the fourth and fifth. */
  async function open(): Promise<AttemptRef[]> {
    await bench.admin.onRequest('createOrder', { kind: 'rate_limited', retry_after: 1 }, { count: 3 });
    const refs = await begin(5);
    for (const ref of refs.slice(0, 3))
      expect(await send(ref)).toMatchObject({ kind: 'failure', failure: 'rate_limited' });
    expect(await circuit('rate_limited')).toBe('open');
    for (const ref of refs.slice(3)) expect(await send(ref)).toMatchObject({ kind: 'gated', failure: 'rate_limited' });
    expect(await sends()).toBe(3);
    return refs;
  }
  const ids = (refs: readonly AttemptRef[]) => refs.map(({ work }) => work.id);

  it('closes when the canary succeeds, and releases the rest at the configured rate, oldest first', async () => {
    bench.gate.releasesPerSecond = 1;
    const refs = await open();
    later(bench.gate.probeDelayMaxMs * 2);
    const [canary] = await look();
    expect(canary).toBe(refs[2]!.work.id);
    // Only the canary passes; every other purchase is held.
    expect(await send(refs[3]!)).toMatchObject({ kind: 'gated' });
    expect(await send(refs[2]!)).toMatchObject({ kind: 'accepted' });
    expect(await circuit('rate_limited')).toBe('releasing');
    // A new order does not wait behind them. A held one waits for its turn.
    expect(await send((await begin(1))[0]!)).toMatchObject({ kind: 'accepted' });
    expect(await send(refs[4]!)).toMatchObject({ kind: 'gated' });
    const order = await look();
    expect(await look()).toEqual([]);
    later(1_000);
    order.push(...(await look()));
    expect(order).toEqual(ids(refs.slice(3)));
    later(1_000);
    await look();
    expect(await circuit('rate_limited')).toBe('closed');
    expect(await send(refs[4]!)).toMatchObject({ kind: 'accepted' });
  });

  it('replaces a canary without a result after its lease', async () => {
    const refs = await open();
    later(bench.gate.probeDelayMaxMs * 2);
    expect(await look()).toEqual([refs[2]!.work.id]);
    later(bench.gate.canaryLeaseMs + 1);
    expect(await look()).toEqual([]);
    later(bench.gate.probeDelayMaxMs);
    expect(await look()).toEqual([refs[3]!.work.id]);
  });

  it('of a service outage counts only purchases as held that have certainly not bought', async () => {
    await bench.admin.onRequest('createOrder', { kind: 'server_error' }, { count: 3 });
    const refs = await begin(5);
    for (const ref of refs) await send(ref);
    expect(await sends()).toBe(3);
    // A possible purchase asks once more, as its workflow lets it. It still waits for its resend, and is not held.
    expect(await send(refs[0]!)).toMatchObject({ kind: 'gated', failure: 'service_down' });
    expect(await bench.attempt(refs[0]!)).toMatchObject({ state: 'unknown', anyUnknown: true });
    const { held } = await bench.database.run((db) => readGate(db, undefined, bench.clock.now));
    expect(held).toMatchObject([{ barrier: 'circuit:service_down', count: 2, oldest: { id: refs[3]!.work.id } }]);
    // It is still the oldest in the queue, and therefore the canary.
    later(bench.gate.probeDelayMaxMs * 2);
    expect(await look()).toEqual([refs[0]!.work.id]);
  });
});

const body = '{"error":{"code":"insufficient_balance","message":"Too low."}}';
const TOO_LOW = { kind: 'answer', status: 402, body } as const;
const balanceCircuit = async () =>
  (await bench.database.run(listCircuits)).find(({ name }) => name === 'insufficient_balance');

/** The service reports a balance too low, although our reading covers the price. */
async function openForBalance(): Promise<AttemptRef[]> {
  const { circuitFailures } = bench.gate;
  await bench.admin.onRequest('createOrder', TOO_LOW, { count: circuitFailures });
  const refs = await begin(circuitFailures);
  for (const ref of refs) expect(await send(ref)).toMatchObject({ kind: 'failure', failure: 'insufficient_balance' });
  expect(await circuit('insufficient_balance')).toBe('open');
  return refs;
}

describe('a circuit whose held work was abandoned', () => {
  it('closes with the first purchase that the service accepts', async () => {
    for (const ref of await openForBalance()) expect(await operate(ref, 'abandon')).toEqual({ kind: 'applied' });
    later(bench.gate.probeDelayMaxMs * 2);
    await look();
    expect(await send(await bench.begin())).toMatchObject({ kind: 'accepted' });
    await look();
    expect(await balanceCircuit()).toMatchObject({ state: 'closed', failures: 0, openings: 0, probeAt: null });
  });

  it('closes without a purchase after its idle time, and opens again after one failure, for longer', async () => {
    for (const ref of await openForBalance()) await operate(ref, 'abandon');
    const { probeAt } = (await balanceCircuit())!;
    bench.clock.now = probeAt!.getTime() + bench.gate.circuitIdleMs - 1;
    await look();
    expect(await circuit('insufficient_balance')).toBe('open');
    later(1);
    await look();
    expect(await balanceCircuit()).toMatchObject({ state: 'closed', probeAt: null });
    await bench.admin.onRequest('createOrder', TOO_LOW);
    expect(await send(await bench.begin())).toMatchObject({ kind: 'failure' });
    expect(await balanceCircuit()).toMatchObject({ state: 'open', openings: 2 });
  });
});

it('a circuit that holds work releases it at the configured rate after another purchase was accepted', async () => {
  const held = await openForBalance();
  expect(await send(await bench.begin())).toMatchObject({ kind: 'accepted' });
  expect(await circuit('insufficient_balance')).toBe('releasing');
  // The last one opened the circuit and is held there. The others continue by their own timers.
  expect(await look()).toEqual([held.at(-1)?.work.id]);
});
