import { cancellationOutcome } from '#domain/cancellation/refund.ts';
import type { PurchaseEvent } from '#domain/relay/observation.ts';
import type { RefundRecord } from '#upstream/mapping/event-data.ts';
import type { ParsedEvent } from '#upstream/mapping/event-parsing.ts';

/** Converts an event to a purchase event. @returns undefined for events that are not about a purchase. */
export function purchaseEvent(event: ParsedEvent): PurchaseEvent | undefined {
  switch (event.kind) {
    case 'order': {
      const { kind, serviceOrderId: serviceId, ...rest } = event;
      return { ...rest, kind, ...(serviceId !== undefined && { serviceId }) };
    }
    case 'topup': {
      const { kind, serviceTopupId: serviceId, ...rest } = event;
      return { ...rest, kind, serviceId };
    }
    case 'vpn_subscription': {
      const { kind, status, serviceSubscriptionId: serviceId, ...rest } = event;
      const ended = status === 'cancelled' || status === 'expired';
      // A subscription that has ended was bought before.
      return {
        ...rest,
        kind,
        ...(serviceId !== undefined && { serviceId }),
        outcome: status === 'failed' ? 'failed' : 'completed',
        ...(ended && { endedAs: status }),
      };
    }
    case 'esim_cancellation': {
      const { serviceEsimId, refund } = event;
      const report = { esim: 'cancelled', ...(refund !== undefined && refundReport(refund)) } as const;
      return cancellation(serviceEsimId, report, refund);
    }
    case 'refund':
      return cancellation(event.serviceEsimId, refundReport(event), event);
    case 'ping':
    case 'quarantine':
      return undefined;
  }
}

/** The part of a cancellation report that comes from the refund. */
export function refundReport({ status: state, review, serviceRefundId, refunded }: RefundRecord) {
  return {
    refund: { state, ...(review !== undefined && { review }) },
    serviceRefundId,
    ...(refunded !== undefined && { refunded }),
  };
}

function cancellation(
  serviceEsimId: string | undefined,
  report: NonNullable<PurchaseEvent['cancellation']>,
  refund: RefundRecord | undefined,
): PurchaseEvent {
  return {
    kind: 'cancellation',
    outcome: cancellationOutcome(report),
    ...(report.serviceRefundId !== undefined && { serviceId: report.serviceRefundId }),
    ...(serviceEsimId !== undefined && { serviceEsimId }),
    cancellation: report,
    ...(refund?.unmetConditions !== undefined && { unmetConditions: refund.unmetConditions }),
  };
}
