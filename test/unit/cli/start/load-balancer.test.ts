import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { startLoadBalancer } from '#cli/start/load-balancer.ts';
import { close, listen } from '#telemetry/http-server.ts';
import { sendRaw } from '#test/support/network/raw-http.ts';
import { waitFor } from '#test/support/wait-for.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of closers.splice(0).toReversed()) await end();
});

/** An API on a free port. @param handle its answer to every request except those for `/readyz`. */
async function api(
  handle: (...request: Parameters<RequestListener>) => unknown,
  isReady = () => true,
): Promise<number> {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === '/readyz') outgoing.writeHead(isReady() ? 200 : 503).end();
    else void handle(incoming, outgoing);
  });
  closers.push(() => close(server, 'all'));
  return listen(server, { host: '127.0.0.1', port: 0 });
}

/** @returns the address of a load balancer in front of these APIs. */
async function balanced(...apis: number[]): Promise<string> {
  const balancer = await startLoadBalancer({ port: 0, apis });
  closers.push(() => balancer.close());
  return `http://127.0.0.1:${balancer.port}`;
}

/** An API behind a load balancer, and what `note` returns for each request that it received. */
async function recorded<Note>(note: (incoming: IncomingMessage, body: string) => Note, ...others: number[]) {
  const received: Note[] = [];
  const port = await api(async (incoming, outgoing) => {
    received.push(note(incoming, await text(incoming)));
    outgoing.end();
  });
  return { received, url: await balanced(...others, port) };
}

const named =
  (name: string): RequestListener =>
  (_, outgoing) =>
    outgoing.end(name);

describe('the load balancer', () => {
  it('takes the APIs in turn', async () => {
    const url = await balanced(await api(named('a')), await api(named('b')));
    const answers = [];
    for (let n = 0; n < 4; n += 1) answers.push(await (await fetch(url)).text());
    expect(answers).toEqual(['a', 'b', 'a', 'b']);
  });

  it('sends a request that one API refuses to connect for to the next one, complete and once', async () => {
    const { received, url } = await recorded((_, body) => body, await freePort());
    const body = 'x'.repeat(200_000);
    for (let n = 0; n < 2; n += 1) expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
    expect(received).toEqual([body, body]);
  });

  it('does not repeat a request when the connection breaks after it was sent', async () => {
    let received = 0;
    const breaks: RequestListener = (incoming) => {
      received += 1;
      incoming.resume().on('end', () => incoming.socket.resetAndDestroy());
    };
    const url = await balanced(await api(breaks), await api(breaks));
    expect((await fetch(url, { method: 'POST', body: 'order' })).status).toBe(502);
    expect(received).toBe(1);
  });

  it('answers 503 when no API accepts connections', async () => {
    const answer = await fetch(await balanced(await freePort(), await freePort()));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  it('leaves out an API that is not ready until it is ready again', async () => {
    let isReady = false;
    const url = await balanced(await api(named('slow'), () => isReady), await api(named('ready')));
    const answer = async () => (await fetch(url)).text();
    const twoAnswers = async () => [await answer(), await answer()].toSorted().join();
    await expect.poll(twoAnswers).toBe('ready,ready');
    isReady = true;
    await expect.poll(twoAnswers).toBe('ready,slow');
  });

  it('streams an answer before it is complete, and ends the request when its caller leaves', async () => {
    let left = false;
    const url = await balanced(
      await api((_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
        outgoing.on('close', () => (left = true));
      }),
    );
    const leaving = new AbortController();
    const answer = await fetch(url, { signal: leaving.signal });
    const reader = answer.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: 1\n\n');
    leaving.abort();
    await waitFor('the API sees the end of the request', () => left);
  });

  it('passes on every value of a repeated header, so that the API can refuse it', async () => {
    const received: string[][] = [];
    const url = await balanced(
      await api((incoming, outgoing) => {
        received.push(incoming.rawHeaders);
        outgoing.writeHead(200, ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']).end();
      }),
    );
    const raw = 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nAuthorization: c\r\nAuthorization: d\r\n';
    const { text: answer } = await sendRaw(url, [`${raw}Connection: close\r\n\r\n`]);
    expect(received).toEqual([
      ['Host', 'a', 'Host', 'b', 'Authorization', 'c', 'Authorization', 'd', 'Connection', 'keep-alive'],
    ]);
    expect(answer.match(/set-cookie: .=\d/gi)).toEqual(['Set-Cookie: a=1', 'Set-Cookie: b=2']);
  });

  it.each([
    ['POST / HTTP/1.1\r\nHost: a', ['Host', 'a', 'Content-Length', '0']],
    ['DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 0', ['Host', 'a', 'Content-Length', '0']],
    ['GET / HTTP/1.1\r\nHost: a', ['Host', 'a']],
    ['GET / HTTP/1.0', ['Host', expect.stringMatching(/^127\.0\.0\.1:\d+$/)]],
    [
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nX-Hop: 1\r\nConnection: Host, Content-Length, x-hop',
      ['Host', 'a', 'Content-Length', '1'],
    ],
  ])('passes on a request so that it means the same: %j', async (head, expected) => {
    const { received, url } = await recorded(({ rawHeaders }) => rawHeaders);
    const close = head.includes('Connection') ? '' : '\r\nConnection: close';
    const body = head.includes('Content-Length: 1') ? 'x' : '';
    const answer = await sendRaw(url, [`${head}${close}\r\n\r\n${body}`], (came) => came.includes('\r\n\r\n'));
    expect(answer.statuses).toEqual([200]);
    expect(received).toEqual([[...expected, 'Connection', 'keep-alive']]);
  });

  it('refuses chunks in HTTP/1.0, and closes the connection', async () => {
    let received = 0;
    const url = await balanced(await api(() => (received += 1)));
    const raw = 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    const answer = await sendRaw(url, [raw]);
    expect([answer.statuses, answer.closed, received]).toEqual([[400], true, 0]);
  });

  it('keeps the framing of a body in any method, so that no body becomes a second request', async () => {
    const { received, url } = await recorded(({ method }, body) => `${method} ${body}`);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'transfer-encoding': 'chunked' };
      request(url, { method: 'DELETE', headers }, resolve).on('error', reject).end('GET /admin HTTP/1.1\r\n\r\n');
    });
    answer.resume();
    expect(received).toEqual(['DELETE GET /admin HTTP/1.1\r\n\r\n']);
  });
});
