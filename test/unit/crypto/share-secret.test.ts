import { describe, expect, it } from 'vitest';
import { generateShareSecret, hashShareSecret } from '#crypto/generated-secrets.ts';

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
    expect(hashShareSecret('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
