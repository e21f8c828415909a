import type { RelayPolicy } from '#domain/policy/relay-policy.ts';
/**
 * What a relay does after it could not hand over a row: after a passing error it waits, after lasting errors it
 * quarantines the row.
 */
import { backoffMs } from '#domain/retry/backoff.ts';

/** Why a row could not be handed over. */
export type RelayFailure =
  /** PostgreSQL refused a statement, with its SQLSTATE. */
  | { readonly kind: 'sql'; readonly state: string }
  /** The stored body cannot be decrypted, or does not have the stored form. */
  | { readonly kind: 'unreadable' }
  /** The row names work that this database does not have. */
  | { readonly kind: 'work_missing' }
  /** Everything else: an outage or a timeout of Temporal or PostgreSQL, and unknown errors. */
  | { readonly kind: 'other' };

/**
 * True when a retry cannot help without a change. Only errors that are known to last count, because an outage must
 * never quarantine a row. SQLSTATE class 22 is a data exception, 23 a constraint violation.
 */
export function isLasting(failure: RelayFailure): boolean {
  switch (failure.kind) {
    case 'sql':
      return /^2[23]/.test(failure.state);
    case 'unreadable':
    case 'work_missing':
      return true;
    case 'other':
      return false;
  }
}

export type AfterFailure =
  | { readonly kind: 'postpone'; readonly delayMs: number; readonly isLasting: boolean }
  | { readonly kind: 'quarantine' };

/**
 * Decides what happens to a row after a failure.
 * @param row `tries`: how often it was taken, this time included; `lastingErrors`: lasting errors before this one.
 */
export function afterFailure(
  failure: RelayFailure,
  row: { readonly tries: number; readonly lastingErrors: number },
  policy: Pick<RelayPolicy, 'retryDelayMs' | 'retryDelayMaxMs' | 'lastingTries'>,
): AfterFailure {
  const lasting = isLasting(failure);
  if (lasting && row.lastingErrors + 1 >= policy.lastingTries) return { kind: 'quarantine' };
  return {
    kind: 'postpone',
    delayMs: backoffMs(policy.retryDelayMs, policy.retryDelayMaxMs, row.tries),
    isLasting: lasting,
  };
}
