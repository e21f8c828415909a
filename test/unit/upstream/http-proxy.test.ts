import { createServer } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { listen } from '#telemetry/http-server.ts';
import { closedTransports, post, SUCCESS } from '#test/support/network/http-transports.ts';
import { httpAnswer } from '#test/support/network/raw-server.ts';
import { createHttpTransport } from '#upstream/client/http.ts';

const { opened, serve } = closedTransports();

type Tunnel = (socket: Socket, port: number) => void;

const join: Tunnel = (socket, port) => {
  const service = connectTcp(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'));
  service.on('error', () => socket.destroy());
  service.pipe(socket).pipe(service);
};
const answers =
  (head: string): Tunnel =>
  (socket) =>
    socket.end(`HTTP/1.1 ${head}\r\ncontent-length: 0\r\n\r\n`);

/** A transport through a proxy that does this with each CONNECT, and the targets that were asked for. */
async function through(origin: string, tunnel: Tunnel) {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((_request, response) => response.writeHead(502).end());
  proxy.on('connection', (socket: Socket) => sockets.add(socket));
  proxy.on('connect', (request, socket: Socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    socket.on('error', () => undefined);
    tunnel(socket, Number(new URL(origin).port));
  });
  const port = await listen(proxy, { host: '127.0.0.1', port: 0 });
  const transport = createHttpTransport({ origin, proxy: `http://shop:geheim@127.0.0.1:${port}` });
  opened.push({
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await transport.close();
    },
  });
  return { transport, asked };
}

describe('a call through a proxy', () => {
  it.each([true, false])('leaves in a tunnel, with the bytes of a direct one (own connection: %s)', async (own) => {
    const server = await serve({ onRequest: ({ socket }) => socket.write(SUCCESS) });
    const { transport, asked } = await through(server.origin, join);
    const direct = createHttpTransport({ origin: server.origin });
    const request = { ...post, ownConnection: own };
    expect(await transport.send(request)).toMatchObject({ kind: 'answer', answer: { status: 200 } });
    await direct.send(request);
    await direct.close();

    expect(asked).toEqual([`127.0.0.1:${server.port} Basic ${Buffer.from('shop:geheim').toString('base64')}`]);
    const [proxied, plain] = server.requests.map(({ head, body }) => ({
      lines: head.trim().split('\r\n').toSorted(),
      body: body.toString(),
    }));
    expect(proxied).toEqual(plain);
  });

  it.each([
    ['refuses our credentials', answers('407 Proxy Authentication Required')],
    ['does not reach the service', answers('502 Bad Gateway')],
    ['answers with an error page', answers('503 Service Unavailable')],
    ['closes the connection', (socket: Socket) => socket.destroy()],
    ['does not answer', () => undefined],
  ])('was not sent when the proxy %s: the service received nothing', async (_, tunnel: Tunnel) => {
    const server = await serve({ onRequest: ({ socket }) => socket.write(SUCCESS) });
    const { transport } = await through(server.origin, tunnel);
    const result = await transport.send({ ...post, deadlineMs: 1_000 });
    expect(result).toMatchObject({ kind: 'no_answer', failure: 'not_sent' });
    expect(JSON.stringify(result)).not.toContain('geheim');
    expect(server.bytesReceived()).toBe(0);
  });

  it('has an unknown result when its tunnel breaks afterwards, and the answer of the service is its own', async () => {
    const broken = await serve({ onRequest: ({ socket }) => socket.destroy() });
    const cut = await through(broken.origin, join);
    expect(await cut.transport.send(post)).toMatchObject({ failure: 'connection_lost' });
    const failing = await serve({ onRequest: ({ socket }) => socket.write(httpAnswer(502, 'Bad Gateway')) });
    const whole = await through(failing.origin, join);
    expect(await whole.transport.send(post)).toMatchObject({ kind: 'answer', answer: { status: 502 } });
  });
});
