import { createServer, type ServerResponse } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import type { ApiDependencies } from '#api/dependencies.ts';
import { sendStream } from '#api/http/reply.ts';
import { csvReply, field } from '#api/lists/csv-file.ts';
import { EXPORTS } from '#domain/policy/api-policy.ts';
import { close, listen } from '#telemetry/http-server.ts';

const caller = { apiKeyId: 'key_1', keyPrefix: 'k1', lineageId: 'key_1', ownerId: undefined, scopes: ['orders:read'] };

/** A list of numbers; counts what was read of it. */
function numbers(count: number, failAt = Number.POSITIVE_INFINITY) {
  const reads: number[] = [];
  const read = async (after: number | undefined, limit: number) => {
    const from = after ?? 0;
    if (from >= failAt) throw new Error('the database is gone');
    reads.push(from);
    const items = Array.from({ length: Math.max(0, Math.min(limit, count - from)) }, (_, index) => from + index);
    return items.map((item) => ({ item, position: item + 1 }));
  };
  return { reads, file: { name: 'numbers', columns: [field('number', (each: number) => each)], read } };
}

/** An answer to a key that is valid for as many looks at it as given. */
function replyOf({ file }: ReturnType<typeof numbers>, looks = 10) {
  let left = looks;
  const key = { id: 'key_1', scopes: ['orders:read'], revokedAt: null, expiresAt: null };
  const keys = { findAnew: async () => (left-- > 0 ? key : undefined) } as unknown as ApiDependencies['keys'];
  const streams = { perKey: 1, heartbeatMs: 1_000, maxBehind: 1, stallMs: 60_000 };
  return csvReply({ keys, now: () => 0, streams }, { caller, scope: 'orders:read' }, file);
}

/** Serves an answer once; the reader decides what it takes. */
async function serving(
  reply: Awaited<ReturnType<typeof csvReply>>,
  take: (response: Response) => Promise<unknown>,
  onResponse: (response: ServerResponse) => void = () => undefined,
) {
  const ended = Promise.withResolvers<unknown>();
  const app = express();
  app.get('/', async (_request, response) => {
    onResponse(response);
    await sendStream(response, reply).then(() => ended.resolve(undefined), ended.resolve);
  });
  const server = createServer(app);
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  try {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    return { taken: await take(response), error: await ended.promise };
  } finally {
    await close(server, 'all');
  }
}

describe('a list as a file', () => {
  it.each([0, 1, EXPORTS.page, EXPORTS.page + 1, 3 * EXPORTS.page])('of %i items has each once', async (count) => {
    const list = numbers(count);
    const { taken } = await serving(await replyOf(list), (response) => response.text());
    expect(taken).toBe(['number', ...Array.from({ length: count }, (_, index) => String(index)), ''].join('\r\n'));
    expect(list.reads).toHaveLength(Math.floor(count / EXPORTS.page) + 1);
  });

  it('reads no page before the reader has taken the former one, and stops when the reader has gone', async () => {
    const list = numbers(Number.MAX_SAFE_INTEGER);
    const reply = await replyOf(list, Number.POSITIVE_INFINITY);
    let sent: ServerResponse | undefined;
    const { error } = await serving(
      reply,
      async (response) => {
        const reader = response.body!.getReader();
        await reader.read();
        // What fits into the buffers of both sockets is read, and no more.
        await new Promise<void>((resolve) => {
          const look = () => (sent!.writableNeedDrain ? resolve() : setImmediate(look));
          look();
        });
        const before = list.reads.length;
        await new Promise((resolve) => setImmediate(resolve));
        expect(list.reads).toHaveLength(before);
        await reader.cancel();
      },
      (response) => (sent = response),
    );
    expect(error).toBeUndefined();
    expect(list.reads.length).toBeLessThan(100_000);
  });

  it.each([
    ['a read fails', 10, numbers(10 * EXPORTS.page, 2 * EXPORTS.page), 'the database is gone'],
    ['the key ends', 1, numbers(10 * EXPORTS.page), 'the API key of an export has ended'],
  ])('breaks the connection when %s, so that no reader takes the file for whole', async (_, looks, list, message) => {
    const { taken, error } = await serving(await replyOf(list, looks), (response) =>
      response.text().then(
        () => 'whole',
        () => 'broken',
      ),
    );
    expect(taken).toBe('broken');
    expect(error).toEqual(new Error(message));
  });

  it('is refused before the answer begins when its first page cannot be read', async () => {
    await expect(replyOf(numbers(10, 0))).rejects.toThrow('the database is gone');
  });
});
