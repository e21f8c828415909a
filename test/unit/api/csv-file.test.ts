import { createServer, type ServerResponse } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import type { ApiDependencies } from '#api/dependencies.ts';
import { sendStream } from '#api/http/reply.ts';
import { csvReply, field } from '#api/lists/csv-file.ts';
import { EXPORTS } from '#domain/policy/api-policy.ts';

const caller = { apiKeyId: 'key_1', keyPrefix: 'k1', lineageId: 'key_1', ownerId: undefined, scopes: ['orders:read'] };

/** A key that is valid for as many looks at it as given. */
function dependencies(looks: number) {
  let left = looks;
  const key = { id: 'key_1', scopes: ['orders:read'], revokedAt: null, expiresAt: null };
  const keys = { findAnew: async () => (left-- > 0 ? key : undefined) } as unknown as ApiDependencies['keys'];
  const streams = { perKey: 1, heartbeatMs: 1_000, maxBehind: 1, stallMs: 60_000 };
  return { keys, now: () => 0, streams };
}

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

type Reply = Awaited<ReturnType<typeof csvReply>>;

/** Serves an answer once; the reader decides what it takes. */
async function serving(
  reply: Reply,
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  try {
    const response = await fetch(
      `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`,
    );
    return { taken: await take(response), error: await ended.promise };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('a list as a file', () => {
  it.each([0, 1, EXPORTS.page, EXPORTS.page + 1, 3 * EXPORTS.page])('of %i items has each once', async (count) => {
    const { file, reads } = numbers(count);
    const { taken } = await serving(
      await csvReply(dependencies(10), { caller, scope: 'orders:read' }, file),
      (response) => response.text(),
    );
    expect(taken).toBe(['number', ...Array.from({ length: count }, (_, index) => String(index)), ''].join('\r\n'));
    expect(reads).toHaveLength(Math.floor(count / EXPORTS.page) + 1);
  });

  it('reads no page before the reader has taken the former one, and stops when the reader has gone', async () => {
    const { file, reads } = numbers(Number.MAX_SAFE_INTEGER);
    const reply = await csvReply(dependencies(Number.POSITIVE_INFINITY), { caller, scope: 'orders:read' }, file);
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
        const before = reads.length;
        await new Promise((resolve) => setImmediate(resolve));
        expect(reads).toHaveLength(before);
        await reader.cancel();
      },
      (response) => (sent = response),
    );
    expect(error).toBeUndefined();
    expect(reads.length).toBeLessThan(100_000);
  });

  it.each([
    ['a read fails', dependencies(10), numbers(10 * EXPORTS.page, 2 * EXPORTS.page), 'the database is gone'],
    ['the key ends', dependencies(1), numbers(10 * EXPORTS.page), 'the API key of an export has ended'],
  ])(
    'breaks the connection when %s, so that no reader takes the file for whole',
    async (_name, having, list, message) => {
      const reply = await csvReply(having, { caller, scope: 'orders:read' }, list.file);
      const { taken, error } = await serving(reply, (response) =>
        response.text().then(
          () => 'whole',
          () => 'broken',
        ),
      );
      expect(taken).toBe('broken');
      expect(error).toEqual(new Error(message));
    },
  );

  it('is refused before the answer begins when its first page cannot be read', async () => {
    const { file } = numbers(10, 0);
    await expect(csvReply(dependencies(10), { caller, scope: 'orders:read' }, file)).rejects.toThrow(
      'the database is gone',
    );
  });
});
