/**
 * What a relay does with a row that could not be handed over: an error that passes is waited for, one that lasts ends
 * in quarantine.
 */
import { backoffMs } from '#domain/policy/backoff.ts';
import type { RelayPolicy } from '#domain/policy/relay-policy.ts';

/** Why a row could not be handed over, as far as that is known. */
export type RelayFailure =
  /** PostgreSQL refused a statement, with its SQLSTATE. */
  | { readonly kind: 'sql'; readonly state: string }
  /** The stored body cannot be decrypted, or is not what it was stored as. */
  | { readonly kind: 'unreadable' }
  /** The row names work that this database does not have. */
  | { readonly kind: 'work_missing' }
  /** Everything else: an outage or a timeout of Temporal or PostgreSQL, and what we do not know. */
  | { readonly kind: 'other' };

/**
 * True when trying again cannot help as long as nobody changes anything. Only what is known to last counts: an outage
 * must never quarantine a row. SQLSTATE 22 is a data exception, 23 a violated constraint.
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
 * Decides what becomes of a row after a failure.
 *
 * @param row `tries`: takings so far, this one included; `lastingErrors`: lasting errors so far, this one not included.
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
