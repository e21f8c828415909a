import { NotYetError } from '#activities/purchases/not-yet.ts';
import type { PurchaseKind } from '#activities/purchases/purchase-kind.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { PurchaseActivities } from '#activities/work/work-types.ts';
import { findAttemptById } from '#db/attempts/attempts.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** Makes the activity that stores what was bought. `not_yet` is a result: the workflow waits and runs it again. */
export function createCompletion(
  { database }: WorkDependencies,
  kinds: Readonly<Record<WorkKind, PurchaseKind>>,
): PurchaseActivities['completePurchase'] {
  return async ({ work, attemptId, applied }) => {
    const attempt = await database.run((db) => findAttemptById(db, attemptId));
    try {
      return await kinds[work.kind].complete(attempt, applied);
    } catch (error) {
      if (!(error instanceof NotYetError)) throw error;
      const { reason, message: detail, retryAfterMs } = error;
      return { kind: 'not_yet', reason, detail, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    }
  };
}
