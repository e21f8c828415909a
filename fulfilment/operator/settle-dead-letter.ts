import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { type DeadLetter, type DeadLetterQueue, deadLetterId } from '#db/queues/dead-letters.ts';
import { dismissDeadLetter, requeueDeadLetter } from '#fulfilment/operator/dead-letters.ts';

const SETTLEMENTS = {
  requeue: { carryOut: requeueDeadLetter, resolution: 'requeued' },
  dismiss: { carryOut: dismissDeadLetter, resolution: 'dismissed' },
} as const;

/** An operator's action on a dead letter. */
export interface DeadLetterAction {
  readonly queue: DeadLetterQueue;
  readonly rowId: bigint;
  readonly action: keyof typeof SETTLEMENTS;
  /** The actor of the audit log. */
  readonly actor: string;
  readonly reason: string;
}

/**
 * Requeues or dismisses a dead letter, with an entry in the audit log. The caller rolls the transaction back when there
 * is no such dead letter.
 *
 * @returns the dead letter as it was; undefined when there is none.
 */
export async function settleDeadLetter(
  tx: Executor,
  { queue, rowId, action, actor, reason }: DeadLetterAction,
  now: Date,
): Promise<DeadLetter | undefined> {
  const { carryOut, resolution } = SETTLEMENTS[action];
  const subject = { kind: 'dead_letter', id: deadLetterId(queue, rowId) } as const;
  await addAuditEntry(tx, { actor, action: `dead_letter.${action}`, subject, reason }, now);
  return carryOut(tx, { queue, rowId, resolution: `${resolution}: ${reason}`, now });
}
