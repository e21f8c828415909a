import { Ajv2020 } from 'ajv/dist/2020.js';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { openApiDocument } from '#api/openapi/openapi.ts';
import { PROBLEMS, problemCodes } from '#api/problems/problem-catalogue.ts';
import { PROBLEM_MEANINGS } from '#api/problems/problem-meanings.ts';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { problemType } from '#api/problems/problem.ts';
import { generateApiKey } from '#crypto/api-key.ts';
import { addApiKey, revokeApiKey } from '#db/access/api-keys.ts';
import { apiKeys } from '#db/schema.ts';
import { idleService, startTestApi, TEST_NOW, type TestApi } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

let api: TestApi;
let caller: HttpClient;
let stranger: HttpClient;

beforeAll(async () => {
  api = await startTestApi();
  caller = await api.caller();
  stranger = new HttpClient(api.baseUrl);
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

describe('API keys', () => {
  const addKey = async (more: { expiresAt?: Date } = {}) => {
    const { key, prefix, hash } = generateApiKey();
    const id = await api.database.run((db) =>
      addApiKey(db, { name: 'test', prefix, hash, scopes: ['orders:read'], ...more }),
    );
    return { id, key, prefix, client: stranger.with({ authorization: `Bearer ${key}` }) };
  };

  it('are required for every call below /v1, and 401 explains the authentication', async () => {
    const document = openApi.parse((await stranger.get('/openapi.json')).body);
    const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method, path] as const),
    );
    const guarded = calls.filter(([, path]) => path.startsWith('/v1/'));
    expect(guarded.length).toBeGreaterThan(9);
    for (const [method, path] of guarded) {
      const answer = await stranger.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'), {});
      expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([
        path,
        401,
        'Bearer realm="reseller"',
      ]);
    }
  });

  it.each([
    ['another scheme', (key: string) => `Basic ${key}`],
    ['no key', () => 'Bearer '],
    ['a key that is none', () => 'Bearer abc'],
    ['an unknown key', () => `Bearer ${generateApiKey().key}`],
    ['a known prefix with another secret', (key: string) => `Bearer ${key.slice(0, -4)}0000`],
    ['two keys', (key: string) => `Bearer ${key}, Bearer ${key}`],
  ])('are refused with 401: %s', async (_name, authorization) => {
    const { key } = await addKey();
    const answer = await stranger.get('/v1/orders', { headers: { authorization: authorization(key) } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="reseller", error="invalid_token"');
    expect(answer.read(problemSchema).code).toBe('unauthenticated');
  });

  it('end at once when they are revoked, and when they expire', async () => {
    const revoked = await addKey();
    expect((await revoked.client.get('/v1/orders')).status).toBe(200);
    await api.database.run((db) => revokeApiKey(db, revoked.prefix, new Date(TEST_NOW)));
    // The clock stands still: only the notification ends it.
    await waitFor('it is refused', async () => (await revoked.client.get('/v1/orders')).status === 401);

    const expiring = await addKey({ expiresAt: new Date(TEST_NOW + 1) });
    expect((await expiring.client.get('/v1/orders')).status).toBe(200);
    api.clock.now += 1;
    expect((await expiring.client.get('/v1/orders')).status).toBe(401);
    api.clock.now = TEST_NOW;
  });

  it('allow only calls of their scopes, and 403 names the missing one', async () => {
    const { client } = await addKey();
    const answer = await client.get('/v1/wallet');
    expect(answer.status).toBe(403);
    expect(answer.read(problemSchema)).toMatchObject({ code: 'missing_scope', missing_scope: 'wallet:read' });
    expect(answer.headers.get('www-authenticate')).toContain('scope="wallet:read"');
  });

  it('store the time of their last use at most once a minute', async () => {
    const { id, client } = await addKey();
    const lastUse = async () =>
      (await api.database.run((db) => db.select().from(apiKeys).where(eq(apiKeys.id, id))))[0]?.lastUsedAt?.getTime();
    await client.get('/v1/orders');
    await waitFor('the first use is noted', async () => (await lastUse()) === TEST_NOW);
    api.clock.now = TEST_NOW + 60_000;
    await client.get('/v1/orders');
    expect(await lastUse()).toBe(TEST_NOW);
    api.clock.now = TEST_NOW + 60_001;
    await client.get('/v1/orders');
    await waitFor('the later use is noted', async () => (await lastUse()) === TEST_NOW + 60_001);
    api.clock.now = TEST_NOW;
  });

  it('never appear in the log', async () => {
    const { key, client } = await addKey();
    await client.get('/v1/orders');
    await client.get('/v1/wallet');
    expect(api.log.join('')).not.toContain(key);
  });
});

describe('an unknown request', () => {
  it('for / leads to the documentation', async () => {
    const answer = await caller.get('/');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, 'docs']);
  });

  it('gets 404 as a problem', async () => {
    for (const path of [
      '/v1',
      '/v1/nothing',
      '/v1/orders/',
      '/V1/orders',
      '/docs/index.html',
      '/docs/..%2fpackage.json',
      '/problems/nothing',
    ]) {
      const answer = await caller.get(path);
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        404,
        'application/problem+json; charset=utf-8',
      ]);
    }
  });

  it('gets 405 with the allowed methods when the path exists', async () => {
    const deleted = await caller.call('DELETE', '/v1/orders', {});
    expect([deleted.status, deleted.headers.get('allow'), deleted.read(problemSchema).code]).toEqual([
      405,
      'POST, GET, HEAD',
      'method_not_allowed',
    ]);
    const got = await caller.get('/webhooks/service');
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    const options = await caller.call('OPTIONS', '/v1/orders', {});
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, GET, HEAD']);
  });

  it('gets 400 with invalid percent-encoding in its address', async () => {
    const answer = await caller.get('/v1/orders/%E0%A4%A');
    expect([answer.status, answer.read(problemSchema).code]).toEqual([400, 'malformed_request']);
  });

  it('with HEAD gets the answer of GET without a body', async () => {
    const answer = await caller.call('HEAD', '/v1/packages', {});
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(Number(answer.headers.get('content-length'))).toBeGreaterThan(10);
  });
});

describe('every answer', () => {
  it('has security and cache headers, and no header that names the server software', async () => {
    for (const path of ['/v1/orders', '/healthz', '/nothing']) {
      const { headers } = await caller.get(path);
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    }
  });

  it('has a valid request id of the caller, or a new one, and the log contains it', async () => {
    const own = await caller.get('/v1/orders', { headers: { 'x-request-id': 'my-id.1' } });
    expect(own.headers.get('x-request-id')).toBe('my-id.1');
    const refused = await caller.get('/v1/orders', { headers: { 'x-request-id': 'a b' } });
    expect(refused.headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/);
    await waitFor('the log has it', () =>
      api.log.some((line) => line.includes('"requestId":"my-id.1"') && line.includes('"route":"/v1/orders"')),
    );
  });

  it('replaces an unexpected error by the request id, and the log explains it', async () => {
    await using own = await startTestApi({
      service: {
        ...idleService,
        listPackages: () => Promise.reject(new Error('inner workings')),
        getWallet: () => Promise.reject(new Error('inner workings')),
      },
    });
    const answer = await (await own.caller()).get('/v1/wallet');
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({
      type: '/problems/internal-error',
      code: 'internal_error',
      title: PROBLEMS.internal_error.title,
      status: 500,
      detail: `${PROBLEMS.internal_error.title}. ${PROBLEMS.internal_error.advice}`,
      request_id: answer.headers.get('x-request-id'),
    });
    expect(
      own.log.some(
        (line) => line.includes('inner workings') && line.includes(answer.headers.get('x-request-id') ?? '?'),
      ),
    ).toBe(true);
  });
});

describe('the description of the API', () => {
  it('is OpenAPI 3.1 with an operation id, answers and all problems for each call', async () => {
    const answer = await stranger.get('/openapi.json');
    const document = openApi.parse(answer.body);
    expect(document.openapi).toBe('3.1.0');
    const calls = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(new Set(calls.map(({ operationId }) => operationId)).size).toBe(calls.length);
    const create = document.paths['/v1/orders']?.['post'];
    expect(Object.keys(create?.responses ?? {})).toEqual([
      '201',
      '202',
      '400',
      '401',
      '403',
      '409',
      '413',
      '415',
      '422',
      '429',
      '500',
      '503',
    ]);
    expect(JSON.stringify(create)).toContain('Idempotency-Key');
  });

  it('is closed for requests, and open for additional fields of later versions in answers', async () => {
    const answer = await stranger.get('/openapi.json');
    expect(answer.at('components', 'schemas', 'OrderInput', 'additionalProperties')).toBe(false);
    expect(answer.at('components', 'schemas', 'Order', 'properties', 'id', 'type')).toBe('string');
    expect(answer.at('components', 'schemas', 'Order', 'additionalProperties')).toBeUndefined();
  });

  it('refers only to its own parts, and its examples match their schemas', async () => {
    const answer = await stranger.get('/openapi.json');
    const document = openApi.parse(answer.body);
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
    ajv.addSchema({ $id: 'api', ...document });
    const references = [...answer.text.matchAll(/"\$ref":"#([^"]+)"/g)].map(([, reference]) => reference ?? '');
    expect(references.length).toBeGreaterThan(10);
    for (const reference of new Set(references)) {
      expect(answer.at(...reference.slice(1).split('/')), reference).toBeDefined();
    }
    const schemas = references.filter((reference) => reference.startsWith('/components/schemas/'));
    for (const reference of new Set(schemas))
      expect(ajv.getSchema(`api#${reference}`), reference).toBeTypeOf('function');

    let checked = 0;
    for (const { schema, examples } of contentsOf(document)) {
      const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object);
      for (const value of examples) {
        expect(validate(value), JSON.stringify([value, validate.errors])).toBe(true);
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(40);
  });

  it('lists only codes with a page, and each page names a solution', async () => {
    for (const code of problemCodes) {
      const page = await stranger.get(problemType(code));
      expect([code, page.status, page.headers.get('content-type')]).toEqual([code, 200, 'text/html; charset=utf-8']);
      expect(page.text).toContain(`<code>${code}</code>, HTTP status ${PROBLEMS[code].status}`);
      const facts = await stranger.get(problemType(code), { headers: { accept: 'application/json' } });
      expect(facts.body).toEqual({
        type: problemType(code),
        code,
        meaning: PROBLEM_MEANINGS[code] ?? null,
        ...PROBLEMS[code],
      });
    }
  });

  it('is shown on a page without external resources, under a policy that forbids them', async () => {
    const page = await stranger.get('/docs');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
    const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part]) => part ?? '');
    expect(parts.length).toBe(4);
    for (const part of parts) {
      const file = await stranger.get(new URL(part, `${api.baseUrl}/docs`).pathname);
      expect([part, file.status]).toEqual([part, 200]);
    }
    const slash = await stranger.get('/docs/');
    expect([slash.status, slash.headers.get('location')]).toEqual([308, '../docs']);
    expect(page.text + (await stranger.get('/docs/start.js')).text).not.toMatch(/https?:/);
    expect(page.text).not.toMatch(/<script>/);
  });

  it('is created without a running API', () => {
    expect(openApiDocument([], '1.0.0')).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
  });
});

describe('the probes', () => {
  it('report that the process runs and is ready', async () => {
    expect((await stranger.get('/healthz')).body).toEqual({ status: 'ok' });
    const ready = await stranger.get('/readyz');
    expect([ready.status, ready.body]).toEqual([
      200,
      { status: 'ready', checks: { database: { ok: true } }, degraded: [] },
    ]);
  });

  it('report the failed check, while the process keeps running', async () => {
    await using own = await startTestApi({
      readinessChecks: { database: () => Promise.reject(new Error('the schema is old')) },
    });
    const client = new HttpClient(own.baseUrl);
    expect((await client.get('/healthz')).status).toBe(200);
    const ready = await client.get('/readyz');
    expect([ready.status, ready.body]).toEqual([
      503,
      { status: 'not ready', checks: { database: { ok: false, detail: 'the schema is old' } }, degraded: [] },
    ]);
  });

  it('count requests by route pattern, never by path', async () => {
    await caller.get('/v1/orders/ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD');
    await caller.get('/a-path-of-its-own');
    const { text } = await waitFor('they are counted', async () => {
      const metrics = await stranger.get('/metrics');
      return metrics.text.includes('route="unmatched",status="404"') ? metrics : undefined;
    });
    expect(text).toContain('reseller_http_requests_total{method="GET",route="/v1/orders/{id}",status="404"}');
    expect(text).not.toContain('a-path-of-its-own');
  });
});

const content = z.looseObject({
  schema: z.unknown(),
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.looseObject({ value: z.unknown().optional() })).optional(),
});
const body = z.looseObject({ content: z.record(z.string(), content).optional() });
const openApi = z.looseObject({
  openapi: z.string(),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({ operationId: z.string(), requestBody: body.optional(), responses: z.record(z.string(), body) }),
    ),
  ),
});

function contentsOf(document: z.output<typeof openApi>): { schema: unknown; examples: unknown[] }[] {
  return Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ requestBody, responses }) => [
      ...(requestBody === undefined ? [] : [requestBody]),
      ...Object.values(responses),
    ])
    .flatMap((each) => Object.values(each.content ?? {}))
    .map(({ schema, example, examples = {} }) => ({
      schema,
      examples: [
        ...(example === undefined ? [] : [example]),
        ...Object.values(examples).flatMap(({ value }) => (value === undefined ? [] : [value])),
      ],
    }));
}
