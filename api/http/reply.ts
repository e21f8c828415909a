import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Response } from 'express';
import type { Incoming } from '#api/http/operation.ts';
import { MINUTE } from '#domain/policy/settings.ts';

type Headers = Readonly<Record<string, string>>;

/** Bytes, so that it can be stored and repeated exactly. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface StreamedReply {
  readonly status: 200;
  readonly headers: Headers;
  readonly send: (writer: StreamWriter) => Promise<void>;
  /** The connection of a reader that reads nothing for so long is closed. */
  readonly stallMs: number;
}

export function jsonReply(status: number, value: unknown, headers: Headers = {}): Reply {
  return bytesReply(status, 'application/json; charset=utf-8', JSON.stringify(value), headers);
}

export function bytesReply(
  status: number,
  contentType: string,
  content: Buffer | string,
  headers: Headers = {},
): Reply {
  return { status, headers: { 'Content-Type': contentType, ...headers }, body: Buffer.from(content) };
}

const SLOWEST_BYTES_PER_MS = 16;

/** A client that does not read is cut: Node has no limit for it. @param graceMs beside the time for its length. */
export function sendReply(response: Response, reply: Reply, graceMs = MINUTE): void {
  response.status(reply.status);
  // Express would add a charset to the type.
  for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value);
  // `end` leaves HEAD without a body and adds no ETag. For HEAD some bodies are not made.
  if (reply.status !== 304 && response.req.method !== 'HEAD') response.setHeader('Content-Length', reply.body.length);
  response.end(reply.body);
  if (response.writableLength === 0) return;
  const timer = setTimeout(() => response.destroy(), graceMs + reply.body.length / SLOWEST_BYTES_PER_MS);
  onceClosed(response, () => clearTimeout(timer));
}

/**
 * An error during the stream breaks the connection: the status is sent by then, and an answer that ends properly would
 * look whole.
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

/**
 * Also when it closed before this call: `close` is emitted only once, perhaps while the request waits for PostgreSQL.
 */
export function onceClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed || response.destroyed) listener();
  else response.once('close', listener);
}

/** No faster than the reader reads, so that nothing accumulates in memory. */
export class StreamWriter {
  readonly #response: ServerResponse;
  readonly #stallMs: number;

  constructor(response: ServerResponse, stallMs: number) {
    this.#response = response;
    this.#stallMs = stallMs;
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  onClose(listener: () => void): void {
    onceClosed(this.#response, listener);
  }

  cut(): void {
    this.#response.destroy();
  }

  /** Closes the connection of a reader that stalls too long. @returns false when the connection is closed. */
  async send(text: string | Uint8Array): Promise<boolean> {
    if (this.closed) return false;
    if (!this.#response.write(text) && !this.closed) await this.#room();
    return !this.closed;
  }

  async #room(): Promise<void> {
    const response = this.#response;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.cut(), this.#stallMs);
      const done = () => {
        clearTimeout(timer);
        response.off('drain', done);
        response.off('close', done);
        resolve();
      };
      response.once('drain', done);
      response.once('close', done);
    });
  }
}

/** For content that changes only with a release. */
export class CacheableReply {
  readonly #plain: Buffer;
  readonly #compressed: Buffer;
  readonly #headers: Headers;

  constructor(content: Buffer | string, contentType: string, more: Headers = {}) {
    this.#plain = Buffer.from(content);
    this.#compressed = gzipSync(this.#plain);
    this.#headers = {
      'Content-Type': contentType,
      'Cache-Control': 'no-cache',
      // Weak: both forms have the same tag.
      ETag: `W/"${createHash('sha256').update(this.#plain).digest('base64url').slice(0, 27)}"`,
      Vary: 'Accept-Encoding',
      ...more,
    };
  }

  static json(value: unknown): CacheableReply {
    return new CacheableReply(JSON.stringify(value), 'application/json; charset=utf-8');
  }

  /** RFC 9110, sections 8.8.3, 12.5.3 and 13.1.2. */
  for(header: Incoming['header']): Reply {
    const known = header('If-None-Match')?.split(',').map(withoutWeakness) ?? [];
    const tag = withoutWeakness(this.#headers['ETag'] ?? '');
    if (known.includes(tag) || known.includes('*'))
      return { status: 304, headers: this.#headers, body: Buffer.alloc(0) };
    if (!acceptsGzip(header('Accept-Encoding'))) return { status: 200, headers: this.#headers, body: this.#plain };
    return { status: 200, headers: { ...this.#headers, 'Content-Encoding': 'gzip' }, body: this.#compressed };
  }
}

function withoutWeakness(tag: string): string {
  return tag.trim().replace(/^W\//, '');
}

function acceptsGzip(accepted = ''): boolean {
  return accepted.split(',').some((each) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)[0-9.]+\s*)?$/i.test(each));
}
