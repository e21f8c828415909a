import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { onceClosed } from '#api/http/reply.ts';

it('a listener for the end of a connection is called once, also after that end', async () => {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const server = createServer((_request, response) => {
    const calls: string[] = [];
    onceClosed(response, () => calls.push('before'));
    response.once('close', () => {
      onceClosed(response, () => calls.push('after'));
      setImmediate(() => resolve(calls));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  // A server always has an address with a port.
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  server.once('request', () => socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: api\r\n\r\n');
  expect(await promise).toEqual(['before', 'after']);
  server.close();
});
