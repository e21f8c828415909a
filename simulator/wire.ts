import type * as z from 'zod';
import { createSchema } from 'zod-openapi';
import { type CataloguePackage, CURRENCY, type VpnPlanItem } from '#simulator/catalogue.ts';
import { isoTime } from '#simulator/clock.ts';
import type { EsimState } from '#simulator/sales/esims.ts';
import type { EsimRecord, RefundRecord } from '#simulator/store/esims.ts';
import type { LedgerEntry } from '#simulator/store/ledger.ts';
import type { SaleRecord, SubscriptionRecord } from '#simulator/store/sales.ts';
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

export function wireOrder(sale: SaleRecord): z.input<typeof serviceOrder> {
  return {
    id: sale.id,
    external_order_id: sale.reference,
    package_id: sale.itemId,
    status: sale.status,
    esim_id: sale.esimId,
    ...priceAndFailure(sale),
    created_at: isoTime(sale.createdAt),
  };
}

export function wireTopup(sale: SaleRecord): z.input<typeof serviceTopup> {
  return {
    id: sale.id,
    esim_id: sale.esimId,
    package_id: sale.itemId,
    status: sale.status,
    ...priceAndFailure(sale),
    created_at: isoTime(sale.createdAt),
  };
}

export function wireVpnSubscription(
  sale: SaleRecord,
  subscription: SubscriptionRecord | undefined,
): z.input<typeof vpnSubscription> {
  return {
    id: sale.id,
    external_subscription_id: sale.reference,
    vpn_plan_id: sale.itemId,
    status: subscription?.status ?? (sale.status === 'failed' ? 'failed' : 'processing'),
    ...priceAndFailure(sale),
    access: subscription === undefined ? null : accessOf(subscription),
    started_at: timeOrNull(subscription?.startedAt ?? null),
    expires_at: timeOrNull(subscription?.expiresAt ?? null),
    cancelled_at: timeOrNull(subscription?.cancelledAt ?? null),
  };
}

function accessOf({ username, password, server }: SubscriptionRecord) {
  return { username, password, server, configuration: `remote ${server} 1194 udp` };
}

function priceAndFailure({ price, currency, failureCode, failureMessage }: SaleRecord) {
  return {
    price_for_reseller: price,
    currency,
    failure: failureCode === null ? null : { code: failureCode, message: failureMessage ?? '' },
  };
}

export function wireRefund(refund: RefundRecord): z.input<typeof serviceRefund> {
  return {
    id: refund.id,
    esim_id: refund.esimId,
    order_id: refund.orderId,
    status: refund.status,
    review: refund.review,
    amount: refund.amount,
    currency: refund.currency,
    unmet_conditions: [...refund.unmet],
    created_at: isoTime(refund.createdAt),
  };
}

export function wireCancellation(refund: RefundRecord): z.input<typeof esimCancellation> {
  return { esim_id: refund.esimId, status: refund.cancellation, refund: wireRefund(refund) };
}

export function wireVpnPlan(plan: VpnPlanItem): z.input<typeof vpnPlan> {
  return {
    id: plan.id,
    name: plan.name,
    duration_days: plan.durationDays,
    price_for_reseller: plan.price,
    currency: CURRENCY,
    available: plan.available,
  };
}

export function wirePackage(item: CataloguePackage): z.input<typeof servicePackage> {
  return {
    id: item.id,
    name: item.name,
    countries: [...item.countries],
    data_mb: item.dataMb,
    validity_days: item.validityDays,
    price_for_reseller: item.price,
    currency: CURRENCY,
    available: item.available,
  };
}

/** Without the price charged to the reseller. */
export function wirePublicPackage(item: CataloguePackage): z.input<typeof publicPackage> {
  const { price_for_reseller: _price, ...shown } = wirePackage(item);
  return { ...shown, price: item.publicPrice };
}

export function wireEsim(esim: EsimRecord, current: EsimState): z.input<typeof serviceEsim> {
  return {
    id: esim.id,
    order_id: esim.orderId,
    iccid: esim.iccid,
    activation_code: esim.activationCode,
    status: current.status,
    installed_at: timeOrNull(esim.installedAt),
    activated_at: timeOrNull(esim.activatedAt),
    expires_at: timeOrNull(esim.expiresAt),
  };
}

export function wireUsage(esim: EsimRecord, current: EsimState, now: number): z.input<typeof esimUsage> {
  return {
    esim_id: esim.id,
    data_used_mb: current.usedMb,
    data_total_mb: current.totalMb,
    measured_at: isoTime(now),
  };
}

export function wireTransaction(entry: LedgerEntry): z.input<typeof walletTransaction> {
  return {
    id: entry.id,
    type: entry.type,
    amount: entry.amount,
    currency: entry.currency,
    reason: entry.reason,
    order_id: entry.orderId,
    external_order_id: entry.externalOrderId,
    esim_id: entry.esimId,
    topup_id: entry.topupId,
    refund_id: entry.refundId,
    vpn_subscription_id: entry.vpnSubscriptionId,
    external_subscription_id: entry.externalSubscriptionId,
    created_at: isoTime(entry.createdAt),
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

/** The input side: the contract's answers transform what they read. */
export function wireSchema(schema: z.ZodType): ReturnType<typeof createSchema>['schema'] {
  return createSchema(schema, { io: 'input', openapiVersion: '3.1.0' }).schema;
}
