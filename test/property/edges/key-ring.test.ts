import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyRing, UnsealError, type NamedKey } from '#crypto/key-ring.ts';

const key: fc.Arbitrary<Uint8Array> = fc.uint8Array({ minLength: 32, maxLength: 32 });
const keys: fc.Arbitrary<NamedKey[]> = fc.uniqueArray(
  fc.record({ id: fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/), key }),
  { minLength: 1, maxLength: 4, selector: (named) => named.id },
);
const plaintext = fc.uint8Array({ maxLength: 400 });
const place = fc.string({ maxLength: 60, unit: 'binary' });

describe('the key ring', () => {
  it('opens what it sealed, at the same place, also after new keys were put in front', () => {
    fc.assert(
      fc.property(keys, plaintext, place, key, (named, bytes, where, newer) => {
        const sealed = new KeyRing(named).seal(bytes, where);
        const rotated = new KeyRing([{ id: 'the newest key of all, by its id', key: newer }, ...named]);
        expect(new KeyRing(named).open(sealed, where)).toEqual(Buffer.from(bytes));
        expect(rotated.open(sealed, where)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('opens nothing that was changed in a single bit', () => {
    fc.assert(
      fc.property(keys, plaintext, place, fc.nat(), (named, bytes, where, position) => {
        const ring = new KeyRing(named);
        const sealed = ring.seal(bytes, where);
        const bit = position % (sealed.length * 8);
        sealed.writeUInt8(sealed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(() => ring.open(sealed, where)).toThrow(UnsealError);
      }),
      { numRuns: 500 },
    );
  });

  it('opens nothing at another place', () => {
    fc.assert(
      fc.property(keys, plaintext, place, place, (named, bytes, where, elsewhere) => {
        fc.pre(where !== elsewhere);
        const ring = new KeyRing(named);
        expect(() => ring.open(ring.seal(bytes, where), elsewhere)).toThrow(UnsealError);
      }),
    );
  });

  it('answers arbitrary bytes with an UnsealError and nothing else', () => {
    fc.assert(
      fc.property(keys, fc.uint8Array({ maxLength: 200 }), fc.boolean(), (named, bytes, wellStarted) => {
        const sealed = wellStarted ? Buffer.concat([Buffer.from([1, 1]), bytes]) : bytes;
        expect(() => new KeyRing(named).open(sealed, 'anywhere')).toThrow(UnsealError);
      }),
    );
  });

  it('hashes alike for the same purpose and content, and keeps hashing alike when keys are put in front', () => {
    fc.assert(
      fc.property(keys, plaintext, key, (named, content, newer) => {
        const ring = new KeyRing(named);
        const rotated = new KeyRing([{ id: 'the newest key of all, by its id', key: newer }, ...named]);
        expect(ring.hash(content, 'one').equals(rotated.hash(content, 'one'))).toBe(true);
        expect(ring.hash(content, 'one').equals(ring.hash(content, 'other'))).toBe(false);
      }),
    );
  });
});
