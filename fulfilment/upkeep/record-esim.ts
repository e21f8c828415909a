import { and, count, eq, max } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { type EsimFacts, storeEsimState, storeUsage, type UsageReading } from '#db/esims/esim-queries.ts';
import { type NewEvent, recordEvent } from '#db/events/event-log.ts';
import { announcements, orders, topups } from '#db/schema.ts';
import type { EsimRow } from '#db/work/rows.ts';
import { isUndoneByTopup, type Milestone, milestoneKey, milestonesOf } from '#domain/esims/esim-state.ts';

interface ReadEsim {
  readonly state: EsimFacts;
  readonly usage?: UsageReading | undefined;
  readonly readAt: Date;
}

/** Each milestone is announced once for the eSIM, used up data again after each top-up. */
export async function recordEsim(
  tx: Executor,
  esim: Pick<EsimRow, 'id' | 'orderId'>,
  read: ReadEsim,
  now: Date,
): Promise<void> {
  const { state, usage, readAt } = read;
  await storeEsimState(tx, esim.id, state, readAt);
  if (usage !== undefined) await storeUsage(tx, esim.id, usage);
  const proved = milestonesOf({ ...state, usage, readAt });
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

/** The same key for the same subject is announced once. */
export interface DueAnnouncement {
  readonly event: NewEvent;
  readonly key: string;
}

/** Announcements are remembered longer than their events are kept. */
export async function announceNew(tx: Executor, due: readonly DueAnnouncement[], now: Date): Promise<number> {
  if (due.length === 0) return 0;
  const fresh = await tx
    .insert(announcements)
    .values(due.map(({ event, key }) => ({ subjectId: event.subject.id, key, announcedAt: now })))
    .onConflictDoNothing()
    .returning({ subjectId: announcements.subjectId, key: announcements.key });
  for (const { event, key } of due) {
    if (fresh.some((row) => row.subjectId === event.subject.id && row.key === key)) await recordEvent(tx, event, now);
  }
  return fresh.length;
}

export async function readEsimSale(tx: Executor, { id, orderId }: Pick<EsimRow, 'id' | 'orderId'>) {
  const [order] = await tx
    .select({ apiKeyId: orders.apiKeyId, externalOrderId: orders.externalOrderId })
    .from(orders)
    .where(eq(orders.id, orderId));
  if (order === undefined) return undefined;
  const [topped] = await tx
    .select({ completed: count(), last: max(topups.completedAt) })
    .from(topups)
    .where(and(eq(topups.esimId, id), eq(topups.status, 'completed')));
  return { ...order, completedTopups: topped?.completed ?? 0, lastTopupAt: topped?.last ?? null };
}
