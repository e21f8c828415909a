import type * as z from 'zod';
import { cancellationOutcome } from '#domain/cancellation/refund.ts';
import type { Money } from '#domain/money/money.ts';
import type { ObservedOutcome, PurchaseEvent } from '#domain/relay/observation.ts';
import { readServiceJson } from '#upstream/client/json.ts';
import {
  EVENT_KINDS,
  EVENT_NAME_FIELDS,
  EVENT_SUBJECTS,
  type EventKind,
  NAMES_IN_EVENTS,
  type ServiceOrder,
  type ServiceRefund,
  eventEnvelope,
  eventSubject,
  givesAccess,
} from '#upstream/contract.ts';
import { VARIANTS, inOurNames } from '#upstream/contract/variants.ts';
import { readAnswer } from '#upstream/reading/answer.ts';
import { readRecord } from '#upstream/reading/record.ts';

export const QUARANTINE_REASONS = {
  not_utf8: 'The body is not valid UTF-8.',
  not_json: 'The body is not JSON.',
  duplicate_key: 'The body names a field twice, so its meaning is ambiguous.',
  too_deep: 'The body is nested too deeply.',
  no_event: 'The signed body names no event.',
  unknown_kind: 'The event kind is not one of the specification.',
  unreadable_data: 'The data of the event lacks something that we need.',
  contradicts_itself: 'The event kind and the status in its data contradict each other.',
} as const satisfies Record<string, string>;

export type QuarantineReason = keyof typeof QUARANTINE_REASONS;
type DataProblem = Extract<QuarantineReason, 'unreadable_data' | 'contradicts_itself'>;

/** Every sequence of bytes is one of these. */
type ParsedEvent =
  | { readonly kind: 'purchase'; readonly event: EventKind; readonly purchase: PurchaseEvent }
  | { readonly kind: 'ping'; readonly event: 'ping' }
  | { readonly kind: 'quarantine'; readonly reason: QuarantineReason; readonly event?: EventKind };

/**
 * Call it after the signature was verified (specification, Delivery headers and Events). It reads no header: headers
 * are not signed, so an attacker could repeat a delivery with others.
 */
export function parseEvent(
  body: Uint8Array,
  onUnused?: (event: EventKind, fields: readonly string[]) => void,
): ParsedEvent {
  const json = readServiceJson(body);
  if (!json.ok) return { kind: 'quarantine', reason: json.reason };
  const name = nameOf(json.value);
  if (name === undefined) return { kind: 'quarantine', reason: 'no_event' };
  if (!isEventKind(name)) return { kind: 'quarantine', reason: 'unknown_kind' };
  if (name === 'ping') return { kind: 'ping', event: name };

  const envelope = readRecord(NAMELESS_ENVELOPE, inOurNames(json.value ?? {}, VARIANTS));
  const unused: string[] = [];
  const purchase = envelope.ok ? purchaseIn(name, envelope.value.data, unused) : 'unreadable_data';
  if (unused.length > 0) onUnused?.(name, unused);
  if (typeof purchase === 'string') return { kind: 'quarantine', reason: purchase, event: name };
  return { kind: 'purchase', event: name, purchase };
}

const NAMELESS_ENVELOPE = eventEnvelope.omit({ event: true });

/** A body that names two known events is ambiguous. */
function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const named = EVENT_NAME_FIELDS.filter((field) => Object.hasOwn(value, field))
    .map((field): unknown => Reflect.get(value, field))
    .filter((name): name is string => typeof name === 'string' && name !== '');
  return new Set(named.filter(isEventKind)).size > 1 ? undefined : named[0];
}

function isEventKind(name: string): name is EventKind {
  return (EVENT_KINDS as readonly string[]).includes(name);
}

function purchaseIn(event: EventKind, data: unknown, unused: string[]): PurchaseEvent | DataProblem {
  const status = event.slice(event.lastIndexOf('.') + 1);
  switch (eventSubject(event)) {
    case 'order': {
      const order = readNamed(EVENT_SUBJECTS.order, data, status, unused);
      if (typeof order === 'string') return order;
      const { external_order_id: reference, esim_id: esimId, package_id: productId } = order;
      return sale('order', status, order, { id: order.id ?? order.order_id, reference, esimId, productId });
    }
    case 'topup': {
      const topup = readNamed(EVENT_SUBJECTS.topup, data, status, unused);
      if (typeof topup === 'string') return topup;
      const { esim_id: esimId, package_id: productId } = topup;
      return sale('topup', status, topup, { id: topup.id ?? topup.topup_id, esimId, productId });
    }
    case 'vpn': {
      const bought = readNamed(EVENT_SUBJECTS.vpn, data, status, unused);
      if (typeof bought === 'string') return bought;
      const { external_subscription_id: reference, vpn_plan_id: productId, access, started_at, expires_at } = bought;
      const id = bought.id ?? bought.vpn_subscription_id ?? bought.subscription_id;
      const sold = sale('vpn_subscription', status, bought, { id, reference, productId });
      if (typeof sold === 'string') return sold;
      return {
        ...sold,
        ...((status === 'cancelled' || status === 'expired') && { endedAs: status }),
        ...(givesAccess(access) && { access }),
        ...(started_at != null && { startedAt: started_at }),
        ...(expires_at != null && { expiresAt: expires_at }),
      };
    }
    case 'esim': {
      const cancellation = readNamed(EVENT_SUBJECTS.esim, data, status, unused);
      if (typeof cancellation === 'string') return cancellation;
      const { esim_id: esimId, refund } = cancellation;
      if ((refund?.esim_id ?? esimId) !== esimId) return 'contradicts_itself';
      return cancelled(esimId, { esim: 'cancelled', ...(refund != null && refundReport(refund)) }, refund);
    }
    case 'refund': {
      const refund = readNamed(EVENT_SUBJECTS.refund, data, status, unused);
      if (typeof refund === 'string') return refund;
      const id = refund.id ?? refund.refund_id;
      if (id == null) return 'unreadable_data';
      const state = status === 'failed' ? 'failed' : 'completed';
      return cancelled(refund.esim_id, refundReport({ ...refund, id, status: state }), refund);
    }
    case undefined:
      return 'unreadable_data';
  }
}

/** A status in the data has to be the same. An unreadable one may contradict it. */
function readNamed<Schema extends z.ZodType<{ readonly status?: string | null | undefined }>>(
  { record, data: schema }: { readonly record: keyof typeof NAMES_IN_EVENTS; readonly data: Schema },
  data: unknown,
  outcome: string,
  unused: string[],
): z.output<Schema> | DataProblem {
  const read = readAnswer(schema, data, record, VARIANTS, NAMES_IN_EVENTS[record]);
  if (!read.ok || read.leftOut.includes('status') || read.leftOut.includes('id')) return 'unreadable_data';
  unused.push(...read.leftOut);
  return (read.value.status ?? outcome) === outcome ? read.value : 'contradicts_itself';
}

/** One of id and reference is needed. */
interface SaleNames {
  readonly id: string | null | undefined;
  readonly reference?: string | null | undefined;
  readonly esimId?: string | null | undefined;
  readonly productId: number | null | undefined;
}

function sale(
  kind: 'order' | 'topup' | 'vpn_subscription',
  status: string,
  record: Pick<ServiceOrder, 'price_for_reseller' | 'currency' | 'failure'>,
  { id, reference, esimId, productId }: SaleNames,
): PurchaseEvent | DataProblem {
  if (id == null && !mayBeOurs(reference)) return 'unreadable_data';
  // A subscription that has ended was bought before.
  const outcome: ObservedOutcome = status === 'processing' || status === 'failed' ? status : 'completed';
  const charged = chargeOf(record);
  return {
    kind,
    outcome,
    ...(id != null && { serviceId: id }),
    ...(mayBeOurs(reference) && { reference }),
    ...(esimId != null && { serviceEsimId: esimId }),
    ...(productId != null && { productId }),
    ...(charged !== undefined && { charged }),
    ...(record.failure != null && { reason: record.failure }),
  };
}

export function chargeOf({
  price_for_reseller: amount,
  currency,
}: Pick<ServiceOrder, 'price_for_reseller' | 'currency'>): Money | undefined {
  return typeof amount === 'string' && typeof currency === 'string' ? { amount, currency } : undefined;
}

/** Keeps references that no attempt can have sent out of text columns and their indexes. */
function mayBeOurs(reference: string | null | undefined): reference is string {
  return typeof reference === 'string' && /^[\x21-\x7e]{1,128}$/.test(reference);
}

export function refundReport({ id, status, review, amount, currency }: ServiceRefund) {
  return {
    refund: { state: status, ...(review != null && { review }) },
    serviceRefundId: id,
    ...(amount != null && currency != null && { refunded: { amount, currency } }),
  };
}

function cancelled(
  esimId: string | null | undefined,
  report: NonNullable<PurchaseEvent['cancellation']>,
  refund: Pick<ServiceRefund, 'unmet_conditions'> | null | undefined,
): PurchaseEvent {
  const unmetConditions = refund?.unmet_conditions ?? [];
  return {
    kind: 'cancellation',
    outcome: cancellationOutcome(report),
    ...(report.serviceRefundId !== undefined && { serviceId: report.serviceRefundId }),
    ...(esimId != null && { serviceEsimId: esimId }),
    cancellation: report,
    ...(unmetConditions.length > 0 && { unmetConditions }),
  };
}
