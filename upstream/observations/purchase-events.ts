import { cancellationOutcome } from '#domain/cancellation/refund.ts';
import type { PurchaseEvent } from '#domain/relay/purchase-event.ts';
import type { RefundRecord } from '#upstream/observations/event-data.ts';
import type { ParsedEvent } from '#upstream/observations/event-parsing.ts';

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
export function refundReport({ status: state, review, serviceRefundId, refunded }: RefundRecord) {
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
