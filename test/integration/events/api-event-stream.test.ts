import { eq } from 'drizzle-orm';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { recordEvent } from '#db/events/event-log.ts';
import { apiKeys, events } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { announce, endOfFeed, feed } from '#test/support/api/event-feed.ts';
import { newKey, successorOf } from '#test/support/api/keys.ts';
import { waitingCallers } from '#test/support/api/waiting-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { readStream, type StreamReader } from '#test/support/network/event-stream.ts';
import { waitFor } from '#test/support/wait-for.ts';

const api = disposedAtEnd(
  await startTestApi({
    streams: { ...DEFAULT_POLICY.streams, perKey: 3, heartbeatMs: 100, maxBehind: 50, stallMs: 2_000 },
  }),
);
const caller = await api.caller();
const openStreams = () => waitingCallers(caller, 'stream');
beforeEach(() => waitFor('the streams of the test before are closed', async () => (await openStreams()) === 0));

/** Opens a stream until the end of the test. */
async function stream(query = '', headers: Record<string, string> = {}, by = caller): Promise<StreamReader> {
  const reader = await readStream(by, `/v1/events/stream${query}`, headers);
  onTestFinished(() => void reader.close());
  return reader;
}

/** The ids of the next events of a stream. */
const nextIds = async (reader: StreamReader, count: number) => (await reader.next(count)).map(({ data }) => data['id']);

/** Publishes events of 60 kB each. */
async function publishBulk(count: number): Promise<void> {
  const data = { bulk: 'x'.repeat(60_000) };
  const event = { type: 'order.held', subject: { kind: 'order', id: 'ord_1' }, apiKeyId: null, data } as const;
  await api.database.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1) await recordEvent(tx, event, new Date(TEST_NOW));
  });
  await api.publish();
}

describe('the event stream', () => {
  it('sends new events with cursor, type and the event of the feed', async () => {
    await announce(api, ['order.accepted']);
    const cursor = await endOfFeed(caller);
    const reader = await stream();
    await waitFor('it is live', async () => (await openStreams()) === 1 && reader.comments() > 0);
    const [id] = await announce(api, ['order.completed']);
    const [received] = await reader.next(1);
    const page = await feed(caller, `?type=order.completed&cursor=${cursor}`);
    expect(received).toEqual({ id: page.next_cursor, event: 'order.completed', data: page.data[0] });
    expect(received?.data).toMatchObject({ id });
    expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(reader.headers.get('cache-control')).toBe('no-store');
  });

  it('continues after the last received event, with missed and new events', async () => {
    const reader = await stream();
    await waitFor('it is live', () => reader.comments() > 0);
    const seen = await announce(api, ['order.accepted', 'order.held']);
    const [, last] = await reader.next(2);
    reader.close();
    const missed = await announce(api, Array<'topup.held'>(250).fill('topup.held'));
    const again = await stream('', { 'Last-Event-ID': last?.id ?? '' });
    const meanwhile = await announce(api, ['order.failed', 'order.abandoned']);
    const received = await nextIds(again, 252);
    expect(received).toEqual([...missed, ...meanwhile]);
    expect(seen).not.toContain(received[0]);
  });

  it('sends its start position first, so a reader that disconnects at once misses nothing', async () => {
    const body = (await fetch(`${caller.baseUrl}/v1/events/stream`, { headers: caller.headers })).body?.getReader();
    const first = Buffer.from((await body?.read())?.value ?? []).toString('utf8');
    await body?.cancel();
    const [, id = ''] = /^retry: 2000\nid: ([\w-]+)\n\n/.exec(first) ?? [];
    const missed = await announce(api, ['order.held', 'topup.held']);
    const again = await stream('', { 'Last-Event-ID': id });
    expect(await nextIds(again, 2)).toEqual(missed);
  });

  it('refuses an empty cursor, and ignores an empty Last-Event-ID header', async () => {
    const refused = await caller.get('/v1/events/stream?cursor=');
    expect([refused.status, refused.at('errors', 0)]).toMatchObject([400, { in: 'query', field: 'cursor' }]);
    const cursor = await endOfFeed(caller);
    const [missed] = await announce(api, ['order.held']);
    const again = await stream(`?cursor=${cursor}`, { 'Last-Event-ID': '' });
    expect(await nextIds(again, 1)).toEqual([missed]);
  });

  it('advances the cursor of a reader whose filter selects no event', async () => {
    const reader = await stream('?type=refund.*');
    await announce(api, ['order.held', 'topup.held']);
    const last = await endOfFeed(caller);
    await waitFor('its cursor has advanced', () => reader.lastEventId() === last);
    const [wanted] = await announce(api, ['refund.completed']);
    const again = await stream('?type=refund.*', { 'Last-Event-ID': last });
    expect(await nextIds(again, 1)).toEqual([wanted]);
  });

  it('ends when its key is revoked while it still sends old events', async () => {
    const cursor = await endOfFeed(caller);
    await publishBulk(400);
    const other = await api.caller(['events:read']);
    const reader = await stream(`?cursor=${cursor}`, {}, other);
    reader.pause();
    await api.database.run((db) => db.update(apiKeys).set({ revokedAt: new Date(TEST_NOW - 1) }));
    // The time that a slow reader takes.
    const slow = performance.now() + 150;
    await waitFor('it is time to look at the key again', () => performance.now() > slow);
    reader.resume();
    await reader.ended;
    await api.database.run((db) => db.update(apiKeys).set({ revokedAt: null }));
    expect(reader.received()).toBeLessThan(400);
  });

  it('ends when PostgreSQL has lost events, and its reader then gets those at their positions', async () => {
    await announce(api, ['order.accepted']);
    const kept = await endOfFeed(caller);
    const reader = await stream();
    await waitFor('it is live', () => reader.comments() > 0);
    const [lost = ''] = await announce(api, ['order.held']);
    expect(await nextIds(reader, 1)).toEqual([lost]);
    await api.database.run((db) => db.delete(events).where(eq(events.id, lost)));
    api.tail.hear('');
    await waitFor('it has ended', async () => (await openStreams()) === 0);
    await reader.ended;
    expect(reader.broken()).toBe(false);
    const lastSeen = { headers: { 'Last-Event-ID': reader.lastEventId() } };
    expect((await caller.get('/v1/events/stream', lastSeen)).at('code')).toBe('cursor_expired');
    const again = await stream('', { 'Last-Event-ID': kept });
    await waitFor('it is live', () => again.comments() > 0);
    const [next] = await announce(api, ['order.completed']);
    expect(await nextIds(again, 1)).toEqual([next]);
  });

  it('is refused beyond the limit of its key, independently of other keys, until one closes', async () => {
    const open = [await stream(), await stream(), await stream()];
    const refused = await caller.get('/v1/events/stream');
    expect([refused.status, refused.at('code')]).toEqual([429, 'too_many_streams']);
    await stream('', {}, await api.caller());
    open[0]?.close();
    await waitFor('one is closed', async () => (await openStreams()) === 3);
    await stream();
  });

  it('counts a key and its successor together', async () => {
    const first = await newKey(api, { scopes: ['events:read'] });
    const second = await successorOf(api, first.prefix, 3_600_000);
    for (const { client } of [first, second, first]) await stream('', {}, client);
    expect((await second.client.get('/v1/events/stream')).at('code')).toBe('too_many_streams');
  });

  it('sends nothing after its key is revoked, before any heartbeat', async () => {
    await using patient = await startTestApi({ streams: { ...DEFAULT_POLICY.streams, heartbeatMs: 3_600_000 } });
    const reader = await stream('', {}, await patient.caller(['events:read']));
    await announce(patient, ['order.held']);
    await reader.next(1);
    await patient.database.run((db) => db.update(apiKeys).set({ revokedAt: new Date(TEST_NOW - 1) }));
    const trusted = performance.now() + 1_100;
    await waitFor('the key is not trusted any more without a look', () => performance.now() > trusted);
    await announce(patient, ['order.held']);
    await reader.ended;
    expect(reader.received()).toBe(1);
  });

  it('disconnects a reader that does not read, instead of buffering', async () => {
    const reader = await stream();
    await waitFor('it is live', () => reader.comments() > 0);
    reader.pause();
    for (let round = 0; round < 200 && (await openStreams()) > 0; round += 1) await publishBulk(10);
    await waitFor('it is cut', async () => (await openStreams()) === 0, { timeoutMs: 10_000 });
    reader.resume();
    await reader.ended;
    expect(reader.broken()).toBe(true);
  });

  it('answers HEAD without a stream', async () => {
    expect((await caller.call('HEAD', '/v1/events/stream', {})).status).toBe(200);
    expect(await openStreams()).toBe(0);
  });
});
