import { cancellationOutcome, type CancellationWord } from '#domain/cancellation/refund.ts';
import type { Money } from '#domain/money/money.ts';
import type { ObservedOutcome, SubscriptionEnd } from '#domain/relay/observation.ts';
import type { WorkKind } from '#domain/work/work.ts';
import type { ParsedEvent } from '#upstream/observations/event-parsing.ts';
import type { RefundFacts } from '#upstream/observations/event-readings.ts';

/** What an event says of a purchase, whatever was bought. */
export interface PurchaseEvent {
  readonly kind: WorkKind;
  readonly outcome: ObservedOutcome;
  /** The service's id of the purchase; of a cancellation, that of its refund, if it is named. */
  readonly serviceId?: string;
  /** As one of our attempts gave it. */
  readonly reference?: string;
  readonly serviceEsimId?: string;
  /** Of the package or the VPN plan. */
  readonly productId?: number;
  /** The amount charged to the reseller. */
  readonly charged?: Money;
  /** How a subscription has ended. */
  readonly endedAs?: SubscriptionEnd;
  /** What is said of a cancellation; `outcome` is what that comes to by itself. */
  readonly cancellation?: CancellationWord & { readonly serviceRefundId?: string; readonly refunded?: Money };
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
      return {
        ...rest,
        kind,
        serviceId,
        outcome: status === 'failed' ? 'failed' : 'completed',
        ...(ended && { endedAs: status }),
      };
    }
    case 'esim_cancellation': {
      const { serviceEsimId, refund } = event;
      return cancellation(serviceEsimId, { esim: 'cancelled', ...(refund !== undefined && refundReport(refund)) });
    }
    case 'refund':
      return cancellation(event.serviceEsimId, refundReport(event));
    case 'ping':
    case 'quarantine':
      return undefined;
  }
}

/** What a refund's record says, as part of a word about its cancellation. */
export function refundReport({ status: state, review, serviceRefundId, refunded }: RefundFacts) {
  return {
    refund: { state, ...(review !== undefined && { review }) },
    serviceRefundId,
    ...(refunded !== undefined && { refunded }),
  };
}

function cancellation(
  serviceEsimId: string | undefined,
  word: NonNullable<PurchaseEvent['cancellation']>,
): PurchaseEvent {
  return {
    kind: 'cancellation',
    outcome: cancellationOutcome(word),
    ...(word.serviceRefundId !== undefined && { serviceId: word.serviceRefundId }),
    ...(serviceEsimId !== undefined && { serviceEsimId }),
    cancellation: word,
  };
}
