import type { EventRow } from '#db/events/event-log.ts';
import { webhookBody, webhookHeaders } from '#outbound/webhook-message.ts';
import type { WebhookResult, WebhookSender } from '#outbound/webhook-sender.ts';

/** One try to deliver an event to an endpoint. */
interface CourierRequest {
  readonly url: string;
  readonly event: EventRow;
  /** Every secret that signs now. */
  readonly secrets: readonly string[];
  /** Milliseconds. */
  readonly deadlineMs: number;
}

/** Serialises, signs and sends an event. Never throws because of a receiver. */
export type Courier = (request: CourierRequest) => Promise<WebhookResult>;

/** @param now epoch milliseconds; the signature contains the time of the try. */
export function createCourier(sender: Pick<WebhookSender, 'send'>, now: () => number): Courier {
  return async ({ url, event, secrets, deadlineMs }) => {
    const body = webhookBody(event);
    return sender.send({ url, body, headers: webhookHeaders(event, body, secrets, new Date(now())), deadlineMs });
  };
}
