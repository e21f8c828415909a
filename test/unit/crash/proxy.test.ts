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

  it.each<[PlannedCut['moment'], cut: string, received: readonly string[]]>([
    ['in_transaction', 'insert\0', ['BEGIN\0']],
    ['before_commit', 'COMMIT\0', ['BEGIN\0']],
    ['answer_of_commit', 'COMMIT\0', ['BEGIN\0', 'COMMIT\0']],
  ])('cuts at the moment %s the message %j, and %j arrives', async (moment, cut, arrived) => {
    const { socket, received } = await through(moment);
    expect(await say(socket, 'BEGIN\0')).toBe('ok');
    expect(await say(socket, cut)).toBe('cut');
    expect(received).toEqual(arrived);
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
});
