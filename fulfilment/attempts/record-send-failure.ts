/** Stores a failed send: a definite failure, or an unknown result. */
import { and, eq, sql } from 'drizzle-orm';
import { findAttemptById } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { attemptStateAfter, type AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import { type FailureDetail, isDefinite } from '#domain/work/failure.ts';

/**
 * Stores a failed send.
 * @param leaseToken of that send; nothing changes when another send has taken the lease since.
 * @returns the attempt as it is now.
 */
export async function recordSendFailure(
  tx: Executor,
  attemptId: string,
  leaseToken: string,
  failure: FailureDetail,
): Promise<AttemptRow> {
  const definite = isDefinite(failure.class);
  const [row] = await tx
    .update(attempts)
    .set({
      ...(definite ? REFUSED : { state: attemptStateAfter('sending', 'unproven'), anyUnknown: true }),
      failureClass: failure.class,
      failureDetail: failure.detail,
      serviceMessage: failure.serviceMessage ?? null,
      leaseToken: null,
      leaseUntil: null,
    })
    // When a later send or an event has settled the attempt, this result no longer matters.
    .where(and(eq(attempts.id, attemptId), eq(attempts.leaseToken, leaseToken), eq(attempts.state, 'sending')))
    .returning();
  return row ?? (await findAttemptById(tx, attemptId));
}

const refusedState = (event: AttemptEvent) => attemptStateAfter('sending', event);

/**
 * Columns after a refusal. When an earlier send may have bought, the refusal proves nothing, and the window of that
 * send continues.
 */
const REFUSED = {
  state: sql`case when ${attempts.anyUnknown} then ${refusedState('refused_after_unknown')}
    else ${refusedState('refused')} end`,
  firstUnrefusedSendAt: sql`case when ${attempts.anyUnknown} then ${attempts.firstUnrefusedSendAt} end`,
  readingBefore: sql`case when ${attempts.anyUnknown} then ${attempts.readingBefore} end`,
  busyEsimId: sql`case when ${attempts.anyUnknown} then ${attempts.busyEsimId} end`,
};
