import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { listCircuits } from '#fulfilment/gate/circuits.ts';
import { releaseHeldWork } from '#fulfilment/gate/release-held-work.ts';
import { actOnWork } from '#fulfilment/operator/operator-actions.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

/** The closing of circuits, on a real database and a real simulator, with the clock of the test. */
let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
});

const TOO_LOW = {
  kind: 'answer',
  status: 402,
  body: '{"error":{"code":"insufficient_balance","message":"Too low."}}',
} as const;

const send = async (ref: AttemptRef) =>
  (await bench.activities.sendPurchase({ ...ref, resendWindowMs: 600_000 })).outcome;
const later = (ms: number) => (bench.clock.now += ms);
const look = () => bench.database.transaction((tx) => releaseHeldWork(tx, bench.clock.now, bench.gate));
const circuit = async (name: string) => (await bench.database.run(listCircuits)).find((row) => row.name === name);
const abandon = ({ work }: AttemptRef, n: number) =>
  bench.database.transaction((tx) =>
    actOnWork(
      tx,
      work,
      { action: 'abandon' },
      { actor: 'test', reason: 'test', actionId: `act_${n}` },
      new Date(bench.clock.now),
    ),
  );

/** The service reports a balance too low, although our reading covers the price. */
async function openForBalance(): Promise<AttemptRef[]> {
  const { circuitFailures } = bench.gate;
  await bench.admin.onRequest('createOrder', TOO_LOW, { count: circuitFailures });
  const refs: AttemptRef[] = [];
  for (let n = 0; n < circuitFailures; n += 1) {
    refs.push(await bench.begin());
    expect(await send(refs[n]!)).toMatchObject({ kind: 'failure', failure: 'insufficient_balance' });
  }
  expect((await circuit('insufficient_balance'))?.state).toBe('open');
  return refs;
}

describe('a circuit whose held work was abandoned', () => {
  it('closes with the first purchase that the service accepts', async () => {
    for (const [n, ref] of (await openForBalance()).entries())
      expect(await abandon(ref, n)).toEqual({ kind: 'applied' });
    later(bench.gate.probeDelayMaxMs * 2);
    await look();
    expect(await send(await bench.begin())).toMatchObject({ kind: 'accepted' });
    await look();
    expect(await circuit('insufficient_balance')).toMatchObject({
      state: 'closed',
      failures: 0,
      openings: 0,
      probeAt: null,
    });
  });

  it('closes without a purchase after its idle time, and opens again after one failure, for longer', async () => {
    for (const [n, ref] of (await openForBalance()).entries()) await abandon(ref, n);
    const { probeAt } = (await circuit('insufficient_balance'))!;
    bench.clock.now = probeAt!.getTime() + bench.gate.circuitIdleMs - 1;
    await look();
    expect((await circuit('insufficient_balance'))?.state).toBe('open');
    later(1);
    await look();
    expect(await circuit('insufficient_balance')).toMatchObject({ state: 'closed', probeAt: null });
    await bench.admin.onRequest('createOrder', TOO_LOW);
    expect(await send(await bench.begin())).toMatchObject({ kind: 'failure' });
    expect(await circuit('insufficient_balance')).toMatchObject({ state: 'open', openings: 2 });
  });
});

describe('a circuit that holds work', () => {
  it('releases it at the configured rate after another purchase was accepted', async () => {
    const held = await openForBalance();
    expect(await send(await bench.begin())).toMatchObject({ kind: 'accepted' });
    expect((await circuit('insufficient_balance'))?.state).toBe('releasing');
    // The last one opened the circuit and is held there. The others continue by their own timers.
    expect((await look())?.woken.map(({ id }) => id)).toEqual([held.at(-1)?.work.id]);
  });
});
