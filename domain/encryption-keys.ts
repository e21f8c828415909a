export interface RecordedKey {
  readonly keyId: string;
  /** True when the ring has the same bytes under this id, false when it has others; undefined when it has none. */
  readonly sameBytes: boolean | undefined;
  readonly makesHashes: boolean;
}

export type KeyProblem =
  | { readonly kind: 'other_bytes' | 'missing'; readonly keyId: string }
  | { readonly kind: 'other_hash_key'; readonly keyId: string; readonly configured: string };

/** @param ring ids of the configured keys, newest first. @returns the problems; empty when the ring can be used. */
export function judgeKeys(recorded: readonly RecordedKey[], ring: readonly string[]): KeyProblem[] {
  const problems: KeyProblem[] = [];
  for (const { keyId, sameBytes } of recorded) {
    if (sameBytes === undefined) problems.push({ kind: 'missing', keyId });
    else if (!sameBytes) problems.push({ kind: 'other_bytes', keyId });
  }
  const hashKey = recorded.find(({ makesHashes }) => makesHashes);
  const configured = ring.at(-1);
  if (hashKey?.sameBytes !== undefined && configured !== undefined && configured !== hashKey.keyId) {
    problems.push({ kind: 'other_hash_key', keyId: hashKey.keyId, configured });
  }
  return problems;
}

export function describeKeyProblem(problem: KeyProblem): { readonly what: string; readonly advice: string } {
  const id = JSON.stringify(problem.keyId);
  switch (problem.kind) {
    case 'other_bytes':
      return {
        what:
          `The key ${id} in ENCRYPTION_KEYS has other bytes than the key ${id} that this database was used with: ` +
          'stored values and workflows could not be opened.',
        advice: 'Restore the former bytes. A new key needs a new id.',
      };
    case 'missing':
      return {
        what:
          `The key ${id} is missing from ENCRYPTION_KEYS, and this database was used with it: ` +
          'what is encrypted with it could not be opened.',
        advice: 'Put it back, the newest in front. If it is meant to be gone: `npx reseller encryption-keys retire`.',
      };
    case 'other_hash_key':
      return {
        what:
          `The last key in ENCRYPTION_KEYS is ${JSON.stringify(problem.configured)} and must be ${id}: with ` +
          'another one, repeated requests and webhooks would not be recognised.',
        advice: 'Put new keys in front, and leave the last one where it is.',
      };
  }
}
