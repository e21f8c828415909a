import { and, eq, notLike, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Executor } from '#db/connection/database.ts';
import { requeueMatchable, requeueUnmatched } from '#db/queues/inbox.ts';
import { takeInbox, pollQueues } from '#db/queues/relay-queues.ts';
import { inbox } from '#db/schema.ts';
import { hasPendingObservations } from '#fulfilment/work/buying-block.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { rowsRead } from '#test/support/servers/rows-read.ts';
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

const inboxRowsRead = (work: (tx: Executor) => Promise<unknown>) => rowsRead(database, ['inbox'], work);

describe.each(['before', 'after'] as const)('with 50,000 reports that wait, %s they are analysed', (time) => {
  beforeAll(async () => {
    if (time === 'after') await database.run((db) => db.execute(sql`analyze inbox`));
  });

  it('a claim reads none of them', async () => {
    const barred: boolean[] = [];
    const read = await inboxRowsRead(async (tx) => barred.push(await hasPendingObservations(tx, orderWork(orderId))));
    expect(barred).toEqual([false]);
    expect(read).toBeLessThan(FEW);
  });

  it('an id that becomes known brings back its own', async () => {
    expect(await inboxRowsRead((tx) => requeueUnmatched(tx, 'order', { reference: 'r', serviceId: 's' }))).toBeLessThan(
      FEW,
    );
  });

  it('a poll reads one of them, and a relay only those that it takes', async () => {
    expect(await inboxRowsRead(pollQueues)).toBeLessThan(FEW);
    expect(await inboxRowsRead((tx) => takeInbox(tx, { batch: 5, leaseMs: -1 }))).toBeLessThan(5 * FEW);
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

describe('with 20,000 applied reports, 20,000 attempts, and 50 reports that name none of them', () => {
  const HISTORY = 20_000;
  const SET_ASIDE = 50;

  beforeAll(() =>
    database.run(async (db) => {
      await db.execute(sql`
        insert into attempts (id, subject_kind, subject_id, number, idempotency_key, encrypted_request_body, state,
          first_sent_at, reference, service_id, service_esim_id)
        select 'att_' || n, case n % 2 when 0 then 'order' else 'cancellation' end, 'work-' || n, 1, 'key-' || n, '',
          'completed', now() - interval '1 day', 'ref-bought-' || n, 'so-bought-' || n, 'es-bought-' || n
        from generate_series(1, ${HISTORY}::bigint) as n`);
      await db.execute(sql`
        insert into inbox (source, delivery_id, body_hash, signed_hash, encrypted_body, event, state, subject_kind,
          reference, service_id, service_esim_id, outcome)
        select 'webhook', 'history-' || n, int8send(-n), int8send(-n), '', 'order.completed',
          case when n > ${HISTORY} then 'unmatched' else 'applied' end,
          case n % 2 when 0 then 'order' else 'cancellation' end, 'ref-other-' || n, 'so-other-' || n,
          'es-other-' || n, 'completed'
        from generate_series(1, ${HISTORY + SET_ASIDE}::bigint) as n`);
      // Those set aside are newer than what PostgreSQL knows of its tables.
      const newest = sql`delivery_id like 'history-%' and id > (select max(id) from inbox) - ${SET_ASIDE}`;
      await db.execute(sql`update inbox set state = 'applied' where ${newest}`);
      await db.execute(sql`analyze inbox, attempts`);
      await db.execute(sql`update inbox set state = 'unmatched' where ${newest}`);
    }),
  );

  it('the sweep brings back those whose purchase is known, and reads few of the reports and attempts', async () => {
    await database.run((db) =>
      db.execute(sql`
        insert into inbox (source, delivery_id, body_hash, signed_hash, encrypted_body, event, state, subject_kind,
          reference, service_id, service_esim_id)
        select 'webhook', name, convert_to(name, 'UTF8'), convert_to(name, 'UTF8'), '', event, 'unmatched', kind,
          reference, service_id, esim_id
        from (values
          ('by its reference', 'order', 'order.completed', 'ref-bought-10', 'so-new', 'es-new'),
          ('by its id', 'order', 'order.completed', 'ref-new', 'so-bought-20', 'es-new'),
          ('by its eSIM', 'cancellation', 'refund.completed', 'ref-new', 'so-new', 'es-bought-31'),
          ('not by an eSIM of another kind', 'order', 'order.completed', 'ref-new', 'so-new', 'es-bought-40')
        ) as early (name, kind, event, reference, service_id, esim_id)`),
    );

    const read = await rowsRead(database, ['inbox', 'attempts'], (tx) => requeueMatchable(tx, 100));

    const pending = and(eq(inbox.state, 'pending'), notLike(inbox.deliveryId, 'backlog-%'));
    const back = await database.run((db) => db.select({ name: inbox.deliveryId }).from(inbox).where(pending));
    expect(back.map(({ name }) => name).toSorted()).toEqual(['by its eSIM', 'by its id', 'by its reference']);
    expect(read).toBeLessThan(SET_ASIDE * FEW);
  });
});
