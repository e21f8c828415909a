import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Executor } from '#db/connection/database.ts';
import { requeueUnmatched } from '#db/queues/inbox.ts';
import { takeInbox, pollQueues } from '#db/queues/relay-queues.ts';
import { hasPendingObservations } from '#fulfilment/work/buying-block.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import {
  acceptTestOrder,
  claimTestSend,
  deliverTestEvent,
  openTestAttempt,
  orderWork,
  storeTestReport,
} from '#test/support/work/order-rows.ts';

const BACKLOG = 50_000;
/** A few rows and none of the backlog: the queries may read a row more than once. */
const FEW = 10;

const opened = disposedAtEnd(await openTestDatabase());
const { database } = opened;
const orderId = await acceptTestOrder(database);
const attempt = await openTestAttempt(database, orderId);
await claimTestSend(database, attempt.id);
await storeTestReport(database, attempt.id, { outcome: 'processing', serviceId: 'so-mine' });
await database.run((db) =>
  db.execute(sql`
    insert into inbox (source, delivery_id, body_hash, signed_hash, encrypted_body, event, state, subject_kind,
      reference, service_id, outcome)
    select 'webhook', 'backlog-' || n, int8send(n), int8send(n), '', 'order.completed', 'pending', 'order',
      'ref-' || n, 'so-' || n, 'completed'
    from generate_series(1, ${BACKLOG}::bigint) as n`),
);

/** Rows of the inbox that `work` reads, counted by PostgreSQL for its own transaction. */
const rowsRead = async (work: (tx: Executor) => Promise<unknown>) =>
  database.transaction(async (tx) => {
    const count = async () => {
      const { rows } = await tx.execute<{ read: string }>(
        sql`select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables where relname = 'inbox'`,
      );
      return Number(rows[0]?.read);
    };
    const before = await count();
    await work(tx);
    return (await count()) - before;
  });

describe.each(['before', 'after'] as const)('with 50,000 reports that wait, %s they are analysed', (time) => {
  beforeAll(async () => {
    if (time === 'after') await database.run((db) => db.execute(sql`analyze inbox`));
  });

  it('a claim reads none of them', async () => {
    const barred: boolean[] = [];
    const read = await rowsRead(async (tx) => barred.push(await hasPendingObservations(tx, orderWork(orderId))));
    expect(barred).toEqual([false]);
    expect(read).toBeLessThan(FEW);
  });

  it('an id that becomes known brings back its own', async () => {
    expect(await rowsRead((tx) => requeueUnmatched(tx, 'order', { reference: 'r', serviceId: 's' }))).toBeLessThan(FEW);
  });

  it('a poll reads one of them, and a relay only those that it takes', async () => {
    expect(await rowsRead(pollQueues)).toBeLessThan(FEW);
    expect(await rowsRead((tx) => takeInbox(tx, { batch: 5, leaseMs: -1 }))).toBeLessThan(5 * FEW);
  });

  it.each([
    ['its reference', () => ({ serviceId: 'so-new', reference: attempt.reference })],
    ['its id at the service', () => ({ serviceId: 'so-mine' })],
  ])('a claim is barred by the one that names it by %s', async (_, named) => {
    await deliverTestEvent(database, { outcome: 'completed', ...named() });
    expect(await database.run((db) => hasPendingObservations(db, orderWork(orderId)))).toBe(true);
    await database.run((db) => db.execute(sql`delete from inbox where delivery_id not like 'backlog-%'`));
  });
});
