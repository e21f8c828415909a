import { describe, expect, it } from 'vitest';
import { NoAnswerError, type ResellerClient } from '#clients/typescript/src/index.ts';
import { ok, order, page, testNetwork, thrown, torn, type Step } from '#test/support/network/client-network.ts';

const { client, keys, network } = testNetwork();

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
