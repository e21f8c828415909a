import express, { type Request, type Response } from 'express';
import { ServiceError, validationFailed } from '#simulator/service/errors.ts';
import { repeatedName, unusableTexts } from '#simulator/service/json-names.ts';

/** Far above the largest request of the interface. */
const BODY_LIMIT_BYTES = 65_536;

const readRaw = express.raw({ type: () => true, limit: BODY_LIMIT_BYTES, inflate: false });

/** The bytes of a request's body. @throws ServiceError 413 too large, 415 compressed, 400 incomplete. */
export async function readBody(request: Request, response: Response): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    readRaw(request, response, (error?: unknown) => {
      if (error === undefined) resolve();
      else reject(refusalOf(error));
    });
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** @throws ServiceError 415 when the type is not JSON in UTF-8, 400 when the body is not JSON. */
export function jsonOf(body: Buffer, contentType: string | undefined): unknown {
  requireJsonType(contentType);
  return parsedJson(body).value;
}

function requireJsonType(contentType: string | undefined): void {
  if (!/^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(contentType ?? '')) {
    throw new ServiceError(415, 'unsupported_media_type', 'The Content-Type must be application/json.');
  }
}

/**
 * Parses the body of a call of the service.
 *
 * @throws ServiceError as {@link jsonOf}; 400 for a name that occurs twice in an object, 422 for an invalid text.
 */
export function strictJsonOf(body: Buffer, contentType: string | undefined): unknown {
  requireJsonType(contentType);
  const { text, value } = parsedJson(body);
  const repeated = repeatedName(text);
  if (repeated !== undefined) {
    const fields = { [repeated]: 'occurs twice' };
    throw new ServiceError(400, 'malformed_request', 'An object of the body has a name twice.', { fields });
  }
  requireUsableTexts(value);
  return value;
}

/** @throws ServiceError 422 with every field of a body or query that contains NUL or a lone surrogate. */
export function requireUsableTexts(value: unknown): void {
  const paths = unusableTexts(value);
  if (paths.length === 0) return;
  throw validationFailed(Object.fromEntries(paths.map((path) => [path, 'must not contain NUL or a lone surrogate'])));
}

function parsedJson(body: Buffer): { readonly text: string; readonly value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return { text, value: JSON.parse(text) };
  } catch {
    throw new ServiceError(400, 'malformed_request', 'The body is not JSON in UTF-8.');
  }
}

function refusalOf(error: unknown): ServiceError {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413) {
    return new ServiceError(413, 'payload_too_large', `The body has more than ${BODY_LIMIT_BYTES} bytes.`);
  }
  if (status === 415) return new ServiceError(415, 'unsupported_media_type', 'Compressed bodies are not accepted.');
  return new ServiceError(400, 'malformed_request', 'The body could not be read.');
}
