import type { Money } from '#domain/money.ts';
import type { ObservedOutcome, SubscriptionEnd } from '#domain/observation.ts';
import type { WorkKind } from '#domain/work.ts';
import type { ParsedEvent } from '#upstream/event-parsing.ts';

/** What an event says of a purchase, whatever was bought. */
export interface PurchaseEvent {
  readonly kind: WorkKind;
  readonly outcome: ObservedOutcome;
  /** The service's id of the purchase. */
  readonly serviceId: string;
  /** As one of our attempts gave it. */
  readonly reference?: string;
  readonly serviceEsimId?: string;
  readonly packageId?: number;
  /** The amount charged to the reseller. */
  readonly charged?: Money;
  /** How a subscription has ended. */
  readonly endedAs?: SubscriptionEnd;
}

/** Reads an event as one of a purchase. @returns undefined for every other event. */
export function purchaseEvent(event: ParsedEvent): PurchaseEvent | undefined {
  switch (event.kind) {
    case 'order': {
      const { kind, serviceOrderId: serviceId, ...rest } = event;
      return { ...rest, kind, serviceId };
    }
    case 'topup': {
      const { kind, serviceTopupId: serviceId, ...rest } = event;
      return { ...rest, kind, serviceId };
    }
    case 'vpn_subscription': {
      const { kind, status, serviceSubscriptionId: serviceId, ...rest } = event;
      const ended = status === 'cancelled' || status === 'expired';
      // What has ended was bought before.
      return { ...rest, kind, serviceId, outcome: status === 'failed' ? 'failed' : 'completed', ...(ended && { endedAs: status }) };
    }
    case 'esim_cancellation':
    case 'refund':
    case 'ping':
    case 'quarantine':
      return undefined;
  }
}
