import { get, type IncomingMessage } from 'node:http';
import * as z from 'zod';
import type { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

interface StreamedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type StreamReader = Awaited<ReturnType<typeof readStream>>;

/** Reads server-sent events with a connection of its own. @throws Error if the status is not 200. */
export async function readStream(client: HttpClient, path: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(client.baseUrl + path, { headers: { ...client.headers, ...headers }, agent: false }, resolve).on(
      'error',
      reject,
    );
  });
  if (response.statusCode !== 200) throw new Error(`the stream was answered with ${response.statusCode}`);
  const ended = Promise.withResolvers<void>();
  response.on('close', () => ended.resolve());
  response.on('error', () => ended.resolve());
  const waiting: StreamedEvent[] = [];
  let received = 0;
  let comments = 0;
  let lastEventId = '';
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
        }),
      );
      if (fields.has('')) comments += 1;
      lastEventId = fields.get('id') ?? lastEventId;
      const data = fields.get('data');
      if (data === undefined) continue;
      const parsed = z.record(z.string(), z.unknown()).parse(JSON.parse(data));
      received += 1;
      waiting.push({ id: fields.get('id') ?? '', event: fields.get('event') ?? '', data: parsed });
    }
  });
  return {
    headers: new Headers(
      Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
    ),
    /** Resolves when the other side ends the stream. */
    ended: ended.promise,
    received: () => received,
    comments: () => comments,
    /** Value of `Last-Event-ID` for a reconnection. */
    lastEventId: () => lastEventId,
    /** Stops reading without closing the connection. */
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    /** True if the connection was cut in the middle. */
    broken: () => !response.complete,
    close: () => response.destroy(),
    /** Waits for the next `count` events. */
    next: async (count: number) => {
      await waitFor(`${count} events are received`, () => waiting.length >= count, {
        context: () => `received: ${waiting.length}`,
        everyMs: 10,
      });
      return waiting.splice(0, count);
    },
  };
}
