import { describe, expect, it } from 'vitest';
import { readCodecServerConfig } from '#config/config.ts';
import { ConfigurationError } from '#config/configuration-error.ts';

describe('the configuration of the codec server', () => {
  const ENCRYPTION_KEYS = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
  const read = (more: Record<string, string> = {}) => readCodecServerConfig({ ENCRYPTION_KEYS, ...more });

  it('accepts both usual addresses of the local Temporal UI, on loopback, without a token', () => {
    const config = read();
    expect(config.allowedOrigins).toEqual(['http://127.0.0.1:8233', 'http://localhost:8233']);
    expect(config.host).toBe('127.0.0.1');
    expect(config.token).toBeUndefined();
  });

  it.each(['https://codec.example.com', 'codec.example.com:443', 'codec.example.com/', 'a,,b', 'a b'])(
    'refuses %j as a host',
    (hosts) => {
      expect(() => read({ CODEC_ALLOWED_HOSTS: hosts })).toThrow(ConfigurationError);
      const { allowedHosts } = read({ CODEC_ALLOWED_HOSTS: 'Codec.example.com, [::1]' });
      expect(allowedHosts).toEqual(['codec.example.com', '[::1]']);
    },
  );

  it.each(['0.0.0.0', '::', '10.0.0.5', 'codec.internal'])('refuses to listen on %s without a token', (host) => {
    expect(() => read({ CODEC_HOST: host })).toThrow(/CODEC_HOST: .*CODEC_TOKEN/);
    expect(read({ CODEC_TOKEN: 'a-long-enough-token', CODEC_HOST: host }).host).toBe(host);
    expect(read({ CODEC_WITHOUT_TOKEN: 'true', CODEC_HOST: host }).host).toBe(host);
  });

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('listens on %s without a token', (host) => {
    expect(read({ CODEC_HOST: host }).host).toBe(host);
  });

  it.each([
    'https://temporal.example.com/',
    'temporal.example.com',
    'https://a.example,',
    '*',
    'https://a.example/path',
  ])('refuses %s as an origin', (origin) => {
    expect(() => read({ CODEC_ALLOWED_ORIGIN: origin })).toThrow(ConfigurationError);
  });
});
