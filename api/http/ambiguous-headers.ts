import type { RequestHandler } from 'express';
import { Problem } from '#api/problems/problem.ts';

/**
 * Headers that must have one value. Node uses the first of two; a proxy in front of us may have checked the
 * other.
 */
const SINGLE = new Set(['host', 'authorization', 'content-type']);

/**
 * Refuses requests that repeat one of these headers (RFC 9112, 3.2, requires it for Host), and requests with chunks in
 * HTTP/1.0, whose end a proxy in front of us may see elsewhere (RFC 9112, 6.1).
 */
export const refuseAmbiguousHeaders: RequestHandler = ({ rawHeaders, headers, httpVersion }, response, next) => {
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    response.set('Connection', 'close');
    throw new Problem('malformed_request', { detail: 'HTTP/1.0 has no Transfer-Encoding.' });
  }
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) throw new Problem('malformed_request', { detail: `The header ${name} is repeated.` });
    seen.add(name);
  }
  next();
};
