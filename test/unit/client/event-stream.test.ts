import { describe, expect, it } from 'vitest';
import {
  isProblem,
  NoAnswerError,
  ResellerClient,
  type Event,
  type StreamEventsQuery,
  type StreamOptions,
} from '#clients/typescript/src/index.ts';
import {
  broken,
  page,
  problem,
  testNetwork,
  thrown as thrownBy,
  type Step,
} from '#test/support/network/client-network.ts';

const { network } = testNetwork();

/** A stream over connections with these steps in turn. */
function stream(steps: readonly Step[], query: StreamEventsQuery = {}, options: StreamOptions = {}, random = 0) {
  return network.client(steps, { random: () => random }).streamEvents(query, options);
}

const access = { baseUrl: 'https://api.example.com', apiKey: 'rsk_test' };
/** A connection that sends this text, and ends as `end` says; without it, it stays open until its reader closes it. */
function opens(text: string, end?: 'ends' | 'breaks', closed: () => void = () => undefined): Step {
  return ({ signal }) => {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode(text));
          if (end === 'ends') controller.close();
          signal.addEventListener('abort', () => {
            closed();
            if (end === undefined) controller.error(signal.reason);
          });
        },
        // Called only after the earlier text was read.
        pull: (controller) => {
          if (end === 'breaks') controller.error(new TypeError('terminated'));
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream; charset=utf-8' } });
  };
}
const event = (n: number) =>
  `id: c${n}\nevent: order.held\n` +
  `data: ${JSON.stringify({ id: `evt_${n}`, type: 'order.held', subject: { kind: 'order', id: 'ord_1' } })}\n\n`;
const begin = (n: number) => `retry: 2000\nid: c${n}\n\n`;
const lastIds = () => network.seen.map(({ headers }) => headers.get('Last-Event-ID'));

async function take(events: AsyncIterable<Event>, count: number): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of events) {
    ids.push(id);
    if (ids.length >= count) break;
  }
  return ids;
}
/** The error of a stream that is read beyond its end. */
const thrown = (events: AsyncIterable<Event>) => thrownBy(take(events, 100));

describe('a stream of events', () => {
  it('is requested with the key and the filter, after the given cursor', async () => {
    const events = stream([opens(event(8))], { type: ['order.*', 'topup.held'], subject_id: 'ord_1', cursor: 'c7' });
    expect(events.cursor).toBe('c7');
    expect(await take(events, 1)).toEqual(['evt_8']);
    expect(events.cursor).toBe('c8');
    const [request] = network.seen;
    expect(request?.url).toBe('https://api.example.com/v1/events/stream?type=order.*%2Ctopup.held&subject_id=ord_1');
    expect(Object.fromEntries(request?.headers ?? [])).toMatchObject({
      authorization: 'Bearer rsk_test',
      accept: 'text/event-stream',
      'last-event-id': 'c7',
    });
  });

  it('continues after the last complete event, over ended, broken and refused connections', async () => {
    const half = event(4).slice(0, -20);
    const events = stream([
      opens(begin(0) + event(1) + event(2), 'ends'),
      broken,
      opens(begin(2) + event(3) + half, 'breaks'),
      opens(event(4)),
    ]);
    expect(await take(events, 4)).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4']);
    expect(lastIds()).toEqual([null, 'c2', 'c2', 'c3']);
  });
});

describe('the delay before the next connection', () => {
  it('is that of the stream, doubles with each failure up to a limit, and resets after a success', async () => {
    const failures = Array.from({ length: 5 }, () => broken);
    const steps = [opens(`retry: 3000\n\n${event(1)}`, 'ends'), ...failures, opens(event(2), 'ends'), opens(event(3))];
    await take(stream(steps), 3);
    expect(network.slept).toEqual([3_000, 6_000, 12_000, 24_000, 30_000, 30_000, 3_000]);
  });
});

describe('the end of a stream', () => {
  it.each([
    [400, 'validation_failed'],
    [401, 'unauthenticated'],
    [403, 'missing_scope'],
    [410, 'cursor_expired'],
  ] as const)('follows %i, because no retry would change it', async (status, code) => {
    const error = await thrown(stream([opens(event(1), 'ends'), problem(status, code)]));
    expect(error).toMatchObject({ name: 'ProblemError', status, code, requestId: 'req_1' });
    expect(isProblem(error)).toBe(true);
    expect(network.seen).toHaveLength(2);
  });

  it('follows an answer of another server: a page, a redirect, an unknown path', async () => {
    for (const [step, status] of [
      [page, 200],
      [() => new Response(null, { status: 302, headers: { Location: '/login' } }), 302],
      [() => new Response('no', { status: 404 }), 404],
    ] as const)
      expect(await thrown(stream([step]))).toMatchObject({ name: 'NoAnswerError', status });
    expect(network.slept).toEqual([]);
    // The key is sent to the configured address only.
    expect(new Set(network.seen.map(({ redirect }) => redirect))).toEqual(new Set(['manual']));
  });

  it('follows an invalid event, instead of endless retries', async () => {
    for (const data of ['{"id":', '[]', '"text"', '{"id":"evt_1"}'])
      expect(await thrown(stream([opens(`id: c1\ndata: ${data}\n\n`)]))).toBeInstanceOf(TypeError);
    expect(network.seen).toHaveLength(4);
  });

  it('follows the allowed number of consecutive failed connections', async () => {
    const error = await thrown(stream([opens(event(1), 'ends'), broken, broken, broken], {}, { retries: 3 }));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(network.seen).toHaveLength(4);
    const message = expect.stringContaining('socket hang up');
    expect(await thrown(stream([broken], {}, { retries: 0 }))).toMatchObject({ message });
  });
});

describe('an aborted reader', () => {
  it('gets no further event, and sends nothing', async () => {
    const given = new AbortController();
    const ids: string[] = [];
    const reading = (async () => {
      for await (const { id } of stream([opens(event(1) + event(2))], {}, { signal: given.signal })) {
        ids.push(id);
        given.abort(new Error('enough'));
      }
    })();
    await expect(reading).rejects.toThrow('enough');
    expect(ids).toEqual(['evt_1']);
    expect(await thrown(stream([opens(event(1))], {}, { signal: given.signal }))).toMatchObject({ message: 'enough' });
  });

  it('stops during the wait for an event, and during the delay before a connection', async () => {
    const first = new AbortController();
    const events = stream([opens(event(1))], {}, { signal: first.signal })[Symbol.asyncIterator]();
    await events.next();
    const next = events.next();
    first.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');

    const inAnHour = opens('retry: 3600000\n\n', 'ends');
    const client = new ResellerClient({ ...access, fetch: async (input, init) => inAnHour(new Request(input, init)) });
    // Before the delay, and during it.
    for (const when of [(abort: () => void) => abort(), queueMicrotask]) {
      const second = new AbortController();
      const onDisconnect = () => when(() => second.abort(new Error('enough')));
      const waiting = client.streamEvents({}, { signal: second.signal, onDisconnect });
      expect(await thrown(waiting)).toMatchObject({ message: 'enough' });
    }
  });
});

describe('a silent connection', () => {
  it('counts as broken, with and without earlier data', async () => {
    const dead = async ({ signal }: Request) =>
      new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error(String(signal.reason)))),
      );
    const disconnects: string[] = [];
    const steps: ((request: Request) => Response | Promise<Response>)[] = [opens(event(1)), dead, opens(event(2))];
    const client = new ResellerClient({
      ...access,
      sleep: async () => undefined,
      fetch: async (input, init) => steps.shift()?.(new Request(input, init)) ?? Response.error(),
    });
    const onDisconnect: StreamOptions['onDisconnect'] = ({ message }) => void disconnects.push(message);
    const events = client.streamEvents({}, { idleTimeoutMs: 20, onDisconnect });
    expect(await take(events, 2)).toEqual(['evt_1', 'evt_2']);
    expect(disconnects).toHaveLength(2);
    for (const message of disconnects) expect(message).toContain('nothing came for 20 ms');
  });
});
