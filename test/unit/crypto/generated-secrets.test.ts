import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  generateApiKey,
  generateShareSecret,
  hashSecret,
  matchesApiKey,
  parseApiKey,
} from '#crypto/generated-secrets.ts';
import { assertForAll } from '#test/support/for-all.ts';

describe('API keys', () => {
  it('contain a public prefix and a secret, in letters and digits only', () => {
    const { key, prefix } = generateApiKey();
    expect(key).toMatch(/^rsk_test_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/);
    expect(key.split('_')[2]).toBe(prefix);
    expect(parseApiKey(key)).toEqual({ prefix, mode: 'test' });
  });

  it('encode all 256 bits of the random secret, so different bytes give different keys', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    const keyOf = (secret: Uint8Array) =>
      generateApiKey('test', (size) => (size === 32 ? secret : new Uint8Array(size))).key;
    assertForAll(bytes, fc.integer({ min: 0, max: 255 }), (secret, bit) => {
      const other = Uint8Array.from(secret, (byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      expect(keyOf(other)).not.toBe(keyOf(secret));
    });
  });

  it('are stored as a hash', () => {
    const { key, hash } = generateApiKey();
    expect(hash).toHaveLength(32);
    expect(hash.toString('latin1')).not.toContain(key.slice(-43));
  });

  it.each<[what: string, (key: string) => string, matches: boolean]>([
    ['the key itself', (key) => key, true],
    ['another key', () => generateApiKey().key, false],
    ['the key with a space', (key) => `${key} `, false],
    ['the same secret with another prefix', (key) => `rsk_test_AAAAAAAA_${key.slice(-43)}`, false],
    ['a live key with the secret of a test key', (key) => key.replace('rsk_test_', 'rsk_live_'), false],
  ])('have a hash that is compared with %s', (_what, given, matches) => {
    const { key, hash } = generateApiKey('test');
    expect(matchesApiKey(given(key), hash)).toBe(matches);
  });

  it('do not match a hash of the wrong length instead of throwing', () => {
    const { key } = generateApiKey();
    expect(matchesApiKey(key, hashSecret(key).subarray(0, 31))).toBe(false);
    expect(matchesApiKey(key, Buffer.alloc(0))).toBe(false);
  });

  it.each([
    '',
    'rsk_',
    'rsk_test_short_x',
    `rsk_${'a'.repeat(8)}_${'b'.repeat(43)}`,
    `rsk_prod_${'a'.repeat(8)}_${'b'.repeat(43)}`,
    `sk_${'a'.repeat(8)}_${'b'.repeat(43)}`,
    `rsk_test_${'a'.repeat(8)}_${'b'.repeat(42)}`,
    `rsk_test_${'a'.repeat(8)}_${'b'.repeat(44)}`,
    `rsk_test_${'a'.repeat(8)}_${'b'.repeat(42)}-`,
    `rsk_test_${'a'.repeat(8)}_${'b'.repeat(43)}\n`,
    ` rsk_test_${'a'.repeat(8)}_${'b'.repeat(43)}`,
  ])('are not recognised in %j', (text) => {
    expect(parseApiKey(text)).toBeUndefined();
  });
});

describe('the secret of a share link', () => {
  it('has 32 letters and digits of at least 128 random bits, and is never the same', () => {
    const secrets = Array.from({ length: 1_000 }, () => generateShareSecret());
    expect(secrets.filter((secret) => !/^[0-9A-Za-z]{32}$/.test(secret))).toEqual([]);
    expect(new Set(secrets).size).toBe(1_000);
    expect(32 * Math.log2(62)).toBeGreaterThan(128);
  });

  it('uses all bytes of the source', () => {
    const of = (byte: number, place: number) =>
      generateShareSecret((size) => new Uint8Array(size).fill(byte, place, place + 1));
    // The highest bytes only choose among secrets that differ in all digits.
    const secrets = Array.from({ length: 28 }, (_, place) => of(1, place));
    expect(new Set(secrets).size).toBe(28);
  });

  it('is stored as a SHA-256 hash', () => {
    const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
    expect(hashSecret('abc').toString('hex')).toBe(hash);
  });
});
