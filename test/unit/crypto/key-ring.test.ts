import { describe, expect, it } from 'vitest';
import { KeyRing, MissingKeyError, UnsealError } from '#crypto/key-ring.ts';

const key = (fill: number) => Buffer.alloc(32, fill);

describe('KeyRing', () => {
  it('seals with the first key and names it in the sealed value', () => {
    const ring = new KeyRing([
      { id: 'k2', key: key(2) },
      { id: 'k1', key: key(1) },
    ]);
    expect(ring.primaryKeyId).toBe('k2');
    expect(ring.seal('text', 'place').toString('latin1')).toContain('k2');
  });

  it('never seals the same text twice alike, and never leaves it readable', () => {
    const ring = new KeyRing([{ id: 'k1', key: key(1) }]);
    const first = ring.seal('a readable secret', 'place');
    expect(first.equals(ring.seal('a readable secret', 'place'))).toBe(false);
    expect(first.toString('latin1')).not.toContain('readable');
  });

  it('names the missing key when a value was sealed with a key that is gone', () => {
    const sealed = new KeyRing([{ id: 'retired', key: key(1) }]).seal('text', 'place');
    expect(() => new KeyRing([{ id: 'k2', key: key(2) }]).open(sealed, 'place')).toThrow(
      new MissingKeyError('retired'),
    );
  });

  it('refuses a value sealed with another key of the same id', () => {
    const sealed = new KeyRing([{ id: 'k1', key: key(1) }]).seal('text', 'place');
    expect(() => new KeyRing([{ id: 'k1', key: key(2) }]).open(sealed, 'place')).toThrow(UnsealError);
  });

  it('opens a value that lies inside a larger buffer, as database drivers return it', () => {
    const ring = new KeyRing([{ id: 'k1', key: key(1) }]);
    const padded = Buffer.concat([Buffer.alloc(7), ring.seal('text', 'place'), Buffer.alloc(5)]);
    expect(ring.openText(new Uint8Array(padded.buffer, padded.byteOffset + 7, padded.length - 12), 'place')).toBe(
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
