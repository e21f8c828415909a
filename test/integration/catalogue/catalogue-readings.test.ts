/** Readings of the catalogue: the real activity, PostgreSQL and the simulator. */
import { randomUUID } from 'node:crypto';
import { asc, eq, isNotNull } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { catalogueReadAt } from '#db/catalogue/catalogue.ts';
import { attempts, catalogueReadings, events, orders, outbox, packages, vpnPlans } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { PACKAGES } from '#simulator/catalogue.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { twiceOver } from '#test/support/work/activities/twice.ts';

const MINUTE = 60_000;

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(() => bench[Symbol.asyncDispose]());

const { twice } = twiceOver({ calls: () => bench.calls, state: () => bench.state() });

async function readTwice() {
  const input = { runId: randomUUID() };
  return twice('readCatalogue', () => bench.activities.readCatalogue(input));
}

/** Reads the catalogue five minutes later. */
async function readAgain() {
  bench.clock.now += 5 * MINUTE;
  return bench.activities.readCatalogue({ runId: randomUUID() });
}

const announced = () => bench.database.run((db) => db.select().from(events).orderBy(asc(events.sequence)));
const stored = async (id: number) =>
  (await bench.database.run((db) => db.select().from(packages).where(eq(packages.id, id))))[0];
const removedIds = async () => {
  const isRemoved = isNotNull(packages.removedAt);
  const rows = await bench.database.run((db) => db.select().from(packages).where(isRemoved).orderBy(asc(packages.id)));
  return rows.map(({ id }) => id);
};
const readAt = async () => (await bench.database.run((db) => catalogueReadAt(db, 'packages')))?.getTime();
const usd = (amount: string) => ({ amount, currency: 'USD' });

describe('a reading of the catalogue', () => {
  it('stores all packages and plans the first time, and announces none of them', async () => {
    const [first, second] = await readTwice();
    expect(first.packages).toEqual({ verdict: 'recorded', created: PACKAGES.length, changed: 0, removed: 0 });
    expect(second).toEqual(first);
    expect(await bench.database.run((db) => db.$count(packages))).toBe(PACKAGES.length);
    expect(await bench.database.run((db) => db.$count(vpnPlans))).toBe(9);
    expect(await stored(1012)).toMatchObject({
      name: 'Portugal 3 GB, 15 days',
      countries: ['PT'],
      dataMb: 3_072,
      unlimited: false,
      days: 15,
      priceAmount: '4.875000',
      priceCurrency: 'USD',
      publicPriceAmount: '7.990000',
      available: true,
      removedAt: null,
      createdAt: new Date(bench.clock.now),
    });
    expect(await announced()).toEqual([]);
  });

  it('announces new and removed items, prices and availability, with the old and the new price', async () => {
    await readAgain();
    const { admin } = bench;
    await admin.addPackage({ id: 3001, name: 'Iceland 1 GB', price_for_reseller: '4.00', countries: ['IS'] });
    await admin.setPackage(1001, { price_for_reseller: '2.5' });
    await admin.setPackage(1002, { available: false });
    await admin.setPackage(9006, { available: true });
    await admin.removeItem('packages', 1003);
    await admin.setPlan(301, { price_for_reseller: '3.10' });
    bench.clock.now += 5 * MINUTE;
    const [result] = await readTwice();
    expect(result).toEqual({
      packages: { verdict: 'recorded', created: 1, changed: 3, removed: 1 },
      vpnPlans: { verdict: 'recorded', created: 0, changed: 1, removed: 0 },
    });
    const found = await announced();
    expect(found.map(({ type, subjectId }) => `${type} ${subjectId}`)).toEqual([
      'package.price_changed 1001',
      'package.unavailable 1002',
      'package.created 3001',
      'package.available 9006',
      'package.removed 1003',
      'vpn_plan.price_changed 301',
    ]);
    expect(found.map(({ data }) => data)).toMatchObject([
      { available: true, price_for_reseller: usd('2.50'), previous_price_for_reseller: usd('2.40') },
      { available: false, price_for_reseller: usd('5.10'), previous_price_for_reseller: usd('5.10') },
      { name: 'Iceland 1 GB', price_for_reseller: usd('4.00'), previous_price_for_reseller: null },
      { available: true },
      { available: false, price_for_reseller: usd('11.90'), previous_price_for_reseller: usd('11.90') },
      { price_for_reseller: usd('3.10'), previous_price_for_reseller: usd('2.90') },
    ]);
    expect(await stored(1003)).toMatchObject({ removedAt: new Date(bench.clock.now), available: false });
  });

  it('announces an item that is listed again as created, with its last known price', async () => {
    await readAgain();
    const first = await stored(1001);
    await bench.admin.removeItem('packages', 1001);
    await readAgain();
    await bench.admin.addPackage({ id: 1001, name: 'Spain again', price_for_reseller: '2.00' });
    await readAgain();
    expect((await announced()).at(-1)).toMatchObject({
      type: 'package.created',
      data: { price_for_reseller: usd('2.00'), previous_price_for_reseller: usd('2.40') },
    });
    expect(await stored(1001)).toMatchObject({ removedAt: null, available: true, createdAt: first?.createdAt });
  });
});

describe('held work', () => {
  it('is woken by a reading that shows its reason to be over, and by no other', async () => {
    const held = async (packageId: number, change: Partial<typeof orders.$inferInsert>) => {
      const { work } = await bench.begin(packageId);
      const row = { status: 'held' as const, updatedAt: new Date(bench.clock.now), ...change };
      await bench.database.run((db) => db.update(orders).set(row).where(eq(orders.id, work.id)));
      return work.id;
    };
    const limit = (maxPriceAmount: string) =>
      ({ failureClass: 'price_above_limit', maxPriceAmount, maxPriceCurrency: 'USD' }) as const;
    await readAgain();
    const sold = await held(1012, { failureClass: 'package_unavailable' });
    const refused = await held(1012, { failureClass: 'package_unavailable' });
    const byService = { state: 'refused', failureClass: 'package_unavailable' } as const;
    await bench.database.run((db) => db.update(attempts).set(byService).where(eq(attempts.subjectId, refused)));
    const cheap = await held(1012, limit('4.88'));
    await held(1012, limit('4.00'));
    await held(1012, { failureClass: 'not_sent' });
    await held(999_999, { failureClass: 'package_unavailable' });
    await bench.database.run((db) => db.delete(outbox));
    const woken = async () =>
      new Set((await bench.database.run((db) => db.select().from(outbox))).map(({ subjectId }) => subjectId));
    await readAgain();
    expect(await woken()).toEqual(new Set([sold, cheap]));
    await bench.database.run((db) => db.update(packages).set({ available: false }).where(eq(packages.id, 1012)));
    await readAgain();
    expect(await woken()).toEqual(new Set([sold, cheap, refused]));
  });
});

describe('a reading that does not show everything', () => {
  it('changes nothing while the service is away, so the stored catalogue becomes older', async () => {
    await readAgain();
    const before = bench.clock.now;
    await bench.admin.onRequest('listPackages', { kind: 'server_error' }, { count: null });
    expect((await readAgain()).packages).toEqual({ verdict: 'not_read' });
    expect(await readAt()).toBe(before);
    expect(await removedIds()).toEqual([]);
    expect(await announced()).toEqual([]);
    expect(bench.log.join('')).toContain('the catalogue was not read');
  });

  it('announces no new item before one has shown the whole catalogue, and then each', async () => {
    const add = (id: number) => bench.admin.addPackage({ id, name: `Iceland ${id}`, price_for_reseller: '4.00' });
    await bench.admin.shape('silent_lists');
    expect((await readAgain()).packages.verdict).toBe('incomplete');
    await bench.admin.shape('plain');
    await add(3001);
    const left = PACKAGES.length + 1 - (await bench.database.run((db) => db.$count(packages)));
    expect((await readAgain()).packages).toMatchObject({ verdict: 'recorded', created: left });
    expect(await announced()).toEqual([]);
    await add(3002);
    await readAgain();
    expect((await announced()).map(({ type, subjectId }) => [type, subjectId])).toEqual([['package.created', '3002']]);
  });

  it('changes nothing when it lacks too much, until a second one confirms it', async () => {
    await readAgain();
    const before = bench.clock.now;
    const gone = PACKAGES.slice(0, 20).map(({ id }) => id);
    for (const id of gone) await bench.admin.removeItem('packages', id);
    await bench.admin.setPackage(9001, { price_for_reseller: '9.99' });
    expect((await readAgain()).packages).toEqual({ verdict: 'suspicious', created: 0, changed: 0, removed: 0 });
    expect(await readAt()).toBe(before);
    expect(await removedIds()).toEqual([]);
    expect(await announced()).toEqual([]);
    expect(bench.log.join('')).toContain('suddenly lists far fewer items');
    // An incomplete reading confirms nothing.
    await bench.admin.shape('silent_lists');
    await readAgain();
    expect(await removedIds()).toEqual([]);
    await bench.admin.shape('plain');
    expect((await readAgain()).packages).toMatchObject({ verdict: 'recorded', removed: 20 });
    expect(await removedIds()).toEqual(gone);
    expect(await readAt()).toBe(bench.clock.now);
  });

  it('keeps the public prices when only their list fails', async () => {
    await readAgain();
    await bench.admin.onRequest('listPublicPackages', { kind: 'server_error' }, { count: null });
    expect((await readAgain()).packages).toMatchObject({ verdict: 'recorded', changed: 0 });
    expect((await stored(1012))?.publicPriceAmount).toBe('7.990000');
  });
});

describe('old readings', () => {
  it('are deleted after their time, but for the newest of each verdict', async () => {
    await readAgain();
    await readAgain();
    bench.clock.now += DEFAULT_POLICY.catalogue.readingsKeptMs;
    await bench.admin.shape('silent_lists');
    await readAgain();
    const isOfPackages = eq(catalogueReadings.catalogue, 'packages');
    const kept = await bench.database.run((db) => db.select().from(catalogueReadings).where(isOfPackages));
    expect(kept.map(({ verdict }) => verdict)).toEqual(['recorded', 'incomplete']);
  });
});
