import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  isProblem,
  NoAnswerError,
  Paged,
  ProblemError,
  ResellerClient,
  StillInProgressError,
} from '#clients/typescript/src/index.ts';
import { broken, ClientNetwork, problem, torn, type Step } from '#test/support/network/client-network.ts';

const ok =
  (body: unknown, headers: Record<string, string> = {}): Step =>
  () =>
    Response.json(body, { headers });
/** Of a proxy that reports success. */
const page: Step = () =>
  new Response('<html>Back soon</html>', { headers: { 'Content-Type': 'text/html; charset=utf-8' } });

let network = new ClientNetwork();
afterEach(() => {
  network = new ClientNetwork();
});

/** A client on a network with these steps in turn. */
function client(...steps: Step[]): ResellerClient {
  return network.client(steps, { random: () => 1 });
}

const order = { package_id: 1001, external_order_id: 'sale-1' };
const keys = () => network.seen.map(({ headers }) => headers.get('Idempotency-Key'));
const thrown = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a call that creates something', () => {
  it('has its own key, and keeps it in retries', async () => {
    const api = client(
      broken,
      problem(503, 'database_unavailable', { 'Retry-After': '2' }),
      problem(409, 'idempotency_in_progress', { 'Retry-After': '1' }),
      ok({ id: 'ord_1' }),
    );
    expect(await api.createOrder(order)).toEqual({ id: 'ord_1' });
    expect(network.seen).toHaveLength(4);
    expect(new Set(keys()).size).toBe(1);
    expect(keys()[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(await Promise.all(network.seen.map((request) => request.json()))).toEqual([order, order, order, order]);
    expect(network.slept).toEqual([250, 2_000, 1_000]);

    const second = client(ok({}));
    await second.createOrder(order);
    expect(keys()[4]).not.toBe(keys()[0]);
  });

  it('is sent again after any failure of the other side, because it has a key', async () => {
    const api = client(
      problem(500, 'internal_error'),
      problem(502, 'service_failed'),
      problem(504, 'service_timeout'),
      ok({ id: 'ord_1' }),
    );
    expect(await api.createOrder(order)).toEqual({ id: 'ord_1' });
    expect(new Set(keys()).size).toBe(1);
    expect(network.slept).toEqual([250, 500, 1_000]);
    // A missing call of the service is permanent.
    expect(
      isProblem(await thrown(client(problem(501, 'service_does_not_offer')).getWallet()), 'service_does_not_offer'),
    ).toBe(true);
  });

  it('uses the key of its caller', async () => {
    await client(ok({})).createOrder(order, { idempotencyKey: 'sale-1' });
    expect(keys()).toEqual(['sale-1']);
  });

  it('contains its key in the error, so that its caller can continue later', async () => {
    for (const step of [
      broken,
      torn('breaks'),
      page,
      problem(500, 'internal_error'),
      () => new Response('busy', { status: 503 }),
    ]) {
      const seen = network.seen.length;
      const error = await thrown(network.client([step], { retries: 0 }).createOrder(order));
      expect(error).toMatchObject({ idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/) });
      expect(error).toMatchObject({ idempotencyKey: keys()[seen] });
    }
    expect(
      await thrown(client(problem(409, 'external_order_id_taken')).createOrder(order, { idempotencyKey: 'sale-1' })),
    ).toMatchObject({ idempotencyKey: 'sale-1' });
    expect(await thrown(client(problem(404, 'order_not_found')).getOrder('ord_1'))).toMatchObject({
      idempotencyKey: undefined,
    });
    expect(await thrown(client(broken).retryOrder('ord_1', { reason: 'test' }))).toMatchObject({
      idempotencyKey: undefined,
    });
  });

  it('is not sent again after a refusal', async () => {
    const error = await thrown(client(problem(409, 'external_order_id_taken')).createOrder(order));
    expect(isProblem(error, 'external_order_id_taken')).toBe(true);
    expect(isProblem(error, 'order_not_found')).toBe(false);
    expect(error).toMatchObject({ code: 'external_order_id_taken', status: 409, requestId: 'req_1' });
    expect(network.seen).toHaveLength(1);
  });
});

describe('an action without a key', () => {
  it('is never sent again when it may have been executed', async () => {
    const reason = { reason: 'test' };
    expect(await thrown(client(broken).retryOrder('ord_1', reason))).toBeInstanceOf(NoAnswerError);
    expect(
      await thrown(client(problem(503, 'database_unavailable', { 'Retry-After': '1' })).retryOrder('ord_1', reason)),
    ).toBeInstanceOf(ProblemError);
    expect(await thrown(client(torn('breaks')).retryOrder('ord_1', reason))).toMatchObject({
      name: 'NoAnswerError',
      status: 200,
    });
    expect(await thrown(client(page).retryOrder('ord_1', reason))).toMatchObject({
      name: 'NoAnswerError',
      status: 200,
    });
    expect(network.seen).toHaveLength(4);
    expect(network.slept).toEqual([]);
  });

  it('is sent again after 429, because it was not executed', async () => {
    await client(problem(429, 'rate_limited', { 'Retry-After': '3' }), ok({})).retryOrder('ord_1', { reason: 'test' });
    expect(network.slept).toEqual([3_000]);
  });
});

describe('a broken answer', () => {
  it('counts as none, so the same call is sent again with the same key', async () => {
    const api = client(
      torn('breaks', 202, { 'Retry-After': '30' }),
      torn('breaks', 409),
      torn('breaks', 503, { 'Retry-After': '2' }),
      ok({ id: 'ord_1' }),
    );
    expect(await api.createOrder(order)).toEqual({ id: 'ord_1' });
    expect(keys()).toHaveLength(4);
    expect(new Set(keys()).size).toBe(1);
    // Retry-After of a success is about the work, not about the next try.
    expect(network.slept).toEqual([250, 500, 2_000]);
  });

  it('is reported with its status when no further one arrives', async () => {
    const calls: ((api: ResellerClient) => Promise<unknown>)[] = [
      (api) => api.getWallet(),
      (api) => api.getEsimQrSvg('esim_1'),
      (api) => api.getEsimQrPng('esim_1'),
    ];
    for (const call of calls) {
      const error = await thrown(call(network.client([torn('breaks'), torn('breaks')], { retries: 1 })));
      expect(error).toBeInstanceOf(NoAnswerError);
      expect(error).toMatchObject({
        status: 200,
        cause: new TypeError('terminated'),
        message: expect.stringContaining('broke off: terminated'),
      });
    }
    expect(network.seen).toHaveLength(6);
  });

  it('has the time limit of one try', async () => {
    const api = network.client([torn('hangs'), torn('hangs', 500), ok({ id: 'ord_1' })], { timeoutMs: 20 });
    expect(await api.createOrder(order)).toEqual({ id: 'ord_1' });
    expect(new Set(keys()).size).toBe(1);
    const error = await thrown(network.client([torn('hangs')], { timeoutMs: 20, retries: 0 }).getWallet());
    expect(error).toMatchObject({ name: 'NoAnswerError', status: 200, cause: { name: 'TimeoutError' } });
  });

  it('is not awaited after the caller aborts', async () => {
    const given = new AbortController();
    const step: Step = (request) => {
      setImmediate(() => given.abort(new Error('enough')));
      return torn('hangs')(request);
    };
    expect(await thrown(client(step).getWallet({ signal: given.signal }))).toMatchObject({ message: 'enough' });
    expect(network.seen).toHaveLength(1);
  });
});

describe('an answer of another server', () => {
  it('is no success with any status, and the call is sent again with the same key', async () => {
    const half: Step = () => new Response('{"id":"ord', { headers: { 'Content-Type': 'application/json' } });
    expect(await client(page, half, ok('OK'), ok(null), ok({ id: 'ord_1' })).createOrder(order)).toEqual({
      id: 'ord_1',
    });
    expect(keys()).toHaveLength(5);
    expect(new Set(keys()).size).toBe(1);
  });

  it('is not returned as an image', async () => {
    const svg: Step = () => new Response('<svg/>', { headers: { 'Content-Type': 'image/svg+xml' } });
    expect(await client(page, svg).getEsimQrSvg('esim_1')).toBe('<svg/>');
    expect(await client(page, () => new Response('PNG')).getEsimQrPng('esim_1')).toEqual(
      new TextEncoder().encode('PNG'),
    );
    const error = await thrown(network.client([page], { retries: 0 }).getEsimQrPng('esim_1'));
    expect(error).toMatchObject({
      name: 'NoAnswerError',
      status: 200,
      cause: undefined,
      message: expect.stringContaining('text/html'),
    });
  });

  it('as a redirect is neither followed nor repeated', async () => {
    const error = await thrown(
      client(
        () => new Response(null, { status: 307, headers: { Location: 'https://elsewhere.example.com/' } }),
      ).createOrder(order),
    );
    expect(error).toMatchObject({ name: 'NoAnswerError', status: 307 });
    expect(network.seen.map(({ redirect }) => redirect)).toEqual(['manual']);
  });

  it('as a refusal without a known code is repeated', async () => {
    const gateway: Step = () => Response.json({ code: 502, status: 'error', request_id: 'abc' }, { status: 502 });
    expect(await client(gateway, ok({ id: 'ord_1' })).createOrder(order)).toEqual({ id: 'ord_1' });
  });

  it('as a time-out of a proxy is repeated', async () => {
    const late: Step = () => new Response('Request Timeout', { status: 408 });
    expect(await client(late, ok({ id: 'ord_1' })).createOrder(order)).toEqual({ id: 'ord_1' });
    expect(await thrown(client(late).retryOrder('ord_1', { reason: 'test' }))).toMatchObject({ status: 408 });
  });
});

describe('retries', () => {
  it('wait longer each time, and end', async () => {
    const error = await thrown(client(broken, broken, broken, broken, broken).getWallet());
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(network.slept).toEqual([250, 500, 1_000, 2_000]);
  });

  it('return a wait of minutes to the caller', async () => {
    const error = await thrown(client(problem(503, 'service_unavailable', { 'Retry-After': '3600' })).getWallet());
    expect(error).toMatchObject({ retryAfterMs: 3_600_000 });
    expect(network.slept).toEqual([]);
  });

  it('end at once when the caller aborts', async () => {
    const given = new AbortController();
    given.abort(new Error('enough'));
    expect(await thrown(client(broken).getWallet({ signal: given.signal }))).toMatchObject({ message: 'enough' });
  });

  it('end during a delay with the abort reason of the caller, of any type', async () => {
    const given = new AbortController();
    const fetch = async () => {
      setImmediate(() => given.abort('enough'));
      throw new TypeError('socket hang up');
    };
    const api = new ResellerClient({ baseUrl: 'https://api.example.com', apiKey: 'rsk_test', fetch });
    expect(await thrown(api.getWallet({ signal: given.signal }))).toBe('enough');
  });

  it('follow the failure of a proxy, without using its page as an answer of the API', async () => {
    const down: Step = () => new Response('<html>Bad gateway</html>', { status: 502 });
    const error = await thrown(client(down, down, down, down, down).getWallet());
    expect(error).toMatchObject({ name: 'NoAnswerError', status: 502 });
    expect(network.seen).toHaveLength(5);
    expect(await thrown(client(() => new Response('no', { status: 404 })).getWallet())).toMatchObject({ status: 404 });
  });

  it('wait as long as a proxy requires', async () => {
    const busy: Step = () => new Response('busy', { status: 503, headers: { 'Retry-After': '5' } });
    await client(busy, ok({})).getWallet();
    expect(network.slept).toEqual([5_000]);
  });
});

describe('a list', () => {
  it('is read page by page, and only as far as it is used', async () => {
    const list = client(
      ok({ data: [{ id: 1 }, { id: 2 }], next_cursor: 'a b' }),
      ok({ data: [{ id: 3 }], next_cursor: null }),
    ).listOrders({ status: 'held', limit: 2 });
    expect(list).toBeInstanceOf(Paged);
    const ids: unknown[] = [];
    for await (const { id } of list) ids.push(id);
    expect(ids).toEqual([1, 2, 3]);
    expect(network.seen.map(({ url }) => url)).toEqual([
      'https://api.example.com/v1/orders?status=held&limit=2',
      'https://api.example.com/v1/orders?status=held&limit=2&cursor=a+b',
    ]);
    expect(
      await client(ok({ data: [{ id: 1 }, { id: 2 }], next_cursor: 'more' }))
        .listOrders()
        .take(1),
    ).toEqual([{ id: 1 }]);
  });

  it('of events ends with the last page, although its cursor never ends', async () => {
    const list = client(
      ok({ data: [{ id: 1 }], next_cursor: 'a', has_more: true }),
      ok({ data: [{ id: 2 }], next_cursor: 'b', has_more: false }),
    ).listEvents();
    const ids: unknown[] = [];
    for await (const { id } of list) ids.push(id);
    expect(ids).toEqual([1, 2]);
    expect(network.seen).toHaveLength(2);
  });
});

describe('a wait', () => {
  it('adds to the time limit of a call, in each form', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const api = client(ok({}), ok({}), ok({ data: [], next_cursor: 'a', has_more: false }), ok({}));
    await api.createOrder(order, { wait: 20 });
    await api.getOrder('ord_1', { wait: 45 });
    await api.listEvents({ wait: 10 }).page();
    await api.getOrder('ord_1');
    expect(timeout.mock.calls).toEqual([[50_000], [75_000], [40_000], [30_000]]);
    timeout.mockRestore();
  });

  it('ends when an operator must act, and at its time limit', async () => {
    const held = { id: 'ord_1', status: 'held' };
    const withCase = { id: 'ord_1', status: 'needs_attention' };
    expect(await client(ok(held), ok(withCase)).waitFor(held)).toEqual(withCase);
    const error = await thrown(client().waitFor(held, { timeoutMs: 0 }));
    expect(error).toBeInstanceOf(StillInProgressError);
    expect(error).toMatchObject({ work: held });
  });

  it('ends with the work when that has another end than the awaited one', async () => {
    const held = { id: 'ord_1', status: 'held' };
    const failed = { id: 'ord_1', status: 'failed' };
    expect(await client(ok(failed)).waitFor(held, { until: ['completed'] })).toEqual(failed);
    expect(network.seen).toHaveLength(1);
    expect(network.slept).toEqual([]);
    expect(await client().waitFor(failed, { until: ['completed'] })).toEqual(failed);
    // Needs attention, and continues afterwards.
    const withCase = { id: 'ord_1', status: 'needs_attention' };
    expect(await client(ok(withCase), ok(failed)).waitFor(held, { until: ['completed'] })).toEqual(failed);
  });

  it('uses the wait of the API, and does not hurry an API without waits', async () => {
    const work = { id: 'ord_1', status: 'accepted' };
    const held = { id: 'ord_1', status: 'held' };
    expect(await client(ok(work), ok(held)).waitFor(work, { until: ['held', 'completed'] })).toEqual(held);
    expect(network.seen.map(({ url }) => new URL(url).searchParams.get('until'))).toEqual([
      'held,completed',
      'held,completed',
    ]);
    expect(network.slept).toEqual([500]);
  });

  it('continues after Retry-After when the API did not wait, within its own time limit', async () => {
    const work = { id: 'ord_1', status: 'accepted' };
    const done = { id: 'ord_1', status: 'completed' };
    const busy = { 'Retry-After': '2' };
    expect(
      await client(
        ok(work, busy),
        ok(work, { 'Retry-After': '60', 'Preference-Applied': 'wait=20' }),
        ok(done),
      ).waitFor(work, { timeoutMs: 30_000 }),
    ).toEqual(done);
    // The second answer did wait. The half second is for an API that answers early.
    expect(network.slept).toEqual([2_000, 500]);
    await client(ok(work, busy), ok(done)).waitFor(work, { timeoutMs: 1_200 });
    expect(network.slept.at(-1)).toBeLessThanOrEqual(1_200);
  });
});
