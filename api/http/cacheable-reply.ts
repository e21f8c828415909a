import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Incoming } from '#api/http/operation.ts';
import type { Reply } from '#api/http/reply.ts';

/** Content that changes only with a release: compressed once, and not sent again to those who have it. */
export class CacheableReply {
  readonly #plain: Buffer;
  readonly #compressed: Buffer;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param more headers, such as a policy of a page. */
  constructor(content: Buffer | string, contentType: string, more: Readonly<Record<string, string>> = {}) {
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

  /** The same for a JSON value. */
  static json(value: unknown): CacheableReply {
    return new CacheableReply(JSON.stringify(value), 'application/json; charset=utf-8');
  }

  /** The answer to a request: 304, compressed, or as it is (RFC 9110, sections 8.8.3, 12.5.3 and 13.1.2). */
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
