import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { apiKeys, events } from '#db/schema.ts';
import type { EventSubjectKind, EventType } from '#domain/events/event-types.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import { readStream, type StreamReader } from '#test/support/network/event-stream.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { madeUpEventPage } from '#test/support/work/made-up-events.ts';

let api: TestApi;
let caller: HttpClient;
const readers: StreamReader[] = [];

beforeAll(async () => {
  api = await startTestApi({
    streams: { ...DEFAULT_POLICY.streams, perKey: 3, heartbeatMs: 100, maxBehind: 50, stallMs: 2_000 },
  });
  caller = await api.caller();
});
beforeEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await waitFor('the streams of the test before are closed', async () => (await waiting('stream')) === 0);
});
afterAll(async () => {
  for (const reader of readers) reader.close();
  await api[Symbol.asyncDispose]();
});

/** Records and publishes events. @returns their ids. */
async function announce(
  types: readonly EventType[],
  more: { subjectId?: string; at?: number; apiKeyId?: string } = {},
): Promise<string[]> {
  for (const type of types) {
    const kind = type.split('.')[0] as EventSubjectKind;
    const event = {
      type,
      subject: { kind, id: more.subjectId ?? newId('order') },
      apiKeyId: more.apiKeyId ?? null,
      data: { status: type.split('.')[1] ?? null },
    };
    await api.database.transaction((tx) => recordEvent(tx, event, new Date(more.at ?? TEST_NOW)));
  }
  await api.publish();
  const rows = await api.database.run((db) =>
    db.select({ id: events.id, position: events.position }).from(events).orderBy(events.sequence),
  );
  return rows.slice(-types.length).map(({ id }) => id);
}

const feed = async (query = '') => (await caller.get(`/v1/events${query}`)).read(madeUpEventPage);
const ids = (page: { data: readonly { id: string }[] }) => page.data.map(({ id }) => id);
/** The headers of an answer about its wait. */
const waitHeaders = ({ headers }: HttpAnswer) => [headers.get('preference-applied'), headers.get('retry-after')];
/** The present end of the feed. */
const end = async () => (await feed('?since=9990-01-01T00:00:00Z')).next_cursor;
async function waiting(what: 'answer' | 'stream'): Promise<number> {
  const { text } = await caller.get('/metrics');
  return Number(new RegExp(`^reseller_waiting\\{for="${what}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
async function stream(
  query = '',
  headers: Record<string, string> = {},
  by: HttpClient = caller,
): Promise<StreamReader> {
  const reader = await readStream(by, `/v1/events/stream${query}`, headers);
  readers.push(reader);
  return reader;
}

describe('a waiting read of the feed', () => {
  it('returns on the first event that its filter selects, and on no other', async () => {
    const cursor = await end();
    const answered = feed(`?wait=30&type=order.*&cursor=${cursor}`);
    await waitFor('the caller waits', async () => (await waiting('answer')) === 1);
    await announce(['topup.accepted']);
    const [id] = await announce(['order.held']);
    expect(ids(await answered)).toEqual([id]);
    expect(await waiting('answer')).toBe(0);
  });

  it('returns an empty page with the same cursor at the end of its wait', async () => {
    const cursor = await end();
    const answer = await caller.get(`/v1/events?wait=1&cursor=${cursor}`);
    expect(answer.read(madeUpEventPage)).toEqual({ data: [], next_cursor: cursor, has_more: false });
    expect(waitHeaders(answer)).toEqual(['wait=1', null]);
    expect(waitHeaders(await caller.get(`/v1/events?cursor=${cursor}`))).toEqual([null, null]);
  });

  it('sends Retry-After when it did not wait and has no events', async () => {
    await using stopped = await startTestApi();
    const by = await stopped.caller();
    await stopped.tail.stop();
    expect(waitHeaders(await by.get('/v1/events?wait=30'))).toEqual([null, '5']);
    await stopped.database.transaction((tx) =>
      recordEvent(
        tx,
        { type: 'order.held', subject: { kind: 'order', id: 'ord_1' }, apiKeyId: null, data: {} },
        new Date(TEST_NOW),
      ),
    );
    await stopped.publish();
    expect(waitHeaders(await by.get('/v1/events?wait=30'))).toEqual([null, null]);
  });
});

describe('a waiting read with a key revoked meanwhile', () => {
  it('returns no later event', async () => {
    const other = await api.caller(['events:read']);
    const cursor = await end();
    const answered = other.get(`/v1/events?wait=30&cursor=${cursor}`);
    await waitFor('the caller waits', async () => (await waiting('answer')) === 1);
    const since = performance.now();
    await api.database.run((db) => db.update(apiKeys).set({ revokedAt: new Date(TEST_NOW - 1) }));
    await waitFor('it has waited for a while', () => performance.now() - since > 600);
    await api.database.transaction((tx) =>
      recordEvent(
        tx,
        { type: 'order.held', subject: { kind: 'order', id: 'ord_1' }, apiKeyId: null, data: {} },
        new Date(TEST_NOW),
      ),
    );
    await api.publish();
    const answer = await answered;
    await api.database.run((db) => db.update(apiKeys).set({ revokedAt: null }));
    expect([answer.status, answer.at('code')]).toEqual([401, 'unauthenticated']);
  });
});

describe('the event stream', () => {
  it('sends new events with cursor, type and the event of the feed', async () => {
    await announce(['order.accepted']);
    const cursor = await end();
    const reader = await stream();
    await waitFor('it is live', async () => (await waiting('stream')) === 1 && reader.comments() > 0);
    const [id] = await announce(['order.completed']);
    const [received] = await reader.next(1);
    const page = await feed(`?type=order.completed&cursor=${cursor}`);
    expect(received).toEqual({ id: page.next_cursor, event: 'order.completed', data: page.data[0] });
    expect(received?.data).toMatchObject({ id });
    expect(reader.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(reader.headers.get('cache-control')).toBe('no-store');
  });

  it('continues after the last received event, with missed and new events', async () => {
    const reader = await stream();
    await waitFor('it is live', () => reader.comments() > 0);
    const seen = await announce(['order.accepted', 'order.held']);
    const [, last] = await reader.next(2);
    reader.close();
    const missed = await announce(Array.from({ length: 250 }, () => 'topup.held' as const));
    const again = await stream('', { 'Last-Event-ID': last?.id ?? '' });
    const meanwhile = await announce(['order.failed', 'order.abandoned']);
    const received = await again.next(252);
    expect(received.map(({ data }) => data['id'])).toEqual([...missed, ...meanwhile]);
    expect(seen).not.toContain(received[0]?.data['id']);
  });

  it('sends each event once and in order while others are published', async () => {
    const cursor = await end();
    const made: string[] = [];
    const publishing = (async () => {
      for (let round = 0; round < 30; round += 1) made.push(...(await announce(['order.held', 'topup.held'])));
    })();
    const received: string[] = [];
    for (let part = 0; part < 3; part += 1) {
      const reader = await stream(`?cursor=${cursor}`);
      const seen = await reader.next(20);
      received.push(...seen.map(({ data }) => String(data['id'])));
      reader.close();
      const rest = await stream('', { 'Last-Event-ID': seen.at(-1)?.id ?? '' });
      if (part === 0) await publishing;
      expect((await rest.next(40)).map(({ data }) => data['id'])).toEqual(made.slice(20, 60));
      rest.close();
    }
    expect(received.slice(0, 20)).toEqual(made.slice(0, 20));
    expect(received.slice(20, 40)).toEqual(made.slice(0, 20));
  });

  it('sends its start position first, so a reader that disconnects at once misses nothing', async () => {
    const body = (await fetch(`${caller.baseUrl}/v1/events/stream`, { headers: caller.headers })).body?.getReader();
    const first = Buffer.from((await body?.read())?.value ?? []).toString('utf8');
    await body?.cancel();
    const [, id = ''] = /^retry: 2000\nid: ([\w-]+)\n\n/.exec(first) ?? [];
    const missed = await announce(['order.held', 'topup.held']);
    const again = await stream('', { 'Last-Event-ID': id });
    expect((await again.next(2)).map(({ data }) => data['id'])).toEqual(missed);
  });

  it('refuses an empty cursor, and ignores an empty Last-Event-ID header', async () => {
    const refused = await caller.get('/v1/events/stream?cursor=');
    expect([refused.status, refused.at('errors', 0, 'in'), refused.at('errors', 0, 'field')]).toEqual([
      400,
      'query',
      'cursor',
    ]);
    const cursor = await end();
    const [missed] = await announce(['order.held']);
    const again = await stream(`?cursor=${cursor}`, { 'Last-Event-ID': '' });
    expect((await again.next(1)).map(({ data }) => data['id'])).toEqual([missed]);
  });

  it('has the same filters as the feed', async () => {
    const reader = await stream('?type=refund.*&subject_id=ref_1');
    await waitFor('it is live', () => reader.comments() > 0);
    await announce(['order.held', 'refund.expected']);
    const [wanted] = await announce(['refund.completed'], { subjectId: 'ref_1' });
    expect((await reader.next(1)).map(({ data }) => data['id'])).toEqual([wanted]);
  });

  it('advances the cursor of a reader whose filter selects no event', async () => {
    const reader = await stream('?type=refund.*');
    await announce(['order.held', 'topup.held']);
    const last = await end();
    await waitFor('its cursor has advanced', () => reader.lastEventId() === last);
    const [wanted] = await announce(['refund.completed']);
    const again = await stream('?type=refund.*', { 'Last-Event-ID': last });
    expect((await again.next(1)).map(({ data }) => data['id'])).toEqual([wanted]);
  });

  it('ends when its key is revoked while it still sends old events', async () => {
    const cursor = await end();
    const bulk = 'x'.repeat(60_000);
    await api.database.transaction(async (tx) => {
      for (let n = 0; n < 400; n += 1)
        await recordEvent(
          tx,
          { type: 'order.held', subject: { kind: 'order', id: 'ord_1' }, apiKeyId: null, data: { bulk } },
          new Date(TEST_NOW),
        );
    });
    await api.publish();
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

  it('is refused beyond the limit of its key, independently of other keys, until one closes', async () => {
    const open = [await stream(), await stream(), await stream()];
    const refused = await caller.get('/v1/events/stream');
    expect([refused.status, refused.at('code')]).toEqual([429, 'too_many_streams']);
    await stream('', {}, await api.caller());
    open[0]?.close();
    await waitFor('one is closed', async () => (await waiting('stream')) === 3);
    await stream();
  });

  it('ends when its key is revoked', async () => {
    const other = await api.caller(['events:read']);
    const reader = await stream('', {}, other);
    await waitFor('it is live', () => reader.comments() > 0);
    await api.database.run((db) => db.update(apiKeys).set({ revokedAt: new Date(TEST_NOW - 1) }));
    await reader.ended;
    await api.database.run((db) => db.update(apiKeys).set({ revokedAt: null }));
    expect(await waiting('stream')).toBe(0);
  });

  it('sends nothing after its key is revoked, before any heartbeat', async () => {
    await using patient = await startTestApi({ streams: { ...DEFAULT_POLICY.streams, heartbeatMs: 3_600_000 } });
    const reader = await readStream(await patient.caller(['events:read']), '/v1/events/stream');
    readers.push(reader);
    const put = async (id: string) => {
      await patient.database.transaction((tx) =>
        recordEvent(
          tx,
          { type: 'order.held', subject: { kind: 'order', id }, apiKeyId: null, data: {} },
          new Date(TEST_NOW),
        ),
      );
      await patient.publish();
    };
    await put('ord_1');
    await reader.next(1);
    await patient.database.run((db) => db.update(apiKeys).set({ revokedAt: new Date(TEST_NOW - 1) }));
    const trusted = performance.now() + 1_100;
    await waitFor('the key is not trusted any more without a look', () => performance.now() > trusted);
    await put('ord_2');
    await reader.ended;
    expect(reader.received()).toBe(1);
  });

  it('disconnects a reader that does not read, instead of buffering', async () => {
    const reader = await stream('', {}, caller);
    await waitFor('it is live', () => reader.comments() > 0);
    reader.pause();
    const bulk = 'x'.repeat(60_000);
    for (let round = 0; round < 200 && (await waiting('stream')) > 0; round += 1) {
      const event = {
        type: 'order.held',
        subject: { kind: 'order', id: 'ord_1' },
        apiKeyId: null,
        data: { bulk },
      } as const;
      await api.database.transaction(async (tx) => {
        for (let n = 0; n < 10; n += 1) await recordEvent(tx, event, new Date(TEST_NOW));
      });
      await api.publish();
    }
    await waitFor('it is cut', async () => (await waiting('stream')) === 0, { timeoutMs: 10_000 });
    reader.resume();
    await reader.ended;
    expect(reader.broken()).toBe(true);
  });

  it('answers HEAD without a stream', async () => {
    const answer = await caller.call('HEAD', '/v1/events/stream', {});
    expect(answer.status).toBe(200);
    expect(await waiting('stream')).toBe(0);
  });
});
