import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PARTS } from '#config/config.ts';
import { CertificateAuthority, encryptKey } from '#test/support/network/certificates.ts';
import { problemsIn } from '#test/support/product-environment.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const DAY_MS = 86_400_000;

const folder = temporaryFolder('temporal-tls');
const authority = await CertificateAuthority.create(folder);
const [client, other, old] = await Promise.all([
  authority.issue('client'),
  authority.issue('other'),
  authority.issueVersion1('old'),
]);
const encryptedKey = await encryptKey(client.key);
afterEach(() => void vi.useRealTimers());

const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const problemsOf = (environment: Readonly<Record<string, string>>) =>
  problemsIn(() => PARTS.temporal(environment)).map(({ name, message }) => `${name} ${message}`);

describe('TLS to Temporal', () => {
  it('is off by default', () => {
    expect(PARTS.temporal({}).tls).toBeUndefined();
  });

  it.each([{ TEMPORAL_TLS: 'true' }, { TEMPORAL_API_KEY: 'a-key' }])('is on with public authorities by %o', (set) => {
    expect(PARTS.temporal(set).tls).toEqual({});
  });

  it('reads authority, client certificate and key from their files', () => {
    const { tls } = PARTS.temporal({
      TEMPORAL_TLS_CA: authority.ca,
      TEMPORAL_TLS_CERT: client.cert,
      TEMPORAL_TLS_KEY: client.key,
      TEMPORAL_TLS_SERVER_NAME: 'temporal.example.com',
    });
    expect(tls).toEqual({
      ca: readFileSync(authority.ca),
      client: { cert: readFileSync(client.cert), key: readFileSync(client.key) },
      serverName: 'temporal.example.com',
    });
  });
});

describe('a wrong file is refused with its reason, and its content is not shown:', () => {
  const text = 'The quick brown fox';
  it.each<[string, () => Record<string, string>, RegExp]>([
    ['a missing file', () => ({ TEMPORAL_TLS_CA: join(folder, 'none') }), /^TEMPORAL_TLS_CA .*cannot be read.*ENOENT/],
    ['a folder', () => ({ TEMPORAL_TLS_CA: folder }), /cannot be read \(EISDIR\)/],
    ['content instead of a path', () => ({ TEMPORAL_TLS_CA: readFileSync(authority.ca, 'utf8') }), /path.*not its con/],
    ['a text', () => ({ TEMPORAL_TLS_CA: file('text', text) }), /without a certificate in PEM form/],
    ['a key as the authority', () => ({ TEMPORAL_TLS_CA: client.key }), /private key, where a certificate/],
    ['a damaged certificate', () => ({ TEMPORAL_TLS_CA: file('damaged', damaged(authority.ca)) }), /damaged cert/],
    ['no key', () => ({ TEMPORAL_TLS_CERT: client.cert }), /^TEMPORAL_TLS_KEY is missing/],
    ['no certificate', () => ({ TEMPORAL_TLS_KEY: client.key }), /^TEMPORAL_TLS_CERT is missing/],
    ['swapped files', () => ({ TEMPORAL_TLS_CERT: client.key, TEMPORAL_TLS_KEY: client.cert }), /where a certificate/],
    ['the key of another certificate', () => pair(client.cert, other.key), /^TEMPORAL_TLS_KEY .*another certificate/],
    ['a damaged key', () => pair(client.cert, file('damaged.key', damaged(client.key))), /damaged private key/],
    ['an encrypted key', () => pair(client.cert, encryptedKey), /with a passphrase/],
    ['a text as key', () => pair(client.cert, file('text.key', text)), /without a private key/],
    ['a certificate in version 1', () => pair(old.cert, old.key), /version 1 of X.509; issue one in version 3/],
    ['an address as server name', () => ({ TEMPORAL_TLS_SERVER_NAME: 'https://example.com' }), /must be a host name/],
  ])('%s', (_, environment, expected) => {
    const problems = problemsOf(environment());
    expect(problems[0]).toMatch(expected);
    expect(problems.join()).not.toContain(text);
    expect(problems.join()).not.toContain(folder);
  });

  it('an expired certificate', () => {
    vi.useFakeTimers({ now: Date.now() + 3 * DAY_MS, toFake: ['Date'] });
    expect(problemsOf(pair(client.cert, client.key))).toEqual([
      expect.stringMatching(/^TEMPORAL_TLS_CERT .*expired on 20\d\d-/),
    ]);
    expect(problemsOf({ TEMPORAL_TLS_CA: authority.ca })).toEqual([expect.stringMatching(/expired on/)]);
  });
});

const pair = (cert: string, key: string) => ({ TEMPORAL_TLS_CERT: cert, TEMPORAL_TLS_KEY: key });

const damaged = (path: string) => readFileSync(path, 'utf8').replace(/\n[A-Za-z0-9+/]{20}/, '\nAAAAAAAAAAAAAAAAAAAA');
