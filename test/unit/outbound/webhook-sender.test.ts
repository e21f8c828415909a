import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AddressPolicy } from '#outbound/webhook-address.ts';
import { EXCERPT_BYTES, WebhookSender } from '#outbound/webhook-sender.ts';

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

const receiver = (handle: RequestListener) => listening(createServer(handle));
const rawReceiver = (handle: (socket: Socket) => unknown) =>
  listening(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      handle(socket);
    }),
  );

/** A sender that may reach only 127.0.0.1, and knows the hosts of the test. */
function senderFor(
  hosts: Record<string, string[] | (() => string[])> = {},
  allowed = ['127.0.0.1/32'],
  proxy?: string,
) {
  const sender = new WebhookSender({
    policy: new AddressPolicy(allowed),
    lookup: async (host) => {
      const found = hosts[host];
      if (found === undefined) throw new Error('unknown');
      return typeof found === 'function' ? found() : found;
    },
    proxy,
    now: Date.now,
  });
  onTestFinished(() => sender.close());
  return (url: string, deadlineMs = 5_000) =>
    sender.send({ url, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"a":1}'), deadlineMs });
}

const unanswered = (failure: string) => ({ kind: 'no_answer', failure });
const REFUSED = unanswered('address_refused');

describe('a webhook', () => {
  it('arrives unchanged, once, and returns the status and the beginning of the answer', async () => {
    const got: string[] = [];
    const port = await receiver((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        got.push(`${request.method} ${request.url} ${body}`);
        response.writeHead(202).end('thank you');
      });
    });
    const { outcome, excerpt } = await senderFor()(`http://127.0.0.1:${port}/hook?shop=1`);
    expect([outcome, excerpt.toString(), got]).toEqual([
      { kind: 'answered', status: 202 },
      'thank you',
      ['POST /hook?shop=1 {"a":1}'],
    ]);
  });

  it('follows no redirect, to this machine or anywhere', async () => {
    let reached = 0;
    const inside = await receiver((_request, response) => {
      reached += 1;
      response.end();
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const port = await receiver((_request, response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${inside}/` }).end(),
      );
      expect((await senderFor()(`http://127.0.0.1:${port}/`)).outcome).toEqual({ kind: 'answered', status });
    }
    expect(reached).toBe(0);
  });
});

describe('a refused address', () => {
  it('gets no connection, as a literal address or through its host name', async () => {
    let connections = 0;
    const port = await rawReceiver(() => (connections += 1));
    const hosts = {
      'shop.example.com': ['127.0.0.1'],
      'both.example.com': ['127.0.0.1', '10.0.0.1'],
      'mapped.example.com': ['::ffff:10.0.0.1'],
    };
    const send = senderFor(hosts, []);
    const literal = ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '169.254.169.254'];
    for (const host of [...literal, ...Object.keys(hosts)]) {
      for (const scheme of ['https', 'http'])
        expect((await send(`${scheme}://${host}:${port}/`)).outcome, `${scheme} ${host}`).toEqual(REFUSED);
    }
    expect(connections).toBe(0);
  });

  it('is detected at the second try, when a name resolves to another address', async () => {
    let reached = 0;
    const port = await receiver((_request, response) => {
      reached += 1;
      // No connection is left for the second try.
      response.setHeader('connection', 'close').end();
    });
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const send = senderFor({ 'rebinding.example.com': () => answers.shift() ?? [] });
    expect((await send(`http://rebinding.example.com:${port}/`)).outcome).toEqual({ kind: 'answered', status: 200 });
    expect((await send(`http://rebinding.example.com:${port}/`)).outcome).toEqual(REFUSED);
    expect(reached).toBe(1);
  });

  it('is judged before the connection, which uses the judged address without another look-up', async () => {
    let lookUps = 0;
    const port = await receiver((_request, response) => response.end());
    const send = senderFor({ 'rebinding.example.com': () => ((lookUps += 1) === 1 ? ['127.0.0.1'] : ['10.0.0.1']) });
    expect((await send(`http://rebinding.example.com:${port}/`)).outcome).toEqual({ kind: 'answered', status: 200 });
    expect(lookUps).toBe(1);
  });

  it('includes public ones without TLS', async () => {
    const send = senderFor({ 'shop.example.com': ['93.184.215.14'] });
    expect((await send('http://shop.example.com/')).outcome).toEqual(REFUSED);
  });

  it('includes URLs that were never judged', async () => {
    const send = senderFor();
    for (const url of ['ftp://127.0.0.1/', 'https://user:password@127.0.0.1/', 'nonsense'])
      expect((await send(url)).outcome).toEqual(REFUSED);
  });
});

describe('a receiver', () => {
  it('with an endless answer counts as answered, and the rest is not read', async () => {
    let sent = 0;
    const port = await receiver((_request, response) => {
      response.writeHead(200);
      const more = (): void => {
        sent += 1;
        if (!response.destroyed) response.write('x'.repeat(65_536), () => setImmediate(more));
      };
      response.on('error', () => undefined);
      more();
    });
    const { outcome, excerpt } = await senderFor()(`http://127.0.0.1:${port}/`);
    expect([outcome, excerpt.length]).toEqual([{ kind: 'answered', status: 200 }, EXCERPT_BYTES]);
    expect(sent).toBeLessThan(1_000);
  });

  it('with slow headers, or without an answer, times out', async () => {
    const silent = await rawReceiver(() => undefined);
    const dripping = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('x-a: b\r\n'), 50);
      socket.on('close', () => clearInterval(drip));
    });
    const send = senderFor();
    expect((await send(`http://127.0.0.1:${silent}/`, 300)).outcome).toEqual(unanswered('timeout'));
    expect((await send(`http://127.0.0.1:${dripping}/`, 300)).outcome).toEqual(unanswered('timeout'));
  });

  it('gives a different failure for each cause: down, no HTTP, no TLS, unknown', async () => {
    const nonsense = await rawReceiver((socket) => socket.end('no HTTP at all\r\n\r\n'));
    const plain = await receiver((_request, response) => response.end());
    const gone = createTcpServer();
    const port = await listening(gone);
    const send = senderFor();
    const failureOf = async (url: string) => (await send(url)).outcome;
    expect(await failureOf(`http://127.0.0.1:${nonsense}/`)).toEqual(unanswered('unreadable_answer'));
    expect(await failureOf(`https://127.0.0.1:${plain}/`)).toEqual(unanswered('tls_failed'));
    expect(await failureOf('https://nobody.example.com/')).toEqual(unanswered('host_unknown'));
    gone.close();
    await once(gone, 'close');
    expect(await failureOf(`http://127.0.0.1:${port}/`)).toEqual(unanswered('connection_failed'));
  });
});

describe('a webhook with WEBHOOK_PROXY', () => {
  it('leaves the addresses of names to the proxy, and a literal address is judged here', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createServer();
    proxy.on('connect', ({ url }, socket) => {
      asked.push(url);
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    const send = senderFor({}, [], `http://127.0.0.1:${await listening(proxy)}`);
    const failure = async (url: string) => (await send(url)).outcome;
    expect(await failure('https://shop.example.com/hook')).toMatchObject({ failure: 'connection_failed' });
    expect(await failure('https://169.254.169.254/')).toMatchObject({ failure: 'address_refused' });
    expect(await failure('http://shop.example.com/')).toMatchObject({ failure: 'host_unknown' });
    expect(asked).toEqual(['shop.example.com:443']);
  });
});
