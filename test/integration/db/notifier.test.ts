import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { withClient } from '#cli/embedded/postgres.ts';
import { Notifier } from '#db/connection/notifier.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { createTestDatabase } from '#test/support/servers/database.ts';
import { waitFor } from '#test/support/wait-for.ts';

const database = disposedAtEnd(await createTestDatabase());

async function listen() {
  const client = new pg.Client({ connectionString: database.url });
  const heard: string[] = [];
  const payloads: string[] = [];
  client.on('notification', ({ channel, payload = '' }) => {
    heard.push(channel);
    payloads.push(payload);
  });
  await client.connect();
  await client.query('listen relay');
  return { heard, payloads, [Symbol.asyncDispose]: () => client.end() };
}

const notifier = (more: Partial<ConstructorParameters<typeof Notifier>[0]> = {}) =>
  new Notifier({ channel: 'relay', url: database.url, applicationName: 'test', onError: () => undefined, ...more });

describe('waking the relay', () => {
  it('combines many concurrent requests into few notifications, and loses none', async () => {
    await using listener = await listen();
    const errors: Error[] = [];
    const wakeup = notifier({ onError: (error) => errors.push(error) });
    for (let n = 0; n < 1_000; n += 1) wakeup.wake();
    await waitFor('the relay is woken', () => listener.heard.length > 0);
    const afterBurst = listener.heard.length;
    wakeup.wake();
    await wakeup.close();
    await waitFor('the last request causes a notification', () => listener.heard.length > afterBurst);
    expect(listener.heard.length).toBeLessThanOrEqual(4);
    expect(new Set(listener.heard)).toEqual(new Set(['relay']));
    expect(errors).toEqual([]);
  });

  it('names the filled queues of all wishes', async () => {
    await using listener = await listen();
    const wakeup = notifier();
    wakeup.wake(['outbox']);
    wakeup.wake(['inbox', 'events']);
    wakeup.wake(['inbox']);
    await wakeup.close();
    await waitFor('all are named', () => listener.payloads.length > 1);
    expect(listener.payloads).toEqual(['outbox', 'inbox,events']);
  });

  it('sends what could not be sent as soon as PostgreSQL can be reached', async () => {
    await using listener = await listen();
    const server = new URL(database.url);
    server.pathname = '/postgres';
    const allow = (isAllowed: boolean) =>
      withClient(server.href, (db) => db.query(`alter database ${database.name} allow_connections ${isAllowed}`));
    const errors: Error[] = [];
    const wakeup = notifier({ onError: (error) => errors.push(error) });
    onTestFinished(async () => {
      await allow(true);
    });
    await allow(false);
    wakeup.wake(['events']);
    await waitFor('it could not be sent', () => errors.length > 0);
    await allow(true);
    await expect.poll(() => listener.payloads).toEqual(['events']);
    await wakeup.close();
  });

  it('continues with a new connection after its own was cut', async () => {
    await using listener = await listen();
    const wakeup = notifier({ applicationName: 'to-be-cut' });
    wakeup.wake();
    await waitFor('the relay is woken', () => listener.heard.length > 0);
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'to-be-cut'`;
    await withClient(database.url, (admin) => admin.query(cut));
    const before = listener.heard.length;
    await waitFor('the relay is woken again', () => {
      wakeup.wake();
      return listener.heard.length > before;
    });
    await wakeup.close();
    expect(new Set(listener.heard)).toEqual(new Set(['relay']));
  });

  it('reports that PostgreSQL is unavailable, never throws, and still closes', async () => {
    const errors: Error[] = [];
    const wakeup = notifier({ url: 'postgres://a:b@127.0.0.1:1/c', onError: (error) => errors.push(error) });
    wakeup.wake();
    await waitFor('the error is reported', () => errors.length > 0);
    // Further requests wait for a while instead of connecting each time.
    for (let n = 0; n < 100; n += 1) wakeup.wake();
    await wakeup.close();
    expect(errors.length).toBeLessThanOrEqual(2);
  });
});
