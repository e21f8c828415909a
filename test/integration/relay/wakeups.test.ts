import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { type Waiter, Wakeups } from '#db/connection/wakeups.ts';
import { pollQueues } from '#db/queues/relay-queues.ts';
import { createLogger } from '#telemetry/logger.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { openTestDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';

const opened = disposedAtEnd(await openTestDatabase());

const logger = createLogger({ level: 'silent', name: 'test', secrets: [] });

describe('the notification listener', () => {
  it('closes at any moment, also while it is connecting', async () => {
    for (let turns = 0; turns < 60; turns += 3) {
      const wakeups = new Wakeups({ channel: 'events', url: opened.url, applicationName: 'test', logger });
      wakeups.listen();
      for (let count = 0; count < turns; count += 1) await turn();
      // A listener that is closed too early would never resolve this.
      await expect(wakeups.close()).resolves.toBeUndefined();
    }
  });

  it('wakes the readers of the queues that a notification names, and all when it names none', async () => {
    await using wakeups = openWakeups();
    const rounds = { outbox: 0, inbox: 0 };
    for (const queue of ['outbox', 'inbox'] as const)
      void countRounds(wakeups.listener.subscribe(queue), rounds, queue);
    // Listening itself wakes all.
    await expect.poll(() => rounds).toEqual({ outbox: 1, inbox: 1 });
    await query("notify relay, 'outbox,events'");
    await expect.poll(() => rounds).toEqual({ outbox: 2, inbox: 1 });
    await query('notify relay');
    await expect.poll(() => rounds).toEqual({ outbox: 3, inbox: 2 });
  });

  it('knows whether notifications arrive, by those of the poll', async () => {
    await using wakeups = openWakeups();
    await listening();
    expect(wakeups.listener.isHearing()).toBe(false);
    await opened.database.run(pollQueues);
    await expect.poll(() => wakeups.listener.isHearing()).toBe(true);
    await query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listening'`);
    await expect.poll(() => wakeups.listener.isHearing()).toBe(false);
  });
});

function openWakeups() {
  const listener = new Wakeups({ channel: 'relay', url: opened.url, applicationName: 'listening', logger });
  listener.listen();
  return { listener, [Symbol.asyncDispose]: () => listener.close() };
}

async function listening(): Promise<void> {
  const idle = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'listening'
    AND query LIKE 'LISTEN%' AND state = 'idle'`;
  await waitFor('it listens', async () => (await query(idle)).rows.length > 0);
  await turn();
}

async function countRounds(waiter: Waiter, rounds: Record<string, number>, queue: string): Promise<never> {
  for (;;) {
    await waiter.next();
    rounds[queue] = (rounds[queue] ?? 0) + 1;
  }
}

const query = async (text: string) => withClient(opened.url, (client) => client.query(text));
