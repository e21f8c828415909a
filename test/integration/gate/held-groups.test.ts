import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { enqueue, type Waiting } from '#db/gate/waits.ts';
import { gateWallet, packages } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { heldGroups } from '#fulfilment/gate/overview.ts';
import { addPause } from '#fulfilment/gate/pauses.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { shownGauges } from '#test/support/shown-gauges.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { gateSteps, NOT_APPROVED, withBalance } from '#test/support/work/gate-steps.ts';
import { databaseGauges } from '#worker/gauges.ts';

/** Held work at the gate, and about how much money it needs. */
let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
  return () => bench[Symbol.asyncDispose]();
});

const { send, begin } = gateSteps(() => bench);
const groups = () => bench.database.run(heldGroups);

/** Lets an order wait at the gate. @param second of its acceptance. */
async function waits(second: number, some: Partial<Waiting> = {}): Promise<string> {
  const work = { kind: 'order', id: newId('order') } as const;
  const acceptedAt = new Date(second * 1_000);
  const usual = { work, acceptedAt, apiKeyId: 'key_test', mayHaveBought: false };
  const waiting = { ...usual, barrier: 'wallet', failureClass: 'insufficient_balance', ...some } as const;
  await bench.database.transaction((tx) => enqueue(tx, waiting, acceptedAt));
  return work.id;
}

describe('held work', () => {
  it('needs the prices that the gate compared with the wallet', async () => {
    bench = await withBalance(bench, 0);
    const refs = await begin(3);
    for (const ref of refs) expect(await send(ref)).toMatchObject({ kind: 'gated', failure: 'insufficient_balance' });
    expect(await groups()).toMatchObject([
      {
        barrier: 'wallet',
        count: 3,
        needed: [{ amount: '7.200000', currency: 'USD' }],
        withoutPrice: 0,
        oldest: { id: refs[0]!.work.id },
      },
    ]);
  });

  it('needs the price in the stored catalogue where the gate compared none', async () => {
    await bench.admin.onRequest('createOrder', NOT_APPROVED);
    const [unlisted, listed] = await begin(2);
    await send(unlisted!);
    const at = new Date(bench.clock.now);
    const item = { id: 1001, name: 'Spain', searchName: 'spain', available: true, countries: ['ES'] };
    const price = { priceAmount: '2.55', priceCurrency: 'USD' };
    await bench.database.run((db) => db.insert(packages).values({ ...item, ...price, createdAt: at, updatedAt: at }));
    await send(listed!);
    expect(await groups()).toMatchObject([
      { barrier: 'circuit:not_approved', count: 2, needed: [{ amount: '2.550000' }], withoutPrice: 1 },
    ]);
  });

  it('is summed by currency, counted without a known price, and apart from possible purchases', async () => {
    await waits(3, { price: { amount: '0.10', currency: 'USD' } });
    const oldest = await waits(1);
    await waits(2, { price: { amount: '1000000000.000001', currency: 'EUR' } });
    await waits(4, { price: { amount: '0.20', currency: 'USD' } });
    await waits(0, { price: { amount: '9.00', currency: 'USD' }, mayHaveBought: true });
    const paused = await waits(5, { barrier: 'pause:pause_1', failureClass: 'purchases_paused' });
    expect(await groups()).toEqual([
      {
        barrier: 'wallet',
        failureClass: 'insufficient_balance',
        count: 4,
        needed: [
          { amount: '1000000000.000001', currency: 'EUR' },
          { amount: '0.300000', currency: 'USD' },
        ],
        withoutPrice: 1,
        oldest: { kind: 'order', id: oldest, acceptedAt: new Date(1_000) },
      },
      {
        barrier: 'pause:pause_1',
        failureClass: 'purchases_paused',
        count: 1,
        needed: [],
        withoutPrice: 1,
        oldest: { kind: 'order', id: paused, acceptedAt: new Date(5_000) },
      },
    ]);
  });
});

describe('the gauges of held work', () => {
  it('show the work that a pause holds, also after another hold, and the kinds that are paused whole', async () => {
    const pause = { origin: 'operator', reason: 'Test.', actor: 'key_test' } as const;
    await bench.database.transaction(async (tx) => {
      await addPause(tx, { ...pause, kind: 'vpn_subscription', failureClass: null }, new Date());
      await addPause(tx, { ...pause, kind: 'order', failureClass: 'supplier_failed' }, new Date());
    });
    await waits(1, { barrier: 'pause:pause_1', failureClass: 'purchases_paused' });
    await waits(2, { barrier: 'pause:pause_2', failureClass: 'supplier_failed' });
    await waits(3, { barrier: 'circuit:service_down', failureClass: 'supplier_failed' });
    const body = await shownGauges(bench.database, Date.now());
    for (const line of [
      'gate_held{failure_class="purchases_paused",barrier="pause"} 1',
      'gate_held{failure_class="supplier_failed",barrier="pause"} 1',
      'gate_held{failure_class="supplier_failed",barrier="circuit"} 1',
      'gate_paused{kind="order"} 0',
      'gate_paused{kind="topup"} 0',
      'gate_paused{kind="vpn_subscription"} 1',
      'gate_pauses 2',
    ])
      expect(body).toContain(`reseller_${line}`);
  });

  it('keep their values when a later statement fails', async () => {
    await waits(1, { barrier: 'pause:pause_1', failureClass: 'purchases_paused' });
    const metrics = createMetrics({ processMetrics: false });
    const { webhookSilence } = DEFAULT_POLICY;
    metrics.refreshWith(databaseGauges(bench.database, metrics, { webhookSilence, now: Date.now }));
    const held = 'reseller_gate_held{failure_class="purchases_paused",barrier="pause"} 1';
    expect((await metrics.render()).body).toContain(held);
    await bench.database.run((db) => db.execute(sql`alter table ${gateWallet} rename to hidden`));
    const { body } = await metrics.render();
    expect(body).toContain('reseller_metrics_refresh_failures_total 1');
    expect(body).toContain(held);
  });
});
