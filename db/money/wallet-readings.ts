/** Readings of the wallet, and what they show about attempts. The rules are in `domain/money/absence.ts`. */
import { and, asc, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, or, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { movementOf, purchasesNamedBy, storeMovements, type ReadMovement } from '#db/money/wallet-movements.ts';
import { attempts, debitDelays, installation, walletMovements, walletReadings } from '#db/schema.ts';
import { debitDelayMs, type WalletReading } from '#domain/money/absence.ts';
import { storedKind } from '#db/work/kinds.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { Money } from '#domain/money/money.ts';
import type { Movement } from '#domain/money/movements.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** The wallet as it was read, before it is stored. */
export interface ReadWallet {
  /** Time of the database when the reading began. */
  readonly beganAt: Date;
  /** Undefined: it changed during the reading, or was not read. */
  readonly balance: Money | undefined;
  readonly isWhole: boolean;
  /** Final movements only. */
  readonly movements: readonly ReadMovement[];
}

/** The database's clock. */
export async function databaseTime(db: Executor): Promise<Date> {
  const { rows } = await db.execute<{ at: string }>(sql`select clock_timestamp()::text as at`);
  return new Date(rows[0]?.at ?? NaN);
}

/**
 * Ids, at the service, of the newest rows that readings had shown by then, and the time of the newest. A reading that
 * contains one of them reaches back to it.
 * @param by the last of these readings; undefined: all.
 */
export async function knownRows(
  db: Executor,
  by?: number,
): Promise<{ readonly ids: ReadonlySet<string>; readonly newestAt: Date | undefined }> {
  const stored = await db
    .select({ id: walletMovements.serviceId, at: walletMovements.occurredAt })
    .from(walletMovements)
    .where(by === undefined ? undefined : or(isNull(walletMovements.firstReading), lte(walletMovements.firstReading, by)))
    .orderBy(desc(walletMovements.occurredAt))
    .limit(KNOWN_ROWS);
  const newest = await db
    .select({ id: walletReadings.newestRow, at: walletReadings.newestRowAt })
    .from(walletReadings)
    .where(and(isNotNull(walletReadings.newestRow), by === undefined ? undefined : lte(walletReadings.id, by)))
    .orderBy(desc(walletReadings.id))
    .limit(1);
  const rows = [...stored, ...newest];
  return { ids: new Set(rows.flatMap(({ id }) => id ?? [])), newestAt: rows[0]?.at ?? undefined };
}

/** A page of the service contains up to 100 rows; late rows may stand between known ones. */
const KNOWN_ROWS = 1_000;

/**
 * Stores a reading and its rows, one reading at a time: its number follows all numbers that other transactions can see.
 * A send that is claimed later thus begins after it.
 *
 * @param skewMs possible difference of the clocks.
 */
export async function storeReading(tx: Executor, read: ReadWallet, skewMs: number): Promise<WalletReading & { readonly newRows: number }> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('wallet_readings'))`);
  const [first] = await tx.select().from(walletReadings).orderBy(asc(walletReadings.id)).limit(1);
  const booksSince = await booksBeganAt(tx, skewMs);
  // Our books begin with the first reading, not with the history of the account.
  const isOurs = ({ occurredAt }: ReadMovement) =>
    occurredAt >= booksSince || (first !== undefined && occurredAt > (first.newestRowAt?.getTime() ?? -Infinity));
  const movements = read.movements.filter(isOurs);
  const ids = read.movements.map(({ id }) => id);
  const newest = read.movements.reduce<ReadMovement | undefined>(
    (last, each) => (last === undefined || each.occurredAt > last.occurredAt ? each : last),
    undefined,
  );
  const [row] = await tx
    .insert(walletReadings)
    .values({
      beganAt: read.beganAt,
      balanceAmount: read.balance?.amount ?? null,
      balanceCurrency: read.balance?.currency ?? null,
      isWhole: read.isWhole,
      reachesBackTo: await earliestReadingOf(tx, ids),
      newestRow: newest?.id ?? null,
      newestRowAt: newest === undefined ? null : new Date(newest.occurredAt),
      newRows: 0,
    })
    .returning();
  if (row === undefined) throw new Error('a reading of the wallet cannot be read back');
  const stored = await storeMovements(tx, movements, read.beganAt, row.id);
  if (stored.length > 0) {
    await tx.update(walletReadings).set({ newRows: stored.length }).where(eq(walletReadings.id, row.id));
    const isNew = new Set(stored);
    await noteDelays(tx, row.id, movements.filter(({ id, direction }) => direction === 'debit' && isNew.has(id)));
  }
  return { ...readingOf(row), newRows: stored.length };
}

async function booksBeganAt(db: Executor, skewMs: number): Promise<number> {
  const [stamp] = await db.select({ at: installation.stampedAt }).from(installation);
  return stamp === undefined ? 0 : stamp.at.getTime() - skewMs;
}

/** The earliest reading that had shown one of these rows; null: none had. */
async function earliestReadingOf(db: Executor, ids: readonly string[]): Promise<number | null> {
  if (ids.length === 0) return null;
  const { rows } = await db.execute<{ earliest: string | null }>(sql`
    select least(
      (select min(coalesce(${walletMovements.firstReading}, 0)) from ${walletMovements}
        where ${walletMovements.serviceId} in ${ids}),
      (select min(${walletReadings.id}) from ${walletReadings} where ${walletReadings.newestRow} in ${ids})
    ) as earliest`);
  const earliest = rows[0]?.earliest ?? null;
  return earliest === null ? null : Number(earliest);
}

/** Notes how long the first debits of our purchases took to appear. */
async function noteDelays(tx: Executor, reading: number, debits: readonly ReadMovement[]): Promise<void> {
  const purchases = await purchasesNamedBy(tx, debits);
  if (purchases.length === 0) return;
  const readAfterSend = tx
    .select({ id: walletReadings.id })
    .from(walletReadings)
    .where(
      and(
        gt(walletReadings.id, attempts.readingBefore),
        lt(walletReadings.id, reading),
        gte(walletReadings.beganAt, attempts.firstUnrefusedSendAt),
      ),
    );
  const sent = await tx
    .select({
      kind: attempts.subjectKind,
      wasMissing: sql<boolean>`exists ${readAfterSend}`,
      elapsedMs: sql<number>`(extract(epoch from clock_timestamp() - ${attempts.firstUnrefusedSendAt}) * 1000)::double precision`,
    })
    .from(attempts)
    .where(
      and(
        inArray(attempts.id, purchases.map(({ attemptId }) => attemptId)),
        isNotNull(attempts.firstUnrefusedSendAt),
      ),
    );
  const longest = new Map<WorkKind, number>();
  for (const { kind, wasMissing, elapsedMs } of sent) {
    const delay = debitDelayMs(elapsedMs, wasMissing);
    if (delay !== undefined) longest.set(kind, Math.max(longest.get(kind) ?? 0, Math.round(delay)));
  }
  for (const [kind, longestMs] of longest) await noteDebitDelay(tx, kind, longestMs);
}

/** Raises the longest time seen between a purchase of a kind and its debit. */
export async function noteDebitDelay(tx: Executor, kind: WorkKind, longestMs: number): Promise<void> {
  const seenAt = sql`clock_timestamp()`;
  await tx
    .insert(debitDelays)
    .values({ kind, longestMs, seenAt })
    .onConflictDoUpdate({
      target: debitDelays.kind,
      set: { longestMs: sql`greatest(${debitDelays.longestMs}, excluded.longest_ms)`, seenAt },
    });
}

/** The longest time seen between a purchase of this kind and its debit; undefined: none was seen. */
export async function longestDebitDelay(db: Executor, kind: WorkKind): Promise<number | undefined> {
  const [row] = await db.select().from(debitDelays).where(eq(debitDelays.kind, kind));
  return row?.longestMs;
}

/**
 * The newest reading that began at or after a time, and reaches back to a reading.
 * @returns undefined: the wallet must be read.
 */
export async function readingSince(
  db: Executor,
  { beganAt, backTo }: { readonly beganAt: Date; readonly backTo: number },
): Promise<WalletReading | undefined> {
  const [row] = await db
    .select()
    .from(walletReadings)
    .where(
      and(
        sql`${walletReadings.beganAt} >= ${beganAt}`,
        or(eq(walletReadings.isWhole, true), lte(walletReadings.reachesBackTo, backTo)),
      ),
    )
    .orderBy(desc(walletReadings.id))
    .limit(1);
  return row === undefined ? undefined : readingOf(row);
}

/** True when the wallet was ever read with its rows. */
export async function hasReading(db: Executor): Promise<boolean> {
  return (await db.select({ id: walletReadings.id }).from(walletReadings).limit(1)).length > 0;
}

/** The movements that name this attempt by its id or its reference. */
export async function movementsOf(db: Executor, attempt: AttemptRow): Promise<Movement[]> {
  const { serviceId, reference } = storedKind(attempt.subjectKind).movementNames;
  const named = [
    serviceId !== undefined && attempt.serviceId !== null ? eq(walletMovements[serviceId], attempt.serviceId) : undefined,
    reference !== undefined && attempt.reference !== null ? eq(walletMovements[reference], attempt.reference) : undefined,
  ].filter((condition) => condition !== undefined);
  if (named.length === 0) return [];
  const rows = await db
    .select()
    .from(walletMovements)
    .where(or(...named))
    .orderBy(walletMovements.id);
  // The movement of a top-up may name the order of its eSIM, too.
  return rows.filter(({ topupId }) => attempt.subjectKind === 'topup' || topupId === null).map(movementOf);
}

/** Deletes old readings, never the first, with which the books begin, nor the newest. */
export async function forgetReadings(tx: Executor, before: Date): Promise<void> {
  await tx.execute(sql`
    delete from ${walletReadings} where ${walletReadings.beganAt} < ${before} and ${walletReadings.id} not in (
      select min(id) from ${walletReadings} union all select max(id) from ${walletReadings})`);
}

/** What was known before a send: the base of the ledger, and whether there were rows. */
export async function knownBefore(
  db: Executor,
  before: number,
): Promise<{ readonly base: Pick<WalletReading, 'id' | 'balance'> | undefined; readonly hadRows: boolean }> {
  const [base] = await db
    .select()
    .from(walletReadings)
    .where(and(lte(walletReadings.id, before), isNotNull(walletReadings.balanceAmount)))
    .orderBy(desc(walletReadings.id))
    .limit(1);
  return { base: base && readingOf(base), hadRows: (await knownRows(db, before)).ids.size > 0 };
}

/** Rows that were first shown after one reading, up to another. */
export async function rowsSince(db: Executor, after: number, upTo: number): Promise<(typeof walletMovements.$inferSelect)[]> {
  const { firstReading } = walletMovements;
  return db
    .select()
    .from(walletMovements)
    .where(and(gt(firstReading, after), lte(firstReading, upTo)))
    .orderBy(walletMovements.id);
}

/**
 * True when one of the rows after a reading belongs to the time before it: it is older than the newest row that was
 * known then, or is for a purchase of ours that was sent before.
 */
export async function hasLateRow(db: Executor, base: number, upTo: number): Promise<boolean> {
  const m = walletMovements;
  const isNew = sql`${m.firstReading} > ${base} and ${m.firstReading} <= ${upTo}`;
  const { rows } = await db.execute<{ late: boolean }>(sql`
    select exists (
      select 1 from ${m} where ${isNew} and ${m.occurredAt} < (
        select max(${walletReadings.newestRowAt}) from ${walletReadings} where ${walletReadings.id} <= ${base})
    ) or exists (
      select 1 from ${m} join ${attempts} on ${attempts.serviceId} in (${m.orderId}, ${m.topupId}, ${m.subscriptionId})
        or ${attempts.reference} in (${m.orderReference}, ${m.subscriptionReference})
      where ${isNew} and ${m.direction} = 'debit' and ${attempts.readingBefore} < ${base}
    ) as late`);
  return rows[0]?.late === true;
}

/** The newest debit, in these readings, of a purchase of ours that was first sent after a time. */
export async function laterDebit(
  db: Executor,
  { upTo, sentAfter, currency }: { readonly upTo: number; readonly sentAfter: Date; readonly currency: string | undefined },
): Promise<string | undefined> {
  const m = walletMovements;
  const ofCurrency: SQL | undefined = currency === undefined ? undefined : eq(m.currency, currency);
  const [row] = await db
    .select({ id: m.serviceId })
    .from(m)
    .innerJoin(
      attempts,
      sql`${attempts.serviceId} in (${m.orderId}, ${m.topupId}, ${m.subscriptionId})
        or ${attempts.reference} in (${m.orderReference}, ${m.subscriptionReference})`,
    )
    .where(and(eq(m.direction, 'debit'), lte(m.firstReading, upTo), gt(attempts.firstSentAt, sentAfter), ofCurrency))
    .orderBy(desc(m.id))
    .limit(1);
  return row?.id;
}

function readingOf(row: typeof walletReadings.$inferSelect): WalletReading {
  const { id, beganAt, balanceAmount: amount, balanceCurrency: currency, isWhole, reachesBackTo } = row;
  return {
    id,
    beganAt: beganAt.getTime(),
    balance: amount === null || currency === null ? undefined : { amount, currency },
    isWhole,
    reachesBackTo: reachesBackTo ?? undefined,
  };
}
