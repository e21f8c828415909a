import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Payload, PayloadCodec } from '@temporalio/common';
import * as z from 'zod';
import { close, listen } from '#telemetry/listening.ts';
import type { Logger } from '#telemetry/logger.ts';
import { PayloadDecryptionError } from '#temporal/codec/payload-codec.ts';

export interface CodecServerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly codec: PayloadCodec;
  /** Origins of the Temporal UI, as browsers send them. */
  readonly allowedOrigins: readonly string[];
  /** Names that it may be asked under where there is no token: lower case, without port. */
  readonly allowedHosts: readonly string[];
  /** Asked for as `Authorization: Bearer …` when given. */
  readonly token?: string | undefined;
  readonly logger: Logger;
}

export interface CodecServer {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Temporal answers at most 4 MiB at once, which base64 makes 5.4. */
const BODY_LIMIT_BYTES = 8 * 1_024 * 1_024;
/**
 * Of all requests together: the process has 192 MB in `npm start`, and a body takes several times its size while it is
 * worked on.
 */
const BODIES_LIMIT_BYTES = 2 * BODY_LIMIT_BYTES;
/** A page of a history has up to a thousand events with a few payloads each. */
const MAX_PAYLOADS = 5_000;
/**
 * Braces, brackets and commas of a body: one of our payloads has seven. Counted before the JSON is read, which makes an
 * object of each.
 */
const MAX_MARKS = 20 * MAX_PAYLOADS;

/** Ten minutes: browsers need not ask again before every call. */
const PREFLIGHT_MAX_AGE_S = 600;

const ALLOWED_HEADERS = 'Authorization, Content-Type, X-Namespace';

/** An answer that ends the handling of a request. */
class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Serves `POST /decode` and `POST /encode` in the protocol that the Temporal UI and CLI speak with remote codecs, and
 * `GET /healthz`. Whoever may call it reads everything, hence: a request for a `Host` that is not ours is refused, and
 * one with an `Origin` that is not the UI's, also when the browser thinks it is the server's own (a name that an
 * attacker points at this machine); there is a token where more than this machine can connect.
 *
 * @throws Error with code EADDRINUSE or EACCES when the port cannot be taken.
 */
export async function startCodecServer(options: CodecServerOptions): Promise<CodecServer> {
  const bodies: BodyBudget = { bytes: 0 };
  const server = createServer((request, response) => {
    handle(request, response, options, bodies).catch((error: unknown) => sendError(response, error, options.logger));
  });
  server.requestTimeout = 30_000;
  server.headersTimeout = 10_000;
  return {
    host: options.host,
    port: await listen(server, options),
    close: () => close(server, 'idle'),
  };
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  options: CodecServerOptions,
  bodies: BodyBudget,
): Promise<void> {
  const path = request.url?.split('?', 1)[0] ?? '/';
  if (path === '/healthz') {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new HttpError(405, 'only GET');
    sendJson(response, 200, { status: 'ok' });
    return;
  }
  if (path !== '/decode' && path !== '/encode') throw new HttpError(404, 'not here; try POST /decode');

  if (options.token === undefined) requireHost(request, options.allowedHosts);
  allowOrigin(request, response, options.allowedOrigins);
  if (request.method === 'OPTIONS') {
    answerPreflight(response);
    return;
  }
  if (request.method !== 'POST') throw new HttpError(405, 'only POST');
  if (options.token !== undefined) requireToken(request, options.token);

  await withBody(request, bodies, async (body) => {
    const payloads = parsePayloads(body);
    const coded = path === '/decode' ? await options.codec.decode(payloads) : await options.codec.encode(payloads);
    sendJson(response, 200, { payloads: coded.map(toJson) });
  });
}

/** Bytes of the bodies that are in memory now. */
interface BodyBudget {
  bytes: number;
}

/** Reads a body and works on it; its bytes count until that is done. @throws HttpError 413, 503 */
async function withBody(
  request: IncomingMessage,
  budget: BodyBudget,
  work: (body: Buffer) => Promise<void>,
): Promise<void> {
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

/** @throws HttpError 403 for a browser that shows another page than the UI. The CLI sends no origin. */
function allowOrigin(request: IncomingMessage, response: ServerResponse, allowed: readonly string[]): void {
  response.setHeader('Vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined) return;
  if (!allowed.includes(origin)) throw new HttpError(403, 'this origin is not in CODEC_ALLOWED_ORIGIN');
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Credentials', 'true');
}

/**
 * @throws HttpError 421 for another name than ours: an attacker's, that was pointed at this machine (DNS rebinding).
 */
function requireHost({ headers }: IncomingMessage, allowed: readonly string[]): void {
  const host = headers.host?.toLowerCase().replace(/:\d+$/, '') ?? '';
  if (!allowed.includes(host)) throw new HttpError(421, 'this host is not in CODEC_ALLOWED_HOSTS');
}

function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    'Access-Control-Allow-Methods': 'POST, OPTIONS',
    'Access-Control-Allow-Headers': ALLOWED_HEADERS,
    'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_S),
    // A UI on a public address asks a codec server on the user's own machine.
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

function sendError(response: ServerResponse, error: unknown, logger: Logger): void {
  if (error instanceof HttpError) {
    // The rest of a body that is too large is not read.
    if (error.status === 413 || error.status === 503) response.setHeader('Connection', 'close');
    sendJson(response, error.status, { message: error.message });
  } else if (error instanceof PayloadDecryptionError) {
    logger.warn({ err: error }, 'a payload could not be decrypted');
    sendJson(response, 400, { message: error.message });
  } else {
    logger.error({ err: error }, 'a request failed');
    sendJson(response, 500, { message: 'internal error; the log of the codec server says more' });
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return;
  // What was decrypted must not lie in a cache.
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(JSON.stringify(body));
}
