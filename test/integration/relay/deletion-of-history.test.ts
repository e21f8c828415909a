import { randomUUID } from 'node:crypto';
import { asc, eq, sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { dueEntries, forgetAudit, forgetReports, forgetTimeline, overdueRows } from '#db/queues/retention.ts';
import { auditLog, inbox, orders, timeline } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { INBOX_STATES, type InboxState } from '#domain/relay/relay-decision.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestOrder } from '#test/support/work/order-rows.ts';

const OLD = new Date('2025-01-01T00:00:00Z');
const NEW = new Date('2026-01-01T00:00:00Z');
const BATCH = 4;
const WHAT = { before: new Date('2025-06-01T00:00:00Z'), batch: BATCH };

const ENTRY = { subjectKind: 'order', event: 'order.held', message: '.' };

const { database } = disposedAtEnd(await openTestDatabase());
const [ended, unfinished] = [await acceptTestOrder(database), await acceptTestOrder(database)];
await database.run((db) => db.update(orders).set({ status: 'failed' }).where(eq(orders.id, ended)));

const audited = (at: Date, actor = 'a') => ({ at, actor, action: 'x', subjectKind: 'order', subjectId: ended });

describe('old history', () => {
  it('of ended work leaves the timeline in batches; of unfinished work, and new, it stays', async () => {
    await database.run((db) => db.delete(timeline));
    const entry = (subjectId: string, at: Date, event: string) => ({ ...ENTRY, subjectId, at, event });
    const entries = [
      entry(unfinished, OLD, 'kept: unfinished'),
      ...Array.from({ length: BATCH + 1 }, () => entry(ended, OLD, 'old')),
      { ...entry('del_1', OLD, 'old'), subjectKind: 'delivery' },
      entry(ended, NEW, 'kept: new'),
      entry(ended, OLD, 'vpn_subscription.renewed'),
    ];
    await database.run((db) => db.insert(timeline).values(entries));

    const counts = [];
    for (let round = 0; round < 3; round += 1) counts.push(await database.run((db) => forgetTimeline(db, WHAT)));

    expect(counts).toEqual([BATCH, 2, 0]);
    const left = await database.run((db) => db.select({ event: timeline.event }).from(timeline));
    expect(left.map(({ event }) => event)).toEqual(['kept: unfinished', 'kept: new', 'vpn_subscription.renewed']);
  });

  it('is found without reading all of it', async () => {
    const rowsRead = await database.transaction(async (tx) => {
      await tx.delete(timeline);
      await tx.execute(sql`insert into timeline (subject_kind, subject_id, at, event, message)
        select 'order', ${ended}, ${OLD}::timestamptz + n * interval '1 second', 'old', '.'
        from generate_series(1, 20000) n`);
      // A small table is sorted; a large one is read in the order of its index.
      for (const each of ['sort', 'hashjoin', 'seqscan', 'bitmapscan'])
        await tx.execute(`set local enable_${each} = off`);
      const due = tx.select({ id: timeline.id }).from(timeline).where(dueEntries(tx, WHAT.before));
      const found = due.orderBy(asc(timeline.id)).limit(BATCH);
      const plan = await tx.execute(sql`explain (analyze, format json) ${found.getSQL()}`);
      await tx.delete(timeline);
      // Those of filters included.
      const counts = JSON.stringify(plan.rows).matchAll(/"(?:Actual Rows|Rows Removed by Filter)":(\d+)/g);
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    });
    expect(rowsRead).toBeLessThan(1_000);
  });

  it('of the service’s reports is deleted only when it is settled and its work has ended', async () => {
    const report = (state: InboxState, subjectId: string | null, receivedAt: Date) => ({
      source: 'webhook' as const,
      deliveryId: randomUUID(),
      bodyHash: Buffer.from(randomUUID()),
      signedHash: Buffer.from(randomUUID()),
      encryptedBody: Buffer.alloc(1),
      state,
      subjectId,
      receivedAt,
    });
    const reports = [
      ...INBOX_STATES.flatMap((state) => [report(state, ended, OLD), report(state, unfinished, OLD)]),
      report('ignored', null, OLD),
      ...INBOX_STATES.map((state) => report(state, ended, NEW)),
    ];
    await database.run((db) => db.insert(inbox).values(reports));

    expect(await database.run((db) => forgetReports(db, { ...WHAT, batch: 100 }))).toBe(4);

    const left = await database.run((db) => db.select().from(inbox));
    const gone = INBOX_STATES.filter(
      (state) => !left.some((row) => row.state === state && row.subjectId === ended && row.receivedAt < WHAT.before),
    );
    expect(gone).toEqual(['applied', 'replayed', 'ignored']);
    expect(left).toHaveLength(3 * INBOX_STATES.length - 3);
  });

  it('of the audit log is deleted', async () => {
    await database.run((db) => db.insert(auditLog).values([OLD, NEW, OLD].map((at) => audited(at))));
    expect(await database.run((db) => forgetAudit(db, WHAT))).toBe(2);
    expect((await database.run((db) => db.select().from(auditLog))).map(({ at }) => at)).toEqual([NEW]);
  });

  it('that should be gone is measured by table, and what unfinished work keeps is not', async () => {
    const now = WHAT.before.getTime() + DEFAULT_POLICY.sweep.historyKeptMs;
    const kept = { ...DEFAULT_POLICY.sweep, deliveriesKeptMs: DEFAULT_POLICY.outbound.logKeptMs };
    const overdue = () => database.run((db) => overdueRows(db, kept, now));
    const late = WHAT.before.getTime() - OLD.getTime();
    await database.run(async (db) => {
      for (const table of [timeline, inbox, auditLog]) await db.delete(table);
      await db.insert(timeline).values([
        { ...ENTRY, subjectId: unfinished, at: OLD },
        { ...ENTRY, subjectId: ended, at: new Date(OLD.getTime() + 1_000) },
        { ...ENTRY, subjectId: ended, at: NEW },
      ]);
      await db.insert(auditLog).values(audited(OLD));
    });
    expect(await overdue()).toMatchObject({ timeline: late - 1_000, audit_log: late, inbox: 0, webhook_deliveries: 0 });

    await database.run(async (db) => {
      await forgetTimeline(db, WHAT);
      await forgetAudit(db, WHAT);
    });
    expect(await overdue()).toMatchObject({ timeline: 0, audit_log: 0 });
  });
});

describe('a cursor of a list', () => {
  it('that points to a deleted entry of the audit log continues with the next one that is kept', async () => {
    await using api = await startTestApi();
    const caller = await api.caller(['audit:read']);
    const lines = [audited(OLD, 'oldest'), audited(OLD, 'old'), audited(NEW, 'new'), audited(NEW, 'newest')];
    await api.database.run(async (db) => {
      await db.delete(auditLog);
      await db.insert(auditLog).values(lines);
    });
    const page = (cursor: string) => caller.get(`/v1/audit-log?limit=1${cursor}`);
    const first = await page('');
    const second = await page(`&cursor=${first.textAt('next_cursor')}`);
    const third = await page(`&cursor=${second.textAt('next_cursor')}`);
    expect([first, second, third].map((answer) => answer.textAt('data', 0, 'actor'))).toEqual(['newest', 'new', 'old']);

    await api.database.run((db) => forgetAudit(db, WHAT));
    // The cursor of the third page points to an entry that is gone: nothing older is left.
    expect((await page(`&cursor=${third.textAt('next_cursor')}`)).body).toEqual({ data: [], next_cursor: null });
    expect((await page(`&cursor=${first.textAt('next_cursor')}`)).textAt('data', 0, 'actor')).toBe('new');
  });
});
