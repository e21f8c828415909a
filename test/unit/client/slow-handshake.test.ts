import { once } from 'node:events';
import { connect, getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { Worker } from 'node:worker_threads';
import { Agent, fetch as fetchOfUndici } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { NoAnswerError, ResellerClient } from '#clients/typescript/src/index.ts';

/** Takes two connections, and no further one for 600 ms: Linux repeats a dropped handshake after a second. */
const SLOW_API = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:http').createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"id":"ord_1"}');
  });
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
  });
`;
/** The second one refuses, as IPv6 does where only the DNS knows it. */
const HOSTS = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));

const ends: (() => unknown)[] = [];
afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

async function slowApi(): Promise<number> {
  const worker = new Worker(SLOW_API, { eval: true });
  ends.push(() => worker.terminate());
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  for (let taken = 0; taken < 2; taken += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    ends.push(() => socket.destroy());
    await once(socket, 'connect');
  }
  return port;
}

async function ask(autoSelectFamilyAttemptTimeout: number): Promise<unknown> {
  const port = await slowApi();
  const dispatcher = new Agent({
    connect: { autoSelectFamilyAttemptTimeout, lookup: (_name, _options, found) => found(null, HOSTS) },
  });
  ends.push(() => dispatcher.destroy());
  const send = (url: string, init: object) => fetchOfUndici(url, { ...init, dispatcher });
  const client = new ResellerClient({
    baseUrl: `http://api.example.com:${port}`,
    apiKey: 'rsk_test_1',
    retries: 0,
    fetch: send as typeof fetch,
  });
  return await client.getOrder('ord_1').catch((error: unknown) => error);
}

it.runIf(process.platform === 'linux')(
  'a client alone can give each address of a name more time to connect',
  async () => {
    const before = getDefaultAutoSelectFamilyAttemptTimeout();
    expect(await ask(250)).toBeInstanceOf(NoAnswerError);
    expect(await ask(2_500)).toEqual({ id: 'ord_1' });
    expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBe(before);
  },
);
