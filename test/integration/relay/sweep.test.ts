import { eq, inArray, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { readDatabaseEpoch } from '#db/connection/database-epoch.ts';
import { orders, outbox } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { sweepWork, type SweepTools } from '#fulfilment/upkeep/sweep.ts';
import { createLogger } from '#telemetry/logger.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const MINUTE = 60_000;
const logger = createLogger({ level: 'silent', name: 'test' });
/** Number of subscriptions in the measurement. */
const MANY = 10_000;

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
  return () => bench[Symbol.asyncDispose]();
});

const columns = { topic: outbox.topic, id: outbox.subjectId };
const requests = () => bench.database.run((db) => db.select(columns).from(outbox).orderBy(outbox.topic, outbox.id));
const forgetRequests = () => bench.database.run((db) => db.delete(outbox));

/** Orders without a report for a minute, whose workflows have compared what they know. */
async function idleOrders(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.push(await bench.accept());
  const updatedAt = new Date(bench.clock.now);
  const comparedEpoch = await bench.database.run(readDatabaseEpoch);
  await bench.database.run((db) => db.update(orders).set({ updatedAt, comparedEpoch }).where(inArray(orders.id, ids)));
  await forgetRequests();
  bench.clock.now += 3 * MINUTE;
  return ids;
}

describe('the sweeper', () => {
  it('requests the start of work without a running workflow, and of no other work', async () => {
    const [running, lost] = await idleOrders(2);
    await bench.accept();
    await forgetRequests();
    bench.running = new Set([running!]);
    expect(await bench.activities.requestIdleWork()).toEqual({ requested: 1, woken: 0 });
    expect(await requests()).toEqual([{ topic: 'start_work', id: lost }]);
  });

  it('wakes a running workflow whose work needs attention without a case, and waits before the next wake', async () => {
    const [id] = await idleOrders(1);
    const needingAttention = { status: 'needs_attention', attentionReason: 'outcome_unknown' } as const;
    await bench.database.run((db) => db.update(orders).set(needingAttention).where(eq(orders.id, id!)));
    bench.running = new Set([id!]);
    bench.clock.now += 15 * MINUTE;
    expect(await bench.activities.requestIdleWork()).toEqual({ requested: 0, woken: 1 });
    expect(await requests()).toEqual([{ topic: 'wake_work', id }]);
    await forgetRequests();
    bench.clock.now += MINUTE;
    expect(await bench.activities.requestIdleWork()).toEqual({ requested: 0, woken: 0 });
    expect(await requests()).toEqual([]);
  });

  it('wakes work that was last compared before PostgreSQL was set back, whatever the clock of its last change', async () => {
    const [setBack, compared] = await idleOrders(2);
    // Change and wake are later than the start of PostgreSQL, as with a worker whose clock is ahead.
    await bench.database.run(async (db) => {
      const sweptAt = sql`pg_postmaster_start_time() + interval '2 seconds'`;
      await db.update(orders).set({ status: 'submitting', sweptAt });
      await db.update(orders).set({ comparedEpoch: '00000001/0' }).where(eq(orders.id, setBack!));
    });
    bench.running = new Set([setBack!, compared!]);
    expect(await bench.activities.requestIdleWork()).toEqual({ requested: 0, woken: 1 });
    expect(await requests()).toEqual([{ topic: 'wake_work', id: setBack }]);
    expect(await bench.activities.requestIdleWork(), 'once').toEqual({ requested: 0, woken: 0 });
  });

  it('requests the start of a whole page when Temporal does not answer, after one call', async () => {
    const ids = await idleOrders(2);
    bench.running = undefined;
    expect(await bench.activities.requestIdleWork()).toEqual({ requested: 2, woken: 0 });
    expect((await requests()).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect(bench.asked).toHaveLength(1);
  });

  it('continues after its last page, reaches all work, and then starts again', async () => {
    const ids = await idleOrders(5);
    const { database, clock } = bench;
    const seen: string[] = [];
    const tools: SweepTools = {
      database,
      logger,
      sweep: { ...DEFAULT_POLICY.sweep, pageRows: 2, sweepingMs: 0 },
      findRunning: async (work) => {
        seen.push(...work.map(({ id }) => id));
        return new Set(work.map(({ id }) => id));
      },
      now: () => clock.now,
    };
    const first = await sweepWork(tools, undefined);
    const second = await sweepWork(tools, first.next);
    const third = await sweepWork(tools, second.next);
    expect([first.next?.kind, second.next?.kind, third.next]).toEqual(['order', 'order', undefined]);
    expect(seen.toSorted()).toEqual(ids.toSorted());
  });

  it(`calls Temporal 20 times for ${MANY} sleeping subscriptions, and starts none of them`, async () => {
    const { database, clock } = bench;
    const at = new Date(clock.now).toISOString();
    await database.run((db) =>
      db.execute(sql`insert into vpn_subscriptions (id, api_key_id, external_subscription_id, vpn_plan_id,
          encrypted_customer_reference, customer_reference_hash, customer_price, customer_price_currency, status,
          updated_at)
        select 'vpn_' || n, 'key_test', 'vpn_' || n, 301, '', '', 29.99, 'USD', 'active', ${at}::timestamptz
        from generate_series(1, ${MANY}::int) n`),
    );
    clock.now += 30 * MINUTE;
    let calls = 0;
    const findRunning: SweepTools['findRunning'] = async (work) => {
      calls += 1;
      return new Set(work.map(({ id }) => id));
    };
    // The clock does not advance, so one sweep covers all work.
    const tools = { database, logger, sweep: DEFAULT_POLICY.sweep, findRunning, now: () => clock.now };
    expect(await sweepWork(tools, undefined)).toEqual({ requested: 0, woken: 0 });
    expect(calls).toBe(20);
    expect(await requests()).toEqual([]);
  });
});
