import { eq, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { enqueue } from '#db/gate/waits.ts';
import { postpone, takeInbox, takeOutbox } from '#db/queues/relay-queues.ts';
import { inbox, orders, outbox } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { noteSend } from '#fulfilment/gate/circuits.ts';
import { addPause, releasePause } from '#fulfilment/gate/pauses.ts';
import { readConditions } from '#fulfilment/readiness/conditions.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestOrder, deliverTestEvent, openTestAttempt, orderWork } from '#test/support/work/order-rows.ts';
import { databaseGauges } from '#worker/gauges.ts';

let opened: OpenTestDatabase;
beforeEach(async () => {
  opened = await openTestDatabase();
  return () => opened.drop();
});

const conditions = async () => (await opened.database.run(readConditions)).map(({ condition }) => condition);

it('degraded readiness names each open circuit once, by its hold reason, and each pause in force', async () => {
  const id = await acceptTestOrder(opened.database);
  expect(await conditions()).toEqual([]);
  const refused = { kind: 'failure', failure: 'not_approved' } as const;
  const report = { work: orderWork(id), evidence: refused, now: Date.now() };
  await opened.database.transaction((tx) => noteSend(tx, report, DEFAULT_POLICY.gate));
  expect(await conditions()).toEqual(['not_approved']);
  const held = { status: 'held', failureClass: 'not_approved' } as const;
  await opened.database.run((db) => db.update(orders).set(held).where(eq(orders.id, id)));
  expect(await conditions()).toEqual(['not_approved']);

  const asked = { origin: 'operator', kind: null, failureClass: null, reason: 'Stock-taking.', actor: 'test' } as const;
  const { pause } = await opened.database.transaction((tx) => addPause(tx, asked, new Date()));
  expect(await conditions()).toEqual(['not_approved', 'purchases_paused']);
  await opened.database.transaction((tx) => releasePause(tx, pause.id, { actor: 'test', reason: 'Done.' }, new Date()));
  expect(await conditions()).toEqual(['not_approved']);
});

/** Reads a gauge at this time. */
function gauges(now: number): (name: string) => Promise<number> {
  const metrics = createMetrics({ processMetrics: false });
  const { webhookSilence } = DEFAULT_POLICY;
  metrics.refreshWith(databaseGauges(opened.database, metrics, { webhookSilence, now: () => now }));
  return async (name) => {
    const lines = (await metrics.render()).body.split('\n');
    return Number(lines.find((line) => line.startsWith(`reseller_${name} `))?.split(' ')[1]);
  };
}

describe('the lag of the relay', () => {
  it('is the age of the oldest row that waits, without rows that fail by themselves', async () => {
    const { database } = opened;
    await acceptTestOrder(database);
    await deliverTestEvent(database, { outcome: 'completed', serviceId: 'so-1' });
    await database.run(async (db) => {
      await db.update(outbox).set({ createdAt: sql`now() - interval '1 hour'` });
      await db.update(inbox).set({ receivedAt: sql`now() - interval '2 hours'` });
    });
    const gauge = gauges(Date.now());
    const lag = async () => [
      await gauge('relay_lag_seconds{queue="outbox"}'),
      await gauge('relay_lag_seconds{queue="inbox"}'),
    ];
    // No relay publishes the events of the order.
    const behind = async () => (await conditions()).filter((condition) => condition !== 'relay_behind_events');
    const taking = { batch: 1, leaseMs: 60_000 };
    const fail = async (error: string, isLasting: boolean) => {
      const how = { error, delayMs: 0, isLasting };
      const [request] = await database.run((db) => takeOutbox(db, taking));
      const [report] = await database.run((db) => takeInbox(db, taking));
      await database.run((db) => postpone(db, 'outbox', request!, how));
      await database.run((db) => postpone(db, 'inbox', report!, how));
    };
    const [ofOutbox, ofInbox] = [expect.closeTo(3_600, -3), expect.closeTo(7_200, -3)];
    expect(await lag()).toEqual([ofOutbox, ofInbox]);

    await fail('Temporal is down', false);
    expect(await lag()).toEqual([ofOutbox, ofInbox]);
    expect(await behind()).toEqual(['relay_behind_outbox', 'relay_behind_inbox']);

    // Both are on their way to the quarantine.
    await fail('It cannot be decrypted', true);
    expect(await lag()).toEqual([0, 0]);
    expect(await behind()).toEqual([]);
  });
});

describe('the age of unfinished work', () => {
  it('is that of the item unchanged for longest, by kind and status', async () => {
    const now = Date.now();
    for (const [status, ageSeconds] of [
      ['accepted', 400],
      ['processing', 90],
      ['processing', 7_200],
    ] as const) {
      const id = await acceptTestOrder(opened.database);
      const updatedAt = new Date(now - ageSeconds * 1_000);
      await opened.database.run((db) => db.update(orders).set({ status, updatedAt }).where(eq(orders.id, id)));
    }
    const gauge = gauges(now);
    const age = (status: string) => gauge(`work_oldest_seconds{kind="order",status="${status}"}`);
    expect(await Promise.all(['accepted', 'submitting', 'processing'].map(age))).toEqual([400, 0, 7_200]);
  });

  it('that is held counts from its acceptance, and not while a pause holds it', async () => {
    const { database } = opened;
    const now = Date.now();
    const gauge = gauges(now);
    const age = () => gauge('work_held_seconds{kind="order"}');
    const hold = async (ageSeconds: number) => {
      const id = await acceptTestOrder(database);
      const createdAt = new Date(now - ageSeconds * 1_000);
      const held = { status: 'held', createdAt, updatedAt: new Date(now) } as const;
      await database.run((db) => db.update(orders).set(held).where(eq(orders.id, id)));
      return { work: orderWork(id), acceptedAt: createdAt };
    };
    expect(await age()).toBe(0);
    await hold(500);
    const older = await hold(9_000);
    expect(await age()).toBe(9_000);
    const paused = { barrier: 'pause:pause_1', failureClass: 'purchases_paused' } as const;
    const wait = { ...older, ...paused, apiKeyId: 'key_test', mayHaveBought: false };
    await database.transaction((tx) => enqueue(tx, wait, new Date(now)));
    expect(await age()).toBe(500);
  });

  it('that has not begun ends with its first attempt, also while its send waits for its turn', async () => {
    const { database } = opened;
    const gauge = gauges(Date.now() + 400_000);
    const age = () => gauge('work_not_started_seconds{kind="order"}');
    const id = await acceptTestOrder(database);
    expect(await age()).toBeGreaterThan(300);
    await openTestAttempt(database, id);
    expect(await age()).toBe(0);
  });
});
