import type * as z from 'zod';
import type { Money } from '#domain/money/money.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import type { ServiceReason } from '#domain/work/foreign-text.ts';
import {
  cancellationEventData,
  givesAccess,
  NAMES_IN_EVENTS,
  orderEventData,
  refundEventData,
  topupEventData,
  vpnEventData,
  type EventKind,
  type RefundReview,
  type RefundStatus,
  type ServiceOrder,
  type ServiceRefund,
  type ServiceTopup,
  type VpnAccess,
  type VpnSubscriptionStatus,
} from '#upstream/contract.ts';
import { VARIANTS } from '#upstream/contract/variants.ts';
import { readAnswer } from '#upstream/reading/answer.ts';

type KindsOf<Subject extends string> = Extract<EventKind, `${Subject}.${string}`>;

/** What an event of every kind of purchase may name. */
interface NamedSale {
  /** Id of the package or plan. */
  readonly productId?: number;
  /** The amount charged to the reseller. */
  readonly charged?: Money;
  /** The reason of a failure. */
  readonly reason?: ServiceReason;
}

/** An order event. Its outcome is an input of the transition table; it is not applied yet. */
interface OrderEvent extends NamedSale {
  readonly kind: 'order';
  readonly event: KindsOf<'order'>;
  readonly outcome: ObservedOutcome;
  /** Absent when the event names our reference alone. */
  readonly serviceOrderId?: string;
  /** `external_order_id`, in a form that an attempt of ours may have sent. */
  readonly reference?: string;
  readonly serviceEsimId?: string;
}

/** A top-up event. Its outcome is an input of the transition table, too. A top-up has no reference of ours. */
interface TopupEvent extends NamedSale {
  readonly kind: 'topup';
  readonly event: KindsOf<'topup'>;
  readonly outcome: ObservedOutcome;
  readonly serviceTopupId: string;
  readonly serviceEsimId?: string;
}

/** An eSIM cancellation event, with the refund that it contains. */
interface CancellationEvent {
  readonly kind: 'esim_cancellation';
  readonly event: KindsOf<'esim'>;
  readonly serviceEsimId: string;
  readonly refund?: RefundRecord;
}

export interface RefundRecord {
  readonly status: RefundStatus;
  readonly serviceRefundId: string;
  readonly serviceEsimId?: string;
  readonly review?: RefundReview;
  /** The amount given back to the reseller. */
  readonly refunded?: Money;
  /** The conditions that are not met, in the words of the service. */
  readonly unmetConditions?: readonly string[];
}

/** A refund event. */
interface RefundEvent extends RefundRecord {
  readonly kind: 'refund';
  readonly event: KindsOf<'refund'>;
}

/** A VPN subscription event. */
interface VpnSubscriptionEvent extends NamedSale {
  readonly kind: 'vpn_subscription';
  readonly event: KindsOf<'vpn'>;
  readonly status: Exclude<VpnSubscriptionStatus, 'processing'>;
  /** Absent when the event names our reference alone. */
  readonly serviceSubscriptionId?: string;
  /** `external_subscription_id`, in a form that an attempt of ours may have sent. */
  readonly reference?: string;
  /** Access data for the customer; personal data. */
  readonly access?: VpnAccess;
  readonly startedAt?: string;
  readonly expiresAt?: string;
}

export type LifecycleEvent = OrderEvent | TopupEvent | CancellationEvent | RefundEvent | VpnSubscriptionEvent;

/** Why the data of an event is refused. */
export type DataProblem = 'unreadable_data' | 'contradicts_itself';

/**
 * Reads the `data` of an event of the specification (Events), except `ping`.
 *
 * @param unused receives the names of fields that were read as absent.
 * @returns the event, or why its data is refused.
 */
export function readEventData(
  event: Exclude<EventKind, 'ping'>,
  data: unknown,
  unused: string[] = [],
): LifecycleEvent | DataProblem {
  switch (event) {
    case 'order.processing':
      return readOrder(event, 'processing', data, unused);
    case 'order.completed':
      return readOrder(event, 'completed', data, unused);
    case 'order.failed':
      return readOrder(event, 'failed', data, unused);
    case 'topup.processing':
      return readTopup(event, 'processing', data, unused);
    case 'topup.completed':
      return readTopup(event, 'completed', data, unused);
    case 'topup.failed':
      return readTopup(event, 'failed', data, unused);
    case 'esim.cancelled':
      return readCancellation(event, data, unused);
    case 'refund.completed':
      return readRefund(event, 'completed', data, unused);
    case 'refund.failed':
      return readRefund(event, 'failed', data, unused);
    case 'vpn.subscription.active':
      return readSubscription(event, 'active', data, unused);
    case 'vpn.subscription.cancelled':
      return readSubscription(event, 'cancelled', data, unused);
    case 'vpn.subscription.expired':
      return readSubscription(event, 'expired', data, unused);
    case 'vpn.subscription.failed':
      return readSubscription(event, 'failed', data, unused);
  }
}

function readOrder(
  event: OrderEvent['event'],
  outcome: ObservedOutcome,
  data: unknown,
  unused: string[],
): OrderEvent | DataProblem {
  const order = readNamed(orderEventData, data, 'order', outcome, unused);
  if (typeof order === 'string') return order;
  const { external_order_id: reference, esim_id: esimId, package_id: productId } = order;
  const id = order.id ?? order.order_id;
  if (id == null && !mayBeOurs(reference)) return 'unreadable_data';
  return {
    kind: 'order',
    event,
    outcome,
    ...(id == null ? {} : { serviceOrderId: id }),
    ...(mayBeOurs(reference) ? { reference } : {}),
    ...(typeof esimId === 'string' ? { serviceEsimId: esimId } : {}),
    ...productIn(productId),
    ...chargedIn(order),
    ...reasonIn(order),
  };
}

function readTopup(
  event: TopupEvent['event'],
  outcome: ObservedOutcome,
  data: unknown,
  unused: string[],
): TopupEvent | DataProblem {
  const topup = readNamed(topupEventData, data, 'topup', outcome, unused);
  if (typeof topup === 'string') return topup;
  const { esim_id: esimId, package_id: packageId } = topup;
  const id = topup.id ?? topup.topup_id;
  if (id == null) return 'unreadable_data';
  return {
    kind: 'topup',
    event,
    outcome,
    serviceTopupId: id,
    ...(typeof esimId === 'string' ? { serviceEsimId: esimId } : {}),
    ...productIn(packageId),
    ...chargedIn(topup),
    ...reasonIn(topup),
  };
}

function readCancellation(
  event: CancellationEvent['event'],
  data: unknown,
  unused: string[],
): CancellationEvent | DataProblem {
  const cancellation = readNamed(cancellationEventData, data, 'cancellation', 'cancelled', unused);
  if (typeof cancellation === 'string') return cancellation;
  const { esim_id: serviceEsimId, refund } = cancellation;
  if ((refund?.esim_id ?? serviceEsimId) !== serviceEsimId) return 'contradicts_itself';
  const refundField = refund == null ? {} : { refund: refundRecord(refund) };
  return { kind: 'esim_cancellation', event, serviceEsimId, ...refundField };
}

function readRefund(
  event: RefundEvent['event'],
  status: 'completed' | 'failed',
  data: unknown,
  unused: string[],
): RefundEvent | DataProblem {
  const refund = readNamed(refundEventData, data, 'refund', status, unused);
  if (typeof refund === 'string') return refund;
  const id = refund.id ?? refund.refund_id;
  if (id == null) return 'unreadable_data';
  return { kind: 'refund', event, ...refundRecord({ ...refund, id, status }) };
}

function readSubscription(
  event: VpnSubscriptionEvent['event'],
  status: VpnSubscriptionEvent['status'],
  data: unknown,
  unused: string[],
): VpnSubscriptionEvent | DataProblem {
  const subscription = readNamed(vpnEventData, data, 'subscription', status, unused);
  if (typeof subscription === 'string') return subscription;
  const { external_subscription_id: reference, vpn_plan_id: productId, access, started_at, expires_at } = subscription;
  const id = subscription.id ?? subscription.vpn_subscription_id ?? subscription.subscription_id;
  if (id == null && !mayBeOurs(reference)) return 'unreadable_data';
  return {
    kind: 'vpn_subscription',
    event,
    status,
    ...(id == null ? {} : { serviceSubscriptionId: id }),
    ...(mayBeOurs(reference) ? { reference } : {}),
    ...productIn(productId),
    ...chargedIn(subscription),
    ...reasonIn(subscription),
    ...(givesAccess(access) ? { access } : {}),
    ...(started_at == null ? {} : { startedAt: started_at }),
    ...(expires_at == null ? {} : { expiresAt: expires_at }),
  };
}

/**
 * Reads the data of an event whose kind states the outcome.
 *
 * @param outcome a status in the data has to be the same. One that we cannot read may contradict it.
 */
function readNamed<Schema extends z.ZodType<{ readonly status?: string | null | undefined }>>(
  schema: Schema,
  data: unknown,
  record: keyof typeof NAMES_IN_EVENTS,
  outcome: string,
  unused: string[],
): z.output<Schema> | DataProblem {
  const read = readAnswer(schema, data, record, VARIANTS, NAMES_IN_EVENTS[record]);
  if (!read.ok || read.leftOut.includes('status') || read.leftOut.includes('id')) return 'unreadable_data';
  unused.push(...read.leftOut);
  return (read.value.status ?? outcome) === outcome ? read.value : 'contradicts_itself';
}

/** Converts a refund, from an event or an answer. */
export function refundRecord(refund: ServiceRefund): RefundRecord {
  const { id, status, esim_id: esimId, review, amount, currency, unmet_conditions: unmet } = refund;
  return {
    status,
    serviceRefundId: id,
    ...(typeof esimId === 'string' ? { serviceEsimId: esimId } : {}),
    ...(review == null ? {} : { review }),
    ...(amount == null || currency == null ? {} : { refunded: { amount, currency } }),
    ...(unmet == null || unmet.length === 0 ? {} : { unmetConditions: unmet }),
  };
}

/** The amount charged, as the service reports it; undefined unless it names amount and currency. */
export function chargeOf(
  purchase: Pick<ServiceOrder | ServiceTopup, 'price_for_reseller' | 'currency'>,
): Money | undefined {
  const { price_for_reseller: amount, currency } = purchase;
  return typeof amount === 'string' && typeof currency === 'string' ? { amount, currency } : undefined;
}

function chargedIn(purchase: Parameters<typeof chargeOf>[0]): { readonly charged?: Money } {
  const charged = chargeOf(purchase);
  return charged === undefined ? {} : { charged };
}

function reasonIn({ failure }: Pick<ServiceOrder, 'failure'>): { readonly reason?: ServiceReason } {
  return failure == null ? {} : { reason: failure };
}

function productIn(productId: number | null | undefined): { readonly productId?: number } {
  return typeof productId === 'number' ? { productId } : {};
}

/** A reference that no attempt can have sent is ignored, to keep it out of text columns and their indexes. */
function mayBeOurs(reference: string | null | undefined): reference is string {
  return typeof reference === 'string' && /^[\x21-\x7e]{1,128}$/.test(reference);
}
