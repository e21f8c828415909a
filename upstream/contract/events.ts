import * as z from 'zod';
import { WEBHOOK_TOLERANCE_SECONDS } from '#domain/service/service-address.ts';
import type { Mark } from '#upstream/contract/endpoint.ts';
import { esimCancellation, serviceRefund, serviceTopup } from '#upstream/contract/esims.ts';
import { neededFor, wireId, wireTime } from '#upstream/contract/fields.ts';
import { serviceOrder } from '#upstream/contract/orders.ts';
import type { RecordName } from '#upstream/contract/variants.ts';
import { vpnSubscription } from '#upstream/contract/vpn.ts';

export const EVENT_KINDS = [
  'ping',
  'order.completed',
  'order.processing',
  'order.failed',
  'topup.completed',
  'topup.processing',
  'topup.failed',
  'esim.cancelled',
  'refund.completed',
  'refund.failed',
  'vpn.subscription.active',
  'vpn.subscription.cancelled',
  'vpn.subscription.expired',
  'vpn.subscription.failed',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** Such as `order`. A ping has none. */
export type EventSubject = EventKind extends infer Kind
  ? Kind extends `${infer Subject}.${string}`
    ? Subject
    : never
  : never;

export function eventSubject(event: string): EventSubject | undefined {
  const subject = event.split('.')[0];
  const known = EVENT_KINDS.find((kind) => kind.startsWith(`${subject}.`));
  return known === undefined ? undefined : (subject as EventSubject);
}

export const EVENT_RECORDS = {
  order: 'order',
  topup: 'topup',
  esim: 'cancellation',
  refund: 'refund',
  vpn: 'subscription',
} as const satisfies Record<EventSubject, RecordName>;

export const EVENT_NAME_FIELDS = ['event', 'type', 'event_type'] as const;

/** The layout is assumed. Only `event` in the signed body decides the kind. */
export const eventEnvelope = z.object({
  event: z.string().min(1),
  created_at: wireTime.nullish(),
  data: z.record(z.string(), z.unknown()).default({}),
});

/** An event needs one of these to name its purchase. */
export const NAMES_IN_EVENTS = {
  order: ['id', 'order_id', 'external_order_id'],
  topup: ['id', 'topup_id'],
  cancellation: ['esim_id'],
  refund: ['id', 'refund_id'],
  subscription: ['id', 'vpn_subscription_id', 'subscription_id', 'external_subscription_id'],
} as const satisfies Partial<Record<RecordName, readonly string[]>>;

const idInEvent = (record: keyof typeof NAMES_IN_EVENTS) =>
  neededFor(
    wireId.nullish(),
    'finding the purchase of an event',
    NAMES_IN_EVENTS[record].filter((name) => name !== 'id'),
  );

/** Shapes assumed. The kind states the outcome, so the status may be absent. */
export const orderEventData = serviceOrder.extend({
  id: idInEvent('order'),
  order_id: wireId.nullish(),
  status: serviceOrder.shape.status.nullish(),
});
export const topupEventData = serviceTopup.extend({
  id: idInEvent('topup'),
  topup_id: wireId.nullish(),
  status: serviceTopup.shape.status.nullish(),
});
export const cancellationEventData = esimCancellation.extend({ status: esimCancellation.shape.status.nullish() });
export const refundEventData = serviceRefund.extend({
  id: idInEvent('refund'),
  refund_id: wireId.nullish(),
  status: serviceRefund.shape.status.nullish(),
});
export const vpnEventData = vpnSubscription.extend({
  id: idInEvent('subscription'),
  vpn_subscription_id: wireId.nullish(),
  subscription_id: wireId.nullish(),
  status: vpnSubscription.shape.status.nullish(),
});

export interface EventContract {
  readonly meaning: string;
  readonly kind: Mark;
  readonly body: Mark;
  readonly reason: string;
  readonly data?: z.ZodType;
}

const asRead = (record: string): string =>
  `The body layout is not shown; data is taken to be ${record}. Its id or our reference is enough.`;
const event = (meaning: string, reason: string, data: z.ZodType): EventContract => {
  return { meaning, kind: 'stated', body: 'shape assumed', reason, data };
};

const AN_ORDER = asRead('the order as a read returns it');
const A_TOPUP = asRead('the top-up as a read returns it');
const A_CANCELLATION = asRead('the cancellation as the cancel call returns it');
const A_REFUND = asRead('the refund as a read returns it');
const A_SUBSCRIPTION = asRead('the VPN subscription as a read returns it');

export const EVENTS: Readonly<Record<EventKind, EventContract>> = {
  ping: {
    meaning: 'connectivity test',
    kind: 'stated',
    body: 'shape assumed',
    reason: 'The body layout is not shown; only the kind of the event is read.',
  },
  'order.completed': event('eSIM order completed', AN_ORDER, orderEventData),
  'order.processing': event('eSIM order in progress', AN_ORDER, orderEventData),
  'order.failed': event('eSIM order failed', AN_ORDER, orderEventData),
  'topup.completed': event('top-up completed', A_TOPUP, topupEventData),
  'topup.processing': event('top-up in progress', A_TOPUP, topupEventData),
  'topup.failed': event('top-up failed', A_TOPUP, topupEventData),
  'esim.cancelled': event('eSIM cancelled', A_CANCELLATION, cancellationEventData),
  'refund.completed': event('refund completed', A_REFUND, refundEventData),
  'refund.failed': event('refund failed', A_REFUND, refundEventData),
  'vpn.subscription.active': event('VPN subscription active', A_SUBSCRIPTION, vpnEventData),
  'vpn.subscription.cancelled': event('VPN subscription cancelled', A_SUBSCRIPTION, vpnEventData),
  'vpn.subscription.expired': event('VPN subscription expired', A_SUBSCRIPTION, vpnEventData),
  'vpn.subscription.failed': event('VPN subscription failed', A_SUBSCRIPTION, vpnEventData),
};

export function eventBody(kind: EventKind): z.ZodType {
  const { data } = EVENTS[kind];
  return eventEnvelope.extend({ event: z.literal(kind), ...(data === undefined ? {} : { data }) });
}

export interface WebhookAnswer {
  readonly delivery: string;
  readonly answer: string;
  readonly reason: string;
}

export const WEBHOOK_ANSWERS: readonly WebhookAnswer[] = [
  {
    delivery: 'known delivery id, same body',
    answer: '200, no effect',
    reason:
      'The specification says that a receiver "rejects duplicates". We reject the effect, not the request: the event ' +
      'was accepted before, and 2xx confirms that. After any other answer the service sends again, or may disable ' +
      'the address.',
  },
  {
    delivery: 'known delivery id, another body',
    answer: '200; stored, processed, and reported as a case',
    reason:
      'The delivery id is not signed. An attacker who has seen one delivery could send it under the id of a later ' +
      'one. If the second body were rejected, the genuine event would be lost.',
  },
  {
    delivery: 'known timestamp and body, another delivery id',
    answer: '200, no effect',
    reason: 'The signed content is the same, so it is a replay. It is stored as one.',
  },
  {
    delivery: 'event header that differs from the signed body, or is missing',
    answer: '200; the body decides',
    reason: 'The header is not signed. A difference is logged and counted.',
  },
  {
    delivery: `timestamp ${WEBHOOK_TOLERANCE_SECONDS}.001 to ${WEBHOOK_TOLERANCE_SECONDS}.999 seconds old`,
    answer: '401',
    reason:
      'The specification does not say whether the current time counts with its fraction of a second. It does here: ' +
      `we take "by more than ${WEBHOOK_TOLERANCE_SECONDS} seconds" literally. The timestamp is in whole seconds.`,
  },
  {
    delivery: 'no delivery id, or one that is empty, longer than 255 characters or not visible ASCII',
    answer: '400, nothing stored',
    reason:
      'The specification does not say what an id looks like. Without an id we cannot recognise a duplicate, so we do ' +
      'not accept the delivery.',
  },
];
