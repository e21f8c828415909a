/**
 * Uses of a caller's reference. A reference is for one purchase. When its work has ended without buying, the same
 * reference may be used again: the new work has another id, other idempotency keys and other references at the service.
 */
import type { FinalStatus, WorkStatus } from '#domain/work/lifecycle.ts';

/** The final statuses that prove that nothing was bought, so that the reference is free again. */
export const FREES_REFERENCE = ['failed', 'abandoned'] as const satisfies readonly FinalStatus[];

/** One use of a reference. */
export interface ReferenceUse {
  /** From 1. */
  readonly number: number;
  /** Id of the work of the previous use; null for the first one. */
  readonly replaces: string | null;
}

export const FIRST_USE: ReferenceUse = { number: 1, replaces: null };

/** The work that has a reference now. */
export interface ReferenceHolder {
  readonly id: string;
  readonly status: WorkStatus;
  readonly use: number;
  /** True while a case is open because it may have been bought after all. */
  readonly inDoubt: boolean;
  /** True when it, or the work of an earlier use, was created with the Idempotency-Key of this request. */
  readonly isOfSameKey: boolean;
}

/** The next use of a reference. @returns undefined while the reference is not free. */
export function nextUse({ id, status, use, inDoubt, isOfSameKey }: ReferenceHolder): ReferenceUse | undefined {
  const isFree = (FREES_REFERENCE as readonly WorkStatus[]).includes(status) && !inDoubt;
  // A late repetition of the old request must not buy what a person has abandoned since.
  return isFree && !isOfSameKey ? { number: use + 1, replaces: id } : undefined;
}
