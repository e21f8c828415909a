import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it } from 'vitest';
import { inbox, outbox } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { isSettled, waitFor } from '#test/support/wait-for.ts';
import { acceptTestOrder, deliverTestEvent, openTestAttempt } from '#test/support/work/order-rows.ts';
import { ControlledWorkflows, testRelay } from '#test/support/work/relay.ts';

const opened = disposedAtEnd(await openTestDatabase());
const { database } = opened;
beforeEach(async () => {
  await database.run((db) => db.delete(inbox));
  await database.run((db) => db.delete(outbox));
});

const rows = () => database.run((db) => db.select().from(inbox).orderBy(inbox.id));
/** Ends the leases of all leased rows. */
const leasesEnd = () =>
  database.run((db) =>
    db.execute(sql`update inbox set available_at = now() - interval '1 second' where state = 'pending'`),
  );

describe('two relays with the same row', () => {
  it('never settle a row without a signal to its workflow, and the second does not judge it as known', async () => {
    const orderId = await acceptTestOrder(database);
    const { reference } = await openTestAttempt(database, orderId);
    await database.run((db) => db.delete(outbox));
    // The rows of one order are signalled in order, so each relay holds the second row while it signals the first.
    for (const outcome of ['processing', 'completed'] as const)
      await deliverTestEvent(database, { outcome, serviceId: 'so-two', reference });

    const [slow, fast] = [new ControlledWorkflows(), new ControlledWorkflows()];
    const first = testRelay(opened, slow);
    const second = testRelay(opened, fast);
    const firstDrain = first.relay.drain();
    await waitFor('the first relay signals the first row', () => slow.calls.length === 1);
    await leasesEnd();
    const secondDrain = second.relay.drain();
    await waitFor('the second relay signals the first row', () => fast.calls.length === 1);

    // The first relay continues with the second row. It may signal it or leave it to the other relay; its call hangs.
    slow.calls[0]!.succeed();
    await waitFor(
      'the first relay is done or signals again',
      async () => slow.calls.length === 2 || (await isSettled(firstDrain)),
    );
    fast.calls[0]!.succeed();
    await waitFor(
      'the second relay is done or signals again',
      async () => fast.calls.length === 2 || (await isSettled(secondDrain)),
    );

    const completed = [...slow.calls, ...fast.calls].filter(({ observation }) => observation.outcome === 'completed');
    expect(completed.map(({ observation }) => observation.decision)).toEqual(['advance']);
    expect((await rows()).at(-1)).toMatchObject({ state: 'pending', decision: 'advance' });
    completed[0]!.succeed();
    await Promise.all([firstDrain, secondDrain]);
    expect((await rows()).map(({ state }) => state)).toEqual(['relayed', 'relayed']);
    await first.close();
    await second.close();
  });
});
