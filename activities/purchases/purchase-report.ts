import type { AttemptRow } from '#db/work/rows.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { storedReason } from '#domain/work/foreign-text.ts';
import type { AttemptReport } from '#fulfilment/attempts/record-report.ts';
import type { ServiceOrder, ServiceTopup, VpnSubscription } from '#upstream/contract.ts';
import { chargeOf } from '#upstream/mapping/events.ts';
import { CLOCK_SKEW_MS } from '#upstream/mapping/wallet-movements.ts';

/**
 * The facts of a purchase from a record of the service, for every kind.
 * @param codeOnly as of `storedReason`.
 */
export function purchaseReport(
  record: ServiceOrder | ServiceTopup | VpnSubscription,
  outcome: ObservedOutcome,
  codeOnly = false,
): AttemptReport {
  const { id, failure } = record;
  return {
    outcome,
    serviceId: id,
    serviceEsimId: ('esim_id' in record ? record.esim_id : undefined) ?? undefined,
    productId:
      ('vpn_plan_id' in record ? record.vpn_plan_id : 'package_id' in record ? record.package_id : undefined) ??
      undefined,
    charged: chargeOf(record),
    reason: failure == null ? undefined : storedReason(failure, codeOnly),
  };
}

/**
 * The reference of an attempt.
 * @throws Error for kinds without a reference, whose column is null.
 */
export function ownReference({ id, reference }: AttemptRow): string {
  if (reference === null) throw new Error(`attempt ${id} has no reference`);
  return reference;
}

/**
 * Nothing older at the service can belong to this attempt, allowing for clock skew.
 * @returns epoch milliseconds.
 */
export function sinceFirstSend({ firstSentAt, createdAt }: Pick<AttemptRow, 'firstSentAt' | 'createdAt'>): number {
  return (firstSentAt ?? createdAt).getTime() - CLOCK_SKEW_MS;
}
