import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyRing, DecryptionError, type NamedKey } from '#crypto/key-ring.ts';
import { assertForAll, assertForMany } from '#test/support/for-all.ts';

const key: fc.Arbitrary<Uint8Array> = fc.uint8Array({ minLength: 32, maxLength: 32 });
const keys: fc.Arbitrary<NamedKey[]> = fc.uniqueArray(
  fc.record({ id: fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/), key }),
  { minLength: 1, maxLength: 4, selector: (named) => named.id },
);
const plaintext = fc.uint8Array({ maxLength: 400 });
const aad = fc.string({ maxLength: 60, unit: 'binary' });

describe('the key ring', () => {
  it('decrypts its own values with the same AAD, also after new keys were added in front', () => {
    assertForAll(keys, plaintext, aad, key, (named, bytes, where, newer) => {
      const encrypted = new KeyRing(named).encrypt(bytes, where);
      const rotated = new KeyRing([{ id: 'the newest key of all, by its id', key: newer }, ...named]);
      expect(new KeyRing(named).decrypt(encrypted, where)).toEqual(Buffer.from(bytes));
      expect(rotated.decrypt(encrypted, where)).toEqual(Buffer.from(bytes));
    });
  });

  it('decrypts no value with a changed bit', () => {
    assertForMany(500, keys, plaintext, aad, fc.nat(), (named, bytes, where, position) => {
      const ring = new KeyRing(named);
      const encrypted = ring.encrypt(bytes, where);
      const bit = position % (encrypted.length * 8);
      encrypted.writeUInt8(encrypted.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => ring.decrypt(encrypted, where)).toThrow(DecryptionError);
    });
  });

  it('decrypts nothing with another AAD', () => {
    assertForAll(keys, plaintext, aad, aad, (named, bytes, where, elsewhere) => {
      fc.pre(where !== elsewhere);
      const ring = new KeyRing(named);
      expect(() => ring.decrypt(ring.encrypt(bytes, where), elsewhere)).toThrow(DecryptionError);
    });
  });

  it('answers arbitrary bytes with a DecryptionError and nothing else', () => {
    assertForAll(keys, fc.uint8Array({ maxLength: 200 }), fc.boolean(), (named, bytes, wellStarted) => {
      const encrypted = wellStarted ? Buffer.concat([Buffer.from([1, 1]), bytes]) : bytes;
      expect(() => new KeyRing(named).decrypt(encrypted, 'anywhere')).toThrow(DecryptionError);
    });
  });

  it('returns equal hashes for the same purpose and content, also after new keys were added in front', () => {
    assertForAll(keys, plaintext, key, (named, content, newer) => {
      const ring = new KeyRing(named);
      const rotated = new KeyRing([{ id: 'the newest key of all, by its id', key: newer }, ...named]);
      expect(ring.hash(content, 'one').equals(rotated.hash(content, 'one'))).toBe(true);
      expect(ring.hash(content, 'one').equals(ring.hash(content, 'other'))).toBe(false);
    });
  });
});
