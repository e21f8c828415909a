/** Drift: a bought purchase whose delivery misstates a needed fact, or lacks it for too long. */
import { and, eq, isNull, sql } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { gateDrifts } from '#db/schema.ts';
import { workTable, type AttemptRow } from '#db/work/rows.ts';
import {
  afterDrift,
  afterReleaseByDocument,
  afterStart,
  isUnfilledTooLong,
  type DriftPolicy,
} from '#domain/gate/drift.ts';
import type { PurchaseKind, WorkRef } from '#domain/work/kinds.ts';
import {
  findDriftStop,
  lockDriftStop,
  productColumn,
  storeDriftStop,
  type DriftStopRow,
} from '#fulfilment/gate/drift-stop.ts';

/** Stops the product or the kind. No effect for a purchase delivered or drifted before. `detail` is never personal. */
export async function noteDrift(tx: Executor, attempt: AttemptRow, detail: string, now: number): Promise<void> {
  const undelivered = await findUndelivered(tx, attempt);
  if (undelivered === undefined) return;
  const { subjectKind, subjectId: id, product } = undelivered;
  const row = await lockDriftStop(tx, subjectKind);
  // Compared with the times of sends, which are the database's.
  const driftedAt = sql`clock_timestamp()`;
  const [drifted] = await tx
    .insert(gateDrifts)
    .values({ ...undelivered, driftedAt, detail })
    .onConflictDoUpdate({
      target: [gateDrifts.subjectKind, gateDrifts.subjectId],
      set: { driftedAt, detail, attemptId: attempt.id, settledAt: null },
      setWhere: sql`${gateDrifts.driftedAt} is null or ${gateDrifts.settledAt} is not null
        or ${gateDrifts.attemptId} <> excluded.attempt_id`,
    })
    .returning({ id: gateDrifts.subjectId });
  if (drifted === undefined) return;
  const begunAt = (attempt.firstUnrefusedSendAt ?? attempt.firstSentAt)?.getTime() ?? now;
  await storeDriftStop(tx, row, afterDrift(row, { id, product, begunAt }, now), now, { detail });
  noteRowsAdded(tx, 'gate');
}

/** Drift once the fact is missing for twice the longest fill seen. `detail` is never personal. */
export async function noteUnfilled(
  tx: Executor,
  attempt: AttemptRow,
  detail: string,
  now: number,
  policy: DriftPolicy,
): Promise<void> {
  const undelivered = await findUndelivered(tx, attempt);
  if (undelivered === undefined) return;
  const { subjectKind, subjectId } = undelivered;
  await tx
    .insert(gateDrifts)
    .values({ ...undelivered, unfilledSince: new Date(now), detail })
    .onConflictDoNothing();
  const ofWork = and(eq(gateDrifts.subjectKind, subjectKind), eq(gateDrifts.subjectId, subjectId));
  const [known] = await tx
    .select()
    .from(gateDrifts)
    .where(and(ofWork, isNull(gateDrifts.driftedAt)));
  noteRowsAdded(tx, 'gate');
  if (known?.unfilledSince == null) return;
  const longest = (await findDriftStop(tx, subjectKind))?.longestFillMs ?? 0;
  if (isUnfilledTooLong(now - known.unfilledSince.getTime(), longest, policy))
    await noteDrift(tx, attempt, detail, now);
}

export async function proveAfterDocument(tx: Executor, kind: PurchaseKind, now: number): Promise<void> {
  const row = await lockDriftStop(tx, kind);
  await storeDriftStop(tx, row, afterReleaseByDocument(row), now);
  noteRowsAdded(tx, 'gate');
}

/** The next purchase goes as the canary, also one of a stopped product. @returns undefined when nothing is stopped. */
export async function releaseDriftStop(
  tx: Executor,
  kind: PurchaseKind,
  { actor, reason }: { readonly actor: string; readonly reason: string },
  now: number,
): Promise<DriftStopRow | undefined> {
  const row = await lockDriftStop(tx, kind);
  if (row.state === 'open') return undefined;
  await storeDriftStop(tx, row, afterStart(row), now);
  const entry = { actor, action: 'gate.release', subject: { kind: 'line', id: kind }, reason } as const;
  await addAuditEntry(tx, entry, new Date(now));
  noteRowsAdded(tx, 'gate');
  return findDriftStop(tx, kind);
}

/** A new version may read what the last one could not. */
export async function readDriftedAgain(tx: Executor): Promise<WorkRef[]> {
  const parked = await tx
    .select({ kind: gateDrifts.subjectKind, id: gateDrifts.subjectId })
    .from(gateDrifts)
    .where(isNull(gateDrifts.settledAt))
    .orderBy(gateDrifts.subjectId);
  for (const work of parked) await requestWake(tx, work);
  return parked;
}

/** Undefined for a cancellation, and for a purchase that is delivered. */
async function findUndelivered(tx: Executor, { id: attemptId, subjectKind: kind, subjectId }: AttemptRow) {
  if (kind === 'cancellation') return undefined;
  const table = workTable(kind);
  const [row] = await tx
    .select({ product: productColumn(kind) })
    .from(table)
    .where(and(eq(table.id, subjectId), isNull(table.completedAt)));
  return row && { subjectKind: kind, subjectId, attemptId, product: row.product };
}
