import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { esims, esimUsage, events } from '#db/schema.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const HOUR = 3_600_000;
let bench: ActivityBench;

afterEach(async () => {
  await bench[Symbol.asyncDispose]();
});

const rowOf = async (id: string) =>
  (await bench.database.run((db) => db.select().from(esims).where(eq(esims.id, id))))[0]!;
const calls = async () => [
  (await bench.admin.requests('getEsim')).length,
  (await bench.admin.requests('getEsimUsage')).length,
];

/** Runs the schedule twice, as after a crash. @returns the announced events. */
async function watch(subjectId: string): Promise<string[]> {
  const announced = async () =>
    (
      await bench.database.run((db) =>
        db.select().from(events).where(eq(events.subjectId, subjectId)).orderBy(events.sequence),
      )
    )
      .filter(({ type }) => type.endsWith('.data_low') || type.endsWith('.expiring'))
      .map(
        ({ type, data, apiKeyId }) =>
          `${type} ${Number(data['threshold_share'] ?? Number(data['threshold_seconds']) / 3_600)} ${apiKeyId}`,
      );
  const before = (await announced()).length;
  for (let run = 0; run < 2; run += 1) {
    await bench.activities.announceExpiring();
    await bench.activities.readUsage();
  }
  // Announces the expiry that the reading has stored.
  await bench.activities.announceExpiring();
  return (await announced()).slice(before);
}

describe('an eSIM', () => {
  it('is announced once per threshold of data and time, and again after a top-up', async () => {
    bench = await ActivityBench.start();
    // 1 GB for seven days.
    const id = await bench.deliveredEsim(1001);
    const { serviceEsimId } = await rowOf(id);
    const [before] = await calls();
    expect(await watch(id)).toEqual([]);
    expect(await calls()).toEqual([before, 0]);

    await bench.admin.simulateEsim(serviceEsimId, 'active');
    await bench.pass(7 * HOUR);
    expect(await watch(id)).toEqual([]);
    expect(await rowOf(id)).toMatchObject({
      status: 'active',
      expiresAt: expect.any(Date),
      readAt: new Date(bench.clock.now),
    });
    const [usage] = await bench.database.run((db) => db.select().from(esimUsage));
    expect(usage).toMatchObject({ esimId: id, totalMb: 1_024, unlimited: false, readAt: new Date(bench.clock.now) });
    expect(await calls()).toEqual([before! + 1, 1]);

    await bench.pass(97 * HOUR);
    expect(await watch(id)).toEqual(['esim.expiring 72 key_test']);
    await bench.pass(32 * HOUR);
    expect(await watch(id)).toEqual(['esim.data_low 0.2 key_test']);
    await bench.pass(9 * HOUR);
    expect(await watch(id)).toEqual(['esim.expiring 24 key_test']);
    await bench.pass(15 * HOUR);
    expect(await watch(id)).toEqual(['esim.data_low 0.05 key_test']);
    // Events are deleted after a while. The record of the announcement is kept longer.
    await bench.database.run((db) => db.delete(events));
    expect(await watch(id)).toEqual([]);

    const topup = await bench.beginTopup(1001, id);
    await bench.activities.sendPurchase(topup);
    await bench.activities.completePurchase({ ...topup, applied: [] });
    await bench.pass(6 * HOUR);
    expect(await watch(id)).toEqual([]);
    await bench.pass(5 * 24 * HOUR);
    expect(await watch(id)).toEqual(['esim.expiring 72 key_test', 'esim.data_low 0.2 key_test']);
    await bench.pass(48 * HOUR);
    // The data has passed both thresholds, so only the lower one is announced.
    expect(await watch(id)).toEqual(['esim.expiring 24 key_test', 'esim.data_low 0.05 key_test']);
  });

  it('with unlimited data is read once for its usage, and is never low', async () => {
    bench = await ActivityBench.start();
    const id = await bench.deliveredEsim(1027);
    await bench.admin.simulateEsim((await rowOf(id)).serviceEsimId, 'active');
    await bench.pass(7 * HOUR);
    expect(await watch(id)).toEqual([]);
    await bench.pass(50 * HOUR);
    expect(await watch(id)).toEqual([]);
    expect((await calls())[1]).toBe(1);
    const [usage] = await bench.database.run((db) => db.select().from(esimUsage));
    expect(usage).toMatchObject({ totalMb: null, unlimited: true });
  });

  it('not in use is read once a day without its usage, and an ended one never again', async () => {
    bench = await ActivityBench.start();
    const id = await bench.deliveredEsim();
    const [before = 0] = await calls();
    await bench.pass(7 * HOUR);
    await watch(id);
    await bench.pass(7 * HOUR);
    await watch(id);
    expect(await calls()).toEqual([before + 1, 0]);
    await bench.database.run((db) => db.update(esims).set({ status: 'cancelled' }).where(eq(esims.id, id)));
    await bench.pass(30 * HOUR);
    await watch(id);
    expect([await calls(), (await rowOf(id)).watchDueAt]).toEqual([[before + 1, 0], null]);
  });
});

describe('a run of the watch', () => {
  it('stops at its limit of calls, and reads the eSIMs that wait longest first', async () => {
    bench = await ActivityBench.start({ watch: { readsPerRun: 2 } });
    const ids = [await bench.deliveredEsim(), await bench.deliveredEsim(), await bench.deliveredEsim()];
    await bench.pass(7 * HOUR);
    const looked = async () => {
      await bench.activities.readUsage();
      const rows = await Promise.all(ids.map(rowOf));
      return rows.map(({ readAt }) => readAt.getTime() === bench.clock.now);
    };
    expect(await looked()).toEqual([true, true, false]);
    expect(await looked()).toEqual([true, true, true]);
  });

  it('ends when the service does not answer, and starts with another eSIM next time', async () => {
    bench = await ActivityBench.start();
    const ids = [await bench.deliveredEsim(), await bench.deliveredEsim()];
    await bench.pass(7 * HOUR);
    const [before = 0] = await calls();
    await bench.admin.onRequest('getEsim', { kind: 'rate_limited' });
    expect(await bench.activities.readUsage()).toEqual({ looked: 1 });
    expect(await calls()).toEqual([before + 1, 0]);
    await bench.admin.calm();
    expect(await bench.activities.readUsage()).toEqual({ looked: 1 });
    expect((await rowOf(ids[1]!)).readAt).toEqual(new Date(bench.clock.now));
  });

  it('reads no usage from a service without that call, and still announces the expiry', async () => {
    bench = await ActivityBench.start({ capabilities: { esim_usage: false } });
    const id = await bench.deliveredEsim();
    await bench.admin.simulateEsim((await rowOf(id)).serviceEsimId, 'active');
    await bench.pass(7 * HOUR);
    await watch(id);
    await bench.pass(100 * HOUR);
    expect(await watch(id)).toEqual(['esim.expiring 72 key_test']);
    expect((await calls())[1]).toBe(0);
  });
});

describe('a VPN subscription', () => {
  it('is announced once per threshold of its period', async () => {
    bench = await ActivityBench.start();
    const order = await bench.beginSubscription();
    await bench.activities.sendPurchase(order);
    await bench.activities.completePurchase({ ...order, applied: [] });
    await bench.pass(26 * 24 * HOUR);
    expect(await watch(order.work.id)).toEqual([]);
    await bench.pass(25 * HOUR);
    expect(await watch(order.work.id)).toEqual(['vpn_subscription.expiring 72 key_test']);
    await bench.pass(48 * HOUR);
    expect(await watch(order.work.id)).toEqual(['vpn_subscription.expiring 24 key_test']);
  });
});
