import type { KeyRing } from '#crypto/key-ring.ts';
import { inboxBodyAad } from '#db/encryption-aads.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import type { PurchaseEvent } from '#domain/relay/purchase-event.ts';
import { parseEvent } from '#upstream/mapping/event-parsing.ts';
import { purchaseEvent } from '#upstream/mapping/purchase-events.ts';

/** The stored body of a row cannot be read as an event of a purchase. */
export class UnreadableRowError extends Error {
  constructor(rowId: bigint, what: string) {
    super(`the body of inbox row ${rowId} ${what}`);
    this.name = 'UnreadableRowError';
  }
}

/**
 * Decrypts and parses the event of a pending row.
 *
 * @throws UnreadableRowError when it is not an event of a purchase: the stored data were altered.
 * @throws DecryptionError when the key ring cannot decrypt it.
 */
export function readReport(keyRing: KeyRing, row: InboxRow): PurchaseEvent {
  const found = subscriptionInProgress(row);
  if (found !== undefined) return found;
  const body = keyRing.decrypt(row.encryptedBody, inboxBodyAad(row.deliveryId));
  const event = parseEvent(body);
  const purchase = purchaseEvent(event);
  if (purchase === undefined) throw new UnreadableRowError(row.id, `is no event of a purchase (${event.kind})`);
  return purchase;
}

/** No event of the service reports a subscription in progress; the columns of the reconciler's row hold all of it. */
function subscriptionInProgress({
  source,
  subjectKind,
  outcome,
  serviceId,
  reference,
}: InboxRow): PurchaseEvent | undefined {
  if (source !== 'read' || subjectKind !== 'vpn_subscription' || outcome !== 'processing' || serviceId === null)
    return undefined;
  return { kind: subjectKind, outcome, serviceId, ...(reference !== null && { reference }) };
}
