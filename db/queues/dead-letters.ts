/** Quarantined rows of the inbox and the outbox. */
import { and, asc, eq, gt, isNotNull } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import type { OutboxRow } from '#db/queues/outbox.ts';
import { inbox, outbox } from '#db/schema.ts';

export const DEAD_LETTER_QUEUES = ['inbox', 'outbox'] as const;
export type DeadLetterQueue = (typeof DEAD_LETTER_QUEUES)[number];

/** A quarantined row of either queue. */
export type DeadLetter =
  | { readonly queue: 'inbox'; readonly row: InboxRow }
  | { readonly queue: 'outbox'; readonly row: OutboxRow };

/** The id of a dead letter in the API. */
export function deadLetterId(queue: DeadLetterQueue, rowId: bigint): string {
  return `${queue}_${rowId}`;
}

/**
 * A page of the dead letters of one queue, oldest first.
 * @param page.after number of the last row of the previous page.
 */
export async function listDeadLetters(
  db: Executor,
  queue: DeadLetterQueue,
  page: { readonly limit: number; readonly after?: bigint | undefined },
): Promise<DeadLetter[]> {
  const { limit, after } = page;
  if (queue === 'inbox') {
    const rows = await db
      .select()
      .from(inbox)
      .where(and(eq(inbox.state, 'quarantined'), after === undefined ? undefined : gt(inbox.id, after)))
      .orderBy(asc(inbox.id))
      .limit(limit);
    return rows.map((row) => ({ queue, row }));
  }
  const rows = await db
    .select()
    .from(outbox)
    .where(and(isNotNull(outbox.quarantinedAt), after === undefined ? undefined : gt(outbox.id, after)))
    .orderBy(asc(outbox.id))
    .limit(limit);
  return rows.map((row) => ({ queue, row }));
}

export async function lockDeadLetter(
  tx: Executor,
  { queue, rowId }: { readonly queue: DeadLetterQueue; readonly rowId: bigint },
): Promise<DeadLetter | undefined> {
  if (queue === 'inbox') {
    const [row] = await tx
      .select()
      .from(inbox)
      .where(and(eq(inbox.id, rowId), eq(inbox.state, 'quarantined')))
      .for('update');
    return row && { queue, row };
  }
  const [row] = await tx
    .select()
    .from(outbox)
    .where(and(eq(outbox.id, rowId), isNotNull(outbox.quarantinedAt)))
    .for('update');
  return row && { queue, row };
}
