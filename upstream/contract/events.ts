import * as z from 'zod';
import { esimCancellation, serviceRefund, serviceTopup } from '#upstream/contract/esims.ts';
import { neededFor, wireId, wireTime } from '#upstream/contract/fields.ts';
import { serviceOrder } from '#upstream/contract/orders.ts';
import type { RecordName } from '#upstream/contract/variants.ts';
import { vpnSubscription } from '#upstream/contract/vpn.ts';

/** What the specification says of each event. */
export const EVENT_MEANINGS = {
  ping: 'connectivity test',
  'order.completed': 'eSIM order completed',
  'order.processing': 'eSIM order in progress',
  'order.failed': 'eSIM order failed',
  'topup.completed': 'top-up completed',
  'topup.processing': 'top-up in progress',
  'topup.failed': 'top-up failed',
  'esim.cancelled': 'eSIM cancelled',
  'refund.completed': 'refund completed',
  'refund.failed': 'refund failed',
  'vpn.subscription.active': 'VPN subscription active',
  'vpn.subscription.cancelled': 'VPN subscription cancelled',
  'vpn.subscription.expired': 'VPN subscription expired',
  'vpn.subscription.failed': 'VPN subscription failed',
} as const;
export type EventKind = keyof typeof EVENT_MEANINGS;
export const EVENT_KINDS = Object.keys(EVENT_MEANINGS) as readonly EventKind[];

/** Such as `order`. A ping has none. */
type EventSubject = EventKind extends infer Kind
  ? Kind extends `${infer Subject}.${string}`
    ? Subject
    : never
  : never;

export function eventSubject(event: string): EventSubject | undefined {
  const subject = event.split('.')[0];
  const known = EVENT_KINDS.find((kind) => kind.startsWith(`${subject}.`));
  return known === undefined ? undefined : (subject as EventSubject);
}

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

/** The form of `data`, which is assumed. The kind states the outcome, so the status may be absent. */
export const EVENT_SUBJECTS = {
  order: {
    record: 'order',
    data: serviceOrder.extend({
      id: idInEvent('order'),
      order_id: wireId.nullish(),
      status: serviceOrder.shape.status.nullish(),
    }),
    takenAs: 'the order as a read returns it',
  },
  topup: {
    record: 'topup',
    data: serviceTopup.extend({
      id: idInEvent('topup'),
      topup_id: wireId.nullish(),
      status: serviceTopup.shape.status.nullish(),
    }),
    takenAs: 'the top-up as a read returns it',
  },
  esim: {
    record: 'cancellation',
    data: esimCancellation.extend({ status: esimCancellation.shape.status.nullish() }),
    takenAs: 'the cancellation as the cancel call returns it',
  },
  refund: {
    record: 'refund',
    data: serviceRefund.extend({
      id: idInEvent('refund'),
      refund_id: wireId.nullish(),
      status: serviceRefund.shape.status.nullish(),
    }),
    takenAs: 'the refund as a read returns it',
  },
  vpn: {
    record: 'subscription',
    data: vpnSubscription.extend({
      id: idInEvent('subscription'),
      vpn_subscription_id: wireId.nullish(),
      subscription_id: wireId.nullish(),
      status: vpnSubscription.shape.status.nullish(),
    }),
    takenAs: 'the VPN subscription as a read returns it',
  },
} as const satisfies Record<
  EventSubject,
  { readonly record: RecordName; readonly data: z.ZodType; readonly takenAs: string }
>;

/** A ping has none. */
export function eventData(kind: EventKind): z.ZodType | undefined {
  const subject = eventSubject(kind);
  return subject && EVENT_SUBJECTS[subject].data;
}

export function eventBody(kind: EventKind): z.ZodType {
  const data = eventData(kind);
  return eventEnvelope.extend({ event: z.literal(kind), ...(data === undefined ? {} : { data }) });
}
