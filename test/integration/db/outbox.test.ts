import { beforeEach, describe, expect, it } from 'vitest';
import { requestStart, requestWake } from '#db/queues/outbox.ts';
import { settleOutbox, takeOutbox } from '#db/queues/relay-queues.ts';
import { outbox } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { acceptTestOrder, orderWork } from '#test/support/work/order-rows.ts';
import { passQueueTime } from '#test/support/work/relay.ts';

const { database } = disposedAtEnd(await openTestDatabase());
beforeEach(async () => {
  await database.run((db) => db.delete(outbox));
});

/** Longer than any test, so a leased or postponed row is never due. */
const HOUR = 3_600_000;
const LEASED = { leaseMs: HOUR };

describe('the outbox', () => {
  it('contains one start request per order, for any number of requests', async () => {
    const orderId = await acceptTestOrder(database);
    for (let n = 0; n < 3; n += 1) await database.transaction((tx) => requestStart(tx, orderWork(orderId)));
    expect(await database.run((db) => db.select().from(outbox))).toMatchObject([
      { topic: 'start_work', subjectId: orderId },
    ]);
  });

  it('contains no request of a rolled back transaction', async () => {
    const orderId = await acceptTestOrder(database);
    await database.run((db) => db.delete(outbox));
    await database
      .transaction(async (tx) => {
        await requestStart(tx, orderWork(orderId));
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(await database.run((db) => db.select().from(outbox))).toEqual([]);
  });

  it('keeps a wake-up request that arrives during the delivery of an earlier one', async () => {
    const work = orderWork(await acceptTestOrder(database));
    await database.run((db) => db.delete(outbox));
    const options = { batch: 10, ...LEASED };
    await database.transaction((tx) => requestWake(tx, work));
    const first = await database.run((db) => takeOutbox(db, options));
    expect(first).toHaveLength(1);
    await database.transaction((tx) => requestWake(tx, work));
    await database.run((db) => settleOutbox(db, first));
    const second = await database.run((db) => takeOutbox(db, options));
    expect(second).toMatchObject([{ topic: 'wake_work', subjectId: work.id }]);
    await database.run((db) => settleOutbox(db, second));
    await passQueueTime(database, HOUR);
    expect(await database.run((db) => takeOutbox(db, options))).toEqual([]);
  });
});
