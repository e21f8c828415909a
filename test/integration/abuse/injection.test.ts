/**
 * ASVS V1 and V2 (injection, validation): hostile text in every string of a request is refused, or stored unchanged.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { desc, eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Operation } from '#api/http/operation.ts';
import { auditLog, inbox, orders, outbox, topups } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { startTestApi, TEST_NOW, WEBHOOK_SECRET, type TestApi } from '#test/support/network/api.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import { sendRaw } from '#test/support/network/raw-http.ts';
import { makeOwnWork, type OwnWork } from '#test/support/work/own-work.ts';
import { DEFAULT_HEADER_PREFIX, serviceHeaders } from '#upstream/contract.ts';

const HEADERS = serviceHeaders(DEFAULT_HEADER_PREFIX);

let api: TestApi;
let caller: HttpClient;
let work: OwnWork;
beforeAll(async () => {
  // An ended stream counts until the API has noticed its end.
  api = await startTestApi({ bodyLimitBytes: 262_144, streams: { ...DEFAULT_POLICY.streams, perKey: 1_000 } });
  caller = await api.caller();
  work = await makeOwnWork(api, caller);
});
afterAll(() => api[Symbol.asyncDispose]());

const HOSTILE: Readonly<Record<string, string>> = {
  SQL: `x'); DROP TABLE orders; --`,
  'SQL with a parameter': `$1' OR '1'='1`,
  NUL: 'a\0b',
  'line breaks': 'a\r\nX-Evil: 1\r\n\r\n<html>',
  'control characters': '\u0001\u0008\u001b[31mred\u007f',
  'a direction override': '\u202eevil\u2066\u2069',
  'half a surrogate pair': 'a\ud800b',
  'no character': '\uffff\ufffe\u{10ffff}',
  'many astral characters': '\u{1f4a9}'.repeat(200),
  'one of the widest characters': '\ufdfd'.repeat(100),
  'combining marks': `e${'\u0301'.repeat(300)}`,
  'fifty thousand letters': 'x'.repeat(50_000),
  'a script': `<script>alert(1)</script>"'>`,
  templates: '${7*7}{{7*7}}#{7*7}%{7*7}',
  formats: '%s%n%x%00',
  'a path': '../../../../etc/passwd',
  'a shell': '; $(touch /tmp/x) `id` | cat',
  JSON: '","admin":true,"x":"',
  nothing: '',
  'white space': ' \t\u00a0\u2003',
};

type Path = readonly string[];
const node = z.looseObject({
  $ref: z.string().optional(),
  $defs: z.record(z.string(), z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});

/** Paths of all texts that a schema accepts. `*` is any name or index. */
function texts(schema: unknown, path: Path = [], defined: Readonly<Record<string, unknown>> = {}): Path[] {
  const read = node.safeParse(schema);
  if (!read.success) return [];
  const { $ref, $defs = defined, type, properties = {}, additionalProperties, items, anyOf = [] } = read.data;
  if ($ref !== undefined) return texts($defs[$ref.replace('#/$defs/', '')], path, $defs);
  return [
    ...([type].flat().includes('string') && read.data.enum === undefined ? [path] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => texts(inner, [...path, name], $defs)),
    ...(typeof additionalProperties === 'object' ? texts(additionalProperties, [...path, '*'], $defs) : []),
    ...(items === undefined ? [] : texts(items, [...path, '*'], $defs)),
    ...anyOf.flatMap((inner) => texts(inner, path, $defs)),
  ];
}

/** The same with a value at a path, which is created if missing. */
function withValue(target: unknown, [name, ...rest]: Path, value: string): unknown {
  if (name === undefined) return value;
  if (name === '*' && Array.isArray(target)) return [withValue(target[0], rest, value)];
  const object = typeof target === 'object' && target !== null ? { ...target } : {};
  const key = name === '*' ? 'note' : name;
  return { ...object, [key]: withValue((object as Record<string, unknown>)[key], rest, value) };
}

const valueAt = (target: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null
        ? (inner as Record<string, unknown>)[name === '*' ? 'note' : name]
        : undefined,
    target,
  );

/** The example of a call as a new request, with existing work. */
function fresh({ bodyExample }: Operation): Record<string, unknown> {
  const body: Record<string, unknown> = { ...(bodyExample as object) };
  for (const name of ['external_order_id', 'external_topup_id', 'external_subscription_id'])
    if (name in body) body[name] = randomUUID();
  if ('esim_id' in body) body['esim_id'] = work.ids.esim;
  return body;
}

const idOf = (operation: Operation): string => {
  const kind = z.instanceof(z.ZodType).safeParse(operation.params?.shape['id']).data?.meta()?.['x-kind'];
  return Object.hasOwn(work.ids, String(kind)) ? work.ids[kind as keyof OwnWork['ids']] : 'x';
};
const send = async (operation: Operation, body: unknown): Promise<HttpAnswer> =>
  caller.call(operation.method.toUpperCase(), operation.path.replaceAll(/\{\w+\}/g, idOf(operation)), {
    body,
    headers: { 'Idempotency-Key': randomUUID() },
  });

/** Only numbers and flags. */
const WITHOUT_TEXT = new Set(['rotateServiceWebhookSecret', 'rotateWebhookEndpointSecret', 'enableWebhookEndpoint']);

/** A second pause of the same kind is the first one, with its reason. A case shows the reason of its opening. */
const SHOWS_WHAT_IS = new Set(['pauseBuying', 'releasePause', 'dismissCase']);

/**
 * As header values. Line breaks are reduced to their second half, because a whole one would only start another header.
 */
const HOSTILE_VALUES = Object.entries(HOSTILE).map(([name, text]) => [name, text.replaceAll('\r\n', '\n')] as const);
type Status = number | 'closed' | 'silent';
/** The results of a malformed request. When the connection is cut during the send, the answer may be lost. */
const REFUSED_BY_PARSER: readonly Status[] = [400, 431, 'closed'];
/** True for an invalid header value, and for one beyond the size limit of all headers. */
const isNoValue = (text: string): boolean =>
  text.length > 16_384 ||
  text.split('').some((character) => (character < ' ' && character !== '\t') || character === '\u007f');

const callerHeaders = (body: string) => [
  `Authorization: ${caller.headers['authorization']}`,
  ...(body === ''
    ? []
    : [
        'Content-Type: application/json',
        `Content-Length: ${Buffer.byteLength(body)}`,
        `Idempotency-Key: ${randomUUID()}`,
      ]),
];

/** Signed like the service. */
function signedHeaders(body: string): string[] {
  const timestamp = String(TEST_NOW / 1_000);
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(`${timestamp}.${body}`).digest('hex');
  return [
    `${HEADERS.event}: order.completed`,
    `${HEADERS.delivery}: ${randomUUID()}`,
    `${HEADERS.timestamp}: ${timestamp}`,
    `${HEADERS.signature}: v1=${signature}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
}

/**
 * Sends raw header lines, in bytes that no client would send. @param only keeps only the last line of this header.
 * @returns the status of the first answer, and everything before its body; `silent` without an answer and without a
 * close.
 */
async function raw(
  method: string,
  path: string,
  headers: readonly string[],
  body: string,
  only?: string,
): Promise<{ status: Status; head: string }> {
  const isOf = (line: string) => only !== undefined && line.startsWith(`${only}:`);
  const lines = headers.filter((line, place) => !isOf(line) || place === headers.length - 1);
  const head = [`${method} ${path} HTTP/1.1`, 'Host: api.example.com', 'Connection: close', ...lines].join('\r\n');
  // A stream would continue after its head.
  const { text, statuses, closed } = await sendRaw(api.baseUrl, [Buffer.from(`${head}\r\n\r\n${body}`)], (came) =>
    came.includes('\r\n\r\n'),
  );
  return { status: statuses[0] ?? (closed ? 'closed' : 'silent'), head: text.split('\r\n\r\n')[0] ?? '' };
}

describe('hostile text', () => {
  it('in every text of every body is refused or returned unchanged, without an error', async () => {
    let sent = 0;
    let accepted = 0;
    for (const operation of api.operations.filter(({ reads }) => reads === 'json')) {
      if (operation.body === undefined) continue;
      const paths = texts(z.toJSONSchema(operation.body, { io: 'input', unrepresentable: 'any' }));
      expect(paths.length, operation.id).toBeGreaterThan(WITHOUT_TEXT.has(operation.id) ? -1 : 0);
      for (const path of paths) {
        for (const [name, text] of Object.entries(HOSTILE)) {
          const answer = await send(operation, withValue(fresh(operation), path, text));
          const which = `${operation.id} ${path.join('.')}: ${name}`;
          expect([which, answer.status < 500 || answer.status === 501], answer.text).toEqual([which, true]);
          expect([...answer.headers.keys()]).not.toContain('x-evil');
          const shown =
            answer.status < 300 && !SHOWS_WHAT_IS.has(operation.id) ? valueAt(answer.body, path) : undefined;
          const echo = typeof shown === 'string' ? shown : undefined;
          expect([which, echo ?? text]).toEqual([which, text]);
          accepted += echo === undefined ? 0 : 1;
          sent += 1;
        }
      }
    }
    expect(sent).toBeGreaterThan(1_000);
    expect(accepted).toBeGreaterThan(10);
    // The tables still exist, so no statement in a text was executed.
    expect((await caller.get('/v1/orders')).status).toBe(200);
  });

  it('in every query and path is refused or finds nothing', async () => {
    const encoded = Object.entries(HOSTILE)
      .filter(([, text]) => text.isWellFormed() && text.length < 100)
      .map(([name, text]) => [name, encodeURIComponent(text)] as const);
    for (const operation of api.operations.filter(({ method, scope }) => method === 'get' && scope !== undefined)) {
      for (const [name, text] of [
        ...encoded,
        ['half a surrogate pair', '%ED%A0%80'],
        ['an overlong slash', '%C0%AF'],
      ] as const) {
        const own = operation.path.replaceAll(/\{\w+\}/g, idOf(operation));
        const addresses = [
          ...Object.keys(operation.query?.shape ?? {}).map((parameter) => `${own}?${parameter}=${text}`),
          ...(own === operation.path || text === '' ? [] : [operation.path.replaceAll(/\{\w+\}/g, text)]),
        ];
        for (const address of addresses) {
          const { status, body } = await caller.get(address);
          const which = `${operation.id} ${name} ${address.slice(0, 80)}`;
          expect([which, [200, 400, 404, 409].includes(status)], JSON.stringify(body)).toEqual([which, true]);
          // Only rows created above with this hostile reference are found. References of customers are never returned.
          const found =
            status === 200 && operation.path === own && !address.includes('customer_reference=')
              ? z.array(z.unknown()).parse(valueAt(body, ['data']) ?? [])
              : [];
          const plain = JSON.stringify(HOSTILE[name] ?? '').slice(1, -1);
          expect([which, found.filter((row) => !JSON.stringify(row).includes(plain))]).toEqual([which, []]);
        }
      }
    }
  });

  it('in a reason is stored unchanged in audit log and timeline', async () => {
    const tables = { order: orders, topup: topups };
    const kept: string[] = [];
    for (const [name, text] of Object.entries(HOSTILE)) {
      for (const [kind, path] of [
        ['order', 'orders'],
        ['topup', 'topups'],
      ] as const) {
        const id = work.ids[kind];
        await api.database.run((db) =>
          db
            .update(tables[kind])
            .set({ status: 'held', failureClass: 'purchases_paused' })
            .where(eq(tables[kind].id, id)),
        );
        // No relay runs here, so the retry before would still be pending.
        await api.database.run((db) => db.delete(outbox).where(eq(outbox.subjectId, id)));
        const answer = await caller.post(`/v1/${path}/${id}/retry`, { reason: text });
        expect([name, [200, 400].includes(answer.status)], answer.text).toEqual([name, true]);
        if (answer.status !== 200) continue;
        const [entry] = await api.database.run((db) =>
          db.select().from(auditLog).where(eq(auditLog.subjectId, id)).orderBy(desc(auditLog.id)).limit(1),
        );
        expect([name, entry?.reason]).toEqual([name, text.trim()]);
        expect((await caller.get(`/v1/${path}/${id}/timeline?limit=100`)).text).toContain(
          JSON.stringify(text.trim()).slice(1, -1),
        );
        kept.push(name);
      }
    }
    expect(kept.length).toBeGreaterThan(6);
  });

  it('in the evaluated headers is refused or stored as one value', async () => {
    for (const text of [`x' OR 1=1`, 'a\tb', '\u00e9', ' ', 'x'.repeat(5_000), '"quoted"', '%00']) {
      const headers = { 'Idempotency-Key': text, 'X-Request-Id': text };
      const { status, headers: answered } = await caller.post(
        '/v1/orders',
        { package_id: 101, external_order_id: randomUUID() },
        { headers },
      );
      expect([text.slice(0, 20), [202, 400].includes(status)]).toEqual([text.slice(0, 20), true]);
      expect(answered.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/);
    }
  });

  it.each([
    // None of these is a known wait, so no caller waits, and no answer contains Preference-Applied.
    ['Prefer', 'POST', '/v1/orders', () => 202, 'application/json'],
    ['Prefer: wait=', 'POST', '/v1/orders', () => 202, 'application/json'],
    // An empty value is ignored, and the stream starts.
    ['Last-Event-ID', 'GET', '/v1/events/stream', (text: string) => (text === '' ? 200 : 400), ''],
    ['Accept', 'GET', '/v1/orders?limit=1', () => 200, 'application/json'],
    ['Accept', 'GET', '/problems/rate-limited', () => 200, 'text/html'],
  ] as const)('in %s of %s %s is refused, or ignored', async (header, method, path, expected, type) => {
    for (const [name, text] of HOSTILE_VALUES) {
      const body = method === 'POST' ? JSON.stringify({ package_id: 101, external_order_id: randomUUID() }) : '';
      const prefix = header.includes(':') ? header : `${header}: `;
      const { status, head } = await raw(method, path, [...callerHeaders(body), `${prefix}${text}`], body);
      const which = `${header} ${path}: ${name}`;
      const wanted = isNoValue(text) ? REFUSED_BY_PARSER : [expected(text)];
      expect([which, wanted.includes(status)], head).toEqual([which, true]);
      expect(head.toLowerCase()).not.toMatch(/x-evil|preference-applied/);
      expect(isNoValue(text) || head.toLowerCase().includes(`content-type: ${type}`), head).toBe(true);
    }
    expect((await caller.get('/v1/orders?limit=1')).status).toBe(200);
  });

  it('in the form of a cursor is refused', async () => {
    for (const text of Object.values(HOSTILE)) {
      for (const inside of [`v.1${text}`, `v.${text}`, `${text}.1`]) {
        if (inside === 'v.1') continue;
        const { status } = await caller.get('/v1/events/stream', {
          headers: { 'Last-Event-ID': Buffer.from(inside).toString('base64url').slice(0, 8_000) },
        });
        expect([inside.slice(0, 30), status]).toEqual([inside.slice(0, 30), 400]);
      }
    }
  });

  it('in the headers of a delivery is refused, or stored as a hint', async () => {
    for (const [name, text] of HOSTILE_VALUES) {
      for (const [header, expected] of [
        [HEADERS.event, [200]],
        [HEADERS.delivery, [200, 400]],
        [HEADERS.timestamp, [401]],
        [HEADERS.signature, [401]],
      ] as const) {
        const body = JSON.stringify({ event: 'order.completed', data: { id: randomUUID(), status: 'completed' } });
        const { status, head } = await raw(
          'POST',
          '/webhooks/service',
          [...signedHeaders(body), `${header}: ${text}`],
          body,
          header,
        );
        const which = `${header}: ${name}`;
        expect([which, (isNoValue(text) ? REFUSED_BY_PARSER : expected).some((each) => each === status)], head).toEqual(
          [which, true],
        );
        expect(head.toLowerCase()).not.toContain('x-evil');
      }
    }
    // The event header is stored with the delivery. Only the signed body decides.
    const kept = await api.database.run((db) =>
      db
        .select({ event: inbox.headerEvent, state: inbox.state })
        .from(inbox)
        .where(eq(inbox.headerEvent, HOSTILE['SQL'] ?? '')),
    );
    expect(kept.map(({ state }) => state)).toEqual(['pending']);
    expect(api.log.every((line) => typeof JSON.parse(line) === 'object')).toBe(true);
  });

  it('in a signed delivery of the service is stored for an operator', async () => {
    for (const [name, text] of Object.entries(HOSTILE)) {
      for (const body of [
        { event: text, data: { id: 'so-1', status: 'completed' } },
        { event: 'order.completed', data: { id: text, status: 'completed', external_order_id: text, esim_id: text } },
        { event: 'order.completed', data: { id: 'so-2', status: text } },
        { [text]: { [text]: text } },
      ]) {
        const { status } = await api.deliver({ body, event: 'order.completed' });
        expect([name, Object.keys(body)[0]?.slice(0, 9), status]).toEqual([
          name,
          Object.keys(body)[0]?.slice(0, 9),
          200,
        ]);
      }
    }
    const [stored] = await api.database.run((db) =>
      db
        .execute(sql`select count(*)::int as rows from inbox`)
        .then(({ rows }) => z.array(z.object({ rows: z.number() })).parse(rows)),
    );
    expect(stored?.rows).toBeGreaterThan(50);
  });
});
