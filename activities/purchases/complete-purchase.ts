import { NotYetError } from '#activities/purchases/not-yet.ts';
import type { WorkHandlers } from '#activities/purchases/work-handler.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { PurchaseActivities } from '#activities/work/work-types.ts';
import { findAttemptById } from '#db/attempts/attempts.ts';

/** Makes the activity that stores what was bought. `not_yet` is a result: the workflow waits and runs it again. */
export function createCompletion(
  { database }: WorkDependencies,
  handlers: WorkHandlers,
): PurchaseActivities['completePurchase'] {
  return async ({ work, attemptId, applied }) => {
    const attempt = await database.run((db) => findAttemptById(db, attemptId));
    try {
      return await handlers[work.kind].complete(attempt, applied);
    } catch (error) {
      if (!(error instanceof NotYetError)) throw error;
      const { reason, message: detail, retryAfterMs } = error;
      return { kind: 'not_yet', reason, detail, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    }
  };
}
