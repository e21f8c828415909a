import { get, type IncomingMessage } from 'node:http';
import type { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

interface StreamedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads a stream of server-sent events as the standard says, on a connection of its own. */
export interface StreamReader {
  readonly headers: Headers;
  /** The next events, once there are so many. */
  next(count: number): Promise<StreamedEvent[]>;
  /** How many events came so far. */
  told(): number;
  /** How many comments came so far. */
  comments(): number;
  /** What is given as `Last-Event-ID` when it is read on. */
  lastEventId(): string;
  /** Stops reading, and lets the connection stand. */
  pause(): void;
  resume(): void;
  /** True when it was cut off in the middle. */
  broken(): boolean;
  close(): void;
  /** Resolves when the other side ends it. */
  readonly ended: Promise<void>;
}

/** @throws Error unless it is a stream. */
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
  let told = 0;
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
      told += 1;
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
    told: () => told,
    comments: () => comments,
    lastEventId: () => lastEventId,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    broken: () => !response.complete,
    close: () => response.destroy(),
    next: async (count) => {
      await waitFor(`${count} events are told`, () => waiting.length >= count, {
        context: () => `told: ${waiting.length}`,
        everyMs: 10,
      });
      return waiting.splice(0, count);
    },
  };
}
