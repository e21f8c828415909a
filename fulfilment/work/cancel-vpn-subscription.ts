import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { requestCancel, type CancelRequest } from '#fulfilment/work/vpn-subscriptions.ts';

/**
 * Stores that the customer ends a subscription, wakes its workflow, and writes an entry in the audit log. A repetition
 * changes nothing.
 *
 * @param why the caller's reason, if one was given.
 * @throws WorkMissingError
 */
export async function cancelVpnSubscription(
  tx: Executor,
  id: string,
  { actor, why }: { readonly actor: string; readonly why: string | undefined },
  now: Date,
): Promise<CancelRequest> {
  const result = await requestCancel(tx, id, why, now);
  if (result !== 'requested') return result;
  const work = { kind: 'vpn_subscription', id } as const;
  await requestWake(tx, work);
  const reason = why === undefined ? {} : { reason: why };
  await addAuditEntry(tx, { actor, action: 'vpn_subscription.cancel', subject: work, ...reason }, now);
  return result;
}
