/** The hold before the first purchase in production: pauses in the database, reads at a simulator over HTTP. */
import { randomUUID } from 'node:crypto';
import { asc, eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { auditLog, gatePauses, orders } from '#db/schema.ts';
import { addCapabilityProfile, confirmCapabilityProfile } from '#db/service/capability-profiles.ts';
import { FIRST_PURCHASE_CHECK_ADVICE } from '#domain/gate/first-purchase-check.ts';
import { ALL_CAPABILITIES, type ProfileItem, profileItems } from '#domain/service/capability-profile.ts';
import type { ServiceMode } from '#domain/service/service-address.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import {
  FIRST_PURCHASE_CHECK_ACTOR,
  readFirstPurchaseCheck,
  releaseRecorded,
  addPause,
  releasePause,
} from '#fulfilment/gate/pauses.ts';
import { createLogger } from '#telemetry/logger.ts';
import { EMAIL, PASSWORD, startTestSimulator } from '#test/simulator/support.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestOrder } from '#test/support/work/order-rows.ts';
import { openService, type Service } from '#upstream/service.ts';
import { FirstPurchaseCheckWatch } from '#worker/first-purchase-check.ts';

const NOW = new Date('2030-01-31T12:00:00.000Z');
const UNDESCRIBED = { ...ALL_CAPABILITIES, openapi_download: false };

let opened: OpenTestDatabase;
let database: Database;
let simulator: Awaited<ReturnType<typeof startTestSimulator>>;
const services: Service[] = [];
beforeEach(async () => {
  opened = await openTestDatabase();
  ({ database } = opened);
  simulator = await startTestSimulator({ approved: true, productionBalance: '1000.00' });
});
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
  await simulator[Symbol.asyncDispose]();
  await opened.drop();
});

/** The first purchase check of a worker. */
function watch(some: { mode?: ServiceMode; capabilities?: typeof ALL_CAPABILITIES } = {}) {
  const { mode = 'production', capabilities = ALL_CAPABILITIES } = some;
  const service = openService({
    baseUrl: simulator.simulator.baseUrl,
    mode,
    email: EMAIL,
    password: PASSWORD,
    deviceName: 'backend',
    capabilities,
    deadlineMs: 10_000,
    tokens: new MemoryTokenStore(),
    now: Date.now,
  });
  services.push(service);
  return new FirstPurchaseCheckWatch({
    database,
    service: service.client,
    mode,
    capabilities,
    policy: { firstPurchaseCheckMs: 20 },
    deadlineMs: 10_000,
    logger: createLogger({ level: 'silent', name: 'test', secrets: [] }),
    now: () => NOW.getTime(),
  });
}

const pauses = () => database.run((db) => db.select().from(gatePauses).orderBy(asc(gatePauses.id)));
const stateOf = async (kind: PurchaseKind) => (await database.run(readFirstPurchaseCheck)).get(kind);
/** The known state by kind of purchase. */
const states = async () => {
  const known = [...(await database.run(readFirstPurchaseCheck))].map(([kind, state]) => [kind, state.kind] as const);
  return Object.fromEntries(known) as Record<PurchaseKind, string>;
};
const every = (state: string) => ({ order: state, topup: state, vpn_subscription: state });
const audited = (subjectId: string) =>
  database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, subjectId)).orderBy(asc(auditLog.id)));

const all = <Value>(value: Value) =>
  Object.fromEntries(profileItems.map((item) => [item, value])) as Record<ProfileItem, Value>;
const measured = (found: Partial<Record<ProfileItem, boolean>>) => {
  const profile = { findings: { ...all(null), ...found }, evidence: all('Tried.') };
  return database.run((db) => addCapabilityProfile(db, { environment: 'sandbox', measuredAt: NOW, ...profile }));
};
const confirm = (id: bigint) => database.run((db) => confirmCapabilityProfile(db, id, { by: 'Ada', at: NOW }));

/** An order of an installation that bought before this version. */
async function completedOrder(): Promise<string> {
  const id = await acceptTestOrder(database);
  const completed = { status: 'completed', esimId: newId('esim') } as const;
  await database.run((db) => db.update(orders).set(completed).where(eq(orders.id, id)));
  return id;
}

describe('before the first purchase in production', () => {
  it('every kind of purchase is held once, for any number of concurrent and repeated worker starts', async () => {
    const workers = [watch(), watch(), watch()];
    await Promise.all(workers.map((worker) => worker.hold()));
    await workers[0]?.hold();
    const made = await pauses();
    expect(made).toHaveLength(PURCHASE_KINDS.length);
    expect(new Set(made.map(({ kind }) => kind))).toEqual(new Set(PURCHASE_KINDS));
    for (const pause of made) {
      const hold = { origin: 'first_purchase_check', failureClass: null, releasedAt: null };
      expect(pause).toMatchObject({ ...hold, pausedBy: FIRST_PURCHASE_CHECK_ACTOR });
      expect(pause.reason).toContain(FIRST_PURCHASE_CHECK_ADVICE);
      const entry = { action: 'gate.pause', actor: FIRST_PURCHASE_CHECK_ACTOR, reason: pause.reason };
      expect(await audited(pause.id)).toMatchObject([entry]);
    }
  });

  it('the sandbox holds nothing and does not call the service', async () => {
    const before = await simulator.requests();
    const worker = watch({ mode: 'sandbox' });
    await worker.hold();
    expect(await worker.check()).toBe(false);
    expect(await pauses()).toEqual([]);
    expect(await simulator.requests()).toEqual(before);
  });

  it('a pause of an operator for the same kind exists beside the hold, and remains after its release', async () => {
    await watch().hold();
    const operator = { reason: 'A test.', actor: 'key_ada' };
    const asked = { origin: 'operator', kind: 'order', failureClass: null, ...operator } as const;
    const { pause, isNew } = await database.transaction((tx) => addPause(tx, asked, NOW));
    expect(isNew).toBe(true);
    await watch().check();
    expect((await pauses()).filter(({ releasedAt }) => releasedAt === null).map(({ id }) => id)).toEqual([pause.id]);
  });
});

describe('the hold ends', () => {
  it('by the document of the service and free reads, with an entry in the audit log', async () => {
    const worker = watch();
    await worker.hold();
    expect(await states()).toEqual(every('held'));
    expect(await worker.check()).toBe(false);
    expect(await states()).toEqual(every('released'));
    for (const { id, releaseReason, releasedBy } of await pauses()) {
      expect(releasedBy).toBe(FIRST_PURCHASE_CHECK_ACTOR);
      expect((await audited(id)).at(-1)).toMatchObject({ action: 'gate.release', reason: releaseReason });
      expect(releaseReason).toContain('OpenAPI document of the service');
    }
  });

  it('for one kind, by a purchase of that kind that the service lists', async () => {
    const worker = watch({ capabilities: UNDESCRIBED });
    await worker.hold();
    expect(await worker.check()).toBe(true);
    expect(await states()).toEqual(every('held'));
    const headers = { 'idempotency-key': randomUUID() };
    await simulator.production.post('/orders', { package_id: 1001, external_order_id: randomUUID() }, { headers });
    expect(await worker.check()).toBe(true);
    expect(await states()).toEqual({ ...every('held'), order: 'released' });
    const reason = expect.stringContaining('GET /orders shows a completed purchase');
    expect(await stateOf('order')).toMatchObject({ reason });
  });

  it('by a confirmed profile, for the kinds that it contains, and not by an unconfirmed one', async () => {
    const worker = watch({ capabilities: UNDESCRIBED });
    const id = await measured({ order_seen: true, topup_seen: false });
    await worker.hold();
    expect(await states()).toEqual(every('held'));
    await confirm(id);
    expect(await database.transaction((tx) => releaseRecorded(tx, 'command/ada', NOW))).toEqual(['order']);
    expect(await states()).toEqual({ ...every('held'), order: 'released' });
    const release = { by: 'command/ada', reason: expect.stringContaining('confirmed by Ada') };
    expect(await stateOf('order')).toMatchObject(release);
  });

  it('when a worker finds a confirmed profile or a completed purchase', async () => {
    const worker = watch({ capabilities: UNDESCRIBED });
    await worker.hold();
    await confirm(await measured({ vpn_seen: true }));
    const order = await completedOrder();
    await worker.check();
    expect(await states()).toEqual({ order: 'released', topup: 'held', vpn_subscription: 'released' });
    expect(await stateOf('order')).toMatchObject({ reason: expect.stringContaining(order) });
  });

  it('by an explicit release of an operator, and no later worker start sets it again', async () => {
    const worker = watch({ capabilities: UNDESCRIBED });
    await worker.hold();
    const pause = (await pauses()).find(({ kind }) => kind === 'order');
    const reason = 'The service was tried by hand.';
    await database.transaction((tx) => releasePause(tx, pause?.id ?? '', { actor: 'key_ada', reason }, NOW));
    expect(await stateOf('order')).toMatchObject({ kind: 'released', by: 'key_ada', reason });
    await Promise.all([worker.hold(), watch().hold()]);
    expect(await worker.check()).toBe(true);
    expect(await states()).toEqual({ ...every('held'), order: 'released' });
    expect(await pauses()).toHaveLength(3);
  });
});

describe('no hold exists', () => {
  it('for a kind with completed purchases in this database, so an upgrade stops no shop', async () => {
    const id = await completedOrder();
    await watch().hold();
    expect(await states()).toEqual({ ...every('held'), order: 'recorded' });
    expect(await stateOf('order')).toMatchObject({ evidence: expect.stringContaining(id) });
  });

  it('for the kinds of a confirmed profile, even with a newer unconfirmed one', async () => {
    await confirm(await measured({ order_seen: true, topup_seen: true, vpn_seen: true }));
    await measured({});
    await watch().hold();
    expect(await states()).toEqual(every('recorded'));
    expect(await pauses()).toEqual([]);
  });
});

it('the text of the hold names the call and the field that differ, and follows later checks', async () => {
  const worker = watch();
  await worker.hold();
  const unpriced = JSON.stringify({ data: [{ id: 1, name: 'One', currency: 'EUR' }], next_cursor: null });
  const fault = { kind: 'answer', status: 200, body: unpriced };
  await simulator.admin.post('/faults', { target: 'request', endpoint: 'listPackages', fault, count: 2 });
  await worker.check();
  expect(await stateOf('order')).toMatchObject({
    kind: 'held',
    pause: { reason: expect.stringMatching(/GET \/packages: .*price_for_reseller.*Run `npx reseller sandbox tour`/) },
  });
  expect(await states()).toEqual({ order: 'held', topup: 'held', vpn_subscription: 'released' });
  await simulator.admin.call('DELETE', '/faults', {});
  await worker.check();
  expect(await states()).toEqual(every('released'));
});

it('the loop of a worker checks until nothing is held, and stops on request before that', async () => {
  const worker = watch();
  await worker.hold();
  worker.start();
  await expect.poll(states).toEqual(every('released'));
  await worker.stop();

  await using other = await openTestDatabase();
  ({ database } = other);
  const patient = watch({ capabilities: UNDESCRIBED });
  await patient.hold();
  patient.start();
  await patient.stop();
  expect(await states()).toEqual(every('held'));
  ({ database } = opened);
});
