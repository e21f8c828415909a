import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { Request, Response } from 'express';
import * as z from 'zod';
import { HttpError, onlyMethods, startSmallServer, type SmallServer } from '#telemetry/http-server.ts';
import type { Logger } from '#telemetry/logger.ts';
import { PayloadDecryptionError } from '#temporal/codec/payload-codec.ts';

export interface CodecServerOptions {
  readonly host: string;
  readonly port: number;
  readonly codec: PayloadCodec;
  readonly allowedOrigins: readonly string[];
  /** Without a token: lower case, without port. */
  readonly allowedHosts: readonly string[];
  /** As `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  readonly logger: Logger;
}

/** Answers of Temporal have at most 4 MiB: 5.4 MiB in base64. */
const BODY_LIMIT_BYTES = 8 * 1_024 * 1_024;
/** For all requests together: the process has 192 MB in `npm start`, and a body takes several times its size. */
const BODIES_LIMIT_BYTES = 2 * BODY_LIMIT_BYTES;
/** A page of a history has up to a thousand events with a few payloads each. */
const MAX_PAYLOADS = 5_000;
/** Braces, brackets and commas, counted before the JSON is parsed, which creates an object for each. */
const MAX_MARKS = 20 * MAX_PAYLOADS;

/**
 * `POST /decode` and `POST /encode` of Temporal's remote codecs, and `GET /healthz`. A caller can read every payload.
 * So without a token a foreign `Host` is refused (DNS rebinding), an `Origin` that is not the UI's is refused, and a
 * token is required if other machines can connect.
 * @throws Error with code EADDRINUSE or EACCES.
 */
export async function startCodecServer(options: CodecServerOptions): Promise<SmallServer> {
  const { host, port, codec, allowedOrigins, allowedHosts, token, logger } = options;
  const bodies = { bytes: 0 };
  const answer = (work: 'decode' | 'encode') => (request: Request, response: Response) =>
    withBody(request, bodies, async (body) => {
      const coded = await codec[work](parsePayloads(body));
      response.json({ payloads: coded.map(toJson) });
    });
  return await startSmallServer(
    { host, port, closes: 'idle' },
    (app) => {
      app.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
      app.all('/healthz', onlyMethods('GET, HEAD'));
      app.all(['/decode', '/encode'], (request, response, next) => {
        if (token === undefined) requireHost(request, allowedHosts);
        allowOrigin(request, response, allowedOrigins);
        next();
      });
      app.options(['/decode', '/encode'], (_request, response) => answerPreflight(response));
      if (token !== undefined) {
        app.post(['/decode', '/encode'], (request, _response, next) => {
          requireToken(request, token);
          next();
        });
      }
      app.post('/decode', answer('decode'));
      app.post('/encode', answer('encode'));
      app.all(['/decode', '/encode'], onlyMethods('POST, OPTIONS'));
      app.use(() => {
        throw new HttpError(404, 'no such path; try POST /decode');
      });
    },
    (error, response) => answerError(response, error, logger),
  );
}

/** The bytes count until `work` is done. @throws HttpError 413, 503 */
async function withBody(request: IncomingMessage, budget: { bytes: number }, work: (body: Buffer) => Promise<void>) {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      budget.bytes += chunk.length;
      if (size > BODY_LIMIT_BYTES) throw new HttpError(413, `more than ${BODY_LIMIT_BYTES} bytes`);
      if (budget.bytes > BODIES_LIMIT_BYTES) throw new HttpError(503, 'too many large requests at once; try again');
      chunks.push(chunk);
    }
    await work(Buffer.concat(chunks));
  } finally {
    budget.bytes -= size;
  }
}

/** @throws HttpError 403 for an origin that is not the UI's. The CLI sends none. */
function allowOrigin(request: IncomingMessage, response: ServerResponse, allowed: readonly string[]): void {
  response.setHeader('Vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined) return;
  if (!allowed.includes(origin)) throw new HttpError(403, 'this origin is not in CODEC_ALLOWED_ORIGIN');
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Credentials', 'true');
}

/** @throws HttpError 421 */
function requireHost({ headers }: IncomingMessage, allowed: readonly string[]): void {
  const host = headers.host?.toLowerCase().replace(/:\d+$/, '') ?? '';
  if (!allowed.includes(host)) throw new HttpError(421, 'this host is not in CODEC_ALLOWED_HOSTS');
}

function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    'Access-Control-Allow-Methods': 'POST, OPTIONS',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, X-Namespace',
    // In seconds. Browsers then do not repeat the preflight before every call.
    'Access-Control-Max-Age': '600',
    // For a UI on a public address and a codec server on the user's machine.
    'Access-Control-Allow-Private-Network': 'true',
  });
  response.end();
}

function requireToken(request: IncomingMessage, token: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (timingSafeEqual(digest(request.headers.authorization ?? ''), digest(`Bearer ${token}`))) return;
  throw new HttpError(401, 'the bearer token is missing or wrong (CODEC_TOKEN)');
}

/** `temporal.api.common.v1.Payloads` as protobuf's JSON: bytes are base64. */
const base64 = z.string().transform((text) => Buffer.from(text, 'base64'));
const payloadsJson = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), base64).nullish(), data: base64.nullish() })).default([]),
});

function parsePayloads(body: Buffer): Payload[] {
  if (marksOf(body) > MAX_MARKS) throw tooMany();
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    throw new HttpError(400, 'the body is not JSON');
  }
  const parsed = payloadsJson.safeParse(json);
  if (!parsed.success) throw new HttpError(400, 'the body is not {"payloads": [{"metadata": {…}, "data": "…"}]}');
  if (parsed.data.payloads.length > MAX_PAYLOADS) throw tooMany();
  return parsed.data.payloads.map(({ metadata, data }) => ({
    metadata: metadata ?? {},
    data: data ?? new Uint8Array(),
  }));
}

const MARKS = new Set(Buffer.from('{[,'));

function marksOf(body: Buffer): number {
  let marks = 0;
  for (const byte of body) if (MARKS.has(byte)) marks += 1;
  return marks;
}

function tooMany(): HttpError {
  return new HttpError(413, `more than ${MAX_PAYLOADS} payloads`);
}

function toJson(payload: Payload): { metadata: Record<string, string>; data: string } {
  const encode = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  const metadata = Object.entries(payload.metadata ?? {}).map(([key, value]) => [key, encode(value)] as const);
  return { metadata: Object.fromEntries(metadata), data: encode(payload.data) };
}

function answerError(response: Response, error: unknown, logger: Logger): void {
  if (error instanceof HttpError) {
    // The rest of the body is not read, so the connection cannot be reused.
    if (error.status === 413 || error.status === 503) response.setHeader('Connection', 'close');
    response.status(error.status).json({ message: error.message });
  } else if (error instanceof PayloadDecryptionError) {
    logger.warn({ err: error }, 'a payload could not be decrypted');
    response.status(400).json({ message: error.message });
  } else {
    logger.error({ err: error }, 'a request failed');
    response.status(500).json({ message: 'internal error; see the log of the codec server' });
  }
}
