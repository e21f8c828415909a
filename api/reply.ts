import type { Response } from 'express';

/** An answer before it is sent: bytes, so that it can be stored and repeated exactly. */
export interface Reply {
  readonly status: number;
  /** `Content-Type` included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

type Headers = Readonly<Record<string, string>>;

export function jsonReply(status: number, value: unknown, headers: Headers = {}): Reply {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    body: Buffer.from(JSON.stringify(value), 'utf8'),
  };
}

export function bytesReply(status: number, contentType: string, content: Buffer | string, headers: Headers = {}): Reply {
  return { status, headers: { 'Content-Type': contentType, ...headers }, body: Buffer.from(content) };
}

export function sendReply(response: Response, reply: Reply): void {
  response.status(reply.status).set({ ...reply.headers });
  // `end` leaves HEAD without a body and adds nothing of its own, such as an ETag.
  response.setHeader('Content-Length', reply.body.length);
  response.end(reply.body);
}
