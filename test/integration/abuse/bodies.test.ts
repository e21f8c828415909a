/** OWASP API4:2023 (unrestricted resource consumption) and malformed input, over every body and query. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { Operation } from '#api/http/operation.ts';
import { bodyExampleOf } from '#api/openapi/examples.ts';
import { BATCH_BODY_LIMIT } from '#api/order-batches/batch-schemas.ts';
import { Problem } from '#api/problems/problem.ts';
import { apiScopes } from '#db/access/api-keys.ts';
import { newId } from '#db/connection/ids.ts';
import { ID_PREFIXES, type IdKind } from '#domain/work/identifiers.ts';
import { callOperation } from '#test/support/api/call-operation.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { guarded, idKind } from '#test/support/api/operations-without-id.ts';
import { startTestApi } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { rawRequest, sendRaw } from '#test/support/network/raw-http.ts';
import { statementsOf } from '#test/support/servers/statements.ts';
import { makeOwnWork } from '#test/support/work/own-work.ts';

/** Smaller than the default, so that a sender exceeds it soon. */
const LIMIT = 262_144;

const api = await startTestApi({ bodyLimitBytes: LIMIT });
const caller = await api.caller();
afterAll(() => api[Symbol.asyncDispose]());

const withBody = () => api.operations.filter(({ reads }) => reads === 'json');
const send = (operation: Operation, body: unknown, headers: Record<string, string> = {}) =>
  callOperation(caller, operation, { body, headers: { 'Idempotency-Key': randomUUID(), ...headers } });
const answered = (operation: Operation, answer: HttpAnswer) => [operation.id, answer.status, answer.at('code')];

const listOf = (length: number, item: string) => Array<string>(length).fill(item).join(',');
const PACKED = gzipSync(Buffer.alloc(1_000_000));
const objectOf = (names: number) => `{${Array.from({ length: names }, (_, n) => `"n${n}":1`).join(',')}}`;

type Malformed = readonly [name: string, status: number, code: string, body: unknown, headers?: Record<string, string>];

const MALFORMED: readonly Malformed[] = [
  ['that is too large', 413, 'payload_too_large', `{"reason":"${'x'.repeat(BATCH_BODY_LIMIT)}"}`],
  ['nested thousands deep', 400, 'malformed_json', `{"reason":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ['nested thousands deep and never closed', 400, 'malformed_json', `{"reason":${'['.repeat(200_000)}`],
  ['that names a field twice', 400, 'malformed_json', '{"reason":"one","reason":"two"}'],
  ['that names a field twice, once escaped', 400, 'malformed_json', '{"reason":"one","\\u0072eason":"two"}'],
  ['that reaches for the prototype', 400, 'malformed_json', '{"__proto__":{"reason":"x","isAdmin":true}}'],
  ['that reaches for the prototype within', 400, 'malformed_json', '{"filter":{"__proto__":{"status":"held"}}}'],
  ['that reaches for the constructor', 400, 'validation_failed', '{"constructor":{"prototype":{"isAdmin":true}}}'],
  ['that is a number too large for any type', 400, 'validation_failed', `1${'0'.repeat(400)}`],
  ['with a very long name', 400, 'validation_failed', `{"${'n'.repeat(200_000)}":1}`],
  ['with hundreds of names', 400, 'malformed_json', objectOf(435)],
  ['with hundreds of unknown fields in each item', 400, 'malformed_json', `{"items":[${objectOf(435)}]}`],
  ['with 50 errors in each of many items', 400, 'validation_failed', `{"items":[${listOf(400, objectOf(50))}]}`],
  ['with 100,000 values', 400, 'malformed_json', `{"items":[${listOf(100_000, '1')}]}`],
  ['that is not UTF-8', 400, 'malformed_json', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['of another type', 415, 'unsupported_media_type', '<why/>', { 'Content-Type': 'application/xml' }],
  ['that unpacks to something larger', 415, 'unsupported_encoding', PACKED, { 'Content-Encoding': 'gzip' }],
];

describe('a body', () => {
  it.for(MALFORMED)('%s is refused by every call', async ([, status, code, body, headers]) => {
    expect(withBody().length).toBeGreaterThan(20);
    for (const operation of withBody()) {
      expect(answered(operation, await send(operation, body, headers))).toEqual([operation.id, status, code]);
    }
  });

  it('that is missing is refused by every call that requires one', async () => {
    const optional = withBody().filter(({ bodyRequired }) => !bodyRequired);
    expect(optional.map(({ id }) => id).toSorted()).toEqual([
      'cancelEsim',
      'cancelVpnSubscription',
      'createShareLink',
      'enableWebhookEndpoint',
      'rotateServiceWebhookSecret',
      'rotateWebhookEndpointSecret',
      'tryPricing',
    ]);
    for (const operation of withBody().filter((each) => !optional.includes(each))) {
      expect(answered(operation, await send(operation, ''))).toEqual([operation.id, 400, 'malformed_json']);
    }
  });

  it('in chunks is counted while it arrives, and the excess is discarded', async () => {
    const key = `Authorization: ${caller.headers['authorization']}`;
    const chunked = ['Content-Type: application/json', 'Idempotency-Key: chunks', 'Transfer-Encoding: chunked'];
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const answer = await sendRaw(api.baseUrl, [
      rawRequest('POST /v1/orders', [key, ...chunked]),
      ...Array<string>(6).fill(chunk),
      '0\r\n\r\n',
      // A separate request follows, and then the connection closes.
      rawRequest('GET /v1/orders', [key, 'Connection: close']),
    ]);
    expect([answer.statuses, answer.closed]).toEqual([[413, 200], true]);
  });

  it('without authentication is not read', async () => {
    const endless = ['Content-Type: application/json', 'Content-Length: 1000000000', 'Expect: 100-continue'];
    const answer = await sendRaw(api.baseUrl, [rawRequest('POST /v1/orders', [...endless, 'Connection: close'])]);
    expect(answer.statuses.at(-1)).toBe(401);
  });
});

const ANYONE = {
  takeBytes: () => Buffer.alloc(0),
  header: () => undefined,
  headerNames: () => [],
  caller: { apiKeyId: 'key_1', keyPrefix: 'k', lineageId: 'key_1', ownerId: undefined, scopes: apiScopes },
  isHead: false,
  requestId: 'r',
  onClose: (listener: () => void) => listener(),
};

describe('a query string', () => {
  it('with a repeated parameter or a prototype property is refused by every call', async () => {
    const withQuery = guarded(api).filter(({ method, query }) => method === 'get' && query !== undefined);
    expect(withQuery.length).toBeGreaterThan(9);
    for (const operation of withQuery) {
      const names = Object.keys(operation.query?.shape ?? {});
      for (const query of [
        ...names.map((name) => `${name}=1&${name}=1`),
        ...names.map((name) => `${name}[]=1`),
        // The pairs of metadata are written so.
        ...names.filter((name) => name !== 'metadata').map((name) => `${name}[a]=1`),
        'metadata[a][b]=1',
        '__proto__=1',
        '__proto__[limit]=1',
        'constructor=1',
        'toString=1',
        'unknown=1',
        `limit=${'1'.repeat(10_000)}`,
        `cursor=${'A'.repeat(10_000)}`,
        'a=1&'.repeat(2_000),
      ]) {
        const answer = await callOperation(caller, { ...operation, path: `${operation.path}?${query}` });
        const which = `${operation.id} ${query.slice(0, 40)}`;
        expect([which, answer.status, answer.at('code')]).toEqual([which, 400, 'validation_failed']);
      }
    }
  });

  it('with a forged cursor is refused or finds a page, by every list', async () => {
    const work = await makeOwnWork(api, caller);
    const rule = api.operations.find(({ id }) => id === 'createPricingRule');
    const pricingRule = (await postOnce(caller, '/v1/pricing/rules', rule && bodyExampleOf(rule))).textAt('id');
    const ids: Readonly<Record<string, string>> = { ...work.ids, pricingRule };
    const lists = api.operations.filter(({ query }) => query?.shape['cursor'] !== undefined);
    expect(lists.length).toBeGreaterThan(20);
    const numbers = ['-1', '1e999', 'NaN', ...[9, 10, 13, 15, 18, 19].map((digits) => '9'.repeat(digits))];
    const made = [...(Object.keys(ID_PREFIXES) as IdKind[]).map((kind) => newId(kind)), 'x'];
    const ends = [...numbers, ...made, ...numbers.flatMap((at) => made.map((id) => `${at}.${id}`))];
    const keys = ['1e99', '1e999', 'NaN', '-Infinity', '9'.repeat(18), `-${'9'.repeat(21)}.999999`, 'EUR', 'true'];
    const wrong: string[] = [];
    let served = 0;
    for (const { id, path, params: named, query, handle } of lists) {
      const params = path.includes('{id}') ? { id: ids[String(idKind({ params: named }))] } : {};
      expect([id, 'id' in params && params.id === undefined]).toEqual([id, false]);
      const ask = async (text: string, more: object) => {
        const cursor = Buffer.from(text, 'latin1').toString('base64url');
        try {
          await handle({ ...ANYONE, params, query: { cursor, ...more } });
          served += 1;
        } catch (error) {
          if (!(error instanceof Problem) || error.status >= 500) wrong.push(`${id} ${text}: ${String(error)}`);
        }
      };
      for (const letter of 'abcdefgijklmoprtuvx') for (const end of ends) await ask(`${letter}.${end}`, {});
      if (query?.shape['sort'] === undefined) continue;
      for (const sort of ['id', 'price', '-price', 'days', '-days', 'data', '-data'])
        for (const first of keys)
          for (const others of [
            '',
            ...keys.flatMap((key) => [` ${key}`, ` EUR ${key}`, ` ${key} 7`, ` true ${key} 7`]),
          ])
            for (const list of ['p', 'l']) await ask(`${list} ${sort} ${first}${others}`, { sort });
    }
    expect(wrong).toEqual([]);
    expect(served).toBeGreaterThan(lists.length);
  });
});

describe('a list, map or text that is too long', () => {
  const TOO_LONG: readonly unknown[] = [
    Array<number>(5_000).fill(101),
    Array<string>(5_000).fill('x'),
    objectOf(150),
    'x'.repeat(20_000),
  ];

  /** Sends a request. @returns its status and the number of its statements, unless it is refused without one. */
  async function served(send: () => Promise<HttpAnswer>): Promise<readonly number[]> {
    let status = 0;
    const statements = await statementsOf(async () => void ({ status } = await send()));
    const work = statements.filter((text) => !text.includes('api_keys'));
    return status === 400 && work.length === 0 ? [] : [status, work.length];
  }

  /** The body with each of its values replaced by each that is too long. */
  function* spoilt(value: unknown): Generator {
    for (const each of TOO_LONG) yield typeof each === 'string' && each.startsWith('{') ? JSON.parse(each) : each;
    if (Array.isArray(value)) for (const first of spoilt(value[0])) yield [first, ...value.slice(1)];
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value))
        for (const each of spoilt(inner)) yield { ...value, [name]: each };
  }

  it('in a body is refused before any statement, by every call', async () => {
    const wrong: unknown[] = [];
    for (const operation of withBody()) {
      const shape = Object.keys(operation.body?.shape ?? {});
      const example = {
        ...Object.fromEntries(shape.map((name) => [name, 'x'])),
        ...(bodyExampleOf(operation) as object),
      };
      for (const body of spoilt(example)) {
        const how = await served(() => send(operation, body));
        if (how.length > 0) wrong.push([operation.id, ...how, JSON.stringify(body).slice(0, 200)]);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('in a query or header is refused before any statement, by every call', async () => {
    const wrong: unknown[] = [];
    const longs = ['1,'.repeat(5_000), 'x'.repeat(10_000), `${newId('order')},`.repeat(300)];
    for (const operation of guarded(api)) {
      const { method, path, query, id } = operation;
      const body = method === 'get' ? {} : { body: bodyExampleOf(operation) ?? {} };
      const call = async (more: string, headers: Record<string, string> = {}) => {
        const asked = { ...operation, path: `${path}${more}` };
        const how = await served(() => callOperation(caller, asked, { ...body, headers }));
        if (how.length > 0) wrong.push([id, ...how, more.slice(0, 30), Object.keys(headers)]);
      };
      for (const name of Object.keys(query?.shape ?? {}))
        for (const long of longs) await call(`?${name === 'metadata' ? 'metadata[a]' : name}=${long}`);
      if (query?.shape['metadata'] !== undefined)
        await call(`?${Array.from({ length: 500 }, (_, n) => `metadata[n${n}]=1`).join('&')}`);
      if (operation.idempotent) await call('', { 'Idempotency-Key': 'k'.repeat(10_000) });
    }
    expect(wrong).toEqual([]);
  });
});
