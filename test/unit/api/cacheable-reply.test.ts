import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CacheableReply } from '#api/http/reply.ts';

const value = { text: 'a'.repeat(1_000) };
const reply = CacheableReply.json(value);
const to = (headers: Readonly<Record<string, string>>) => reply.for((name) => headers[name.toLowerCase()]);
const etag = to({}).headers['ETag'] ?? '';

describe('a reply that changes only with a release', () => {
  it('is sent as it is without Accept-Encoding', () => {
    const { status, headers, body } = to({});
    expect([status, headers['Content-Encoding']]).toEqual([200, undefined]);
    expect(JSON.parse(body.toString())).toEqual(value);
  });

  it.each(['gzip', 'br, gzip', 'gzip;q=0.5', 'deflate, *', 'GZIP'])('is compressed for %s', (accepted) => {
    const { headers, body } = to({ 'accept-encoding': accepted });
    expect([headers['Content-Encoding'], headers['Vary']]).toEqual(['gzip', 'Accept-Encoding']);
    expect(JSON.parse(gunzipSync(body).toString())).toEqual(value);
  });

  it.each(['br', 'gzip;q=0', 'gzip;q=0.0', 'identity'])('is not compressed for %s', (accepted) => {
    expect(to({ 'accept-encoding': accepted }).headers['Content-Encoding']).toBeUndefined();
  });

  it.each([etag, etag.replace('W/', ''), `"other", ${etag}`, '*'])(
    'is not sent again for If-None-Match: %s',
    (known) => {
      const { status, headers, body } = to({ 'if-none-match': known });
      expect([status, headers['ETag'], body.length]).toEqual([304, etag, 0]);
    },
  );

  it('is sent for another tag, and another content has another tag', () => {
    expect(to({ 'if-none-match': '"other"' }).status).toBe(200);
    expect(CacheableReply.json({}).for(() => undefined).headers['ETag']).not.toBe(etag);
  });
});
