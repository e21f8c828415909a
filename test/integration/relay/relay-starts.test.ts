import { beforeEach, describe, expect, it } from 'vitest';
import { requestWake } from '#db/queues/outbox.ts';
import { outbox } from '#db/schema.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { acceptTestOrder, orderWork, endTestOrder } from '#test/support/work/order-rows.ts';
import { HOUR, RelayBench } from '#test/support/work/relay-bench.ts';
import { passQueueTime } from '#test/support/work/relay.ts';

const bench = disposedAtEnd(await RelayBench.start());
beforeEach(() => bench.empty());

describe('accepted orders', () => {
  it('are started and then removed from the queue', async () => {
    const ids = [await acceptTestOrder(bench.database), await acceptTestOrder(bench.database)];
    await bench.drain();
    expect(bench.temporal.started.toSorted()).toEqual(ids.toSorted());
    expect(await bench.waiting()).toEqual([]);
  });

  it('stay in the queue while Temporal is down, and start afterwards', async () => {
    const id = await acceptTestOrder(bench.database);
    bench.temporal.onStart = () => {
      throw new Error('Temporal is down');
    };
    await bench.drain();
    await bench.drain();
    expect(bench.temporal.started).toEqual([]);
    expect(await bench.database.run((db) => db.select().from(outbox))).toMatchObject([
      { subjectId: id, tries: 1, lastError: 'Error: Temporal is down' },
    ]);
    bench.temporal.onStart = () => undefined;
    await passQueueTime(bench.database, HOUR);
    await bench.drain();
    expect(bench.temporal.started).toEqual([id]);
    expect(await bench.waiting()).toEqual([]);
  });

  it('stay in the queue after their workflow has ended, until the order has ended too', async () => {
    const id = await acceptTestOrder(bench.database);
    await bench.database.run((db) => db.delete(outbox));
    await bench.database.transaction((tx) => requestWake(tx, orderWork(id)));
    bench.temporal.outcome = 'finished';
    await bench.drain();
    expect(await bench.database.run((db) => db.select().from(outbox))).toMatchObject([
      { topic: 'wake_work', lastError: expect.stringContaining('the workflow has ended') },
    ]);
    await endTestOrder(bench.database, id);
    await passQueueTime(bench.database, HOUR);
    await bench.drain();
    expect(await bench.waiting()).toEqual([]);
  });

  it.each([
    ['wake a running workflow when their row has no step, as after a restore of PostgreSQL', false],
    ['do not wake a running workflow that has recorded a step', true],
  ])('%s', async (_what, hasStep) => {
    const id = await acceptTestOrder(bench.database);
    const sent = { work: orderWork(id), status: 'submitting', event: 'order.submitting', message: 'Sent.' } as const;
    if (hasStep) await bench.database.transaction((tx) => recordStep(tx, sent, new Date()));
    bench.temporal.startOutcome = 'running';
    await bench.drain();
    expect(bench.temporal.woken).toEqual(hasStep ? [] : [id]);
    expect(await bench.waiting()).toEqual([]);
  });

  it('are started although one among them cannot be started', async () => {
    const ids = [
      await acceptTestOrder(bench.database),
      await acceptTestOrder(bench.database),
      await acceptTestOrder(bench.database),
    ];
    bench.temporal.onStart = (orderId) => {
      if (orderId === ids[1]) throw new Error('not this one');
    };
    await bench.drain();
    expect(bench.temporal.started.toSorted()).toEqual([ids[0]!, ids[2]!].toSorted());
    expect(await bench.waiting()).toEqual([ids[1]]);
  });
});
