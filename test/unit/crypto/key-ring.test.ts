import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptKey, deliveredEsimId, derivedUlid, derivedUuid, workId } from '#crypto/derived-ids.ts';
import { KeyRing, MissingKeyError } from '#crypto/key-ring.ts';
import { isId } from '#domain/work/identifiers.ts';
import { assertForAll } from '#test/support/for-all.ts';

const key = (id: string, fill = 1) => ({ id, key: Buffer.alloc(32, fill) });

describe('KeyRing', () => {
  it('encrypts the same text differently each time, and never leaves it readable', () => {
    const ring = new KeyRing([key('k1')]);
    const first = ring.encrypt('a readable secret', 'aad');
    expect(first.equals(ring.encrypt('a readable secret', 'aad'))).toBe(false);
    expect(first.toString('latin1')).not.toContain('readable');
  });

  it('reports the missing key of a value', () => {
    const encrypted = new KeyRing([key('retired')]).encrypt('text', 'aad');
    const other = new KeyRing([key('k2', 2)]);
    expect(() => other.decrypt(encrypted, 'aad')).toThrow(new MissingKeyError('retired'));
  });

  it('decrypts a value that lies inside a larger buffer, as database drivers return it', () => {
    const ring = new KeyRing([key('k1')]);
    const padded = Buffer.concat([Buffer.alloc(7), ring.encrypt('text', 'aad'), Buffer.alloc(5)]);
    const value = new Uint8Array(padded.buffer, padded.byteOffset + 7, padded.length - 12);
    expect(ring.decryptText(value, 'aad')).toBe('text');
  });

  it.each([
    ['no key', []],
    ['a short key', [{ id: 'k1', key: Buffer.alloc(31) }]],
    ['an empty id', [key('')]],
    ['an id over 255 bytes', [key('k'.repeat(256))]],
    ['one id twice', [key('k1'), key('k1', 2)]],
  ])('refuses %s', (_, keys) => {
    expect(() => new KeyRing(keys)).toThrow(RangeError);
  });
});

const keyRing = new KeyRing([key('first')]);
const rotated = new KeyRing([key('second', 2), key('first')]);
const parts = fc.array(fc.string(), { maxLength: 4 });

describe('a derived id', () => {
  it('is equal for equal input, before and after a key rotation', () => {
    const work = { kind: 'order', id: 'ord_1' } as const;
    expect(attemptKey(rotated, work, 2)).toBe(attemptKey(keyRing, work, 2));
    expect(workId(rotated, 'order', ['reference', 'shop-1'])).toBe(workId(keyRing, 'order', ['reference', 'shop-1']));
    expect(attemptKey(new KeyRing([key('second', 2)]), work, 2)).not.toBe(attemptKey(keyRing, work, 2));
  });

  it('of a delivered eSIM depends on its order only, so it is the same after a lost row', () => {
    expect(deliveredEsimId(rotated, 'ord_1')).toBe(deliveredEsimId(keyRing, 'ord_1'));
    expect(deliveredEsimId(keyRing, 'ord_2')).not.toBe(deliveredEsimId(keyRing, 'ord_1'));
    expect(isId('esim', deliveredEsimId(keyRing, 'ord_1'))).toBe(true);
  });

  it('differs by kind, work and number, also for equal concatenations', () => {
    const keys = [
      attemptKey(keyRing, { kind: 'order', id: 'x1' }, 1),
      attemptKey(keyRing, { kind: 'order', id: 'x' }, 11),
      attemptKey(keyRing, { kind: 'topup', id: 'x1' }, 1),
      attemptKey(keyRing, { kind: 'order', id: 'x1' }, 2),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    assertForAll(parts, parts, (left, right) => {
      const isSame = left.length === right.length && left.every((part, index) => part === right[index]);
      expect(derivedUuid(keyRing, 'p', left) === derivedUuid(keyRing, 'p', right)).toBe(isSame);
    });
  });

  it('has the form of a UUID of version 8, or of our ids', () => {
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    assertForAll(parts, (of) => {
      expect(derivedUuid(keyRing, 'p', of)).toMatch(uuid);
      expect(derivedUlid(keyRing, 'p', of)).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      expect(isId('vpn_subscription', workId(keyRing, 'vpn_subscription', of))).toBe(true);
    });
  });

  it('differs for another purpose', () => {
    expect(derivedUuid(keyRing, 'p', ['a'])).not.toBe(derivedUuid(keyRing, 'q', ['a']));
  });
});
