import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { ANSWER_LIMITS } from '#domain/policy/answer-limits.ts';
import { ManualTimers } from '#test/support/manual-timers.ts';
import { closedTransports, get, post, SUCCESS } from '#test/support/network/http-transports.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { exchange, systemTimers, type HttpRequest } from '#upstream/client/http.ts';

const { serve, connect } = closedTransports();

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
const HALF_ANSWER = `${OK}content-type: application/json\r\ncontent-length: 100\r\n\r\n{"id":`;

describe('connection_lost', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['reset without an answer', (socket) => socket.resetAndDestroy()],
    ['ended without an answer', (socket) => socket.end()],
    ['ended in the status line', (socket) => socket.end('HTTP/1.1 20')],
    ['ended in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
    ['ended in the body', (socket) => socket.end(HALF_ANSWER)],
    ['reset in the body', (socket) => socket.write(HALF_ANSWER, () => socket.resetAndDestroy())],
    ['ended between chunks', (socket) => socket.end(`${CHUNKED}2\r\n{}\r\n`)],
  ])('is a connection that is %s; the request is sent once', async (_name, breakOff) => {
    const server = await serve({ onRequest: ({ socket }) => breakOff(socket) });
    for (const request of [post, get])
      expect(await connect(server.origin).send(request)).toMatchObject({ failure: 'connection_lost' });
    expect(server.requests).toHaveLength(2);
  });

  it('is a connection that breaks while a large request is still being written', async () => {
    const server = await serve({ onFirstBytes: (socket) => socket.resetAndDestroy() });
    const result = await connect(server.origin).send({ ...post, body: Buffer.alloc(8 * 1_048_576, 'x') });
    expect(result).toMatchObject({ failure: 'connection_lost' });
    expect(server.connections()).toBe(1);
  });

  it.each(['GET', 'POST'] as const)(
    'is a reset of a kept connection at its reuse by %s, and nothing is sent again',
    async (method) => {
      const server = await serve({
        onRequest: ({ socket, number }) => (number === 1 ? socket.write(SUCCESS) : socket.resetAndDestroy()),
      });
      const transport = connect(server.origin, { connections: 1 });
      const request: HttpRequest = { ...(method === 'GET' ? get : post), ownConnection: false };
      expect(await transport.send(request)).toMatchObject({ kind: 'answer' });
      expect(await transport.send(request)).toMatchObject({ failure: 'connection_lost' });
      expect(server.requests.map(({ connection }) => connection)).toEqual([1, 1]);
      expect(server.connections()).toBe(1);
    },
  );

  it('or an answer, but never a second send, when the server closes a kept connection at that moment', async () => {
    const answered = new Set<string>();
    const server = await serve({
      onRequest: ({ socket, head }) => {
        answered.add(head.split(' ')[1] ?? '');
        socket.write(SUCCESS);
        setImmediate(() => socket.end());
      },
    });
    const transport = connect(server.origin, { connections: 1 });
    for (let number = 0; number < 50; number += 1) {
      const result = await transport.send({ ...post, path: `/orders/${number}`, ownConnection: false });
      expect(['answer', 'connection_lost']).toContain(result.kind === 'answer' ? 'answer' : result.failure);
    }
    expect(server.requests).toHaveLength(answered.size);
  });

  it('prevents undici from writing the request again, before the first byte', async () => {
    const starts: string[] = [];
    const controller = { abort: () => undefined, aborted: false, paused: false, reason: null, pause() {}, resume() {} };
    const dispatcher: Pick<Dispatcher, 'dispatch'> = {
      dispatch: (_options, handler) => {
        for (const start of ['first', 'second']) {
          try {
            handler.onRequestStart?.(controller, undefined);
            starts.push(start);
          } catch {
            starts.push(`${start} refused`);
          }
        }
        return true;
      },
    };
    expect(await exchange(dispatcher, post, systemTimers)).toMatchObject({ failure: 'connection_lost' });
    expect(starts).toEqual(['first', 'second refused']);
  });
});

describe('timeout', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['before the answer', () => undefined],
    ['in the headers', (socket) => socket.write(`${OK}content-`)],
    ['after an interim answer', (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['in the body', (socket) => socket.write(HALF_ANSWER)],
  ])('is a deadline that passes %s; the connection is closed', async (_name, begin) => {
    const timers = new ManualTimers();
    let closed = false;
    const server = await serve({
      onRequest: ({ socket }) => {
        socket.on('close', () => (closed = true));
        begin(socket);
      },
    });
    const result = connect(server.origin, { timers }).send(post);
    await waitFor('the request has arrived', () => server.requests.length === 1);
    timers.pass();
    const reason = 'no complete answer within 10000 ms';
    expect(await result).toEqual({ kind: 'no_answer', failure: 'timeout', reason });
    await waitFor('the connection is closed', () => closed);
    expect(server.requests).toHaveLength(1);
  });

  it('ends a body that never ends', async () => {
    const server = await serve({
      onRequest: ({ socket }) => {
        socket.write(CHUNKED);
        const drip = setInterval(() => socket.write('1\r\n \r\n'), 5);
        socket.on('close', () => clearInterval(drip));
      },
    });
    expect(await connect(server.origin).send({ ...post, deadlineMs: 200 })).toMatchObject({ failure: 'timeout' });
  });
});

describe('unreadable_answer', () => {
  it.each<[string, string]>([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['HTTP with a bad header', `${OK}bad header\r\n\r\n`],
    ['HTTP with headers beyond all limits', `${OK}x: ${'x'.repeat(200_000)}\r\n\r\n`],
    ['an announcement of too large a body', `${OK}content-length: ${ANSWER_LIMITS.recordBytes + 1}\r\n\r\n`],
  ])('is %s', async (_name, bytes) => {
    const server = await serve({ onRequest: ({ socket }) => socket.write(bytes) });
    expect(await connect(server.origin).send(post)).toMatchObject({ failure: 'unreadable_answer' });
    expect(server.requests).toHaveLength(1);
  });

  it('is a body that grows beyond the limit, and the connection is closed', async () => {
    let closed = false;
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(0x10000, 'x'), Buffer.from('\r\n')]);
    const server = await serve({
      onRequest: ({ socket }) => {
        socket.on('close', () => (closed = true));
        socket.write(CHUNKED);
        const pour = () => {
          if (!socket.destroyed) socket.write(chunk, pour);
        };
        pour();
      },
    });
    expect(await connect(server.origin).send(post)).toMatchObject({ failure: 'unreadable_answer' });
    await waitFor('the connection is closed', () => closed);
  });
});

it('a forced change of protocol is no answer', async () => {
  const switched = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: raw\r\n\r\n';
  const server = await serve({ onRequest: ({ socket }) => socket.write(switched) });
  expect(await connect(server.origin).send(post)).toMatchObject({ kind: 'no_answer', failure: 'connection_lost' });
});
