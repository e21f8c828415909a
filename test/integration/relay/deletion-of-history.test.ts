import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetAudit, forgetReports, forgetTimeline } from '#db/queues/history.ts';
import { auditLog, inbox, orders, timeline } from '#db/schema.ts';
import { INBOX_STATES, type InboxState } from '#domain/relay/inbox-decision.ts';
import { openTestDatabase, type OpenTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestOrder } from '#test/support/work/order-rows.ts';

const OLD = new Date('2025-01-01T00:00:00Z');
const NEW = new Date('2026-01-01T00:00:00Z');
const BATCH = 4;
const WHAT = { before: new Date('2025-06-01T00:00:00Z'), batch: BATCH };

let created: OpenTestDatabase;
let ended: string;
let unfinished: string;

beforeAll(async () => {
  created = await openTestDatabase();
  const { database } = created;
  [ended, unfinished] = [await acceptTestOrder(database), await acceptTestOrder(database)];
  await database.run((db) => db.update(orders).set({ status: 'failed' }).where(eq(orders.id, ended)));
});
afterAll(() => created.drop());

describe('old history', () => {
  it('of ended work leaves the timeline in batches; of unfinished work, and new, it stays', async () => {
    const { database } = created;
    await database.run((db) => db.delete(timeline));
    const entry = (subjectId: string, at: Date, event: string) => ({
      subjectKind: 'order',
      subjectId,
      at,
      event,
      message: '.',
    });
    await database.run((db) =>
      db
        .insert(timeline)
        .values([
          entry(unfinished, OLD, 'kept: unfinished'),
          ...Array.from({ length: BATCH + 1 }, () => entry(ended, OLD, 'old')),
          entry(ended, NEW, 'kept: new'),
          { ...entry('del_1', OLD, 'old'), subjectKind: 'delivery' },
        ]),
    );

    const counts = [];
    for (let round = 0; round < 3; round += 1) counts.push(await database.run((db) => forgetTimeline(db, WHAT)));

    expect(counts).toEqual([BATCH, 2, 0]);
    const left = await database.run((db) => db.select({ event: timeline.event }).from(timeline));
    expect(left.map(({ event }) => event)).toEqual(['kept: unfinished', 'kept: new']);
  });

  it('of the service’s reports is deleted only when it is settled and its work has ended', async () => {
    const { database } = created;
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
    await database.run((db) =>
      db
        .insert(inbox)
        .values([
          ...INBOX_STATES.flatMap((state) => [report(state, ended, OLD), report(state, unfinished, OLD)]),
          ...INBOX_STATES.map((state) => report(state, ended, NEW)),
          report('ignored', null, OLD),
        ]),
    );

    expect(await database.run((db) => forgetReports(db, { ...WHAT, batch: 100 }))).toBe(4);

    const left = await database.run((db) => db.select().from(inbox));
    const gone = INBOX_STATES.filter(
      (state) => !left.some((row) => row.state === state && row.subjectId === ended && row.receivedAt < WHAT.before),
    );
    expect(gone).toEqual(['applied', 'replayed', 'ignored']);
    expect(left).toHaveLength(3 * INBOX_STATES.length - 3);
  });

  it('of the audit log is deleted', async () => {
    const { database } = created;
    const line = (at: Date) => ({ at, actor: 'a', action: 'x', subjectKind: 'order', subjectId: ended });
    await database.run((db) => db.insert(auditLog).values([line(OLD), line(NEW), line(OLD)]));
    expect(await database.run((db) => forgetAudit(db, WHAT))).toBe(2);
    expect((await database.run((db) => db.select().from(auditLog))).map(({ at }) => at)).toEqual([NEW]);
  });
});
