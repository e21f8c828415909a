import type { KeyRing } from '#crypto/key-ring.ts';
import { inboxBodyAad } from '#db/encryption-aads.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import type { PurchaseEvent } from '#domain/relay/purchase-event.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';
import { parseEvent } from '#upstream/mapping/events.ts';

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
 * @throws UnreadableRowError when it is not an event of a purchase, because the stored data were altered.
 * @throws DecryptionError when the key ring cannot decrypt it.
 */
export function readReport(keyRing: KeyRing, row: InboxRow): PurchaseEvent {
  const found = reportInColumns(row);
  if (found !== undefined) return found;
  const body = keyRing.decrypt(row.encryptedBody, inboxBodyAad(row.deliveryId));
  const event = parseEvent(body);
  if (event.kind !== 'purchase') throw new UnreadableRowError(row.id, `is no event of a purchase (${event.kind})`);
  return event.purchase;
}

/**
 * A row of the reconciler whose event the service does not send, such as a VPN subscription in progress. Its columns
 * hold the whole report.
 */
function reportInColumns({
  source,
  subjectKind,
  event,
  outcome,
  serviceId,
  reference,
}: InboxRow): PurchaseEvent | undefined {
  const isSent = EVENT_KINDS.some((kind) => kind === event);
  if (source !== 'read' || isSent || outcome !== 'processing' || subjectKind === null || serviceId === null)
    return undefined;
  return { kind: subjectKind, outcome, serviceId, ...(reference !== null && { reference }) };
}
