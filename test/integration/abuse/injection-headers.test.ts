/** ASVS V1 and V2 (injection, validation): hostile text in headers, cursors and deliveries of webhooks. */
import { createHmac, randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { inbox } from '#db/schema.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { HOSTILE } from '#test/support/api/hostile-text.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { keyOf, startTestApi, TEST_NOW, WEBHOOK_SECRET } from '#test/support/network/api.ts';
import { rawRequest, sendRaw } from '#test/support/network/raw-http.ts';
import { DEFAULT_HEADER_PREFIX, serviceHeaders } from '#upstream/contract.ts';

const HEADERS = serviceHeaders(DEFAULT_HEADER_PREFIX);

// An ended stream counts until the API has noticed its end.
const api = disposedAtEnd(
  await startTestApi({ bodyLimitBytes: 262_144, streams: { ...DEFAULT_POLICY.streams, perKey: 1_000 } }),
);
const caller = await api.caller();

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

const ofBody = (body: string) => ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
const callerHeaders = (body: string) => [
  `Authorization: Bearer ${keyOf(caller)}`,
  ...(body === '' ? [] : [...ofBody(body), `Idempotency-Key: ${randomUUID()}`]),
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
    ...ofBody(body),
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
  const bytes = Buffer.from(rawRequest(`${method} ${path}`, ['Connection: close', ...lines], body));
  // A stream would continue after its head.
  const { text, statuses, closed } = await sendRaw(api.baseUrl, [bytes], (came) => came.includes('\r\n\r\n'));
  return { status: statuses[0] ?? (closed ? 'closed' : 'silent'), head: text.split('\r\n\r\n')[0] ?? '' };
}

describe('hostile text', () => {
  it('in the evaluated headers is refused or stored as one value', async () => {
    for (const text of [`x' OR 1=1`, 'a\tb', '\u00e9', ' ', 'x'.repeat(5_000), '"quoted"', '%00']) {
      const { status, headers } = await postOnce(caller, '/v1/orders', orderInput(), text, { 'X-Request-Id': text });
      expect([text.slice(0, 20), [202, 400].includes(status)]).toEqual([text.slice(0, 20), true]);
      expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f-]{36}$/);
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
      const body = method === 'POST' ? JSON.stringify(orderInput()) : '';
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

  it('in the headers of a delivery is refused, or stored as a hint', async () => {
    for (const [name, text] of HOSTILE_VALUES) {
      for (const [header, expected] of [
        [HEADERS.event, [200]],
        [HEADERS.delivery, [200, 400]],
        [HEADERS.timestamp, [401]],
        [HEADERS.signature, [401]],
      ] as const) {
        const body = JSON.stringify({ event: 'order.completed', data: { id: randomUUID(), status: 'completed' } });
        const headers = [...signedHeaders(body), `${header}: ${text}`];
        const { status, head } = await raw('POST', '/webhooks/service', headers, body, header);
        const which = `${header}: ${name}`;
        const wanted: readonly Status[] = isNoValue(text) ? REFUSED_BY_PARSER : expected;
        expect([which, wanted.includes(status)], head).toEqual([which, true]);
        expect(head.toLowerCase()).not.toContain('x-evil');
      }
    }
    // The event header is stored with the delivery. Only the signed body decides.
    const isHostile = eq(inbox.headerEvent, HOSTILE['SQL'] ?? '');
    const kept = await api.database.run((db) => db.select().from(inbox).where(isHostile));
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
        expect([name, status], JSON.stringify(body).slice(0, 40)).toEqual([name, 200]);
      }
    }
    expect(await api.database.run((db) => db.$count(inbox))).toBeGreaterThan(50);
  });
});
