import type { PurchaseEvent } from '#domain/relay/observation.ts';
import type { ParsedDelivery } from '#fulfilment/reports/inbox-writer.ts';
import type { UnusedObserver } from '#telemetry/observers.ts';
import { parseEvent, QUARANTINE_REASONS, type ParsedEvent } from '#upstream/mapping/event-parsing.ts';
import { purchaseEvent } from '#upstream/mapping/purchase-events.ts';

/**
 * Parses a delivery before it is stored. Every delivery is stored. Only a clear report about a purchase is passed to
 * the relay; all others wait for an operator.
 *
 * @param onUnused receives fields with an unknown form.
 */
export function readDelivery(body: Buffer, onUnused?: UnusedObserver): ParsedDelivery {
  const event = parseEvent(body, (kind, fields) => onUnused?.(`event ${kind}`, { fields, items: 0 }));
  const purchase = purchaseEvent(event);
  if (purchase !== undefined) return readPurchase(purchase, event);
  switch (event.kind) {
    case 'ping':
      return { state: 'ignored', event: event.event, note: 'A connectivity test.' };
    case 'quarantine':
      return {
        state: 'quarantined',
        note: QUARANTINE_REASONS[event.reason],
        ...(event.event === undefined ? {} : { event: event.event }),
      };
    default:
      throw new Error(`an event of the kind ${event.kind} is read as none of a purchase`);
  }
}

function readPurchase(purchase: PurchaseEvent, { event }: ParsedEvent): ParsedDelivery {
  const { kind, outcome, serviceId, reference, serviceEsimId } = purchase;
  const named = event === undefined ? {} : { event };
  return {
    ...named,
    state: 'pending',
    kind,
    outcome,
    ...(serviceId === undefined ? {} : { serviceId }),
    ...(reference === undefined ? {} : { reference }),
    ...(serviceEsimId === undefined ? {} : { serviceEsimId }),
  };
}
