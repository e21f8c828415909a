import { findAttemptById } from '#db/work/attempts.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { AttemptRef, CompletionResult, NotYetReason } from '#domain/purchase/results.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { noteDrift, noteUnfilled } from '#fulfilment/gate/drift.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { SERVICE_CALLS } from '#fulfilment/purchase/kinds.ts';

/** `not_yet` is a result: the workflow waits and runs it again. */
export async function completePurchase(
  dependencies: WorkDependencies,
  { attemptId, applied }: AttemptRef & { readonly applied: readonly string[] },
): Promise<CompletionResult> {
  const attempt = await dependencies.database.run((db) => findAttemptById(db, attemptId));
  return complete(dependencies, attempt, applied);
}

/** A delivery that cannot be used, or is missing for long, is drift. */
export async function complete(
  dependencies: WorkDependencies,
  attempt: AttemptRow,
  applied: readonly string[],
): Promise<CompletionResult> {
  const { database, gate, now } = dependencies;
  const result = await SERVICE_CALLS[attempt.subjectKind].complete(dependencies, attempt, applied);
  const drift = driftIn(result);
  if (drift === undefined || attempt.state !== 'completed' || !KINDS[attempt.subjectKind].isPurchase) return result;
  const detail = 'detail' in result ? result.detail : '';
  await database.transaction(async (tx) =>
    drift === 'misstated' ? noteDrift(tx, attempt, detail, now()) : noteUnfilled(tx, attempt, detail, now(), gate),
  );
  return result;
}

/** A service that does not answer shows nothing. */
function driftIn(result: CompletionResult): 'misstated' | 'missing' | undefined {
  if (result.kind === 'unreadable') return result.isOurs === false ? undefined : 'misstated';
  if (result.kind !== 'not_yet') return undefined;
  if (result.reason === 'contract_drift') return 'misstated';
  return MISSING.has(result.reason) ? 'missing' : undefined;
}

/**
 * The service does not know the eSIM: `invalid_request`, or for good answers with a page of HTML, a 404 without a code
 * or a 403.
 */
const MISSING: ReadonlySet<NotYetReason> = new Set([
  'not_filled',
  'not_listed',
  'invalid_request',
  'unreadable_answer',
  'not_approved',
]);
