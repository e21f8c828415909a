import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { networkOf } from '#api/access/limits.ts';
import { filledText } from '#api/fields/fields.ts';
import { html, trustedHtml } from '#api/http/html.ts';
import { CacheableReply, onceClosed } from '#api/http/reply.ts';
import { preferredWait } from '#api/work/long-poll.ts';

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
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  // A server always has an address with a port.
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  server.once('request', () => socket.destroy());
  socket.write('GET / HTTP/1.1\r\nHost: api\r\n\r\n');
  expect(await promise).toEqual(['before', 'after']);
  server.close();
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
    fc.assert(fc.property(fc.string(), (text) => !/[<>"']/.test(html`${text}`.text)));
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
