import type { PurchaseEvent } from '#domain/relay/observation.ts';
import type { ParsedDelivery } from '#fulfilment/reports/inbox-writer.ts';
import type { UnusedObserver } from '#telemetry/observers.ts';
import type { EventKind } from '#upstream/contract.ts';
import { QUARANTINE_REASONS, parseEvent } from '#upstream/mapping/events.ts';

/**
 * Parses a delivery before it is stored. Every delivery is stored. Only a clear report about a purchase is passed to
 * the relay; all others wait for an operator.
 *
 * @param onUnused receives fields with an unknown form.
 */
export function readDelivery(body: Buffer, onUnused?: UnusedObserver): ParsedDelivery {
  const event = parseEvent(body, (kind, fields) => onUnused?.(`event ${kind}`, { fields, items: 0 }));
  switch (event.kind) {
    case 'purchase':
      return readPurchase(event.purchase, event.event);
    case 'ping':
      return { state: 'ignored', event: event.event, note: 'A connectivity test.' };
    case 'quarantine':
      return {
        state: 'quarantined',
        note: QUARANTINE_REASONS[event.reason],
        ...(event.event === undefined ? {} : { event: event.event }),
      };
  }
}

function readPurchase(purchase: PurchaseEvent, event: EventKind): ParsedDelivery {
  const { kind, outcome, serviceId, reference, serviceEsimId } = purchase;
  return {
    event,
    state: 'pending',
    kind,
    outcome,
    ...(serviceId === undefined ? {} : { serviceId }),
    ...(reference === undefined ? {} : { reference }),
    ...(serviceEsimId === undefined ? {} : { serviceEsimId }),
  };
}
