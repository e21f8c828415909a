import { describe, expect, it } from 'vitest';
import { isProblem, NoAnswerError, type OnResponse, type ResellerClient } from '#clients/typescript/src/index.ts';
import {
  broken,
  ClientNetwork,
  ok,
  order,
  page,
  problem,
  testNetwork,
  thrown,
  torn,
  type Step,
} from '#test/support/network/client-network.ts';

const { client, keys, network } = testNetwork();
const answer =
  (body: string | null, init: ResponseInit): Step =>
  () =>
    new Response(body, init);
const json = { headers: { 'Content-Type': 'application/json' } };
const reason = { reason: 'test' };

/** Whether a call with a key is sent again, and one that changes something without a key. */
const FAILURES: [string, Step, keyed: boolean, action: boolean][] = [
  ['a connection that breaks', broken, true, false],
  ['a success that breaks off', torn('breaks', 202), true, false],
  ['a refusal that breaks off', torn('breaks', 409), true, false],
  ['500', problem(500, 'internal_error'), true, false],
  ['503', problem(503, 'database_unavailable', { 'Retry-After': '1' }), true, false],
  ['a call with the same key under way', problem(409, 'idempotency_in_progress'), true, false],
  // It was not carried out.
  ['429', problem(429, 'rate_limited', { 'Retry-After': '3' }), true, true],
  ['a page of a proxy with status 200', page, true, false],
  ['half an object', answer('{"id":"ord', json), true, false],
  ['a text in place of an object', ok('OK'), true, false],
  ['a page of a proxy with status 502', answer('<html>', { status: 502 }), true, false],
  ['a refusal without a known code', () => Response.json({ code: 502 }, { status: 502 }), true, false],
  ['a time-out of a proxy', answer('Request Timeout', { status: 408 }), true, false],
  ['a refusal', problem(409, 'external_order_id_taken'), false, false],
  ['a call that the service does not have', problem(501, 'service_does_not_offer'), false, false],
  ['a redirect', answer(null, { status: 307, headers: { Location: 'https://elsewhere.example/' } }), false, false],
  ['an unknown path of another server', answer('no', { status: 404 }), false, false],
];

describe('a failed try', () => {
  it.each(FAILURES)('by %s is repeated with the same key, or not at all', async (_what, step, keyed, action) => {
    const error = await thrown(client(step, ok({ id: 'ord_1' })).createOrder(order));
    expect([error === undefined, network.seen.length]).toEqual([keyed, keyed ? 2 : 1]);
    expect(new Set(keys()).size).toBe(1);
    expect(new Set(network.seen.map(({ redirect }) => redirect))).toEqual(new Set(['manual']));
    const sent = network.seen.length;
    await thrown(client(step, ok({})).retryOrder('ord_1', reason));
    expect(network.seen.length - sent).toBe(action ? 2 : 1);
  });

  it.each(FAILURES)(
    'of a deletion by %s is repeated with its key, and without one only after 429',
    async (_what, step, keyed, action) => {
      await thrown(client(step, ok({})).endPause('pau_1', reason));
      expect(keys()).toEqual(Array(action ? 2 : 1).fill(null));
      network.seen.length = 0;
      await thrown(client(step, ok({})).startAfterDrift('order', reason));
      expect(network.seen.map(({ method }) => method)).toEqual(Array(keyed ? 2 : 1).fill('DELETE'));
      expect(new Set(keys()).size).toBe(1);
      expect(keys()[0]).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('has the time limit of one try', async () => {
    const api = network.client([torn('hangs'), torn('hangs', 500), ok({ id: 'ord_1' })], { timeoutMs: 20 });
    expect(await api.createOrder(order)).toEqual({ id: 'ord_1' });
    const error = await thrown(network.client([torn('hangs')], { timeoutMs: 20, retries: 0 }).getWallet());
    expect(error).toMatchObject({ name: 'NoAnswerError', status: 200, cause: { name: 'TimeoutError' } });
  });
});

describe('the delay before the next try', () => {
  it('doubles each time, and the tries end', async () => {
    const error = await thrown(client(broken, broken, broken, broken, broken).getWallet());
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(network.slept).toEqual([250, 500, 1_000, 2_000]);
  });

  it('is that of Retry-After of a refusal, also of a proxy, not of a success, which is about the work', async () => {
    const busy = answer('busy', { status: 503, headers: { 'Retry-After': '5' } });
    const refused = torn('breaks', 503, { 'Retry-After': '2' });
    await client(busy, refused, torn('breaks', 202, { 'Retry-After': '30' }), ok({})).createOrder(order);
    expect(network.slept).toEqual([5_000, 2_000, 1_000]);
  });

  it('of minutes is left to the caller', async () => {
    const error = await thrown(client(problem(503, 'service_unavailable', { 'Retry-After': '3600' })).getWallet());
    expect(error).toMatchObject({ retryAfterMs: 3_600_000 });
    expect(network.slept).toEqual([]);
  });
});

describe('an abort by the caller', () => {
  it.each<[string, (abort: (why: unknown) => void) => Step]>([
    ['before the call', (abort) => (abort('enough'), broken)],
    [
      'while an answer comes',
      (abort) => (request) => {
        setImmediate(() => abort('enough'));
        return torn('hangs')(request);
      },
    ],
  ])('%s ends it with its reason, of any type', async (_when, stepOf) => {
    const given = new AbortController();
    const step = stepOf((why) => given.abort(why));
    expect(await thrown(client(step).getWallet({ signal: given.signal }))).toBe('enough');
    expect(network.seen.length).toBeLessThanOrEqual(1);
  });

  it('ends the delay before the next try', async () => {
    const given = new AbortController();
    const sleep = async (_ms: number, signal: AbortSignal | undefined) => {
      given.abort('enough');
      signal?.throwIfAborted();
    };
    expect(await thrown(network.client([broken], { sleep }).getWallet({ signal: given.signal }))).toBe('enough');
  });
});

describe('the key of a call that creates something', () => {
  it('is its own, or that of its caller, beside the same body in each try', async () => {
    await client(broken, ok({})).createOrder(order);
    expect(await Promise.all(network.seen.map((request) => request.json()))).toEqual([order, order]);
    expect(keys()[0]).toMatch(/^[0-9a-f-]{36}$/);
    await client(ok({})).createOrder(order);
    expect(keys()[2]).not.toBe(keys()[0]);
    await client(ok({})).createOrder(order, { idempotencyKey: 'sale-1' });
    expect(keys().at(-1)).toBe('sale-1');
  });

  it('is in the error, so that its caller can continue later', async () => {
    for (const step of [broken, torn('breaks'), page, problem(500, 'internal_error')]) {
      const error = await thrown(network.client([step], { retries: 0 }).createOrder(order));
      expect(error).toMatchObject({ idempotencyKey: keys().at(-1) });
    }
    const taken = client(problem(409, 'external_order_id_taken')).createOrder(order, { idempotencyKey: 'sale-1' });
    expect(await thrown(taken)).toMatchObject({ idempotencyKey: 'sale-1' });
    expect(await thrown(client(broken).retryOrder('ord_1', reason))).toMatchObject({ idempotencyKey: undefined });
  });
});

describe('the error', () => {
  it('of a refusal has its code, status and request id', async () => {
    const error = await thrown(client(problem(409, 'external_order_id_taken')).createOrder(order));
    expect(isProblem(error, 'external_order_id_taken')).toBe(true);
    expect(isProblem(error, 'order_not_found')).toBe(false);
    expect(error).toMatchObject({ code: 'external_order_id_taken', status: 409, requestId: 'req_1' });
  });

  it.each<[string, (api: ResellerClient) => Promise<unknown>]>([
    ['an object', (api) => api.getWallet()],
    ['an image as text', (api) => api.getEsimQrSvg('esim_1')],
    ['an image', (api) => api.getEsimQrPng('esim_1')],
  ])('of %s that breaks off, or comes from another server, has its status', async (_what, call) => {
    const alone = (step: Step) => network.client([step], { retries: 0 });
    const cause = new TypeError('terminated');
    expect(await thrown(call(alone(torn('breaks'))))).toMatchObject({ name: 'NoAnswerError', status: 200, cause });
    const foreign = { status: 200, cause: undefined, message: expect.stringContaining('text/html') };
    expect(await thrown(call(alone(page)))).toMatchObject({ name: 'NoAnswerError', ...foreign });
  });
});

/** A client on a network with these steps, and the observed answers. */
function observed(steps: readonly Step[], onResponse?: OnResponse) {
  const network = new ClientNetwork();
  const lines: string[] = [];
  const note: OnResponse = ({ operation, method, path, status, headers }) =>
    void lines.push(`${operation} ${method} ${path} ${status} ${headers.get('X-Request-Id')}`);
  return { network, lines, api: network.client(steps, { onResponse: onResponse ?? note }), note };
}

describe('an observer of answers', () => {
  it('gets each answer of each try with the name of its call, also broken ones', async () => {
    const id = { 'X-Request-Id': 'req_1' };
    const { api, lines } = observed([
      broken,
      problem(503, 'database_unavailable', id),
      torn('breaks', 202, id),
      ok({ id: 'ord_1' }, { 'X-Request-Id': 'req_2' }),
      problem(404, 'order_not_found', id),
    ]);
    await api.createOrder(order);
    await thrown(api.getOrder('ord_2'));
    expect(lines).toEqual([
      'createOrder POST /v1/orders 503 req_1',
      'createOrder POST /v1/orders 202 req_1',
      'createOrder POST /v1/orders 200 req_2',
      'getOrder GET /v1/orders/ord_2 404 req_1',
    ]);
  });

  it('of one call gets the answers of that call only, also of lists and waits', async () => {
    const held = { id: 'ord_1', status: 'held' };
    const steps = [ok(held), ok({ data: [], next_cursor: null }), ok({ ...held, status: 'completed' })];
    const { api, lines, note } = observed(steps, () => undefined);
    await api.getOrder('ord_1');
    await api.listOrders({}, { onResponse: note }).page();
    await api.waitFor(held, { onResponse: note });
    expect(lines).toEqual(['listOrders GET /v1/orders 200 null', 'getOrder GET /v1/orders/ord_1 200 null']);
  });

  it('ends the call with its own error, without a resend', async () => {
    const fails = () => {
      throw new TypeError('my own mistake');
    };
    const { api, network } = observed([ok({ id: 'ord_1' })], fails);
    expect(await thrown(api.createOrder(order))).toMatchObject({ name: 'TypeError', message: 'my own mistake' });
    const stream = observed([problem(503, 'shutting_down')], fails);
    const next = stream.api.streamEvents()[Symbol.asyncIterator]().next();
    expect(await thrown(next)).toMatchObject({ message: 'my own mistake' });
    expect([...network.seen, ...stream.network.seen]).toHaveLength(2);
  });
});
