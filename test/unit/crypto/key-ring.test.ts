import { describe, expect, it } from 'vitest';
import { KeyRing, MissingKeyError } from '#crypto/key-ring.ts';

const key = (fill: number) => Buffer.alloc(32, fill);

describe('KeyRing', () => {
  it('encrypts the same text differently each time, and never leaves it readable', () => {
    const ring = new KeyRing([{ id: 'k1', key: key(1) }]);
    const first = ring.encrypt('a readable secret', 'aad');
    expect(first.equals(ring.encrypt('a readable secret', 'aad'))).toBe(false);
    expect(first.toString('latin1')).not.toContain('readable');
  });

  it('reports the missing key of a value', () => {
    const encrypted = new KeyRing([{ id: 'retired', key: key(1) }]).encrypt('text', 'aad');
    expect(() => new KeyRing([{ id: 'k2', key: key(2) }]).decrypt(encrypted, 'aad')).toThrow(
      new MissingKeyError('retired'),
    );
  });

  it('decrypts a value that lies inside a larger buffer, as database drivers return it', () => {
    const ring = new KeyRing([{ id: 'k1', key: key(1) }]);
    const padded = Buffer.concat([Buffer.alloc(7), ring.encrypt('text', 'aad'), Buffer.alloc(5)]);
    expect(ring.decryptText(new Uint8Array(padded.buffer, padded.byteOffset + 7, padded.length - 12), 'aad')).toBe(
      'text',
    );
  });

  it.each([
    ['no key', []],
    ['a short key', [{ id: 'k1', key: Buffer.alloc(31) }]],
    ['an empty id', [{ id: '', key: key(1) }]],
    ['an id over 255 bytes', [{ id: 'k'.repeat(256), key: key(1) }]],
    [
      'one id twice',
      [
        { id: 'k1', key: key(1) },
        { id: 'k1', key: key(2) },
      ],
    ],
  ])('refuses %s', (_, keys) => {
    expect(() => new KeyRing(keys)).toThrow(RangeError);
  });
});
