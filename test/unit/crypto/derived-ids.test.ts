import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptKey, deliveredEsimId, derivedUlid, derivedUuid, workId } from '#crypto/derived-ids.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { isId } from '#domain/work/identifiers.ts';

const first = { id: 'first', key: Buffer.alloc(32, 1) };
const second = { id: 'second', key: Buffer.alloc(32, 2) };
const keyRing = new KeyRing([first]);
const parts = fc.array(fc.string(), { maxLength: 4 });

describe('a derived id', () => {
  it('is equal for equal input, before and after a key rotation', () => {
    const rotated = new KeyRing([second, first]);
    const work = { kind: 'order', id: 'ord_1' } as const;
    expect(attemptKey(rotated, work, 2)).toBe(attemptKey(keyRing, work, 2));
    expect(workId(rotated, 'order', ['reference', 'shop-1'])).toBe(workId(keyRing, 'order', ['reference', 'shop-1']));
    expect(attemptKey(new KeyRing([second]), work, 2)).not.toBe(attemptKey(keyRing, work, 2));
  });

  it('of a delivered eSIM depends on its order only, so it is the same after a lost row', () => {
    const rotated = new KeyRing([second, first]);
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
    fc.assert(
      fc.property(parts, parts, (left, right) => {
        const isSame = left.length === right.length && left.every((part, index) => part === right[index]);
        expect(derivedUuid(keyRing, 'p', left) === derivedUuid(keyRing, 'p', right)).toBe(isSame);
      }),
    );
  });

  it('has the form of a UUID of version 8, or of our ids', () => {
    fc.assert(
      fc.property(parts, (of) => {
        expect(derivedUuid(keyRing, 'p', of)).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
        expect(derivedUlid(keyRing, 'p', of)).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
        expect(isId('vpn_subscription', workId(keyRing, 'vpn_subscription', of))).toBe(true);
      }),
    );
  });

  it('differs for another purpose', () => {
    expect(derivedUuid(keyRing, 'p', ['a'])).not.toBe(derivedUuid(keyRing, 'q', ['a']));
  });
});
