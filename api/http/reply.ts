import type { Response } from 'express';
import { StreamWriter } from '#api/http/stream-writer.ts';

/** An answer before it is sent: bytes, so that it can be stored and repeated exactly. */
export interface Reply {
  readonly status: number;
  /** `Content-Type` included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A streamed answer; it lasts until one side ends it. */
export interface StreamedReply {
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  /** Writes the stream; the answer ends when the promise resolves. */
  readonly send: (writer: StreamWriter) => Promise<void>;
  /** Time without reading after which the connection of a reader is closed, in milliseconds. */
  readonly stallMs: number;
}

type Headers = Readonly<Record<string, string>>;

export function jsonReply(status: number, value: unknown, headers: Headers = {}): Reply {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    body: Buffer.from(JSON.stringify(value), 'utf8'),
  };
}

export function bytesReply(
  status: number,
  contentType: string,
  content: Buffer | string,
  headers: Headers = {},
): Reply {
  return { status, headers: { 'Content-Type': contentType, ...headers }, body: Buffer.from(content) };
}

export function sendReply(response: Response, reply: Reply): void {
  response.status(reply.status);
  // Not with Express, which would add a charset to the type.
  for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value);
  // `end` leaves HEAD without a body and adds nothing of its own, such as an ETag. For HEAD some bodies are not made.
  if (reply.status !== 304 && response.req.method !== 'HEAD') response.setHeader('Content-Length', reply.body.length);
  response.end(reply.body);
}

/**
 * Sends a streamed answer. An error during the stream breaks the connection: the status is sent by then, and an answer
 * that ends properly would look whole.
 */
export async function sendStream(response: Response, { status, headers, send, stallMs }: StreamedReply): Promise<void> {
  response.status(status).set({ ...headers });
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.flushHeaders();
  const writer = new StreamWriter(response, stallMs);
  try {
    await send(writer);
  } catch (error) {
    response.destroy();
    throw error;
  }
  response.end();
}
