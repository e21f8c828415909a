import { get, type IncomingMessage } from 'node:http';
import type { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

interface StreamedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A reader of server-sent events with its own connection. */
export interface StreamReader {
  readonly headers: Headers;
  /** Waits for the next `count` events. */
  next(count: number): Promise<StreamedEvent[]>;
  /** Number of events received so far. */
  received(): number;
  /** Number of comments received so far. */
  comments(): number;
  /** Value of `Last-Event-ID` for a reconnection. */
  lastEventId(): string;
  /** Stops reading without closing the connection. */
  pause(): void;
  resume(): void;
  /** True if the connection was cut in the middle. */
  broken(): boolean;
  close(): void;
  /** Resolves when the other side ends the stream. */
  readonly ended: Promise<void>;
}

/** Opens a stream. @throws Error if the status is not 200. */
export async function readStream(
  client: HttpClient,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<StreamReader> {
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
        block
          .split('\n')
          .map((line): [string, string] => [
            line.slice(0, line.indexOf(':')),
            line.slice(line.indexOf(':') + 1).trim(),
          ]),
      );
      if (fields.has('')) comments += 1;
      lastEventId = fields.get('id') ?? lastEventId;
      const data = fields.get('data');
      if (data === undefined) continue;
      const parsed: unknown = JSON.parse(data);
      if (typeof parsed !== 'object' || parsed === null) throw new TypeError('an event is no object');
      received += 1;
      waiting.push({
        id: fields.get('id') ?? '',
        event: fields.get('event') ?? '',
        data: Object.fromEntries(Object.entries(parsed)),
      });
    }
  });
  return {
    headers: new Headers(
      Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
    ),
    ended: ended.promise,
    received: () => received,
    comments: () => comments,
    lastEventId: () => lastEventId,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    broken: () => !response.complete,
    close: () => response.destroy(),
    next: async (count) => {
      await waitFor(`${count} events are received`, () => waiting.length >= count, {
        context: () => `received: ${waiting.length}`,
        everyMs: 10,
      });
      return waiting.splice(0, count);
    },
  };
}
