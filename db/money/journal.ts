import { and, asc, eq, exists, gt, gte, inArray, lt, notExists, or, sql, type SQL } from 'drizzle-orm';
import { inBatches } from '#db/connection/batches.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts, journal, journalCheckpoint, journalOutstanding, walletMovements } from '#db/schema.ts';
import {
  addSums,
  type Cause,
  type CauseKind,
  type Direction,
  type Entry,
  type JournalSum,
} from '#domain/money/books.ts';
import type { Outstanding } from '#domain/money/findings.ts';
import { type Money, plainAmount } from '#domain/money/money.ts';

/** A movement that is seen twice is written once. @returns the number of new rows. */
export async function bookEntries(db: Executor, entries: readonly Entry[]): Promise<number> {
  let booked = 0;
  for (const some of inBatches(entries)) {
    const rows = await db
      .insert(journal)
      .values(
        some.map(({ direction, money, cause }) => ({
          direction,
          amount: money.amount,
          currency: money.currency,
          causeKind: cause.kind,
          causeId: cause.id,
        })),
      )
      .onConflictDoNothing()
      .returning({ id: journal.id });
    booked += rows.length;
  }
  return booked;
}

export async function recordMovement(
  db: Executor,
  { direction, attemptId: id, money }: { direction: Direction; attemptId: string; money: Money },
): Promise<boolean> {
  return (await bookEntries(db, [{ direction, money, cause: { kind: 'attempt', id } }])) > 0;
}

export async function recordRefund(db: Executor, orderId: string, money: Money): Promise<void> {
  await bookEntries(db, [{ direction: 'credit', money, cause: { kind: 'refund', id: orderId } }]);
}

export async function bookedMovements(db: Executor, attemptId: string): Promise<{ debit: boolean; credit: boolean }> {
  const rows = await db
    .select({ direction: journal.direction })
    .from(journal)
    .where(and(eq(journal.causeKind, 'attempt'), eq(journal.causeId, attemptId)));
  const has = (direction: Direction) => rows.some((row) => row.direction === direction);
  return { debit: has('debit'), credit: has('credit') };
}

export async function isBooked(db: Executor, { kind, id }: Cause): Promise<boolean> {
  return (await db.$count(journal, and(eq(journal.causeKind, kind), eq(journal.causeId, id)))) > 0;
}

/** Longer than a transaction lasts: a row has the time of its start and is visible at its end. */
const MARGIN_MS = 30 * 60_000;
/** Other rows, such as adjustments, are written for a movement. */
const EXPECT_MOVEMENTS: CauseKind[] = ['attempt', 'subscription_period', 'refund'];

/** Needs the lock of the books. @param marginMs only a test without concurrent transactions may shorten it. */
export async function advanceCheckpoint(tx: Executor, marginMs = MARGIN_MS): Promise<void> {
  const { through: from, sums } = await findCheckpoint(tx);
  const { rows } = await tx.execute<{ ms: string }>(sql`select floor(extract(epoch from now()) * 1000) as ms`);
  const through = new Date(Math.max(Number(rows[0]?.ms) - marginMs, from.getTime()));
  const between = and(gte(journal.recordedAt, from), lt(journal.recordedAt, through));
  const checkpoint = { through, sums: addSums(sums, await sumsWhere(tx, between)) };
  const outstanding = and(between, isOutstanding(tx));
  await tx.insert(journalOutstanding).select(tx.select({ journalId: journal.id }).from(journal).where(outstanding));
  await tx
    .insert(journalCheckpoint)
    .values(checkpoint)
    .onConflictDoUpdate({ target: journalCheckpoint.singleton, set: checkpoint });
}

export async function forgetMatched(tx: Executor): Promise<void> {
  const found = tx
    .select({ id: journal.id })
    .from(journal)
    .where(and(eq(journal.id, journalOutstanding.journalId), exists(movementsOfRow(tx))));
  await tx.delete(journalOutstanding).where(exists(found));
}

export async function journalSums(db: Executor): Promise<JournalSum[]> {
  const { through, sums } = await findCheckpoint(db);
  return addSums(sums, await sumsWhere(db, gte(journal.recordedAt, through)));
}

/** Leaves out rows that have no movement by nature. */
export async function outstandingEntries(db: Executor): Promise<Outstanding[]> {
  const { through } = await findCheckpoint(db);
  const stored = db.select({ id: journalOutstanding.journalId }).from(journalOutstanding);
  const rows = await db
    .select({ entry: journal, kind: attempts.subjectKind, id: attempts.subjectId, attemptId: attempts.id })
    .from(journal)
    .leftJoin(attempts, and(eq(journal.causeKind, 'attempt'), eq(attempts.id, journal.causeId)))
    .where(and(or(inArray(journal.id, stored), gte(journal.recordedAt, through)), isOutstanding(db)))
    .orderBy(asc(journal.id));
  return rows.map(({ entry, kind, id, attemptId }) => ({
    direction: entry.direction,
    money: { amount: plainAmount(entry.amount), currency: entry.currency },
    cause: { kind: entry.causeKind, id: entry.causeId },
    recordedAt: entry.recordedAt.getTime(),
    work: kind === null || id === null ? undefined : { kind, id },
    attemptId: attemptId ?? undefined,
  }));
}

async function findCheckpoint(db: Executor): Promise<Pick<typeof journalCheckpoint.$inferSelect, 'through' | 'sums'>> {
  const [checkpoint] = await db.select().from(journalCheckpoint);
  return checkpoint ?? { through: new Date(0), sums: [] };
}

async function sumsWhere(db: Executor, which: SQL | undefined): Promise<JournalSum[]> {
  return db
    .select({ currency: journal.currency, direction: journal.direction, sum: sql<string>`sum(${journal.amount})` })
    .from(journal)
    .where(and(gt(journal.amount, '0'), which))
    .groupBy(journal.currency, journal.direction);
}

function isOutstanding(db: Executor): SQL | undefined {
  return and(inArray(journal.causeKind, EXPECT_MOVEMENTS), notExists(movementsOfRow(db)));
}

function movementsOfRow(db: Executor) {
  return db
    .select({ id: walletMovements.id })
    .from(walletMovements)
    .where(
      and(
        eq(walletMovements.causeKind, journal.causeKind),
        eq(walletMovements.causeId, journal.causeId),
        eq(walletMovements.direction, journal.direction),
      ),
    );
}
