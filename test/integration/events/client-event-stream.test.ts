import { beforeEach, describe, expect, it } from 'vitest';
import { ResellerClient, type Event, type EventStream } from '#clients/typescript/src/index.ts';
import { newId } from '#db/connection/ids.ts';
import { recordEvent } from '#db/events/event-log.ts';
import type { EventSubjectKind, EventType } from '#domain/events/event-types.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { Seeded } from '#test/support/work/workload.ts';

/** The number of connections cut by the client's network. */
let cuts = 0;
const api = disposedAtEnd(await startTestApi({ streams: { ...DEFAULT_POLICY.streams, heartbeatMs: 100 } }));
beforeEach(() => {
  cuts = 0;
});

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
});
