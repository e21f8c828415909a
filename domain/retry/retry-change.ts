import { RETRY_BOUNDS, type RetryChange } from '#domain/retry/retry-rules.ts';

/** An absent field stays as it is; `null` undoes an earlier change. */
export interface RetryChangeRequest {
  /** The attempts already made are included. */
  readonly attempts?: number | null | undefined;
  readonly first_wait_seconds?: number | null | undefined;
  readonly longest_wait_seconds?: number | null | undefined;
  /** RFC 3339, or the parsed time. */
  readonly deadline?: string | Date | null | undefined;
}

const { delayMs } = RETRY_BOUNDS;
export const RETRY_CHANGE_BOUNDS = {
  attempts: RETRY_BOUNDS.attempts,
  seconds: { min: delayMs.min / 1_000, max: delayMs.max / 1_000 },
} as const;

export const RETRY_CHANGE_FIELDS = 'attempts, first_wait_seconds, longest_wait_seconds or deadline';

export function changesNothing({
  attempts,
  first_wait_seconds: first,
  longest_wait_seconds: longest,
  deadline,
}: RetryChangeRequest): boolean {
  return [attempts, first, longest, deadline].every((value) => value === undefined);
}

export function waitsAreOrdered({
  first_wait_seconds: first,
  longest_wait_seconds: longest,
}: Pick<RetryChangeRequest, 'first_wait_seconds' | 'longest_wait_seconds'>): boolean {
  return typeof first !== 'number' || typeof longest !== 'number' || first <= longest;
}

export function retryChangeOf({
  attempts,
  first_wait_seconds: first,
  longest_wait_seconds: longest,
  deadline,
}: RetryChangeRequest): RetryChange {
  return {
    ...(attempts !== undefined && { attempts }),
    ...(first !== undefined && { firstDelayMs: first === null ? null : first * 1_000 }),
    ...(longest !== undefined && { maxDelayMs: longest === null ? null : longest * 1_000 }),
    ...(deadline !== undefined && { deadlineAt: deadline === null ? null : new Date(deadline).getTime() }),
  };
}
