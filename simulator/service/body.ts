import express, { type Request, type Response } from 'express';
import { ServiceError, validationFailed } from '#simulator/service/errors.ts';
import { repeatedName, unusableTexts } from '#simulator/service/json-names.ts';

/** Far more than any request of the interface needs. */
const BODY_LIMIT_BYTES = 65_536;

const readRaw = express.raw({ type: () => true, limit: BODY_LIMIT_BYTES, inflate: false });

/** The bytes of a request's body. @throws ServiceError 413 too large, 415 compressed, 400 cut short. */
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

/** @throws ServiceError 415 when it is not declared as JSON in UTF-8, 400 when it is none. */
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
 * Reads the body of a service's call.
 *
 * @throws ServiceError as {@link jsonOf}; 400 for a name that an object has twice, 422 for a text that none should
 *   send.
 */
export function strictJsonOf(body: Buffer, contentType: string | undefined): unknown {
  requireJsonType(contentType);
  const { text, value } = parsedJson(body);
  const repeated = repeatedName(text);
  if (repeated !== undefined) {
    const fields = { [repeated]: 'is given twice' };
    throw new ServiceError(400, 'malformed_request', 'An object of the body has the same name twice.', { fields });
  }
  requireUsableTexts(value);
  return value;
}

/** @throws ServiceError 422 naming every field of a body or query that holds NUL or half a character. */
export function requireUsableTexts(value: unknown): void {
  const paths = unusableTexts(value);
  if (paths.length === 0) return;
  throw validationFailed(Object.fromEntries(paths.map((path) => [path, 'must hold no NUL and no half character'])));
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
  if (status === 415) return new ServiceError(415, 'unsupported_media_type', 'Compressed bodies are not taken.');
  return new ServiceError(400, 'malformed_request', 'The body could not be read.');
}
