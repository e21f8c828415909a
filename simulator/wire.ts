import type * as z from 'zod';
import { createSchema } from 'zod-openapi';
import { type CataloguePackage, CURRENCY, type VpnPlanItem } from '#simulator/catalogue.ts';
import { isoTime } from '#simulator/clock.ts';
import type { EsimState } from '#simulator/sales/esims.ts';
import type { Esim, Movement, Refund, Sale, Subscription } from '#simulator/store/rows.ts';
import type {
  esimCancellation,
  esimUsage,
  publicPackage,
  serviceEsim,
  serviceOrder,
  servicePackage,
  serviceRefund,
  serviceTopup,
  vpnPlan,
  vpnSubscription,
  walletTransaction,
} from '#upstream/contract.ts';

export function wireOrder(sale: Sale): z.input<typeof serviceOrder> {
  const { id, reference: external_order_id, item_id: package_id, status, esim_id } = sale;
  const created_at = isoTime(sale.created_at);
  return { id, external_order_id, package_id, status, esim_id, ...priceAndFailure(sale), created_at };
}

export function wireTopup(sale: Sale): z.input<typeof serviceTopup> {
  const { id, esim_id, item_id: package_id, status } = sale;
  return { id, esim_id, package_id, status, ...priceAndFailure(sale), created_at: isoTime(sale.created_at) };
}

export function wireVpnSubscription(
  sale: Sale,
  subscription: Subscription | undefined,
): z.input<typeof vpnSubscription> {
  return {
    id: sale.id,
    external_subscription_id: sale.reference,
    vpn_plan_id: sale.item_id,
    status: subscription?.status ?? (sale.status === 'failed' ? 'failed' : 'processing'),
    ...priceAndFailure(sale),
    access: subscription === undefined ? null : accessOf(subscription),
    started_at: timeOrNull(subscription?.started_at),
    expires_at: timeOrNull(subscription?.expires_at),
    cancelled_at: timeOrNull(subscription?.cancelled_at),
  };
}

function accessOf({ username, password, server }: Subscription) {
  return { username, password, server, configuration: `remote ${server} 1194 udp` };
}

function priceAndFailure({ price, currency, failure_code: code, failure_message: message }: Sale) {
  return { price_for_reseller: price, currency, failure: code === null ? null : { code, message: message ?? '' } };
}

export function wireRefund(refund: Refund): z.input<typeof serviceRefund> {
  const { id, esim_id, order_id, status, review, amount, currency, unmet, created_at } = refund;
  const unmet_conditions = JSON.parse(unmet) as string[];
  const shown = { id, esim_id, order_id, status, review, amount, currency, unmet_conditions };
  return { ...shown, created_at: isoTime(created_at) };
}

export function wireCancellation(refund: Refund): z.input<typeof esimCancellation> {
  return { esim_id: refund.esim_id, status: refund.cancellation, refund: wireRefund(refund) };
}

export function wireVpnPlan(plan: VpnPlanItem): z.input<typeof vpnPlan> {
  const { id, name, durationDays: duration_days, price: price_for_reseller, available } = plan;
  return { id, name, duration_days, price_for_reseller, currency: CURRENCY, available };
}

export function wirePackage(item: CataloguePackage): z.input<typeof servicePackage> {
  const { id, name, dataMb: data_mb, validityDays: validity_days, price: price_for_reseller, available } = item;
  const countries = [...item.countries];
  return { id, name, countries, data_mb, validity_days, price_for_reseller, currency: CURRENCY, available };
}

/** Without the price charged to the reseller. */
export function wirePublicPackage(item: CataloguePackage): z.input<typeof publicPackage> {
  const { price_for_reseller: _price, ...shown } = wirePackage(item);
  return { ...shown, price: item.publicPrice };
}

export function wireEsim(esim: Esim, { status }: EsimState): z.input<typeof serviceEsim> {
  const { id, order_id, iccid, activation_code } = esim;
  const times = {
    installed_at: timeOrNull(esim.installed_at),
    activated_at: timeOrNull(esim.activated_at),
    expires_at: timeOrNull(esim.expires_at),
  };
  return { id, order_id, iccid, activation_code, status, ...times };
}

export function wireUsage({ id: esim_id }: Esim, current: EsimState, now: number): z.input<typeof esimUsage> {
  const { usedMb: data_used_mb, totalMb: data_total_mb } = current;
  return { esim_id, data_used_mb, data_total_mb, measured_at: isoTime(now) };
}

export function wireTransaction(movement: Movement): z.input<typeof walletTransaction> {
  const { sequence: _sequence, environment: _environment, balance_after: _after, created_at, ...shown } = movement;
  return { ...shown, created_at: isoTime(created_at) };
}

export function timeOrNull(ms: number | null | undefined): string | null {
  return ms == null ? null : isoTime(ms);
}

/** The input side: the contract's answers transform what they read. */
export function wireSchema(schema: z.ZodType): ReturnType<typeof createSchema>['schema'] {
  return createSchema(schema, { io: 'input', openapiVersion: '3.1.0' }).schema;
}
