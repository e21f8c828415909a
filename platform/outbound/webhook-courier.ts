import type { StoredEvent } from '#db/events/event-log.ts';
import { isDelivered } from '#domain/events/webhook-delivery.ts';
import { webhookBody, webhookHeaders } from '#outbound/webhook-message.ts';
import type { WebhookResult, WebhookSender } from '#outbound/webhook-sender.ts';
import { currentTraceparent, inSpan, traceHeaders, type SpanOptions } from '#telemetry/tracing.ts';

/** One try to deliver an event to an endpoint. */
interface CourierRequest {
  readonly url: string;
  readonly event: StoredEvent;
  /** Every secret that signs now. */
  readonly secrets: readonly string[];
  /** Milliseconds. */
  readonly deadlineMs: number;
}

/** Serialises, signs and sends an event. Never throws because of a receiver. */
export type Courier = (request: CourierRequest) => Promise<WebhookResult>;

/** @param now epoch milliseconds; the signature contains the time of the try. */
export function createCourier(sender: Pick<WebhookSender, 'send'>, now: () => number): Courier {
  return ({ url, event, secrets, deadlineMs }) => {
    const body = webhookBody(event);
    return inSpan('POST webhook', spanOptions(event), async (span) => {
      const headers = { ...webhookHeaders(event, body, secrets, new Date(now())), ...traceHeaders(span) };
      const result = await sender.send({ url, body, headers, deadlineMs });
      const { outcome } = result;
      if (outcome.kind === 'answered') span.set({ 'http.response.status_code': outcome.status });
      if (!isDelivered(outcome)) span.fail(outcome.kind === 'answered' ? String(outcome.status) : outcome.failure);
      return result;
    });
  };
}

/** In the trace of the work that the event is about, with a link to the round of deliveries. */
function spanOptions({ id, type, traceparent }: StoredEvent): SpanOptions {
  const round = currentTraceparent();
  return {
    kind: 'client',
    parent: traceparent ?? round,
    ...(traceparent !== null && { link: round }),
    attributes: { 'http.request.method': 'POST', 'reseller.event.type': type, 'reseller.event.id': id },
  };
}
