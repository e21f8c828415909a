import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Operation } from '#api/http/operation.ts';
import { PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { apiOfFile } from '#test/integration/api/support.ts';
import { callOperation } from '#test/support/api/call-operation.ts';
import { guarded } from '#test/support/api/operations-without-id.ts';
import { MISTAKES } from '#test/support/natural-mistakes.ts';
import { idleService, startTestApi } from '#test/support/network/api.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { waitFor } from '#test/support/wait-for.ts';

const { api, caller } = await apiOfFile();
const stranger = new HttpClient(api.baseUrl);

describe('an unknown request', () => {
  it('gets 404 as a problem', async () => {
    for (const path of ['/v1', '/v1/nothing', '/V1/orders', '/docs/..%2fpackage.json', '/problems/nothing']) {
      const answer = await caller.get(path);
      const type = answer.headers.get('content-type');
      expect([path, answer.status, type]).toEqual([path, 404, 'application/problem+json; charset=utf-8']);
    }
  });

  it('gets 405 with the allowed methods when the path exists', async () => {
    const deleted = await caller.call('DELETE', '/v1/orders', {});
    expect([deleted.status, deleted.headers.get('allow')]).toEqual([405, 'POST, GET, HEAD']);
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
    expect(answer.headers.get('content-type')).toContain('application/json');
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
    const fails = () => Promise.reject(new Error('inner workings'));
    await using own = await startTestApi({ service: { ...idleService, getWallet: fails } });
    const answer = await (await own.caller()).get('/v1/wallet');
    expect(answer.status).toBe(500);
    const id = answer.headers.get('x-request-id') ?? '?';
    const { title, advice } = PROBLEMS.internal_error;
    expect(answer.body).toEqual({
      type: 'https://fulfilment.test/prefix/problems/internal-error',
      code: 'internal_error',
      title,
      status: 500,
      detail: `${title}. ${advice}`,
      request_id: id,
    });
    expect(own.log.some((line) => line.includes('inner workings') && line.includes(id))).toBe(true);
  });
});

describe('the probes', () => {
  it('report that the process runs and is ready', async () => {
    expect((await stranger.get('/healthz')).body).toEqual({ status: 'ok' });
    const ready = await stranger.get('/readyz');
    const body = { status: 'ready', checks: { database: { ok: true } }, degraded: [] };
    expect([ready.status, ready.body]).toEqual([200, body]);
  });

  it('report the failed check, while the process keeps running', async () => {
    const database = () => Promise.reject(new Error('the schema is old'));
    await using own = await startTestApi({ readinessChecks: { database } });
    const client = new HttpClient(own.baseUrl);
    expect((await client.get('/healthz')).status).toBe(200);
    const ready = await client.get('/readyz');
    const checks = { database: { ok: false, detail: 'the schema is old' } };
    expect([ready.status, ready.body]).toEqual([503, { status: 'not ready', checks, degraded: [] }]);
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

describe('a natural mistake is answered with what is wrong and what to do', () => {
  it.each(MISTAKES)('$name', async ({ call: [method, path], body, headers, anonymous, answers }) => {
    const client = anonymous ? stranger : caller.with({ 'idempotency-key': randomUUID() });
    const call = { ...(headers && { headers }), ...(body !== undefined && { body }) };
    const answer = await client.call(method, path, call);
    expect([answer.status, answer.at('code'), answer.at('detail')]).toEqual(answers);
  });
});

/** Texts of the validator, which callers must never see. */
const VALIDATOR_TEXT = /invalid input|invalid option|unrecognized|too (?:big|small)|expected (?!to)|received/i;

describe('a body of the wrong type', () => {
  const bodyCalls = () => guarded(api).filter(({ reads }) => reads === 'json');
  const send = (operation: Operation, sent: unknown) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    return callOperation(caller, operation, { headers, body: JSON.stringify(sent) }, '1');
  };

  it('or with fields of the wrong type is refused without a text of the validator, by every call', async () => {
    expect(bodyCalls().length).toBeGreaterThan(20);
    for (const call of bodyCalls()) {
      for (const body of [null, 42, 'text', [], [{}]])
        expect(`${call.id} ${(await send(call, body)).textAt('detail')}`).toMatch(/ The body must be an object, not /);
      for (const value of [null, 42, 'text', [], {}]) {
        const fields = Object.keys(call.body?.shape ?? {}).map((field) => [field, value]);
        const answer = await send(call, Object.fromEntries(fields));
        expect(`${call.id} ${answer.text}`).not.toMatch(VALIDATOR_TEXT);
      }
    }
  });
});
