import {
  and,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNull,
  lt,
  lte,
  max,
  ne,
  or,
  type SQL,
  asc,
  sql,
  type Column,
  type Placeholder,
} from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { prepared } from '#db/connection/prepared-statements.ts';
import { isUnapplied, type InboxRow } from '#db/queues/inbox.ts';
import { attempts, inbox, walletReadings } from '#db/schema.ts';
import { workTable, type AttemptRow, RowMissingError } from '#db/work/rows.ts';
import { moneyOf, plainText, type Money } from '#domain/money/money.ts';
import type { ReconcilePolicy } from '#domain/policy/upkeep-policy.ts';
import type { AttemptSnapshot } from '#domain/purchase/results.ts';
import type { PriceLimit, SendCandidate } from '#domain/purchase/send-claim.ts';
import { MAY_BE_BOUGHT } from '#domain/work/attempt-lifecycle.ts';
import { KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';

/**
 * The newest, or an earlier one that an operator found to be bought when the later ones bought nothing. It stays the
 * earlier one until its cost is proven.
 */
export async function currentAttempt(db: Executor, work: WorkRef): Promise<AttemptRow | undefined> {
  return currentOf(await attemptsOf(db, work));
}

export function currentOf(all: readonly AttemptRow[]): AttemptRow | undefined {
  return all.find(mayBeBought) ?? all.find(mayHaveCost) ?? all[0];
}

function mayBeBought({ state }: AttemptRow): boolean {
  return MAY_BE_BOUGHT.includes(state);
}

/** It may have bought, or has failed without a proof that it cost nothing. A cancellation costs nothing. */
export function mayHaveCost(attempt: AttemptRow): boolean {
  const { subjectKind, state, settled } = attempt;
  return mayBeBought(attempt) || (KINDS[subjectKind].isPurchase && state === 'failed' && !settled);
}

/** Reads also the reports that the workflow has not applied yet, oldest first; one read. */
export async function readProgress(
  db: Executor,
  work: WorkRef,
): Promise<{ readonly current: AttemptRow | undefined; readonly reports: readonly InboxRow[] }> {
  const table = workTable(work.kind);
  // There are few of both, and mostly none of one of them.
  const { kind } = work;
  const id = sql.placeholder('id');
  const statement = prepared(db, `progress of ${kind}`, (on, name) =>
    on
      .select({ attempt: attempts, report: inbox })
      .from(table)
      .leftJoin(attempts, ofWork({ kind, id }))
      .leftJoin(inbox, isUnapplied({ kind, id }))
      .where(eq(table.id, id))
      .orderBy(desc(attempts.number), inbox.id)
      .prepare(name),
  );
  const rows = await statement.execute({ id: work.id });
  const reports = new Map(rows.flatMap(({ report }) => (report === null ? [] : [[report.id, report]])));
  return { current: currentOf(rows.flatMap(({ attempt }) => attempt ?? [])), reports: [...reports.values()] };
}

export async function attemptsOf(db: Executor, work: WorkRef): Promise<AttemptRow[]> {
  const statement = prepared(db, 'attempts of work', (on, name) =>
    on.select().from(attempts).where(OF_WORK).orderBy(desc(attempts.number)).prepare(name),
  );
  return statement.execute({ ...work });
}

/**
 * Also the judged attempt; newest first. A refusal clears the reading of the wallet before the send. When the service
 * names the refused purchase later, any of its sends may have bought, so the reading before the first one is taken.
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
  const statement = prepared(db, 'attempt of work', (on, name) =>
    on
      .select()
      .from(attempts)
      .where(and(OF_WORK, eq(attempts.number, sql.placeholder('number'))))
      .prepare(name),
  );
  return (await statement.execute({ ...work, number }))[0];
}

/** @param work of columns, or of the places of values in a prepared statement. */
export function ofWork({
  kind,
  id,
}: {
  readonly kind: WorkKind | Placeholder;
  readonly id: string | Column | Placeholder;
}): SQL | undefined {
  return and(eq(attempts.subjectKind, kind), eq(attempts.subjectId, id));
}

const OF_WORK = ofWork({ kind: sql.placeholder('kind'), id: sql.placeholder('id') });

export function workOf({ subjectKind: kind, subjectId: id }: Pick<AttemptRow, 'subjectKind' | 'subjectId'>): WorkRef {
  return { kind, id };
}

/** By its id, which begins with the time: a look-up of all attempts by their reports would read the whole table. */
export async function newestDelivered(db: Executor, kind: WorkKind, id: string): Promise<AttemptRow | undefined> {
  const [row] = await db
    .select()
    .from(attempts)
    .where(and(eq(attempts.subjectKind, kind), eq(attempts.state, 'completed'), ne(attempts.id, id)))
    .orderBy(desc(attempts.id))
    .limit(1);
  return row;
}

/** Of these ids, those that attempts of the kind have. @param except an attempt that may have one. */
export async function takenServiceIds(
  db: Executor,
  kind: WorkKind,
  serviceIds: readonly string[],
  except = '',
): Promise<ReadonlySet<string>> {
  if (serviceIds.length === 0) return new Set();
  const rows = await db
    .select({ serviceId: attempts.serviceId })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, kind), inArray(attempts.serviceId, serviceIds), ne(attempts.id, except)));
  return new Set(rows.flatMap(({ serviceId }) => serviceId ?? []));
}

/** @throws RowMissingError: attempts are never deleted, so the row is lost. */
export async function findAttemptById(db: Executor, attemptId: string): Promise<AttemptRow> {
  const statement = prepared(db, 'attempt', (on, name) =>
    on
      .select()
      .from(attempts)
      .where(eq(attempts.id, sql.placeholder('id')))
      .prepare(name),
  );
  const [row] = await statement.execute({ id: attemptId });
  if (row === undefined) throw new RowMissingError(`attempt ${attemptId} does not exist in this database`);
  return row;
}

/** With durations by the database's clock. */
export interface LockedAttempt extends AttemptRow, Pick<SendCandidate, 'leaseLeftMs' | 'unrefusedForMs'> {}

/**
 * The caller holds the lock of the work, so this lock does not wait and the durations are current. @throws
 * RowMissingError
 */
export async function lockAttempt(tx: Executor, attemptId: string): Promise<LockedAttempt> {
  const statement = prepared(tx, 'lock attempt', (on, name) =>
    on
      .select({
        ...getTableColumns(attempts),
        leaseLeftMs: milliseconds(sql`${attempts.leaseUntil} - clock_timestamp()`),
        unrefusedForMs: milliseconds(sql`clock_timestamp() - ${attempts.firstUnrefusedSendAt}`),
      })
      .from(attempts)
      .where(eq(attempts.id, sql.placeholder('id')))
      .for('update')
      .prepare(name),
  );
  const [locked] = await statement.execute({ id: attemptId });
  if (locked === undefined) throw new RowMissingError(`attempt ${attemptId} does not exist in this database`);
  return locked;
}

function milliseconds(interval: SQL) {
  return sql<number | null>`(extract(epoch from ${interval}) * 1000)::double precision`;
}

export function limitOf({ limitAmount, limitCurrency }: AttemptRow): PriceLimit {
  return moneyOf(limitAmount, limitCurrency) ?? null;
}

export function priceAtSend({ priceAmount, priceCurrency }: AttemptRow): Money | undefined {
  return moneyOf(priceAmount, priceCurrency);
}

export function chargedOf({ chargedAmount, chargedCurrency }: AttemptRow): Money | undefined {
  return moneyOf(chargedAmount, chargedCurrency);
}

/** As its workflow sees it. */
export function snapshotOf(attempt: AttemptRow): AttemptSnapshot {
  const { id, number, state, settled, serviceId, sends, failureClass, failureDetail } = attempt;
  const charged = chargedOf(attempt);
  return {
    id,
    number,
    state,
    settled,
    named: serviceId !== null,
    serviceId: serviceId ?? undefined,
    history: {
      firstSentAt: attempt.firstSentAt?.getTime(),
      firstUnrefusedSendAt: attempt.firstUnrefusedSendAt?.getTime(),
      sends,
      // A send without a result is unknown.
      anyUnknown: attempt.anyUnknown || state === 'sending',
    },
    failure: failureClass === null ? undefined : { class: failureClass, detail: failureDetail ?? '' },
    charged: charged === undefined ? undefined : plainText(charged),
  };
}

/** Every attempt was refused, or failed and provably cost nothing. */
export async function areSettled(db: Executor, work: WorkRef): Promise<boolean> {
  return (await attemptsOf(db, work)).every(
    ({ state, settled, anyUnknown }) => (state === 'failed' && settled) || (state === 'refused' && !anyUnknown),
  );
}

/** @param until the wallet was read for the failures until this time. */
export async function markSettled(tx: Executor, attemptId: string, until: Date): Promise<void> {
  // Meanwhile an operator or a report may have called it bought, or reported the failure only now.
  const { id, state, failedAt } = attempts;
  const isKnown = and(eq(id, attemptId), eq(state, 'failed'), or(isNull(failedAt), lte(failedAt, until)));
  await tx.update(attempts).set({ settled: true, busyEsimId: null }).where(isKnown);
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
  await db.update(attempts).set({ lastLookUpAt: now }).where(inArray(attempts.id, attemptIds));
}
