import { request as httpRequest } from 'node:http';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { KeyRing } from '#crypto/key-ring.ts';
import type { SmallServer } from '#telemetry/http-server.ts';
import { createLogger } from '#telemetry/logger.ts';
import { startCodecServer, type CodecServerOptions } from '#temporal/codec/codec-server.ts';
import { EncryptionCodec } from '#temporal/codec/payload-codec.ts';

const UI = 'http://localhost:8233';
const codec = new EncryptionCodec(new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]));
const TOKEN = 'codec-token-of-the-test';

let server: SmallServer;
let logged: string[];

async function start(changes: Partial<CodecServerOptions> = {}): Promise<SmallServer> {
  logged = [];
  const logger = createLogger({ level: 'trace', name: 'codec-server' }, { write: (line) => void logged.push(line) });
  return startCodecServer({
    host: '127.0.0.1',
    port: 0,
    codec,
    allowedOrigins: ['http://127.0.0.1:8233', UI],
    allowedHosts: ['127.0.0.1', 'localhost'],
    logger,
    ...changes,
  });
}

beforeEach(async () => void (server = await start()));
afterEach(() => server.close());

function toJson({ metadata, data }: Payload) {
  const encode = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('base64');
  return {
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, encode(value)])),
    data: encode(data),
  };
}

const answerSchema = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), z.string()), data: z.string() })),
});

const plain = (value: unknown) => defaultPayloadConverter.toPayload(value);
/** The body of a request to decode this value. */
const encodedBody = async (value: unknown, by = codec) => ({ payloads: (await by.encode([plain(value)])).map(toJson) });

const ask = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${server.port}${path}`, init);

/** A request like those of the Temporal UI. */
const post = (path: string, body: unknown, headers: Record<string, string> = { Origin: UI }) =>
  ask(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Namespace': 'default', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

async function restart(changes: Partial<CodecServerOptions>): Promise<void> {
  await server.close();
  server = await start(changes);
}

/** A request whose body has so many mebibytes so far, and never ends. */
function endless(mebibytes: number) {
  const { promise: status, resolve } = Promise.withResolvers<number>();
  const call = httpRequest({ host: '127.0.0.1', port: server.port, path: '/decode', method: 'POST' }, (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  });
  call.on('error', () => resolve(-1));
  for (let sent = 0; sent < mebibytes; sent += 1) call.write(Buffer.alloc(1_024 * 1_024, ' '));
  return { status, call };
}

describe('the codec server', () => {
  it('decodes payloads for the Temporal UI, at each of its addresses', async () => {
    const body = await encodedBody({ status: 'held' });
    for (const origin of ['http://127.0.0.1:8233', UI]) {
      const answer = await post('/decode', body, { Origin: origin });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      const [payload] = answerSchema.parse(await answer.json()).payloads;
      expect(Buffer.from(payload?.data ?? '', 'base64').toString()).toBe('{"status":"held"}');
      expect(Buffer.from(payload?.metadata['encoding'] ?? '', 'base64').toString()).toBe('json/plain');
    }
  });

  it('encodes input of the UI or the CLI, so that the worker can read it', async () => {
    const answer = await post('/encode', { payloads: [toJson(plain('typed'))] });
    const { payloads } = answerSchema.parse(await answer.json());
    const bytes = (text: string) => Buffer.from(text, 'base64');
    const received = payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(Object.entries(metadata).map(([name, value]) => [name, bytes(value)])),
      data: bytes(data),
    }));
    expect(bytes(payloads[0]?.data ?? '').toString()).not.toContain('typed');
    expect(defaultPayloadConverter.fromPayload((await codec.decode(received))[0] ?? {})).toBe('typed');
  });

  it('answers the preflight of the UI with all headers that it sends', async () => {
    const headers = {
      Origin: UI,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type,x-namespace',
    };
    const answer = await ask('/decode', { method: 'OPTIONS', headers });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe(UI);
    expect(answer.headers.get('access-control-allow-methods')).toContain('POST');
    const allowed = answer.headers.get('access-control-allow-headers')?.toLowerCase();
    for (const header of ['authorization', 'content-type', 'x-namespace']) expect(allowed).toContain(header);
  });

  it.each(['http://evil.example', 'http://localhost:8234', 'null', 'http://localhost:8233.evil.example'])(
    'refuses a page of another origin, also to a preflight: %s',
    async (origin) => {
      const body = JSON.stringify(await encodedBody('canary'));
      const calls: RequestInit[] = [{ method: 'POST', body }, { method: 'OPTIONS' }];
      for (const call of calls) {
        const answer = await ask('/decode', { ...call, headers: { Origin: origin } });
        expect(answer.status).toBe(403);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
        expect(await answer.text()).not.toContain(Buffer.from('"canary"').toString('base64'));
      }
    },
  );

  it.each(['evil.example', '127.0.0.1.evil.example', '[::1]'])('refuses the Host %j without a token', async (host) => {
    const body = JSON.stringify(await encodedBody('canary'));
    const askAt = async (path: string, authorization?: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { host: `${host}:${server.port}`, ...(authorization !== undefined && { authorization }) };
        const call = httpRequest({ host: '127.0.0.1', port: server.port, path, method: 'POST', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        call.on('error', reject);
        call.end(body);
      });
    expect(await askAt('/decode')).toBe(421);
    expect(await askAt('/encode')).toBe(421);
    await restart({ token: TOKEN });
    expect(await askAt('/decode', `Bearer ${TOKEN}`)).toBe(200);
  });

  it('requires its configured token, except in a preflight', async () => {
    await restart({ token: TOKEN });
    const statusWith = async (headers: Record<string, string>) =>
      (await post('/decode', { payloads: [] }, headers)).status;
    for (const refused of [{}, { Authorization: `Bearer ${TOKEN}x` }, { Authorization: TOKEN }])
      expect(await statusWith(refused)).toBe(401);
    expect(await statusWith({ Authorization: `Bearer ${TOKEN}` })).toBe(200);
    expect((await ask('/decode', { method: 'OPTIONS', headers: { Origin: UI } })).status).toBe(204);
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('reports the missing key, in a form that the UI can read', async () => {
    const stranger = new EncryptionCodec(new KeyRing([{ id: 'gone', key: Buffer.alloc(32, 9) }]));
    const answer = await post('/decode', await encodedBody('lost', stranger));
    expect(answer.status).toBe(400);
    expect(answer.headers.get('access-control-allow-origin')).toBe(UI);
    expect(await answer.text()).toContain('key \\"gone\\" is not in ENCRYPTION_KEYS');
  });

  it.each([
    ['not JSON', 'payloads'],
    ['a list', []],
    ['wrong types', { payloads: [{ metadata: { a: 1 } }] }],
    ['null', null],
  ])('answers 400 to a body that is %s', async (_, body) => {
    expect((await post('/decode', body)).status).toBe(400);
  });

  it('refuses a body over its limit without reading all of it', async () => {
    // One more than the limit.
    const { status, call } = endless(9);
    expect(await status).toBe(413);
    call.destroy();
  });

  it.each([
    ['payloads', `{"payloads":[${Array(500_000).fill('{"data":"eA=="}').join(',')}]}`],
    ['payloads without content', `{"payloads":[${Array(500_000).fill('{}').join(',')}]}`],
    ['lists in lists', '['.repeat(1_000_000)],
    ['a few more than a page has', JSON.stringify({ payloads: Array.from({ length: 5_001 }, () => ({})) })],
  ])('refuses half a million small items before it parses them: %s', async (_, body) => {
    const answer = await post('/encode', body);
    expect(answer.status).toBe(413);
    expect(await answer.text()).toContain('5000 payloads');
    const most = Array.from({ length: 5_000 }, () => ({ data: 'eA==', metadata: { encoding: 'anNvbg==' } }));
    expect((await post('/encode', { payloads: most })).status).toBe(200);
  });

  it('keeps at most two full bodies of all requests in memory, and serves the next one afterwards', async () => {
    const calls = Array.from({ length: 5 }, () => endless(7));
    expect(await Promise.race(calls.map(({ status }) => status))).toBe(503);
    for (const { call } of calls) call.destroy();
    await expect
      .poll(async () => (await post('/decode', `{"payloads":[]}${' '.repeat(7 * 1_024 * 1_024)}`)).status)
      .toBe(200);
  });

  it('logs no payload in any error', async () => {
    const canary = Buffer.from('canary-in-a-payload').toString('base64');
    const decode = async () => Promise.reject(new Error('the codec broke'));
    await restart({ codec: { encode: async () => [], decode } });
    const answer = await post('/decode', { payloads: [{ data: canary }] });
    expect(answer.status).toBe(500);
    expect(logged.join('')).toContain('the codec broke');
    expect(logged.join('') + (await answer.text())).not.toContain('canary');
    expect(logged.join('')).not.toContain(canary);
  });
});
