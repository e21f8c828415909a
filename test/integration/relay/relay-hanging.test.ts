import { and, eq, isNotNull } from 'drizzle-orm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { events, inbox, outbox } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { WorkStart } from '#domain/work/kinds.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { acceptTestOrder } from '#test/support/work/order-rows.ts';
import { testRelay } from '#test/support/work/relay.ts';
import type { WorkWorkflows } from '#worker/relay/relay.ts';

/** A Temporal client whose calls never return. */
class HangingWorkflows implements WorkWorkflows {
  readonly started: string[] = [];

  start({ id }: WorkStart): Promise<never> {
    this.started.push(id);
    return new Promise(() => undefined);
  }

  wake(): Promise<never> {
    return new Promise(() => undefined);
  }

  signalReport(): Promise<never> {
    return new Promise(() => undefined);
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
const published = (orderId: string) =>
  database.run((db) =>
    db
      .select()
      .from(events)
      .where(and(eq(events.subjectId, orderId), isNotNull(events.position))),
  );

describe('the relay, while no Temporal call returns,', () => {
  it('publishes events', async () => {
    const { workflows, relay, wakeups } = hanging();
    const first = await acceptTestOrder(database);
    relay.start();
    await waitFor('the start of the first order is under way', () => workflows.started.includes(first));
    const second = await acceptTestOrder(database);
    wakeups.wake();
    expect(
      await waitFor('the event of the second order is published', async () => (await published(second)).at(0)),
    ).toBeDefined();
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
