/** Storing that a send proved nothing was bought, or proved nothing. */
import { and, eq, sql } from 'drizzle-orm';
import { findAttemptById } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { attemptStateAfter, type AttemptEvent } from '#domain/work/attempt-lifecycle.ts';
import { type FailureDetail, isDefinite } from '#domain/work/failure.ts';

/**
 * Stores that a send proved nothing was bought, or proved nothing at all.
 *
 * @param leaseToken of that send: when another has taken the lease meanwhile, nothing changes.
 * @returns the attempt as it now is.
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
      leaseToken: null,
      leaseUntil: null,
    })
    // A later send, or an event, may have settled the attempt meanwhile: then this result is history.
    .where(and(eq(attempts.id, attemptId), eq(attempts.leaseToken, leaseToken), eq(attempts.state, 'sending')))
    .returning();
  return row ?? (await findAttemptById(tx, attemptId));
}

const refusedState = (event: AttemptEvent) => attemptStateAfter('sending', event);

/**
 * After a refusal. Where a send before it may have bought, it proves nothing, and the window goes on from that send.
 */
const REFUSED = {
  state: sql`case when ${attempts.anyUnknown} then ${refusedState('refused_after_unknown')} else ${refusedState('refused')} end`,
  firstUnrefusedSendAt: sql`case when ${attempts.anyUnknown} then ${attempts.firstUnrefusedSendAt} end`,
  busyEsimId: sql`case when ${attempts.anyUnknown} then ${attempts.busyEsimId} end`,
};
