import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyRing } from '#crypto/key-ring.ts';
import { describeKeyProblem, judgeKeys, type RecordedKey } from '#domain/encryption-keys.ts';
import { assertForAll } from '#test/support/for-all.ts';

const keys = fc.uniqueArray(
  fc.record({ id: fc.string({ minLength: 1, maxLength: 8 }), key: fc.uint8Array({ minLength: 32, maxLength: 32 }) }),
  { minLength: 1, maxLength: 6, selector: ({ id }) => id },
);

/** The keys that a database records of a ring, as another ring sees them. */
function recordedOf(ring: KeyRing, seenBy: KeyRing): RecordedKey[] {
  return ring.keyIds.map((keyId) => ({
    keyId,
    sameBytes: seenBy.checkValueOf(keyId)?.equals(ring.checkValueOf(keyId) ?? Buffer.alloc(0)),
    makesHashes: keyId === ring.keyIds.at(-1),
  }));
}

describe('the recorded keys of a database', () => {
  it('match the same ring, and every ring with new keys in front', () => {
    assertForAll(keys, fc.uint8Array({ minLength: 32, maxLength: 32 }), (named, newer) => {
      const ring = new KeyRing(named);
      const rotated = new KeyRing([{ id: 'the newest of all', key: newer }, ...named]);
      expect(judgeKeys(recordedOf(ring, ring), ring.keyIds)).toEqual([]);
      expect(judgeKeys(recordedOf(ring, rotated), rotated.keyIds)).toEqual([]);
    });
  });

  it('do not match a ring that decrypts or hashes differently, and each difference names its key', () => {
    assertForAll(keys, keys, (used, configured) => {
      const ring = new KeyRing(configured);
      const problems = judgeKeys(recordedOf(new KeyRing(used), ring), ring.keyIds);
      const named = new Set(problems.flatMap(({ kind, keyId }) => (kind === 'other_hash_key' ? [] : [keyId])));
      for (const { id, key } of used) {
        const same = configured.find((each) => each.id === id);
        const opens = same !== undefined && Buffer.from(same.key).equals(Buffer.from(key));
        expect(named.has(id)).toBe(!opens);
      }
      const hashesAlike = new KeyRing(used).hash('text', 'test').equals(ring.hash('text', 'test'));
      expect(hashesAlike || problems.length > 0).toBe(true);
    });
  });

  it('have check values that reveal nothing of the keys', () => {
    assertForAll(keys, (named) => {
      const ring = new KeyRing(named);
      for (const { id, key } of named) expect(ring.checkValueOf(id)?.equals(key)).toBe(false);
      expect(ring.checkValueOf('an unknown key')).toBeUndefined();
    });
  });

  it.each(['other_bytes', 'missing'] as const)('have a description and an advice for %s', (kind) => {
    const { what, advice } = describeKeyProblem({ kind, keyId: 'k1' });
    expect(what).toContain('"k1"');
    expect(advice).not.toBe('');
  });
});
