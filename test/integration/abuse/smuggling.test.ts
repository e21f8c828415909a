/** Ambiguous requests (request smuggling), and slow ones (slowloris). */
import { afterAll, describe, expect, it } from 'vitest';
import { startServer } from '#api/http/server.ts';
import { startTestApi } from '#test/support/network/api.ts';
import { rawRequest, sendRaw } from '#test/support/network/raw-http.ts';

const api = await startTestApi();
const authorization = (await api.caller(['orders:write', 'orders:read'])).headers['authorization'] ?? '';
afterAll(() => api[Symbol.asyncDispose]());

const BODY = JSON.stringify({ package_id: 101, external_order_id: 'smuggled' });
const post = (headers: readonly string[], body = BODY) => {
  const ours = [`Authorization: ${authorization}`, 'Content-Type: application/json', 'Idempotency-Key: smuggled'];
  return rawRequest('POST /v1/orders', [...ours, ...headers], body);
};
const get = (path: string, headers: readonly string[] = []) =>
  rawRequest(`GET ${path}`, [`Authorization: ${authorization}`, ...headers]);
const length = `Content-Length: ${BODY.length}`;
const chunked = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const hidden = () => get('/v1/orders?limit=7');

describe('an ambiguous request', () => {
  it.each<readonly [string, () => string]>([
    ['two lengths that differ', () => post([length, 'Content-Length: 0'])],
    ['a length and chunks', () => post([length, 'Transfer-Encoding: chunked'], chunked)],
    ['chunks and a length', () => post(['Transfer-Encoding: chunked', 'Content-Length: 4'], `${chunked}${hidden()}`)],
    ['a length with a sign', () => post([`Content-Length: +${BODY.length}`])],
    ['an unknown transfer encoding', () => post(['Transfer-Encoding: xchunked'], chunked)],
    ['white space before the colon', () => post([`Content-Length : ${BODY.length}`])],
    ['a chunk that ends with a bare LF', () => post(['Transfer-Encoding: chunked'], chunked.replaceAll('\r\n', '\n'))],
    ['a folded header', () => post(['X-Folded: one', ' two', length])],
    ['lines that end with a bare LF', () => post([length]).replaceAll('\r\n', '\n')],
    ['a NUL in a header', () => post(['X-One: a\0b', length])],
    [
      'an old version of HTTP with chunks',
      () => post(['Transfer-Encoding: chunked'], chunked).replace('HTTP/1.1', 'HTTP/1.0'),
    ],
  ])('is refused and closes its connection, without an answer to later requests: %s', async (_name, bytes) => {
    const { statuses, closed, text } = await sendRaw(api.baseUrl, [bytes(), hidden()]);
    expect([statuses.filter((status) => status < 400), closed], text).toEqual([[], true]);
    expect(text).not.toContain('smuggled');
  });

  it.each(['Host: other', 'Authorization: Bearer other', 'Content-Type: text/plain'])(
    'with a repeated decisive header is refused as a problem: %s',
    async (header) => {
      const answer = await sendRaw(api.baseUrl, [post([header, length]), get('/v1/orders', ['Connection: close'])]);
      expect(answer.statuses).toEqual([400, 200]);
      expect(answer.text).toContain('"code":"malformed_request"');
    },
  );

  it('has no effect in any of these forms, and an unambiguous request works', async () => {
    const reader = await api.caller(['orders:read']);
    expect((await reader.get('/v1/orders')).at('data')).toEqual([]);
    const plain = await sendRaw(api.baseUrl, [post([length]), get('/v1/orders?limit=7', ['Connection: close'])]);
    expect([plain.statuses, plain.closed]).toEqual([[202, 200], true]);
  });

  it('with too large headers is refused', async () => {
    const answer = await sendRaw(api.baseUrl, [get('/v1/orders', [`X-Large: ${'x'.repeat(20_000)}`])]);
    expect([answer.statuses, answer.closed]).toEqual([[431], true]);
  });
});

describe('a slow request', () => {
  it('ends during its headers, and during its body', async () => {
    let handled = 0;
    const server = await startServer(
      (_request, response) => {
        handled += 1;
        response.once('close', () => undefined);
      },
      { host: '127.0.0.1', port: 0 },
      0,
      { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 20 },
    );
    try {
      const url = `http://127.0.0.1:${server.port}`;
      const head = await sendRaw(url, ['GET / HTTP/1.1\r\nHost: api\r\nX-Slow:']);
      expect([head.statuses, head.closed, handled]).toEqual([[408], true, 0]);
      const body = await sendRaw(url, ['POST / HTTP/1.1\r\nHost: api\r\nContent-Length: 10\r\n\r\nx']);
      expect([body.statuses, body.closed]).toEqual([[408], true]);
    } finally {
      await server.stop();
    }
  });
});
