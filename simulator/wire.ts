import type * as z from 'zod';
import type { serviceEsim, serviceOrder, servicePackage, walletTransaction } from '#upstream/contract.ts';
import { CURRENCY, type CataloguePackage } from '#simulator/catalogue.ts';
import { isoTime } from '#simulator/clock.ts';
import type { EsimRecord } from '#simulator/store/esims.ts';
import type { LedgerEntry } from '#simulator/store/ledger.ts';
import type { OrderRecord } from '#simulator/store/orders.ts';

/** An order as the service shows it, in answers and in events. */
export function wireOrder(order: OrderRecord): z.input<typeof serviceOrder> {
  return {
    id: order.id,
    external_order_id: order.externalOrderId,
    package_id: order.packageId,
    status: order.status,
    esim_id: order.esimId,
    price_for_reseller: order.price,
    currency: order.currency,
    failure: order.failureCode === null ? null : { code: order.failureCode, message: order.failureMessage ?? '' },
    created_at: isoTime(order.createdAt),
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

export function wireEsim(esim: EsimRecord): z.input<typeof serviceEsim> {
  return {
    id: esim.id,
    order_id: esim.orderId,
    iccid: esim.iccid,
    activation_code: esim.activationCode,
    status: esim.status,
    installed_at: timeOrNull(esim.installedAt),
    activated_at: timeOrNull(esim.activatedAt),
    expires_at: timeOrNull(esim.expiresAt),
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
    created_at: isoTime(entry.createdAt),
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
