import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lte, max, or, sql, lt, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import {
  movementOf,
  purchasesNamedBy,
  type ReadMovement,
  storeMovements,
  type WalletMovementRow,
} from '#db/money/wallet-movements.ts';
import { attempts, installation, walletMovements, walletReadings, debitDelays } from '#db/schema.ts';
import { MOVEMENT_NAMES, type AttemptRow } from '#db/work/rows.ts';
import {
  type WalletReading,
  DEBIT_DELAY_KEPT_MS,
  NO_DEBIT_SEEN,
  withDebit,
  type DebitDelay,
} from '#domain/money/absence.ts';
import { purchaseFinder, type Movement, type MovementNames, type Purchase } from '#domain/money/books.ts';
import { moneyOf } from '#domain/money/money.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

export async function databaseTime(db: Executor): Promise<Date> {
  const { rows } = await db.execute<{ at: string }>(sql`select clock_timestamp()::text as at`);
  return new Date(rows[0]?.at ?? NaN);
}

/** A page has up to 100 rows; late rows may stand between known ones. */
const KNOWN_ROWS = 1_000;

/** A reading that contains one of these newest rows reaches back to it. @param by the last reading; undefined: all. */
export async function knownRows(
  db: Executor,
  by?: number,
): Promise<{ readonly ids: ReadonlySet<string>; readonly newestAt: Date | undefined }> {
  const stored = await db
    .select({ id: walletMovements.serviceId, at: walletMovements.occurredAt })
    .from(walletMovements)
    .where(by === undefined ? isNotNull(walletMovements.firstReading) : lte(walletMovements.firstReading, by))
    .orderBy(desc(walletMovements.firstReading))
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

/**
 * One reading at a time: its number follows all that other transactions can see, so a send that is claimed later begins
 * after it.
 * @param read.beganAt by the database's clock.
 * @param read.hasNoGap nothing is missing between its newest and oldest row.
 * @param read.movements final ones only.
 */
export async function storeReading(
  tx: Executor,
  read: Pick<WalletReading, 'balance' | 'isWhole'> & {
    readonly beganAt: Date;
    readonly hasNoGap: boolean;
    readonly movements: readonly ReadMovement[];
  },
  skewMs: number,
): Promise<WalletReading> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('wallet_readings'))`);
  const [first] = await tx.select().from(walletReadings).orderBy(asc(walletReadings.id)).limit(1);
  const [stamp] = await tx.select({ at: installation.stampedAt }).from(installation);
  const booksSince = stamp === undefined ? 0 : stamp.at.getTime() - skewMs;
  // Our books begin with the first reading, not with the history of the account.
  const isOurs = ({ occurredAt }: ReadMovement) =>
    occurredAt >= booksSince || (first !== undefined && occurredAt > (first.newestRowAt?.getTime() ?? -Infinity));
  const older = read.movements.filter((each) => !isOurs(each));
  const movements = [...read.movements.filter(isOurs), ...(await ofOurPurchases(tx, older))];
  const ids = read.movements.map(({ id }) => id);
  const newest = read.movements.toSorted((one, other) => other.occurredAt - one.occurredAt)[0];
  const [row] = await tx
    .insert(walletReadings)
    .values({
      beganAt: read.beganAt,
      balanceAmount: read.balance?.amount ?? null,
      balanceCurrency: read.balance?.currency ?? null,
      isWhole: read.isWhole,
      reachesBackTo: read.hasNoGap ? await earliestReadingOf(tx, ids) : null,
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
    await noteDelays(
      tx,
      row.id,
      movements.filter(({ id, direction }) => direction === 'debit' && isNew.has(id)),
    );
  }
  return readingOf(row);
}

/** However old their time is: the service's clock may be behind, and a restore may have lost the first reading. */
async function ofOurPurchases(tx: Executor, movements: readonly ReadMovement[]): Promise<readonly ReadMovement[]> {
  const find = purchaseFinder(await purchasesNamedBy(tx, movements));
  return movements.filter(({ names }) => typeof find(names) !== 'string');
}

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

/** Began at or after `beganAt`, has a number above `after`, and reaches back to the reading `backTo`. */
export interface WantedReading {
  readonly beganAt: Date;
  readonly after: number;
  readonly backTo: number;
}

/** Undefined: the wallet must be read. */
export async function readingSince(
  db: Executor,
  { beganAt, after, backTo }: WantedReading,
): Promise<WalletReading | undefined> {
  const [row] = await db
    .select()
    .from(walletReadings)
    .where(
      and(
        sql`${walletReadings.beganAt} >= ${beganAt}`,
        gt(walletReadings.id, after),
        or(eq(walletReadings.isWhole, true), lte(walletReadings.reachesBackTo, backTo)),
      ),
    )
    .orderBy(desc(walletReadings.id))
    .limit(1);
  return row === undefined ? undefined : readingOf(row);
}

export async function hasReading(db: Executor): Promise<boolean> {
  return (await db.select({ id: walletReadings.id }).from(walletReadings).limit(1)).length > 0;
}

export async function movementsOf(db: Executor, attempt: AttemptRow): Promise<Movement[]> {
  const { serviceId, reference } = MOVEMENT_NAMES[attempt.subjectKind];
  const names = or(isNamed(serviceId, attempt.serviceId), isNamed(reference, attempt.reference));
  if (names === undefined) return [];
  const rows = await db.select().from(walletMovements).where(names).orderBy(walletMovements.id);
  // The movement of a top-up may name the order of its eSIM, too.
  return rows.filter(({ topupId }) => attempt.subjectKind === 'topup' || topupId === null).map(movementOf);
}

function isNamed(column: keyof MovementNames | undefined, name: string | null): SQL | undefined {
  return column === undefined || name === null ? undefined : eq(walletMovements[column], name);
}

export async function firstDebitOf(db: Executor, purchase: Purchase): Promise<string | undefined> {
  const { work, serviceId, reference, serviceEsimId } = purchase;
  const fields = MOVEMENT_NAMES[work.kind];
  const { orderId, orderReference, topupId, esimId } = walletMovements;
  const byEsim =
    work.kind === 'order' && serviceEsimId !== null
      ? and(eq(esimId, serviceEsimId), isNull(orderId), isNull(orderReference))
      : undefined;
  const names = or(isNamed(fields.serviceId, serviceId), isNamed(fields.reference, reference), byEsim);
  if (names === undefined) return undefined;
  const ofKind = work.kind === 'topup' ? undefined : isNull(topupId);
  const [row] = await db
    .select({ id: walletMovements.serviceId })
    .from(walletMovements)
    .where(and(names, ofKind, eq(walletMovements.direction, 'debit')))
    .orderBy(walletMovements.occurredAt, walletMovements.id)
    .limit(1);
  return row?.id;
}

/** With purchases under way during all of these readings, the ledger is given up. */
const STEADY_READINGS = 10;

export async function steadyReadings(db: Executor, upTo: number): Promise<readonly WalletReading[]> {
  const rows = await db
    .select()
    .from(walletReadings)
    .where(and(lte(walletReadings.id, upTo), isNotNull(walletReadings.balanceAmount)))
    .orderBy(desc(walletReadings.id))
    .limit(STEADY_READINGS);
  return rows.map(readingOf);
}

export async function rowsSince(db: Executor, after: number, upTo: number): Promise<WalletMovementRow[]> {
  const { firstReading } = walletMovements;
  const between = and(gt(firstReading, after), lte(firstReading, upTo));
  return db.select().from(walletMovements).where(between).orderBy(walletMovements.id);
}

/** The first sends by the clock, and by the last reading before them. */
export async function firstSends(
  db: Executor,
  attemptIds: readonly string[],
): Promise<ReadonlyMap<string, { readonly sentAt: Date | null; readonly readingBefore: number | null }>> {
  const { id, firstSentAt: sentAt, readingBefore } = attempts;
  const ids = inArray(id, attemptIds);
  const rows = await db.select({ id, sentAt, readingBefore }).from(attempts).where(ids);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Epoch milliseconds; undefined: the readings showed none. */
export async function newestRowAt(db: Executor, by: number): Promise<number | undefined> {
  const at = max(walletReadings.newestRowAt);
  const [row] = await db.select({ at }).from(walletReadings).where(lte(walletReadings.id, by));
  return row?.at?.getTime();
}

function readingOf(row: typeof walletReadings.$inferSelect): WalletReading {
  const { id, beganAt, balanceAmount: amount, balanceCurrency: currency, isWhole, reachesBackTo, newestRowAt } = row;
  return {
    id,
    beganAt: beganAt.getTime(),
    balance: moneyOf(amount, currency),
    isWhole,
    reachesBackTo: reachesBackTo ?? undefined,
    newestRowAt: newestRowAt?.getTime(),
  };
}

async function noteDelays(tx: Executor, reading: number, debits: readonly ReadMovement[]): Promise<void> {
  const find = purchaseFinder(await purchasesNamedBy(tx, debits));
  const purchases = debits.map(({ names }) => find(names)).filter((found) => typeof found !== 'string');
  const ids = purchases.map(({ attemptId }) => attemptId);
  if (ids.length === 0) return;
  const readAfterSend = tx
    .select({ id: walletReadings.id })
    .from(walletReadings)
    .where(
      and(
        gt(walletReadings.id, attempts.readingBefore),
        lt(walletReadings.id, reading),
        gt(walletReadings.beganAt, attempts.firstSentAt),
      ),
    );
  const sent = await tx
    .select({
      kind: attempts.subjectKind,
      wasMissing: sql<boolean>`exists ${readAfterSend}`,
      elapsedMs: sql<number>`(extract(epoch from clock_timestamp() - ${attempts.firstSentAt}) * 1000)
        ::double precision`,
    })
    .from(attempts)
    // Of several sends, it is not known which one bought.
    .where(and(inArray(attempts.id, ids), eq(attempts.sends, 1), eq(attempts.anyUnknown, false)));
  for (const [kind, seen] of Map.groupBy(sent, ({ kind: each }) => each)) {
    const delay = seen.reduce<DebitDelay>(withDebit, await debitDelay(tx, kind));
    const row = { kind, longestMs: delay.longestMs, withinMs: delay.withinMs, seenAt: sql`clock_timestamp()` };
    await tx.insert(debitDelays).values(row).onConflictDoUpdate({ target: debitDelays.kind, set: row });
  }
}

export async function debitDelay(db: Executor, kind: WorkKind): Promise<DebitDelay> {
  const kept = sql`clock_timestamp() - ${DEBIT_DELAY_KEPT_MS}::double precision * interval '1 ms'`;
  const [row] = await db
    .select()
    .from(debitDelays)
    .where(and(eq(debitDelays.kind, kind), gt(debitDelays.seenAt, kept)));
  return row ?? NO_DEBIT_SEEN;
}
