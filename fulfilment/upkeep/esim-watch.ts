import { and, asc, eq, gt, isNotNull, lte, notInArray, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { UsageReading } from '#db/esims/esim-queries.ts';
import type { NewEvent } from '#db/events/event-log.ts';
import { esims, orders, topups, vpnSubscriptions } from '#db/schema.ts';
import type { EsimRow } from '#db/work/rows.ts';
import {
  dataKey,
  dataThreshold,
  type EsimState,
  expiryKey,
  isEsimInUse,
  isEsimOver,
  renewalKey,
  shareLeft,
  timeThreshold,
} from '#domain/esims/esim-state.ts';
import type { WatchPolicy } from '#domain/policy/upkeep-policy.ts';
import { announceNew, type DueAnnouncement, readEsimSale } from '#fulfilment/upkeep/record-esim.ts';

export interface ExpiryCursor {
  readonly expiresAt: Date;
  readonly id: string;
}

/** Runs in the caller's transaction. @returns where the page ended; undefined after the last one. */
export type AnnouncePage = (
  tx: Executor,
  policy: WatchPolicy,
  now: Date,
  after: ExpiryCursor | undefined,
) => Promise<{ readonly announced: number; readonly next: ExpiryCursor | undefined }>;

export const announceExpiringEsims: AnnouncePage = async (tx, policy, now, after) => {
  const place = { expiresAt: esims.expiresAt, id: esims.id };
  const rows = await tx
    .select({
      id: esims.id,
      expiresAt: esims.expiresAt,
      orderId: esims.orderId,
      externalOrderId: orders.externalOrderId,
      apiKeyId: orders.apiKeyId,
      completedTopups: completedTopups(),
    })
    .from(esims)
    .innerJoin(orders, eq(orders.id, esims.orderId))
    .where(
      and(...window(place, policy, now, after), notInArray(esims.status, ['cancelled', 'expired']), isReadSinceTopup()),
    )
    .orderBy(asc(esims.expiresAt), asc(esims.id))
    .limit(policy.batch);
  return announcePage(
    tx,
    policy,
    now,
    rows,
    ({ id, orderId, externalOrderId, apiKeyId, completedTopups: topped }, threshold, times) => {
      const data = { order_id: orderId, external_order_id: externalOrderId, ...times };
      return {
        event: { type: 'esim.expiring', subject: { kind: 'esim', id }, apiKeyId, data },
        key: expiryKey(threshold, topped),
      };
    },
  );
};

/** One that its customer has cancelled is not announced. */
export const announceExpiringSubscriptions: AnnouncePage = async (tx, policy, now, after) => {
  const { id, expiresAt, apiKeyId, externalSubscriptionId, status } = vpnSubscriptions;
  const rows = await tx
    .select({ id, expiresAt, apiKeyId, externalSubscriptionId })
    .from(vpnSubscriptions)
    .where(and(...window({ expiresAt, id }, policy, now, after), eq(status, 'active')))
    .orderBy(asc(expiresAt), asc(id))
    .limit(policy.batch);
  return announcePage(tx, policy, now, rows, (row, threshold, times) => {
    const data = { external_subscription_id: row.externalSubscriptionId, ...times };
    const event = {
      type: 'vpn_subscription.expiring',
      subject: { kind: 'vpn_subscription', id: row.id },
      apiKeyId: row.apiKeyId,
      data,
    } as const;
    return { event, key: renewalKey(threshold, row.expiresAt.getTime()) };
  });
};

function window(
  { expiresAt, id }: Pick<typeof esims | typeof vpnSubscriptions, 'expiresAt' | 'id'>,
  { expiringMs }: WatchPolicy,
  now: Date,
  after: ExpiryCursor | undefined,
) {
  return [
    isNotNull(expiresAt),
    gt(expiresAt, now),
    lte(expiresAt, new Date(now.getTime() + Math.max(0, ...expiringMs))),
    after === undefined ? undefined : sql`(${expiresAt}, ${id}) > (${after.expiresAt}, ${after.id})`,
  ];
}

async function announcePage<Row extends { readonly id: string; readonly expiresAt: Date | null }>(
  tx: Executor,
  { expiringMs, batch }: WatchPolicy,
  now: Date,
  rows: readonly Row[],
  announcementOf: (
    row: Row & { readonly expiresAt: Date },
    thresholdMs: number,
    times: NewEvent['data'],
  ) => DueAnnouncement,
): Promise<{ announced: number; next: ExpiryCursor | undefined }> {
  const due = rows.flatMap((row) => {
    const { expiresAt } = row;
    const threshold = expiresAt === null ? undefined : timeThreshold(expiresAt.getTime(), now.getTime(), expiringMs);
    if (expiresAt === null || threshold === undefined) return [];
    const times = { expires_at: expiresAt.toISOString(), threshold_seconds: Math.round(threshold / 1_000) };
    return [announcementOf({ ...row, expiresAt }, threshold, times)];
  });
  const announced = await announceNew(tx, due, now);
  const last = rows.length < batch ? undefined : rows.at(-1);
  return { announced, next: last?.expiresAt == null ? undefined : { expiresAt: last.expiresAt, id: last.id } };
}

/** Once for each threshold and top-up. */
export async function announceLowData(
  tx: Executor,
  esim: Pick<EsimRow, 'id' | 'orderId'>,
  reading: UsageReading,
  { dataLow }: Pick<WatchPolicy, 'dataLow'>,
  now: Date,
): Promise<void> {
  const threshold = dataThreshold(reading, dataLow);
  if (threshold === undefined) return;
  const sale = await readEsimSale(tx, esim);
  if (sale === undefined) return;
  const { id, orderId } = esim;
  const { usedMb, totalMb = null, measuredAt, readAt } = reading;
  const data = {
    order_id: orderId,
    external_order_id: sale.externalOrderId,
    data_used_mb: usedMb,
    data_total_mb: totalMb,
    data_left_mb: totalMb === null ? null : Math.max(0, totalMb - usedMb),
    share_left: Number((shareLeft(reading) ?? 0).toFixed(4)),
    threshold_share: threshold,
    measured_at: measuredAt?.toISOString() ?? null,
    read_at: readAt.toISOString(),
  };
  const event = { type: 'esim.data_low', subject: { kind: 'esim', id }, apiKeyId: sale.apiKeyId, data } as const;
  await announceNew(tx, [{ event, key: dataKey(threshold, sale.completedTopups) }], now);
}

/** @returns null when the eSIM has ended. */
export function nextLook(
  { status, activatedAt, expiresAt }: Pick<EsimState, 'status' | 'activatedAt' | 'expiresAt'>,
  { againAfterMs, idleAfterMs }: WatchPolicy,
  now: Date,
): Date | null {
  if (isEsimOver(status)) return null;
  const isBusy = isEsimInUse({ status, activatedAt }) && status !== 'consumed';
  const usual = new Date(now.getTime() + (isBusy ? againAfterMs : idleAfterMs));
  // At its end, so that its expiry is announced in time.
  return expiresAt !== null && expiresAt > now && expiresAt < usual ? expiresAt : usual;
}

/** After a top-up its end may have changed. */
function isReadSinceTopup() {
  return sql`not exists (select 1 from ${topups} where ${topups.esimId} = ${esims.id}
    and ${topups.status} = 'completed' and ${topups.completedAt} >= ${esims.readAt})`;
}

function completedTopups() {
  return sql<number>`(select count(*)::int from ${topups} where ${topups.esimId} = ${esims.id}
    and ${topups.status} = 'completed')`;
}
