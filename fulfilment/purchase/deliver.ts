import { findAttemptById } from '#db/work/attempts.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { CompletionResult, PurchaseActivities, NotYetReason } from '#domain/purchase/results.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { noteDrift, noteUnfilled } from '#fulfilment/gate/drift.ts';
import type { WorkHandlers, WorkDependencies } from '#fulfilment/purchase/handler.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/** `not_yet` is a result: the workflow waits and runs it again. */
export function createCompletion(
  dependencies: WorkDependencies,
  handlers: WorkHandlers,
): PurchaseActivities['completePurchase'] {
  return async ({ work, attemptId, applied }) => {
    const attempt = await dependencies.database.run((db) => findAttemptById(db, attemptId));
    return complete(dependencies, handlers[work.kind], attempt, applied);
  };
}

/** A delivery that cannot be used, or is missing for long, is drift. */
export async function complete(
  dependencies: Pick<WorkDependencies, 'database' | 'gate' | 'now'>,
  handler: WorkHandlers[WorkKind],
  attempt: AttemptRow,
  applied: readonly string[],
): Promise<CompletionResult> {
  const result = await completionOf(handler, attempt, applied);
  const drift = driftIn(result);
  if (drift === undefined || attempt.state !== 'completed' || !KINDS[attempt.subjectKind].isPurchase) return result;
  const { database, gate, now } = dependencies;
  await database.transaction(async (tx) =>
    drift === 'misstated'
      ? noteDrift(tx, attempt, detailOf(result), now())
      : noteUnfilled(tx, attempt, detailOf(result), now(), gate),
  );
  return result;
}

async function completionOf(
  handler: WorkHandlers[WorkKind],
  attempt: AttemptRow,
  applied: readonly string[],
): Promise<CompletionResult> {
  try {
    return await handler.complete(attempt, applied);
  } catch (error) {
    if (!(error instanceof NotYetError)) throw error;
    const { reason, message: detail, retryAfterMs } = error;
    return { kind: 'not_yet', reason, detail, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }
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

function detailOf(result: CompletionResult): string {
  return 'detail' in result ? result.detail : '';
}

/** The workflow waits and tries again. */
export class NotYetError extends Error {
  readonly reason: NotYetReason;
  /** As the service asked for. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: NotYetReason, detail: string, retryAfterMs?: number) {
    super(detail);
    this.name = 'NotYetError';
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

export function notAnswered({
  failure,
  detail,
  retryAfterMs,
}: Pick<ServiceFailure, 'failure' | 'detail' | 'retryAfterMs'>): NotYetError {
  return new NotYetError(failure, detail, retryAfterMs);
}
