import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { esims, esimUsage, events } from '#db/schema.ts';
import { recordEsim } from '#fulfilment/upkeep/record-esim.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let bench: ActivityBench;

afterEach(() => bench[Symbol.asyncDispose]());

const rowOf = async (id: string) =>
  (await bench.database.run((db) => db.select().from(esims).where(eq(esims.id, id))))[0]!;
const calls = async () => [
  (await bench.admin.requests('getEsim')).length,
  (await bench.admin.requests('getEsimUsage')).length,
];

const eventsOf = (id: string) =>
  bench.database.run((db) => db.select().from(events).where(eq(events.subjectId, id)).orderBy(events.sequence));

/** Runs the schedule twice, as after a crash. @returns the announced events. */
async function watch(subjectId: string): Promise<string[]> {
  const announced = async () =>
    (await eventsOf(subjectId))
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

const recordedMilestones = async (id: string) =>
  (await eventsOf(id)).filter(({ type }) => /^esim\.(?:installed|activated|used_up|expired)$/.test(type));

/** Runs the schedule twice, as after a crash. @returns the new milestones. */
async function milestones(id: string): Promise<string[]> {
  const before = (await recordedMilestones(id)).length;
  for (let run = 0; run < 2; run += 1) await bench.activities.readUsage();
  return (await recordedMilestones(id)).slice(before).map(({ type }) => type);
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
    const readAt = new Date(bench.clock.now);
    expect(await rowOf(id)).toMatchObject({ status: 'active', expiresAt: expect.any(Date), readAt });
    const [usage] = await bench.database.run((db) => db.select().from(esimUsage));
    expect(usage).toMatchObject({ esimId: id, totalMb: 1_024, unlimited: false, readAt });
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

    await bench.buy(await bench.beginTopup(1001, id));
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

  it('ends before the time limit of its activity when the service is slow, and the next run goes on', async () => {
    bench = await ActivityBench.start();
    for (let n = 1; n <= 4; n += 1) await bench.deliveredEsim();
    await bench.pass(7 * HOUR);
    const { getEsim } = bench.service;
    bench.service.getEsim = async (id) => {
      bench.clock.now += HOUR / 40;
      return getEsim(id);
    };
    expect(await bench.activities.readUsage()).toEqual({ looked: 2 });
    expect(await bench.activities.readUsage()).toEqual({ looked: 2 });
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
    await bench.buy(order);
    await bench.pass(26 * 24 * HOUR);
    expect(await watch(order.work.id)).toEqual([]);
    await bench.pass(25 * HOUR);
    expect(await watch(order.work.id)).toEqual(['vpn_subscription.expiring 72 key_test']);
    await bench.pass(48 * HOUR);
    expect(await watch(order.work.id)).toEqual(['vpn_subscription.expiring 24 key_test']);
  });
});

describe('the milestones of an eSIM', () => {
  it('are announced once each with the key of its order, used up data again after a top-up', async () => {
    bench = await ActivityBench.start();
    // 1 GB for seven days.
    const id = await bench.deliveredEsim(1001);
    const { serviceEsimId, orderId } = await rowOf(id);
    await bench.pass(7 * HOUR);
    expect(await milestones(id)).toEqual([]);

    await bench.admin.simulateEsim(serviceEsimId, 'installed');
    await bench.pass(DAY);
    expect(await milestones(id)).toEqual(['esim.installed']);
    await bench.admin.simulateEsim(serviceEsimId, 'active');
    await bench.pass(DAY);
    expect(await milestones(id)).toEqual(['esim.activated']);
    await bench.admin.simulateEsim(serviceEsimId, 'consumed');
    await bench.pass(7 * HOUR);
    expect(await milestones(id)).toEqual(['esim.used_up']);
    const data = { order_id: orderId, data_used_mb: 1_024, data_total_mb: 1_024, installed_at: expect.any(String) };
    expect((await recordedMilestones(id)).at(-1)).toMatchObject({ apiKeyId: 'key_test', data });
    await bench.pass(DAY);
    expect(await milestones(id)).toEqual([]);

    await bench.buy(await bench.beginTopup(1001, id));
    expect(await milestones(id)).toEqual([]);
    await bench.admin.simulateEsim(serviceEsimId, 'consumed');
    await bench.pass(7 * HOUR);
    expect(await milestones(id)).toEqual(['esim.used_up']);

    // Events are deleted after a while. The record of the announcement is kept longer.
    await bench.database.run((db) => db.delete(events));
    await bench.pass(DAY);
    expect(await milestones(id)).toEqual([]);
  });

  it('include the expiry as soon as the eSIM has reached its end', async () => {
    bench = await ActivityBench.start();
    const id = await bench.deliveredEsim(1001);
    await bench.admin.simulateEsim((await rowOf(id)).serviceEsimId, 'active');
    await bench.pass(7 * HOUR);
    expect(await milestones(id)).toEqual(['esim.installed', 'esim.activated']);
    // The next reading would be later than the end.
    const end = (await rowOf(id)).expiresAt!.getTime();
    await bench.pass(end - bench.clock.now - HOUR);
    await milestones(id);
    expect((await rowOf(id)).watchDueAt!.getTime()).toBe(end);
    await bench.pass(HOUR);
    expect(await milestones(id)).toEqual(['esim.expired']);
    expect((await rowOf(id)).watchDueAt).toBeNull();
  });

  it('that a top-up undoes are not announced from a reading before the top-up', async () => {
    bench = await ActivityBench.start();
    const id = await bench.deliveredEsim(1001);
    const { orderId } = await rowOf(id);
    const readAt = new Date(bench.clock.now);
    await bench.pass(HOUR);
    await bench.buy(await bench.beginTopup(1001, id));
    const state = { status: 'consumed', installedAt: readAt, activatedAt: readAt, expiresAt: readAt };
    const record = (at: Date) => {
      const now = new Date(bench.clock.now);
      return bench.database.transaction((tx) => recordEsim(tx, { id, orderId }, { state, readAt: at }, now));
    };
    await record(readAt);
    expect((await recordedMilestones(id)).map(({ type }) => type)).toEqual(['esim.installed', 'esim.activated']);
    await bench.pass(HOUR);
    await record(new Date(bench.clock.now));
    expect((await recordedMilestones(id)).slice(2).map(({ type }) => type)).toEqual(['esim.used_up', 'esim.expired']);
  });
});
