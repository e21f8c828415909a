import { and, eq, isNull, not, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { attempts, gateReservations, gateReserved, gateWallet, walletMovements } from '#db/schema.ts';
import { compareMoney, plainMoney, type Money } from '#domain/money/money.ts';

/** Taken last, after the locks of work and attempts, so that its holder never waits for those. */
export async function lockAccount(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('purchase_gate.account', 0))`);
}

/**
 * Every debit known now will be missing from the balance that the read returns, so its reservation is marked as
 * covered. The number of the read counts, not the clock: a debit that becomes known later is not covered, however fast
 * the answer is. Debits known after `debitKnownBefore` may not show in the balance yet.
 */
export async function beginReading(
  tx: Executor,
  { debitKnownBefore }: { readonly debitKnownBefore: Date },
): Promise<number> {
  // Found before the lock: claims do not wait for it, and a debit does not become unknown again.
  const known = await knownDebits(tx, debitKnownBefore);
  await lockAccount(tx);
  const [row] = await tx
    .insert(gateWallet)
    .values({ readsStarted: 1 })
    .onConflictDoUpdate({ target: gateWallet.singleton, set: { readsStarted: sql`${gateWallet.readsStarted} + 1` } })
    .returning({ number: gateWallet.readsStarted });
  if (row === undefined) throw new Error('the row of the wallet cannot be written');
  if (known.length > 0) {
    await tx
      .update(gateReservations)
      .set({ coveredByReading: row.number })
      .where(and(sql`${gateReservations.attemptId} = any(${sql.param(known)})`, uncovered));
  }
  return row.number;
}

const uncovered = and(not(gateReservations.isOver), isNull(gateReservations.coveredByReading));

/** Their reservations are covered by no reading. */
async function knownDebits(tx: Executor, before: Date): Promise<string[]> {
  const rows = await tx
    .select({ id: gateReservations.attemptId })
    .from(gateReservations)
    .innerJoin(attempts, eq(attempts.id, gateReservations.attemptId))
    .where(
      and(
        uncovered,
        sql`(${attempts.state} = 'completed' or (${attempts.chargedAmount} is not null
          and ${attempts.state} in ('unknown', 'processing', 'failed'))
          or exists (select from ${walletMovements} where ${walletMovements.attemptId} = ${attempts.id}
            and ${walletMovements.direction} = 'debit'))`,
        sql`coalesce(${attempts.lastReportAt}, ${attempts.firstSentAt}) <= ${before}`,
      ),
    );
  return rows.map(({ id }) => id);
}

/**
 * `change` undefined: a later reading is stored already. `crossed`: the balance fell below the threshold `low`, or
 * rose above it again.
 */
export async function storeReading(
  tx: Executor,
  number: number,
  balance: Money,
  low: Money | undefined,
  now: Date,
): Promise<{ readonly change: 'first' | 'more' | 'same_or_less' | undefined; readonly crossed?: 'low' | 'well' }> {
  await lockAccount(tx);
  const [known] = await tx.select().from(gateWallet);
  if (known?.reading != null && known.reading >= number) return { change: undefined };
  // A threshold in another currency could never be compared, so it counts as passed and is noticed.
  const isLow = low !== undefined && (low.currency !== balance.currency || compareMoney(balance, low) < 0);
  const lowSince = known?.lowSince ?? null;
  await tx.update(gateWallet).set({
    reading: number,
    balanceAmount: balance.amount,
    balanceCurrency: balance.currency,
    readAt: now,
    lowSince: isLow ? (lowSince ?? now) : null,
  });
  await tx
    .update(gateReservations)
    .set({ isOver: true })
    .where(and(not(gateReservations.isOver), sql`${gateReservations.coveredByReading} <= ${number}`));
  const change = changeFrom(readingOf(known)?.balance, balance);
  if (isLow === (lowSince !== null)) return { change };
  const data = {
    balance: plainMoney(balance.amount, balance.currency),
    threshold: plainMoney(low?.amount ?? null, low?.currency ?? null),
  };
  const type = isLow ? 'wallet.balance_low' : 'wallet.balance_restored';
  await recordEvent(tx, { type, subject: { kind: 'wallet', id: 'wallet' }, apiKeyId: null, data }, now);
  return { change, crossed: isLow ? 'low' : 'well' };
}

function changeFrom(before: Money | undefined, after: Money): 'first' | 'more' | 'same_or_less' {
  if (before === undefined || before.currency !== after.currency) return 'first';
  return compareMoney(after, before) > 0 ? 'more' : 'same_or_less';
}

/** `lowSince`: time since when the balance is below the threshold. */
export interface WalletReading {
  readonly number: number;
  readonly balance: Money;
  readonly readAt: Date;
  readonly lowSince: Date | null;
}

/** @returns undefined before the first reading, and after a reading became unusable for reservations. */
export async function latestReading(db: Executor): Promise<WalletReading | undefined> {
  const [row] = await db.select().from(gateWallet);
  return readingOf(row);
}

/** As {@link latestReading}. */
export function readingOf(row: typeof gateWallet.$inferSelect | null | undefined): WalletReading | undefined {
  if (row?.reading == null) return undefined;
  const known = balanceOf(row);
  return known && { number: row.reading, ...known };
}

/**
 * Also a balance that reservations cannot use. `isCurrent` is false when it must be read again: a read failed, or a
 * purchase without a reservation left.
 */
export async function lastKnownBalance(db: Executor) {
  const [row] = await db.select().from(gateWallet);
  const known = row && balanceOf(row);
  return known && { ...known, isCurrent: row.reading !== null };
}

function balanceOf(row: typeof gateWallet.$inferSelect): Omit<WalletReading, 'number'> | undefined {
  const { balanceAmount: amount, balanceCurrency: currency, readAt, lowSince } = row;
  if (amount === null || currency === null || readAt === null) return undefined;
  return { balance: { amount, currency }, readAt, lowSince };
}

export async function reservedIn(db: Executor, currency: string): Promise<Money> {
  const { amount } = gateReserved;
  const [row] = await db.select({ amount }).from(gateReserved).where(eq(gateReserved.currency, currency));
  return { amount: row?.amount ?? '0', currency };
}

/** A purchase without a reservation leaves, so the balance must be read again. */
export async function distrustReading(tx: Executor): Promise<void> {
  await tx.update(gateWallet).set({ reading: null });
}
