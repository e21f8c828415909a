import { and, eq, isNotNull, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { events, inbox, outbox } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { WorkStart } from '#domain/work/kinds.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { isSettled, waitFor } from '#test/support/wait-for.ts';
import { acceptTestOrder, deliverTestEvent, openTestAttempt } from '#test/support/work/order-rows.ts';
import { ControlledWorkflows, testRelay } from '#test/support/work/relay.ts';
import type { WorkWorkflows } from '#worker/relay/relay.ts';

/** A Temporal client whose calls never return. */
class HangingWorkflows implements WorkWorkflows {
  readonly started: string[] = [];

  async start({ id }: WorkStart): Promise<never> {
    this.started.push(id);
    return this.wake();
  }

  wake(): Promise<never> {
    return new Promise(() => undefined);
  }

  signalReport(): Promise<never> {
    return this.wake();
  }
}

const opened = disposedAtEnd(await openTestDatabase());
const { database } = opened;
beforeEach(async () => {
  await database.run((db) => db.delete(inbox));
  await database.run((db) => db.delete(outbox));
});

const HOUR = 3_600_000;
/** The relay abandons its pending calls as soon as it stops, because they never return. */
const policy = { ...DEFAULT_POLICY.relay, pollMs: HOUR, leaseMs: HOUR, stopMs: 50 };
const hanging = () => {
  const workflows = new HangingWorkflows();
  const { relay, wakeups, close } = testRelay(opened, workflows, { policy });
  onTestFinished(close);
  return { workflows, relay, wakeups };
};

describe('the relay, while no Temporal call returns,', () => {
  it('publishes events', async () => {
    const { workflows, relay, wakeups } = hanging();
    const first = await acceptTestOrder(database);
    relay.start();
    await waitFor('the start of the first order is under way', () => workflows.started.includes(first));
    const second = await acceptTestOrder(database);
    wakeups.wake();
    const ofSecond = and(eq(events.subjectId, second), isNotNull(events.position));
    const published = async () => (await database.run((db) => db.select().from(events).where(ofSecond))).at(0);
    expect(await waitFor('the event of the second order is published', published)).toBeDefined();
  });

  it('stops in a bounded time, and releases its leased rows to the next relay', async () => {
    const { workflows, relay } = hanging();
    const orders: string[] = [];
    // More than the relay processes at once, so some calls have not begun.
    for (let n = 0; n < 20; n += 1) orders.push(await acceptTestOrder(database));
    relay.start();
    await waitFor('calls are running', () => workflows.started.length === 16);
    await relay.stop();
    expect(workflows.started).toHaveLength(16);
    const taken: string[] = [];
    const answering = testRelay(opened, {
      start: async ({ id }) => {
        taken.push(id);
        return 'started';
      },
      wake: async () => 'notified',
      signalReport: async () => 'notified',
    });
    onTestFinished(answering.close);
    await waitFor('the next one takes all of them, long before their leases end', async () => {
      await answering.relay.drain();
      return taken.length === orders.length;
    });
    expect(taken.toSorted()).toEqual(orders.toSorted());
  });
});

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
    // All leases end.
    const past = sql`now() - interval '1 second'`;
    await database.run((db) => db.update(inbox).set({ availableAt: past }).where(eq(inbox.state, 'pending')));
    const secondDrain = second.relay.drain();
    await waitFor('the second relay signals the first row', () => fast.calls.length === 1);

    // The first relay continues with the second row. It may signal it or leave it to the other relay; its call hangs.
    slow.calls[0]!.succeed();
    const isDone = async (by: ControlledWorkflows, drain: Promise<unknown>) =>
      by.calls.length === 2 || (await isSettled(drain));
    await waitFor('the first relay is done or signals again', () => isDone(slow, firstDrain));
    fast.calls[0]!.succeed();
    await waitFor('the second relay is done or signals again', () => isDone(fast, secondDrain));

    const rows = () => database.run((db) => db.select().from(inbox).orderBy(inbox.id));
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
