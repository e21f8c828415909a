import { sql } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ResellerClient, type Event, type EventStream } from '#clients/typescript/src/index.ts';
import { newId } from '#db/connection/ids.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { apiKeys } from '#db/schema.ts';
import type { EventSubjectKind, EventType } from '#domain/events/event-types.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { Seeded } from '#test/support/work/workload.ts';

/** The number of connections cut by the client's network. */
let cuts = 0;
const api = await startTestApi({ streams: { ...DEFAULT_POLICY.streams, heartbeatMs: 100 } });
beforeEach(() => {
  cuts = 0;
});
afterAll(() => api[Symbol.asyncDispose]());

async function announce(types: readonly EventType[]): Promise<void> {
  for (const type of types) {
    const event = {
      type,
      subject: { kind: type.split('.')[0] as EventSubjectKind, id: newId('order') },
      apiKeyId: null,
      data: { status: 'Ünverändert €' },
    };
    await api.database.transaction((tx) => recordEvent(tx, event, new Date(TEST_NOW)));
  }
  await api.publish();
}

/** Revokes all keys. @param revokedAt null: they are valid again. */
async function revoke(revokedAt: Date | null): Promise<void> {
  await api.database.transaction(async (tx) => {
    await tx.update(apiKeys).set({ revokedAt });
    await tx.execute(sql`notify api_keys`);
  });
}

/** A client whose network passes this many bytes of each answer and then breaks. */
async function client(cutAfter?: () => number): Promise<ResellerClient> {
  const { headers } = await api.caller(['events:read']);
  return new ResellerClient({
    baseUrl: api.baseUrl,
    apiKey: (headers['authorization'] ?? '').replace('Bearer ', ''),
    sleep: async () => undefined,
    fetch: async (input, init) => {
      const answer = await fetch(input, init);
      return cutAfter === undefined || answer.body === null
        ? answer
        : new Response(answer.body.pipeThrough(cutting(cutAfter())), answer);
    },
  });
}

/** Passes this many bytes and then breaks. */
function cutting(bytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = bytes;
  return new TransformStream({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) return;
      cuts += 1;
      controller.error(new TypeError('terminated'));
    },
  });
}

async function take(events: AsyncIterable<Event>, count: number): Promise<Event[]> {
  const taken: Event[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length >= count) break;
  }
  return taken;
}
/** The content of the feed after a cursor. */
const feed = async (from: ResellerClient, cursor: string) => from.listEvents({ cursor }).take(10_000);
const streams = async () =>
  /^reseller_waiting\{for="stream"\} (\d+)$/m.exec(await (await fetch(`${api.baseUrl}/metrics`)).text())?.[1] ?? '0';
/** Starts to read, and resolves when the stream has sent its start position. */
async function begun(events: EventStream): Promise<string> {
  return waitFor('the stream has begun', () => events.cursor);
}

describe('the event stream of the TypeScript client', () => {
  it('returns each event of the feed once and in order, with any number of lost connections', async () => {
    const seeded = new Seeded();
    const reader = await client(() => seeded.between(1, 2_500));
    const events = reader.streamEvents();
    const taking = take(events, 200);
    const first = await begun(events);
    for (let round = 0; round < 20; round += 1)
      await announce(
        Array.from({ length: 10 }, () => seeded.pick(['order.held', 'topup.completed', 'refund.expected'])),
      );
    const taken = await taking;
    expect(taken).toEqual(await feed(await client(), first));
    expect(taken).toHaveLength(200);
    expect(cuts, `seed ${seeded.seed}`).toBeGreaterThan(20);
  });

  it('misses no event between two connections, even before its first event', async () => {
    // Enough for the first block, and not for the first heartbeat.
    const events = (await client(() => 30)).streamEvents({}, { retries: 0 });
    await expect(take(events, 1)).rejects.toMatchObject({ name: 'NoAnswerError' });
    const { cursor } = events;
    expect(cursor).toMatch(/^[\w-]+$/);
    await announce(['order.held', 'order.completed']);
    const whole = await client();
    expect((await take(whole.streamEvents({ cursor }), 2)).map(({ type }) => type)).toEqual([
      'order.held',
      'order.completed',
    ]);
  });

  it('is filtered by the API, and continues in another program from its cursor', async () => {
    const reader = await client();
    const events = reader.streamEvents({ type: 'refund.*' });
    const taking = take(events, 1);
    await begun(events);
    await announce(['order.held', 'refund.expected']);
    expect((await taking).map(({ type }) => type)).toEqual(['refund.expected']);
    await announce(['order.failed', 'refund.completed']);
    const again = reader.streamEvents({ type: 'refund.*', cursor: events.cursor });
    expect((await take(again, 1)).map(({ type }) => type)).toEqual(['refund.completed']);
    await waitFor('its streams are closed', async () => (await streams()) === '0');
  });

  it('ends with the refusal when its key is revoked, and closes its stream', async () => {
    const reader = await client();
    const events = reader.streamEvents();
    const taking = take(events, 1);
    await begun(events);
    await revoke(new Date(TEST_NOW - 1));
    await expect(taking).rejects.toMatchObject({ code: 'unauthenticated', status: 401 });
    await revoke(null);
    expect(await streams()).toBe('0');
  });

  it('rejects an invalid cursor instead of starting anywhere', async () => {
    await expect(take((await client()).streamEvents({ cursor: 'nonsense' }), 1)).rejects.toMatchObject({
      code: 'validation_failed',
      status: 400,
    });
  });
});
