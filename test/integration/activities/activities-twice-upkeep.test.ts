import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { generateWebhookSecret } from '#crypto/webhook-signatures.ts';
import { newId } from '#db/connection/ids.ts';
import { events, esims, idempotencyKeys, journal, webhookDeliveries } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { addWebhookEndpoint } from '#fulfilment/event-webhooks/manage-endpoint.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { twiceOver } from '#test/support/work/activities/twice.ts';

const DAY = 86_400_000;
/** More than two batches of the bench; the last one is not full. */
const OLD = 207;

let bench: ActivityBench;
afterEach(() => bench[Symbol.asyncDispose]());

const { twice } = twiceOver({ calls: () => bench.calls, state: () => bench.state() });
const announced = async () =>
  (await bench.database.run((db) => db.select().from(events).orderBy(events.sequence))).map(({ type }) => type);

describe('a repeated scheduled activity leaves the same rows and one effect:', () => {
  it('reconcileSilentWork and requestIdleWork', async () => {
    bench = await ActivityBench.start();
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await bench.activities.sendPurchase(await bench.begin());
    bench.clock.now += 2 * 60_000;
    const [first, second] = await twice('reconcileSilentWork', () => bench.activities.reconcileSilentWork());
    expect([first.newReports, second.newReports]).toEqual([1, 0]);
    const [requested] = await twice('requestIdleWork', () => bench.activities.requestIdleWork());
    expect(requested.requested).toBeGreaterThan(0);
  });

  it('forgetOldAnswers deletes all old rows, in several batches, and no others', async () => {
    bench = await ActivityBench.start();
    const { database, keyRing, clock } = bench;
    const now = new Date(clock.now);
    const old = new Date(clock.now - DEFAULT_POLICY.outbound.logKeptMs - 99 * DAY);
    const shop = { url: 'https://shop.example.com/hook', description: null, eventTypes: ['*'] };
    const wanted = { apiKeyId: 'key_a', ownerId: undefined, ...shop };
    const { id: endpointId } = await database.transaction((tx) =>
      addWebhookEndpoint(tx, keyRing, wanted, generateWebhookSecret(), now),
    );
    const times = Array.from({ length: OLD + 3 }, (_, index) => (index < OLD ? old : now));
    const bytes = { requestHash: Buffer.alloc(32), encryptedResponseBody: Buffer.alloc(1) };
    const answer = { apiKeyId: 'key_a', responseStatus: 202, responseHeaders: {}, ...bytes };
    const event = { type: 'order.held', subjectKind: 'order', subjectId: 'ord_1', data: {} } as const;
    const delivery = { endpointId, state: 'failed', triedSince: old, createdAt: old } as const;
    const ids = () => ({ id: newId('webhookDelivery'), eventId: newId('event') });
    const happened = times.map((occurredAt, n) => ({
      ...event,
      id: newId('event'),
      position: BigInt(n + 1),
      occurredAt,
    }));
    await database.run(async (db) => {
      await db.insert(idempotencyKeys).values(times.map((createdAt) => ({ ...answer, key: randomUUID(), createdAt })));
      await db.insert(events).values(happened);
      await db.insert(webhookDeliveries).values(times.map((endedAt) => ({ ...delivery, ...ids(), endedAt })));
    });
    const results = await twice('forgetOldAnswers', () => bench.activities.forgetOldAnswers());
    expect(results).toEqual([{ forgotten: 3 * OLD }, { forgotten: 0 }]);
    for (const table of [idempotencyKeys, events, webhookDeliveries])
      expect(await database.run((db) => db.$count(table))).toBe(3);
  });

  it('reconcileBooks', async () => {
    bench = await ActivityBench.start();
    await bench.buy(await bench.begin());
    await bench.admin.deposit('50.00');
    const runId = randomUUID();
    const [first, second] = await twice('reconcileBooks', () => bench.activities.reconcileBooks({ runId }));
    expect(second).toEqual(first);
    expect(await bench.database.run((db) => db.$count(journal, eq(journal.causeKind, 'deposit')))).toBe(2);
  });

  it('watchRunway announces a low runway once', async () => {
    bench = await ActivityBench.start({ sandboxBalance: '30.00' });
    const sale = { direction: 'debit', amount: '20.00', currency: 'USD', causeKind: 'attempt' } as const;
    const sales = Array.from({ length: 10 }, (_, day) => ({
      ...sale,
      causeId: `att_${day}`,
      recordedAt: new Date(bench.clock.now - (day + 0.5) * DAY),
    }));
    await bench.database.run((db) => db.insert(journal).values(sales));
    await bench.wallet.refresh();
    const results = await twice('watchRunway', () => bench.activities.watchRunway());
    expect(results).toEqual([{ kind: 'known' }, { kind: 'known' }]);
    expect((await announced()).filter((type) => type.startsWith('wallet.'))).toEqual(['wallet.runway_low']);
  });

  it('readUsage and announceExpiring announce each milestone and threshold once', async () => {
    bench = await ActivityBench.start();
    // 1 GB for seven days.
    const id = await bench.deliveredEsim(1001);
    const [esim] = await bench.database.run((db) => db.select().from(esims).where(eq(esims.id, id)));
    await bench.admin.simulateEsim(esim!.serviceEsimId, 'active');
    await bench.pass(6 * DAY);
    const [read] = await twice('readUsage', () => bench.activities.readUsage());
    expect(read).toEqual({ looked: 1 });
    const results = await twice('announceExpiring', () => bench.activities.announceExpiring());
    expect(results).toEqual([{ announced: 1 }, { announced: 0 }]);
    const ofEsim = (await announced()).filter((type) => type.startsWith('esim.')).toSorted();
    expect(ofEsim).toEqual(['esim.activated', 'esim.data_low', 'esim.expiring', 'esim.installed']);
  });
});
