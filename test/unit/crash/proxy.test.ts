import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { PlannedCut } from '#test/crash/plans/plan.ts';
import { TransactionCutter } from '#test/crash/run/cuts.ts';
import { NetworkProxy } from '#test/crash/run/proxy.ts';
import { waitFor } from '#test/support/wait-for.ts';

/** A server that answers every message with `ok`, a proxy in front of it, and a connection through both. */
async function through(moment?: PlannedCut['moment'], hit = 1) {
  const received: string[] = [];
  let isConnected = false;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // Clients of another test may still try to reach a server that had this port before.
    if (isConnected) return void socket.destroy();
    isConnected = true;
    socket.on('data', (bytes) => {
      received.push(bytes.toString());
      socket.write('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const cutter = new TransactionCutter(moment === undefined ? [] : [{ moment, hit }]);
  const proxy = await NetworkProxy.before({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, () =>
    cutter.inspector(),
  );
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const socket = connect({
    host: '127.0.0.1',
    port: Number(new URL(proxy.through('postgresql://127.0.0.1:1/db')).port),
  });
  onTestFinished(() => void socket.destroy());
  return { socket, proxy, cutter, received };
}

/** @returns the answer, or `cut`. */
async function say(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  return Promise.race([once(socket, 'data').then(([bytes]) => String(bytes)), once(socket, 'close').then(() => 'cut')]);
}

describe('the proxy of the crash proof', () => {
  it('passes messages without a planned cut', async () => {
    const { socket, cutter } = await through('before_commit', 2);
    for (const message of ['BEGIN\0', 'select\0', 'COMMIT\0', 'BEGIN\0']) expect(await say(socket, message)).toBe('ok');
    expect(cutter.fired).toEqual([]);
    expect(await say(socket, 'COMMIT\0')).toBe('cut');
    expect(cutter.fired).toEqual([{ moment: 'before_commit', hit: 2 }]);
  });

  it('cuts inside a transaction, so nothing after its start arrives', async () => {
    const { socket, received } = await through('in_transaction');
    expect(await say(socket, 'BEGIN\0')).toBe('ok');
    expect(await say(socket, 'insert\0')).toBe('cut');
    expect(received).toEqual(['BEGIN\0']);
  });

  it('cuts before a commit, so the commit does not arrive', async () => {
    const { socket, received } = await through('before_commit');
    await say(socket, 'BEGIN\0');
    expect(await say(socket, 'COMMIT\0')).toBe('cut');
    expect(received).toEqual(['BEGIN\0']);
  });

  it('cuts the answer of a commit, so the commit arrives without an answer', async () => {
    const { socket, received } = await through('answer_of_commit');
    await say(socket, 'BEGIN\0');
    expect(await say(socket, 'COMMIT\0')).toBe('cut');
    expect(received).toEqual(['BEGIN\0', 'COMMIT\0']);
  });

  it('holds all messages without closing connections, until its release', async () => {
    const { socket, proxy, received } = await through();
    expect(await say(socket, 'one')).toBe('ok');
    proxy.hold();
    const answer = say(socket, 'two');
    await waitFor('the proxy has it', () => proxy.touched > 0);
    expect(received).toEqual(['one']);
    expect(socket.destroyed).toBe(false);
    proxy.release();
    expect(await answer).toBe('ok');
    expect(received).toEqual(['one', 'two']);
  });

  it('delivers held messages of a client that has disconnected', async () => {
    const { socket, proxy, received } = await through();
    expect(await say(socket, 'one')).toBe('ok');
    proxy.hold();
    socket.write('two');
    await waitFor('the proxy has it', () => proxy.touched > 0);
    socket.destroy();
    await once(socket, 'close');
    proxy.release();
    await waitFor('it has arrived', () => received.length === 2);
    expect(received).toEqual(['one', 'two']);
  });

  it('delays without changing the order', async () => {
    const { socket, proxy, received } = await through();
    expect(await say(socket, 'one')).toBe('ok');
    proxy.delay(50);
    socket.write('two');
    await waitFor('the proxy has it', () => proxy.touched > 0);
    proxy.delay(0);
    socket.write('three');
    await expect.poll(() => received.join('')).toBe('onetwothree');
  });

  it('answers for an unreachable server', async () => {
    const { socket, proxy, received } = await through();
    expect(await say(socket, 'one')).toBe('ok');
    proxy.refuse({ answer: 'no' });
    await once(socket, 'close');
    const other = connect({ host: '127.0.0.1', port: proxy.port });
    onTestFinished(() => void other.destroy());
    expect(await say(other, 'two')).toBe('no');
    expect(received).toEqual(['one']);
  });
});
