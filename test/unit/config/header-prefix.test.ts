import { describe, expect, it } from 'vitest';
import { readHeaderPrefix, readWebhookAddressConfig } from '#config/config.ts';

describe('SERVICE_HEADER_PREFIX', () => {
  it('is the prefix of the specification by default', () => {
    expect(readHeaderPrefix({})).toBe('X-Service');
    expect(readHeaderPrefix({ SERVICE_HEADER_PREFIX: '' })).toBe('X-Service');
    expect(readWebhookAddressConfig({}).headerPrefix).toBe('X-Service');
  });

  it.each(['X-Acme', 'x-acme-mobile', 'Acme', 'X_Acme', 'A', `X-${'a'.repeat(38)}`])('may be %s', (prefix) => {
    expect(readHeaderPrefix({ SERVICE_HEADER_PREFIX: prefix })).toBe(prefix);
    expect(readWebhookAddressConfig({ SERVICE_HEADER_PREFIX: prefix }).headerPrefix).toBe(prefix);
  });

  it.each(['X-Acme-', '-Acme', 'X Acme', 'X-Acme:', 'X-Äcme', 'X-Acme\r\nHost: evil', `X-${'a'.repeat(39)}`])(
    'is refused as %j, which is no part of a header name or too long',
    (prefix) => {
      const problem = /SERVICE_HEADER_PREFIX: must be the part of the header names before -Event/;
      expect(() => readHeaderPrefix({ SERVICE_HEADER_PREFIX: prefix })).toThrow(problem);
    },
  );
});
