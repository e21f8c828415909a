import { and, desc, eq, inArray, lt, max, ne, type SQL, asc, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { isUnapplied, type InboxRow } from '#db/queues/inbox.ts';
import { attempts, inbox, walletReadings } from '#db/schema.ts';
import { workTable, type AttemptRow, RowMissingError } from '#db/work/rows.ts';
import type { Money } from '#domain/money/money.ts';
import type { ReconcilePolicy } from '#domain/policy/upkeep-policy.ts';
import type { PriceLimit } from '#domain/purchase/send-claim.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';

/** The newest, or an earlier one that an operator found to be bought when the later ones bought nothing. */
export async function currentAttempt(db: Executor, work: WorkRef): Promise<AttemptRow | undefined> {
  return currentOf(await attemptsOf(db, work));
}

export function currentOf(all: readonly AttemptRow[]): AttemptRow | undefined {
  return all.find(({ state }) => MAY_BE_BOUGHT.has(state)) ?? all[0];
}

const MAY_BE_BOUGHT: ReadonlySet<AttemptState> = new Set(['sending', 'unknown', 'processing', 'completed']);

/** Reads also the reports that the workflow has not applied yet, oldest first; one read. */
export async function readProgress(
  db: Executor,
  work: WorkRef,
): Promise<{ readonly current: AttemptRow | undefined; readonly reports: readonly InboxRow[] }> {
  const table = workTable(work.kind);
  // There are few of both, and mostly none of one of them.
  const rows = await db
    .select({ attempt: attempts, report: inbox })
    .from(table)
    .leftJoin(attempts, ofWork(work))
    .leftJoin(inbox, isUnapplied(work))
    .where(eq(table.id, work.id))
    .orderBy(desc(attempts.number), inbox.id);
  const reports = new Map(rows.flatMap(({ report }) => (report === null ? [] : [[report.id, report]])));
  return { current: currentOf(rows.flatMap(({ attempt }) => attempt ?? [])), reports: [...reports.values()] };
}

export async function attemptsOf(db: Executor, work: WorkRef): Promise<AttemptRow[]> {
  return db.select().from(attempts).where(ofWork(work)).orderBy(desc(attempts.number));
}

/**
 * Also the judged attempt; newest first. A refusal clears the reading of the wallet before the send. When the service
 * names the refused purchase later, any of its sends may have bought, so the reading before the first one counts.
 */
export async function attemptsThatMayCost(db: Executor, work: WorkRef, judgedId: string): Promise<AttemptRow[]> {
  const all = await attemptsOf(db, work);
  const sent = all.filter(
    ({ id, state, sends, anyUnknown }) => id === judgedId || (sends > 0 && (anyUnknown || state !== 'refused')),
  );
  return Promise.all(
    sent.map(async (attempt) => {
      const { readingBefore, anyUnknown, firstSentAt } = attempt;
      if (readingBefore !== null || anyUnknown || firstSentAt === null) return attempt;
      return { ...attempt, readingBefore: await lastReadingBefore(db, firstSentAt) };
    }),
  );
}

async function lastReadingBefore(db: Executor, at: Date): Promise<number | null> {
  const isEarlier = lt(walletReadings.storedAt, at);
  const [last] = await db
    .select({ id: max(walletReadings.id) })
    .from(walletReadings)
    .where(isEarlier);
  return last?.id ?? null;
}

export async function findAttempt(db: Executor, work: WorkRef, number: number): Promise<AttemptRow | undefined> {
  const rows = await db
    .select()
    .from(attempts)
    .where(and(ofWork(work), eq(attempts.number, number)));
  return rows[0];
}

function ofWork({ kind, id }: WorkRef): SQL | undefined {
  return and(eq(attempts.subjectKind, kind), eq(attempts.subjectId, id));
}

export function workOf({ subjectKind: kind, subjectId: id }: AttemptRow): WorkRef {
  return { kind, id };
}

export async function newestDelivered(db: Executor, kind: WorkKind, id: string): Promise<AttemptRow | undefined> {
  const [row] = await db
    .select()
    .from(attempts)
    .where(and(eq(attempts.subjectKind, kind), eq(attempts.state, 'completed'), ne(attempts.id, id)))
    .orderBy(desc(attempts.lastReportAt))
    .limit(1);
  return row;
}

export async function serviceIdsOfOthers(
  db: Executor,
  { id, subjectKind }: Pick<AttemptRow, 'id' | 'subjectKind'>,
  serviceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (serviceIds.length === 0) return new Set();
  const rows = await db
    .select({ serviceId: attempts.serviceId })
    .from(attempts)
    .where(
      and(eq(attempts.subjectKind, subjectKind), inArray(attempts.serviceId, [...serviceIds]), ne(attempts.id, id)),
    );
  return new Set(rows.flatMap(({ serviceId }) => serviceId ?? []));
}

/** @throws RowMissingError: attempts are never deleted, so the row is lost. */
export async function findAttemptById(db: Executor, attemptId: string): Promise<AttemptRow> {
  const [row] = await db.select().from(attempts).where(eq(attempts.id, attemptId));
  if (row === undefined) throw new RowMissingError(`attempt ${attemptId} does not exist in this database`);
  return row;
}

/** The caller holds the lock of its work. @throws RowMissingError */
export async function lockAttemptRow(tx: Executor, attemptId: string): Promise<AttemptRow> {
  const [row] = await tx.select().from(attempts).where(eq(attempts.id, attemptId)).for('update');
  if (row === undefined) throw new RowMissingError(`attempt ${attemptId} does not exist in this database`);
  return row;
}

export function limitOf({
  limitAmount: amount,
  limitCurrency: currency,
}: Pick<AttemptRow, 'limitAmount' | 'limitCurrency'>): PriceLimit {
  return amount === null || currency === null ? null : { amount, currency };
}

export function priceAtSend({ priceAmount: amount, priceCurrency: currency }: AttemptRow): Money | undefined {
  return amount === null || currency === null ? undefined : { amount, currency };
}

export function chargedOf({ chargedAmount: amount, chargedCurrency: currency }: AttemptRow): Money | undefined {
  return amount === null || currency === null ? undefined : { amount, currency };
}

/** Every attempt was refused, or failed and provably cost nothing. */
export async function areSettled(db: Executor, work: WorkRef): Promise<boolean> {
  return (await attemptsOf(db, work)).every(
    ({ state, settled, anyUnknown }) => (state === 'failed' && settled) || (state === 'refused' && !anyUnknown),
  );
}

export async function markSettled(tx: Executor, attemptId: string): Promise<void> {
  // Meanwhile an operator or a report may have called it bought.
  const isFailed = and(eq(attempts.id, attemptId), eq(attempts.state, 'failed'));
  await tx.update(attempts).set({ settled: true, busyEsimId: null }).where(isFailed);
}

const LAST_CONTACT = sql`greatest(${attempts.lastReportAt}, ${attempts.lastLookUpAt}, ${attempts.firstSentAt})`;

export type SilencePolicy = Pick<
  ReconcilePolicy,
  'silentAfterMs' | 'lookUpAgainShare' | 'lookUpAgainMaxMs' | 'silentPerRun'
>;

/** They may have bought; the longest silence first. The required silence grows with the age of the attempt. */
export async function findSilentAttempts(db: Executor, policy: SilencePolicy, now: Date): Promise<AttemptRow[]> {
  const at = sql`${now}::timestamptz`;
  const silentBefore = sql`${at} - ${policy.silentAfterMs}::double precision * interval '1 ms'`;
  const longest = sql`${policy.lookUpAgainMaxMs}::double precision * interval '1 ms'`;
  const grown = sql`${at} - least(${longest},
    (${at} - ${attempts.firstSentAt}) * ${policy.lookUpAgainShare}::double precision)`;
  return db
    .select()
    .from(attempts)
    .where(
      and(
        inArray(attempts.state, ['sending', 'unknown', 'processing']),
        sql`${LAST_CONTACT} < least(${silentBefore}, coalesce(${grown}, ${silentBefore}))`,
      ),
    )
    .orderBy(asc(LAST_CONTACT))
    .limit(policy.silentPerRun);
}

/** Others come first next time. */
export async function markLookedUp(db: Executor, attemptIds: readonly string[], now: Date): Promise<void> {
  if (attemptIds.length === 0) return;
  await db
    .update(attempts)
    .set({ lastLookUpAt: now })
    .where(inArray(attempts.id, [...attemptIds]));
}

export async function takenServiceIds(
  db: Executor,
  kind: WorkKind,
  serviceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (serviceIds.length === 0) return new Set();
  const rows = await db
    .select({ serviceId: attempts.serviceId })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, kind), inArray(attempts.serviceId, [...serviceIds])));
  return new Set(rows.flatMap(({ serviceId }) => serviceId ?? []));
}
