/** Storing what a reading of an eSIM shows, and announcing the milestones that it proves. */
import type { Executor } from '#db/connection/database.ts';
import { storeEsimState, storeUsage, type EsimState, type UsageReading } from '#db/esims/esim-readings.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { isUndoneByTopup, milestoneKey, milestonesOf, type Milestone } from '#domain/esims/milestones.ts';
import { announceNew } from '#fulfilment/upkeep/announcements.ts';
import { readEsimSale } from '#fulfilment/upkeep/esim-sale.ts';

/** What was read from the service, at one time. */
export interface ReadEsim {
  readonly state: EsimState;
  /** Absent when its data was not read. */
  readonly usage?: UsageReading | undefined;
  readonly readAt: Date;
}

/**
 * Stores a reading of an eSIM, and announces the milestones that it proves: each once for the eSIM, used up data again
 * after each top-up.
 */
export async function recordEsim(
  tx: Executor,
  esim: Pick<EsimRow, 'id' | 'orderId'>,
  read: ReadEsim,
  now: Date,
): Promise<void> {
  const { state, usage, readAt } = read;
  await storeEsimState(tx, esim.id, state, readAt);
  if (usage !== undefined) await storeUsage(tx, esim.id, usage);
  const proved = milestonesOf({
    status: state.status,
    installedAt: state.installedAt?.getTime() ?? null,
    activatedAt: state.activatedAt?.getTime() ?? null,
    expiresAt: state.expiresAt?.getTime() ?? null,
    usage,
    readAt: readAt.getTime(),
  });
  if (proved.length > 0) await announceMilestones(tx, esim, proved, read, now);
}

async function announceMilestones(
  tx: Executor,
  esim: Pick<EsimRow, 'id' | 'orderId'>,
  proved: readonly Milestone[],
  { state, usage, readAt }: ReadEsim,
  now: Date,
): Promise<void> {
  const sale = await readEsimSale(tx, esim);
  if (sale === undefined) return;
  const { id, orderId } = esim;
  // The reading may be from before the top-up.
  const isBeforeTopup = sale.lastTopupAt !== null && sale.lastTopupAt >= readAt;
  const data = {
    order_id: orderId,
    external_order_id: sale.externalOrderId,
    installed_at: state.installedAt?.toISOString() ?? null,
    activated_at: state.activatedAt?.toISOString() ?? null,
    expires_at: state.expiresAt?.toISOString() ?? null,
    data_used_mb: usage?.usedMb ?? null,
    data_total_mb: usage?.totalMb ?? null,
    read_at: readAt.toISOString(),
  };
  const due = proved
    .filter((milestone) => !(isBeforeTopup && isUndoneByTopup(milestone)))
    .map((milestone) => ({
      event: { type: `esim.${milestone}`, subject: { kind: 'esim', id }, apiKeyId: sale.apiKeyId, data } as const,
      key: milestoneKey(milestone, sale.completedTopups),
    }));
  await announceNew(tx, due, now);
}
