import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { publishEvents } from '#db/events/event-log.ts';
import { orders } from '#db/schema.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { newKey, postOnce } from '#test/support/api/keys.ts';
import { untilWaiting } from '#test/support/api/waiting-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { readStream } from '#test/support/network/event-stream.ts';
import type { HttpClient } from '#test/support/network/http.ts';
import { openDatabase, openTestDatabase } from '#test/support/servers/database.ts';
import { startOwnPostgres } from '#test/support/servers/own-servers.ts';
import { environmentAlone, startProcess, TestProcess } from '#test/support/servers/processes.ts';
import { waitFor } from '#test/support/wait-for.ts';

const { url, database } = disposedAtEnd(await openTestDatabase());

const PASSWORD = 'the-password-of-the-test';
/** One key for all processes, because a database is bound to its first keys. */
const ENCRYPTION_KEYS = `k1:${randomBytes(32).toString('base64')}`;

/** The API on a database and a port. */
async function apiOn(databaseUrl: string, port: number) {
  const more = { ENCRYPTION_KEYS, SERVICE_PASSWORD: PASSWORD, API_PORT: String(port) };
  return { name: 'api', script: 'api/main.ts', environment: await environmentAlone(databaseUrl, more) };
}

async function startApi() {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const started = await startProcess({ ...(await apiOn(url, port)), readyUrl: `${baseUrl}/readyz` });
  return { process: started, baseUrl, client: (await newKey({ database, baseUrl })).client };
}

const create = (client: HttpClient) =>
  postOnce(client, '/v1/orders', { package_id: 101, external_order_id: randomUUID() });

describe('the API process', () => {
  it('accepts orders without Temporal and the service, and returns 503 for data of the service', async () => {
    const { process: api, client } = await startApi();
    await using _ = api;
    expect((await create(client)).status).toBe(202);
    const wallet = await client.get('/v1/wallet');
    expect([wallet.status, wallet.at('failure_class')]).toEqual([503, 'not_sent']);
    await api.stop();
    expect(api.output()).not.toContain(PASSWORD);
    expect(api.output()).not.toContain('whsec_process_test');
  });

  it('finishes running answers at SIGTERM, accepts no new connection, and exits with code 0', async () => {
    const { process: api, client, baseUrl } = await startApi();
    await using _ = api;
    // The insert of the order waits for this lock, so the answer runs until the release.
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = database.transaction(async (tx) => {
      await tx.execute('lock table outbox in access exclusive mode');
      locked.resolve();
      await release;
    });
    await locked.promise;
    const answer = create(client);
    const waiting = "select 1 from pg_locks where not granted and relation = 'outbox'::regclass";
    await waitFor('the request waits for the lock', () =>
      database.run(async (db) => (await db.execute(waiting)).rowCount),
    );
    api.signal('SIGTERM');
    await waitFor('no connection is taken any more', async () =>
      fetch(`${baseUrl}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    expect(api.running).toBe(true);
    resolve();
    await holding;
    expect((await answer).status).toBe(202);
    expect(await api.exit()).toEqual({ code: 0, signal: null });
    expect(await database.run((db) => db.$count(orders))).toBeGreaterThan(0);
  });

  it('wakes waiting callers after a publication, and at SIGTERM answers them and stops at once', async () => {
    const { process: api, client } = await startApi();
    await using _ = api;
    const publish = () => database.transaction((tx) => publishEvents(tx, 1_000));
    await publish();
    const [one, two] = [await create(client), await create(client)].map((answer) => answer.textAt('id'));
    const stream = await readStream(client, '/v1/events/stream');
    const first = client.get(`/v1/orders/${one}?wait=40`);
    const second = client.get(`/v1/orders/${two}?wait=40`);
    await untilWaiting(client, 2);
    const step = { status: 'failed', event: 'order.failed', message: 'Test.' } as const;
    const work = { kind: 'order', id: one ?? '' } as const;
    await database.transaction((tx) => recordStep(tx, { work, ...step }, new Date()));
    await publish();
    expect((await first).at('status')).toBe('failed');
    const received = await stream.next(3);
    expect(received.map(({ event }) => event)).toEqual(['order.accepted', 'order.accepted', 'order.failed']);
    api.signal('SIGTERM');
    const answer = await second;
    expect([answer.status, answer.at('status')]).toEqual([200, 'accepted']);
    await stream.ended;
    expect(await api.exit()).toEqual({ code: 0, signal: null });
  });

  it('reports a port in use and exits with code 1', async () => {
    const port = await freePort();
    const blocker = createServer();
    await new Promise<void>((resolve) => blocker.listen(port, '127.0.0.1', resolve));
    await using api = new TestProcess(await apiOn(url, port));
    expect((await api.exit()).code).toBe(1);
    expect(api.output()).toContain('EADDRINUSE');
    await new Promise((resolve) => blocker.close(resolve));
  });

  it('starts without PostgreSQL, returns 503 until it is available, and survives its loss', async () => {
    await using postgres = await startOwnPostgres();
    const port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const opened = openDatabase(postgres.url);
    const { client } = await newKey({ database: opened, baseUrl });
    await opened.close();
    await postgres.stop();
    await using api = await startProcess({ ...(await apiOn(postgres.url, port)), readyUrl: `${baseUrl}/healthz` });
    const isAway = async () => {
      const [ready, order] = [await client.get('/readyz'), await create(client)];
      return ready.status === 503 && order.status === 503 && order.headers.get('retry-after') === '2';
    };
    expect(await isAway()).toBe(true);
    await postgres.start();
    await waitFor('orders are taken', async () => (await create(client)).status === 202);
    await postgres.kill();
    expect(await isAway()).toBe(true);
    await postgres.start();
    await waitFor('orders are taken again', async () => (await create(client)).status === 202);
    expect((await client.get('/readyz')).status).toBe(200);
    await api.stop();
    expect((await api.exit()).code).toBe(0);
  });
});
