import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ManualTimers } from '#test/support/manual-timers.ts';
import { closedTransports, get, post, SUCCESS } from '#test/support/network/http-transports.ts';
import { httpAnswer, startRawServer } from '#test/support/network/raw-server.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { createHttpTransport } from '#upstream/client/http.ts';

const { opened, serve, connect } = closedTransports();

describe('a sent request', () => {
  it('has the exact bytes of the body, their length, and no request for compression', async () => {
    const server = await serve({ onRequest: ({ socket }) => socket.write(SUCCESS) });
    const body = Buffer.from([0x7b, 0x00, 0xff, 0xfe, 0x0d, 0x0a, 0x0d, 0x0a, 0xc3, 0x28, 0x7d]);
    await connect(server.origin).send({ ...post, body });
    const [request] = server.requests;
    expect(request?.body.equals(body)).toBe(true);
    expect(request?.head).toMatch(/^POST \/orders HTTP\/1\.1\r\n/);
    expect(request?.head).toContain('content-type: application/json');
    expect(request?.head).toContain(`content-length: ${body.length}`);
    expect(request?.head).not.toMatch(/gzip|deflate|br\b/);
  });

  it('goes to the given origin only: a redirect is an ordinary answer', async () => {
    const elsewhere = await serve({ onRequest: ({ socket }) => socket.write(SUCCESS) });
    const server = await serve({
      onRequest: ({ socket }) => socket.write(httpAnswer(307, '', { location: `${elsewhere.origin}/orders` })),
    });
    const result = await connect(server.origin).send(post);
    expect(result).toMatchObject({ kind: 'answer', answer: { status: 307 } });
    expect(server.requests).toHaveLength(1);
    expect(elsewhere.connections()).toBe(0);
  });
});

describe('not_sent', () => {
  it('is a refused connection', async () => {
    const server = await serve({});
    await opened.pop()?.[Symbol.asyncDispose]();
    const reason = 'no connection could be opened (ECONNREFUSED)';
    expect(await connect(server.origin).send(post)).toEqual({ kind: 'no_answer', failure: 'not_sent', reason });
  });

  it.each<[string, (socket: Socket) => void]>([
    ['is cut', (socket) => socket.resetAndDestroy()],
    ['gets something else than TLS', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('is a TLS handshake that %s', async (_name, onFirstBytes) => {
    const server = await serve({ onFirstBytes });
    const result = await connect(server.origin.replace('http:', 'https:')).send(post);
    expect(result).toMatchObject({ failure: 'not_sent' });
    expect(server.requests).toHaveLength(0);
  });

  it('is a deadline that ends during the TLS handshake, without a later request', async () => {
    const timers = new ManualTimers();
    const server = await serve({});
    const result = connect(server.origin.replace('http:', 'https:'), { timers }).send(post);
    await waitFor('the handshake has begun', () => server.bytesReceived() > 0);
    timers.pass();
    const reason = 'no connection was open within 10000 ms';
    expect(await result).toEqual({ kind: 'no_answer', failure: 'not_sent', reason });
    opened.splice(0, 1);
    await server[Symbol.asyncDispose]();
  });

  it('is a deadline that ends during the wait for a connection, without a later request', async () => {
    const timers = new ManualTimers();
    const server = await serve({});
    const transport = connect(server.origin, { timers, connections: 1 });
    const first = transport.send({ ...get, path: '/first' });
    await waitFor('the first request has arrived', () => server.requests.length === 1);
    const second = transport.send({ ...get, path: '/second' });
    const third = transport.send({ ...get, path: '/third' });
    expect(timers.delays).toHaveLength(3);
    timers.pass();
    expect(await first).toMatchObject({ failure: 'timeout' });
    expect(await second).toMatchObject({ failure: 'not_sent' });
    expect(await third).toMatchObject({ failure: 'not_sent' });
    const after = transport.send({ ...get, path: '/after' });
    await waitFor('the next request has arrived', () => server.requests.length === 2);
    server.requests[1]?.socket.write(SUCCESS);
    expect(await after).toMatchObject({ kind: 'answer' });
    expect(server.requests.map(({ head }) => head.split(' ')[1])).toEqual(['/first', '/after']);
  });

  it.each([
    ['its deadline', { ...post, leaseLeftMs: () => 60_000 }],
    ['the sole right to send it', { ...post, leaseLeftMs: () => 10_000 }],
  ])('is the result when %s ended during a suspension, before its own timers fire', async (what, request) => {
    const timers = new ManualTimers();
    const server = await serve({ onRequest: ({ socket }) => socket.write(SUCCESS) });
    const transport = connect(server.origin, { timers });
    const sending = transport.send(request);
    // No connection is open yet.
    if (what === 'its deadline') timers.now += 10_000;
    expect(await sending).toMatchObject({ kind: 'no_answer', failure: 'not_sent' });
    expect(timers.delays).toEqual([]);
    expect(await transport.send(post)).toMatchObject({ kind: 'answer' });
    expect(server.requests).toHaveLength(1);
  });

  it('is never the result when a byte of the request has arrived, at any time of the reset', async () => {
    for (let round = 0; round < 40; round += 1) {
      const server = await startRawServer({
        onConnection: (socket) => setTimeout(() => socket.resetAndDestroy(), round % 4),
      });
      const transport = createHttpTransport({ origin: server.origin });
      const result = await transport.send(post);
      expect(result).toMatchObject({ kind: 'no_answer' });
      const saidNotSent = result.kind === 'no_answer' && result.failure === 'not_sent';
      expect(saidNotSent && server.bytesReceived() > 0).toBe(false);
      await transport.close();
      await server[Symbol.asyncDispose]();
    }
  });
});
