import { createServer } from 'node:http';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import express from 'express';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { networkOf } from '#api/access/limits.ts';
import { filledText } from '#api/fields/fields.ts';
import { html, trustedHtml } from '#api/http/html.ts';
import { canonicalJson } from '#api/http/idempotency.ts';
import { isEncoded } from '#api/http/mount.ts';
import { readJsonBody } from '#api/http/read-request.ts';
import { bytesReply, CacheableReply, onceClosed, sendReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { Problem } from '#api/problems/problem.ts';
import { readDelivery } from '#api/service-webhooks/service-webhooks.ts';
import { preferredWait } from '#api/work/long-poll.ts';
import { listen } from '#telemetry/http-server.ts';
import { assertForAll } from '#test/support/for-all.ts';

it('a listener for the end of a connection is called once, also after that end', async () => {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const server = createServer((_request, response) => {
    const calls: string[] = [];
    onceClosed(response, () => calls.push('before'));
    response.once('close', () => {
      onceClosed(response, () => calls.push('after'));
      setImmediate(() => resolve(calls));
    });
  });
  const socket = connect(await listen(server, { host: '127.0.0.1', port: 0 }), '127.0.0.1');
  server.once('request', () => socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: api\r\n\r\n');
  expect(await promise).toEqual(['before', 'after']);
  server.close();
});

it('a client that does not read its answer is cut', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const app = express().get('/', (_request, response) => {
    response.once('close', () => resolve(response.writableFinished));
    sendReply(response, bytesReply(200, 'text/plain', Buffer.alloc(64 * 1_024 * 1_024)), -4 * 1_024 * 1_024);
  });
  const server = createServer(app);
  const socket = connect(await listen(server, { host: '127.0.0.1', port: 0 }), '127.0.0.1');
  socket.pause().write('GET / HTTP/1.1\r\nHost: api\r\n\r\n');
  expect(await promise).toBe(false);
  socket.destroy();
  server.close();
});

it('a Content-Encoding is judged in the time of its length', () => {
  expect(['', ' UTF8', 'none', 'identity\u00a0'].filter(isEncoded)).toEqual([]);
  expect(isEncoded('gzip')).toBe(true);
  // An expression that tries each pair of spaces would take minutes.
  expect(isEncoded(`${'\u00a0'.repeat(1_000_000)}x`)).toBe(true);
});

describe('a text with content', () => {
  const text = filledText(5);

  it('loses the space around it', () => {
    expect(text.parse('\tab ')).toBe('ab');
  });

  it.each(['', ' \t', 'a\0', '\ud800'])('is not %j', (sent) => {
    expect(text.safeParse(sent).success).toBe(false);
  });
});

describe('an HTML template', () => {
  it('escapes its values, in text and in quoted attributes', () => {
    const hostile = `<script>"'&`;
    expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(
      '<p title="&lt;script&gt;&quot;&#39;&amp;">&lt;script&gt;&quot;&#39;&amp;</p>',
    );
    assertForAll(fc.string(), (text) => !/[<>"']/.test(html`${text}`.text));
  });

  it('keeps HTML as it is, joins lists, and leaves out what is undefined', () => {
    const items = [1, 2].map((each) => html`<li>${each}</li>`);
    expect(html`a${items}${undefined}b${trustedHtml('<hr>')}`.text).toBe('a<li>1</li><li>2</li>b<hr>');
  });
});

describe('the network of a limit', () => {
  it.each([
    ['203.0.113.7', ['203.0.113.7', '::ffff:203.0.113.7', '::FFFF:cb00:7107', '203.000.113.007', '203.0.113.7:4711']],
    ['2001:db8:0:1::', ['2001:db8:0:1::1', '2001:DB8::1:0:0:0:2', '[2001:db8:0:1::9]:443', '2001:db8:0:1::1%eth0']],
    ['other', ['', 'unknown', '_hidden', '203.0.113.256', 'x'.repeat(10_000), '2001:db8', '010.1']],
  ])('is %s in all notations', (network, spellings) => {
    for (const spelling of spellings) expect(networkOf(spelling), spelling.slice(0, 50)).toBe(network);
  });
});

const value = { text: 'a'.repeat(1_000) };
const reply = CacheableReply.json(value);
const to = (headers: Readonly<Record<string, string>>) => reply.for((name) => headers[name.toLowerCase()]);
const etag = to({}).headers['ETag'] ?? '';

describe('a reply that changes only with a release', () => {
  it.each(['gzip', 'br, gzip', 'gzip;q=0.5', 'deflate, *', 'GZIP'])('is compressed for %s', (accepted) => {
    const { headers, body } = to({ 'accept-encoding': accepted });
    expect([headers['Content-Encoding'], headers['Vary']]).toEqual(['gzip', 'Accept-Encoding']);
    expect(JSON.parse(gunzipSync(body).toString())).toEqual(value);
  });

  it.each([etag, etag.replace('W/', ''), `"other", ${etag}`, '*'])(
    'is not sent again for If-None-Match: %s',
    (known) => {
      const { status, headers, body } = to({ 'if-none-match': known });
      expect([status, headers['ETag'], body.length]).toEqual([304, etag, 0]);
    },
  );
});

describe('the preference to wait', () => {
  it.each([
    ['wait=10', 10],
    ['WAIT=10', 10],
    ['wait="10"', 10],
    ['respond-async,wait=5, handling=lenient', 5],
    ['handling=lenient; strict="a, wait=9"; more, wait=5', 5],
    ['return="a, wait=9", wait=5', 5],
    ['wait=5; why="in a hurry"', 5],
    ['wait=5, wait=9', 5],
  ])('is read from `%s`', (header, expected) => {
    expect(preferredWait(header)).toBe(expected);
  });

  it.each([
    'respond-async',
    'wait',
    'wait=soon',
    'wait=-1',
    'wait=1.5',
    'wait=99999999999',
    'waiting=5',
    'wait="10',
    'return="wait=5',
  ])('is ignored in `%s`', (header) => {
    expect(preferredWait(header)).toBeUndefined();
  });

  it.each([
    [`wait${'; '.repeat(400)}"`, undefined],
    [`wait${' '.repeat(900)}"`, undefined],
    [`wait=5${'; a="b" '.repeat(100)}`, 5],
    [`wait=5; a="${'\\\\'.repeat(400)}`, undefined],
  ])('is parsed fast in a hostile header: %j', (header, expected) => {
    // A parser with exponential time would exceed the time limit of the test.
    expect(preferredWait(header)).toBe(expected);
  });
});

const ORDER = 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD';

const { order: orders, timeline } = CURSORS;

describe('cursors', () => {
  it('decode to their position', () => {
    assertForAll(fc.date({ min: new Date(0), max: new Date('2200-01-01'), noInvalidDate: true }), (createdAt) => {
      expect(orders.read(orders.write({ row: { createdAt, id: ORDER } }))).toEqual({ createdAt, id: ORDER });
    });
    assertForAll(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (last) => {
      expect(timeline.read(timeline.write({ id: last }))).toBe(last);
    });
  });

  it('of other origin are refused as an invalid parameter, with any content', () => {
    const refusal = (cursor: string) => {
      try {
        orders.read(cursor);
        return 'taken';
      } catch (error) {
        return error instanceof Problem ? error.code : error;
      }
    };
    assertForAll(fc.string(), (text) => {
      expect(refusal(text)).toBe('validation_failed');
    });
    const own = orders.write({ row: { createdAt: new Date(0), id: ORDER } });
    for (const cursor of [`${own}=`, ` ${own}`, `${own}!`, timeline.write({ id: 5n })])
      expect(refusal(cursor)).toBe('validation_failed');
  });
});

describe('the reader of JSON bodies', () => {
  it('accepts any JSON of bounded depth, and compares content independent of order and white space', () => {
    assertForAll(fc.jsonValue({ maxDepth: 5 }), (value) => {
      fc.pre(!JSON.stringify(value).includes('__proto__'));
      const text = JSON.stringify(value, null, 2);
      const read = readJsonBody(Buffer.from(text), 'application/json; charset=utf-8');
      expect(canonicalJson(read)).toBe(canonicalJson(JSON.parse(JSON.stringify(value))));
    });
    expect(canonicalJson({ b: 1, a: { d: 2, c: [{ f: 1, e: 2 }] } })).toBe('{"a":{"c":[{"e":2,"f":1}],"d":2},"b":1}');
    expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }));
  });

  it('accepts 32 levels and refuses 33', () => {
    const nested = (levels: number) => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
    expect(readJsonBody(nested(32), 'application/json')).toBeInstanceOf(Array);
    expect(() => readJsonBody(nested(34), 'application/json')).toThrow('nested');
  });
});

describe('the reader of deliveries', () => {
  it('returns a storable value for any bytes, and never throws', () => {
    assertForAll(fc.uint8Array(), (bytes) => {
      expect(readDelivery(Buffer.from(bytes)).state).toBe('quarantined');
    });
  });

  it('never passes a NUL to a text column', () => {
    const text = fc.string({ unit: fc.constantFrom('\0', 'a', '1'), maxLength: 8 });
    assertForAll(text, text, (id, reference) => {
      const body = { event: 'order.failed', data: { id, external_order_id: reference, status: 'failed' } };
      expect(JSON.stringify(readDelivery(Buffer.from(JSON.stringify(body))))).not.toContain('\\u0000');
    });
  });
});
