import { and, eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { fromNow } from '#db/connection/from-now.ts';
import { inbox } from '#db/schema.ts';
import { workTable } from '#db/work/rows.ts';
import { afterNotifying, type NotifyOutcome } from '#domain/relay/inbox-decision.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';

/**
 * Stores the result of notifying a workflow. When the work has ended meanwhile, the row is judged against that end at
 * once; the share lock waits for a step that is about to end it. When no workflow was notified, the row stays pending.
 * @returns `try_again` when no workflow was notified although the work continues; the caller postpones the row.
 */
export async function recordNotification(
  tx: Executor,
  rowId: bigint,
  { kind, id }: WorkRef,
  outcome: NotifyOutcome,
): Promise<'relayed' | 'judge_again' | 'try_again'> {
  const table = workTable(kind);
  const [work] = await tx.select({ status: table.status }).from(table).where(eq(table.id, id)).for('share');
  const next = afterNotifying(outcome, work === undefined || isFinal(work.status));
  if (next === 'try_again') return next;
  await tx
    .update(inbox)
    .set(next === 'judge_again' ? { availableAt: fromNow(0) } : { state: 'relayed', lastError: null })
    .where(and(eq(inbox.id, rowId), eq(inbox.state, 'pending')));
  return next;
}
