import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startServer } from '#api/http/server.ts';

async function ask(agent: Agent, port: number): Promise<IncomingMessage> {
  const request = get({ agent, port, host: '127.0.0.1' });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response;
}

describe('the stop of the server', () => {
  it('does not wait for kept connections, whether idle or with a running answer', async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let slow = false;
    const server = await startServer(
      (_request, response) => {
        if (!slow) return void response.end('fast');
        onAsked();
        void released.then(() => response.end('slow'));
      },
      { host: '127.0.0.1', port: 0 },
      // Longer than any test, so no connection is closed by force.
      600_000,
    );
    const [idle, busy] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })];
    await ask(idle, server.port);
    slow = true;
    const answer = ask(busy, server.port);
    await asked;
    const stopped = server.stop();
    release();
    expect((await answer).statusCode).toBe(200);
    await stopped;
    await expect(ask(new Agent(), server.port)).rejects.toThrow('ECONNREFUSED');
  });

  it('closes unfinished connections by force after its time limit', async () => {
    const { promise: asked, resolve: onAsked } = Promise.withResolvers<void>();
    const server = await startServer(() => onAsked(), { host: '127.0.0.1', port: 0 }, 1);
    const outcome = ask(new Agent(), server.port).catch((error: unknown) => error);
    await asked;
    await server.stop();
    expect(await outcome).toMatchObject({ message: 'socket hang up' });
  });
});
