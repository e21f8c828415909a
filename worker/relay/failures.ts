import { DecryptionError } from '#crypto/key-ring.ts';
import { sqlState } from '#db/connection/database.ts';
import { WorkMissingError } from '#db/work/rows.ts';
import type { RelayFailure } from '#domain/relay/relay-failure.ts';
import { UnreadableRowError } from '#worker/relay/read-report.ts';

/** Classifies the error of a row that could not be processed. */
export function failureOf(error: unknown): RelayFailure {
  if (error instanceof DecryptionError || error instanceof UnreadableRowError) return { kind: 'unreadable' };
  if (error instanceof WorkMissingError) return { kind: 'work_missing' };
  const state = sqlState(error);
  return state === undefined ? { kind: 'other' } : { kind: 'sql', state };
}

/**
 * The error text that is stored with the row. The message of a failed query contains its parameters, so only its state
 * is used.
 */
export function describeError(error: unknown): string {
  const state = sqlState(error);
  if (state !== undefined) return `PostgreSQL error ${state}`;
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown error';
}
