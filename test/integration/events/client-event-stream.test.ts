import { describe, expect, it } from 'vitest';
import { ResellerClient, type Event } from '#clients/typescript/src/index.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { announce } from '#test/support/api/event-feed.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { keyOf, startTestApi } from '#test/support/network/api.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { Seeded } from '#test/support/work/workload.ts';

/** The number of connections cut by the client's network. */
let cuts = 0;
const api = disposedAtEnd(await startTestApi({ streams: { ...DEFAULT_POLICY.streams, heartbeatMs: 100 } }));

/** A client whose network passes this many bytes of each answer and then breaks. */
async function client(cutAfter?: () => number): Promise<ResellerClient> {
  return new ResellerClient({
    baseUrl: api.baseUrl,
    apiKey: keyOf(await api.caller(['events:read'])),
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

describe('the event stream of the TypeScript client', () => {
  it('returns each event of the feed once and in order, with any number of lost connections', async () => {
    const seeded = new Seeded();
    const reader = await client(() => seeded.between(1, 2_500));
    const events = reader.streamEvents();
    const taking = take(events, 200);
    const cursor = await waitFor('the stream has begun', () => events.cursor);
    const type = () => seeded.pick(['order.held', 'topup.completed', 'refund.expected'] as const);
    for (let round = 0; round < 20; round += 1) await announce(api, Array.from({ length: 10 }, type));
    const taken = await taking;
    expect(taken).toEqual(await (await client()).listEvents({ cursor }).take(10_000));
    expect(taken).toHaveLength(200);
    expect(cuts, `seed ${seeded.seed}`).toBeGreaterThan(20);
  });
});
