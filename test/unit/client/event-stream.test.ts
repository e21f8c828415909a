import { afterEach, describe, expect, it } from 'vitest';
import {
  isProblem,
  NoAnswerError,
  ResellerClient,
  type Event,
  type StreamEventsQuery,
  type StreamOptions,
} from '#clients/typescript/src/index.ts';
import { broken, ClientNetwork, problem, torn, type Step } from '#test/support/network/client-network.ts';

let network = new ClientNetwork();
afterEach(() => {
  network = new ClientNetwork();
});

/** A stream over connections that do these things, one after the other. */
function stream(steps: readonly Step[], query: StreamEventsQuery = {}, options: StreamOptions = {}, random = 0) {
  return network.client(steps, { random: () => random }).streamEvents(query, options);
}

const HEADERS = { 'Content-Type': 'text/event-stream; charset=utf-8' };
/** A connection that brings this, and then ends as `end` says; without it, it stays open until the reader closes it. */
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
        // Comes only when what was brought before has been taken.
        pull: (controller) => {
          if (end === 'breaks') controller.error(new TypeError('terminated'));
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: HEADERS });
  };
}
const event = (n: number) =>
  `id: c${n}\nevent: order.held\ndata: ${JSON.stringify({ id: `evt_${n}`, type: 'order.held', subject: { kind: 'order', id: 'ord_1' } })}\n\n`;
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
/** What a stream ends with that is read for longer than it lasts. */
const thrown = async (events: AsyncIterable<Event>): Promise<unknown> =>
  take(events, 100).then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a stream of events', () => {
  it('is asked for with the key and the filter, and after the cursor that is named', async () => {
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

  it('goes on after the last event that was whole, over connections that end, break, or are not to be had', async () => {
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

  it('keeps its place on a connection that breaks before it says where it begins', async () => {
    await take(stream([opens(event(1), 'ends'), opens('retry: 2000\n\n: still here\n\n', 'ends'), opens(event(2))]), 2);
    expect(lastIds()).toEqual([null, 'c1', 'c1']);
  });

  it('begins where the first connection began, and follows what its filter left out', async () => {
    const events = stream([opens(begin(5), 'ends'), opens(': still here\nid: c9\n\n', 'ends'), opens(event(10))]);
    expect(await take(events, 1)).toEqual(['evt_10']);
    expect(lastIds()).toEqual([null, 'c5', 'c9']);
  });

  it('hands out one event at a time, with its own cursor, and can be read on after a break', async () => {
    const events = stream([opens(event(1) + event(2) + event(3)), opens(event(2))]);
    for await (const { id } of events) {
      expect([id, events.cursor]).toEqual(['evt_1', 'c1']);
      break;
    }
    expect(await take(events, 1)).toEqual(['evt_2']);
    expect(lastIds()).toEqual([null, 'c1']);
  });

  it('closes its connection when nobody reads on', async () => {
    let closed = 0;
    await take(stream([opens(event(1), undefined, () => void (closed += 1))]), 1);
    expect(closed).toBe(1);
  });
});

describe('the wait before the next connection', () => {
  it('is what the stream says, doubles with each failure up to a bound, and is short again after a success', async () => {
    const steps = [
      opens(`retry: 3000\n\n${event(1)}`, 'ends'),
      broken,
      broken,
      broken,
      broken,
      broken,
      opens(event(2), 'ends'),
      opens(event(3)),
    ];
    await take(stream(steps), 3);
    expect(network.slept).toEqual([3_000, 6_000, 12_000, 24_000, 30_000, 30_000, 3_000]);
  });

  it('is spread by chance, never below what was asked for, and never nothing', async () => {
    await take(
      stream([opens('retry: 0\n\n', 'ends'), opens('retry: 99999999999999\n\n', 'ends'), opens(event(1))], {}, {}, 1),
      1,
    );
    expect(network.slept).toEqual([250 * 1.25, 3_600_000 * 1.25]);
  });

  it('is what Retry-After says, within an hour', async () => {
    const steps = [
      problem(429, 'too_many_streams', { 'Retry-After': '2' }),
      problem(503, 'database_unavailable', { 'Retry-After': '90' }),
      problem(503, 'shutting_down', { 'Retry-After': '9999' }),
      opens(event(1)),
    ];
    await take(stream(steps), 1);
    expect(network.slept).toEqual([2_000, 90_000, 3_600_000]);
  });

  it('is reported to the logger of the caller', async () => {
    const told: unknown[] = [];
    const steps = [
      problem(503, 'database_unavailable'),
      () => new Response('<html>', { status: 502 }),
      opens(event(1)),
    ];
    await take(stream(steps, {}, { onDisconnect: ({ status }, nextInMs) => void told.push([status, nextInMs]) }), 1);
    expect(told).toEqual([
      [503, 2_000],
      [502, 4_000],
    ]);
  });
});

describe('the end of a stream', () => {
  it.each([
    [400, 'validation_failed'],
    [401, 'unauthenticated'],
    [403, 'missing_scope'],
    [410, 'cursor_expired'],
  ] as const)('comes with %i, which no further try would change', async (status, code) => {
    const error = await thrown(stream([opens(event(1), 'ends'), problem(status, code)]));
    expect(error).toMatchObject({ name: 'ProblemError', status, code, requestId: 'req_1' });
    expect(isProblem(error)).toBe(true);
    expect(network.seen).toHaveLength(2);
  });

  it('comes when something else answers: a page, a redirect, a path that is not there', async () => {
    const page: Step = () => new Response('<html>Welcome</html>', { headers: { 'Content-Type': 'text/html' } });
    for (const [step, status] of [
      [page, 200],
      [() => new Response(null, { status: 302, headers: { Location: '/login' } }), 302],
      [() => new Response('no', { status: 404 }), 404],
    ] as const) {
      expect(await thrown(stream([step]))).toMatchObject({ name: 'NoAnswerError', status });
    }
    expect(network.slept).toEqual([]);
    // The key goes to the address that was given, and nowhere else.
    expect(new Set(network.seen.map(({ redirect }) => redirect))).toEqual(new Set(['manual']));
  });

  it('does not come with a refusal that breaks off, but with the whole one', async () => {
    const error = await thrown(stream([opens(event(1), 'ends'), torn('breaks', 410), problem(410, 'cursor_expired')]));
    expect(isProblem(error, 'cursor_expired')).toBe(true);
    expect(network.seen).toHaveLength(3);
  });

  it('comes with what is no event, instead of the same again and again', async () => {
    for (const data of ['{"id":', '[]', '"text"', '{"id":"evt_1"}'])
      expect(await thrown(stream([opens(`id: c1\ndata: ${data}\n\n`)]))).toBeInstanceOf(TypeError);
    expect(network.seen).toHaveLength(4);
  });

  it('comes after so many connections in a row that failed as the reader allows', async () => {
    const error = await thrown(stream([opens(event(1), 'ends'), broken, broken, broken], {}, { retries: 3 }));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(network.seen).toHaveLength(4);
    expect(await thrown(stream([broken], {}, { retries: 0 }))).toMatchObject({
      message: expect.stringContaining('socket hang up'),
    });
  });
});

describe('a reader that gives up', () => {
  it('gets no further event, and nothing is sent any more', async () => {
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

  it('is heard while it waits for an event, and while it waits for the next connection', async () => {
    const first = new AbortController();
    const events = stream([opens(event(1))], {}, { signal: first.signal })[Symbol.asyncIterator]();
    await events.next();
    const next = events.next();
    first.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');

    const inAnHour = opens('retry: 3600000\n\n', 'ends');
    const client = new ResellerClient({
      baseUrl: 'https://api.example.com',
      apiKey: 'rsk_test',
      fetch: async (input, init) => inAnHour(new Request(input, init)),
    });
    // Before the wait has begun, and then.
    for (const when of [(abort: () => void) => abort(), queueMicrotask]) {
      const second = new AbortController();
      const waiting = client.streamEvents(
        {},
        { signal: second.signal, onDisconnect: () => when(() => second.abort(new Error('enough'))) },
      );
      expect(await thrown(waiting)).toMatchObject({ message: 'enough' });
    }
  });
});

describe('a connection that falls silent', () => {
  it('counts as broken, whether it brought something before or never answered', async () => {
    const dead = async ({ signal }: Request) =>
      new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error(String(signal.reason)))),
      );
    const told: string[] = [];
    const steps: ((request: Request) => Response | Promise<Response>)[] = [opens(event(1)), dead, opens(event(2))];
    const client = new ResellerClient({
      baseUrl: 'https://api.example.com',
      apiKey: 'rsk_test',
      sleep: async () => undefined,
      fetch: async (input, init) => steps.shift()?.(new Request(input, init)) ?? Response.error(),
    });
    const events = client.streamEvents(
      {},
      { idleTimeoutMs: 20, onDisconnect: ({ message }) => void told.push(message) },
    );
    expect(await take(events, 2)).toEqual(['evt_1', 'evt_2']);
    expect(told).toEqual([
      expect.stringContaining('nothing came for 20 ms'),
      expect.stringContaining('nothing came for 20 ms'),
    ]);
  });
});
