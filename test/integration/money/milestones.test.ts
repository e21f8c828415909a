import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { esims, events } from '#db/schema.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MILESTONE = /^esim\.(?:installed|activated|used_up|expired)$/;
let bench: ActivityBench;

afterEach(async () => {
  await bench[Symbol.asyncDispose]();
});

const rowOf = async (id: string) =>
  (await bench.database.run((db) => db.select().from(esims).where(eq(esims.id, id))))[0]!;
const recorded = async (id: string) =>
  (
    await bench.database.run((db) => db.select().from(events).where(eq(events.subjectId, id)).orderBy(events.sequence))
  ).filter(({ type }) => MILESTONE.test(type));

/** Runs the schedule twice, as after a crash. @returns the new milestones. */
async function watch(id: string): Promise<string[]> {
  const before = (await recorded(id)).length;
  await bench.activities.readUsage();
  await bench.activities.readUsage();
  return (await recorded(id)).slice(before).map(({ type }) => type);
}

async function recharge(id: string): Promise<void> {
  const topup = await bench.beginTopup(1001, id);
  await bench.activities.sendPurchase(topup);
  await bench.activities.completePurchase({ ...topup, applied: [] });
}

describe('the milestones of an eSIM', () => {
  it('are announced once each with the key of its order, used up data again after a top-up', async () => {
    bench = await ActivityBench.start();
    // 1 GB for seven days.
    const id = await bench.deliveredEsim(1001);
    const { serviceEsimId, orderId } = await rowOf(id);
    await bench.pass(7 * HOUR);
    expect(await watch(id)).toEqual([]);

    await bench.admin.simulateEsim(serviceEsimId, 'installed');
    await bench.pass(DAY);
    expect(await watch(id)).toEqual(['esim.installed']);
    await bench.admin.simulateEsim(serviceEsimId, 'active');
    await bench.pass(DAY);
    expect(await watch(id)).toEqual(['esim.activated']);
    await bench.admin.simulateEsim(serviceEsimId, 'consumed');
    await bench.pass(7 * HOUR);
    expect(await watch(id)).toEqual(['esim.used_up']);
    const usedUp = (await recorded(id)).at(-1);
    expect(usedUp).toMatchObject({
      apiKeyId: 'key_test',
      data: { order_id: orderId, data_used_mb: 1_024, data_total_mb: 1_024, installed_at: expect.any(String) },
    });
    await bench.pass(DAY);
    expect(await watch(id)).toEqual([]);

    await recharge(id);
    expect(await watch(id)).toEqual([]);
    await bench.admin.simulateEsim(serviceEsimId, 'consumed');
    await bench.pass(7 * HOUR);
    expect(await watch(id)).toEqual(['esim.used_up']);

    // Events are deleted after a while. The record of the announcement is kept longer.
    await bench.database.run((db) => db.delete(events));
    await bench.pass(DAY);
    expect(await watch(id)).toEqual([]);
  });

  it('include the expiry as soon as the eSIM has reached its end', async () => {
    bench = await ActivityBench.start();
    const id = await bench.deliveredEsim(1001);
    await bench.admin.simulateEsim((await rowOf(id)).serviceEsimId, 'active');
    await bench.pass(7 * HOUR);
    expect(await watch(id)).toEqual(['esim.installed', 'esim.activated']);
    // The next reading would be later than the end.
    const end = (await rowOf(id)).expiresAt!.getTime();
    await bench.pass(end - bench.clock.now - HOUR);
    await watch(id);
    expect((await rowOf(id)).watchDueAt!.getTime()).toBe(end);
    await bench.pass(HOUR);
    expect(await watch(id)).toEqual(['esim.expired']);
    expect((await rowOf(id)).watchDueAt).toBeNull();
  });

  it('that a top-up undoes are not announced from a reading before the top-up', async () => {
    bench = await ActivityBench.start();
    const id = await bench.deliveredEsim(1001);
    const { orderId } = await rowOf(id);
    const readAt = new Date(bench.clock.now);
    await bench.pass(HOUR);
    await recharge(id);
    const state = { status: 'consumed', installedAt: readAt, activatedAt: readAt, expiresAt: readAt };
    const record = (at: Date) =>
      bench.database.transaction((tx) =>
        recordEsim(tx, { id, orderId }, { state, readAt: at }, new Date(bench.clock.now)),
      );
    await record(readAt);
    expect((await recorded(id)).map(({ type }) => type)).toEqual(['esim.installed', 'esim.activated']);
    await bench.pass(HOUR);
    await record(new Date(bench.clock.now));
    expect((await recorded(id)).slice(2).map(({ type }) => type)).toEqual(['esim.used_up', 'esim.expired']);
  });
});
