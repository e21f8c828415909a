import type { DeliveryReading } from '#db/inbox-intake.ts';
import { parseEvent, QUARANTINE_REASONS } from '#upstream/event-parsing.ts';

/** PostgreSQL's text takes no NUL, which is valid in JSON. */
const UNSTORABLE = /\0/;

/**
 * What is made of a delivery before it is stored. Whatever its body holds, it is stored: only what says clearly what
 * became of an order goes on to the relay, the rest waits for an operator.
 *
 * @param headerEvent the event header, which is not signed.
 */
export function readDelivery(body: Buffer, headerEvent: string | undefined): DeliveryReading {
  const event = parseEvent(body, headerEvent);
  switch (event.kind) {
    case 'order':
      if (UNSTORABLE.test(event.serviceOrderId) || UNSTORABLE.test(event.serviceEsimId ?? '')) {
        return { state: 'quarantined', event: event.event, note: 'An id in it holds a NUL character.' };
      }
      return {
        state: 'pending',
        event: event.event,
        outcome: event.outcome,
        serviceOrderId: event.serviceOrderId,
        ...(event.reference === undefined ? {} : { reference: event.reference }),
      };
    case 'ping':
      return { state: 'ignored', event: event.event, note: 'A connectivity test.' };
    case 'topup':
    case 'esim_cancellation':
    case 'refund':
    case 'vpn_subscription':
      return { state: 'quarantined', event: event.event, note: 'No lifecycle of this version acts upon this event.' };
    case 'quarantine':
      return {
        state: 'quarantined',
        note: QUARANTINE_REASONS[event.reason],
        ...(event.event === undefined ? {} : { event: event.event }),
      };
  }
}
