import { describe, expect, it } from 'vitest';
import { isProblem, NoAnswerError, ProblemError, ResellerClient } from '#clients/typescript/src/index.ts';
import {
  broken,
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
