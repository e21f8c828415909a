/** Stores readings of the wallet at the service, and tracks which reservations they cover. */
import { and, eq, isNull, not, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { lockAccount } from '#db/gate/account-lock.ts';
import { latestReading } from '#db/gate/wallet.ts';
import { attempts, gateReservations, gateWallet, walletMovements } from '#db/schema.ts';
import { compareMoney, plainMoney, type Money } from '#domain/money/money.ts';

/**
 * Begins a read of the wallet. Every debit known now will be missing from the balance that the read returns, so its
 * reservation is marked as covered by this read. The number of the read counts, not the clock: a debit that becomes
 * known later is not covered, however fast the answer is.
 * @param options.debitKnownBefore debits that became known later may not show in the balance yet.
 * @returns the number of the read.
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

/** The attempts with a reservation that no reading covers, and a debit that was known by then. */
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

/** The effect of a stored reading. */
export interface StoredReading {
  /** Undefined: a later reading is stored already. */
  readonly change: 'first' | 'more' | 'same_or_less' | undefined;
  /** Set when the balance fell below the threshold, or rose above it again. */
  readonly crossed?: 'low' | 'well';
}

/**
 * Stores the result of a read, unless a later one is stored.
 * @param low threshold below which a balance is announced.
 */
export async function storeReading(
  tx: Executor,
  number: number,
  balance: Money,
  low: Money | undefined,
  now: Date,
): Promise<StoredReading> {
  await lockAccount(tx);
  const before = await latestReading(tx);
  const [known] = await tx.select({ number: gateWallet.reading, lowSince: gateWallet.lowSince }).from(gateWallet);
  if (known?.number != null && known.number >= number) return { change: undefined };
  // A threshold in another currency could never be compared, so it counts as passed and is noticed.
  const isLow = low !== undefined && (low.currency !== balance.currency || compareMoney(balance, low) < 0);
  const wasLow = known?.lowSince != null;
  await tx.update(gateWallet).set({
    reading: number,
    balanceAmount: balance.amount,
    balanceCurrency: balance.currency,
    readAt: now,
    lowSince: isLow ? (known?.lowSince ?? now) : null,
  });
  await tx
    .update(gateReservations)
    .set({ isOver: true })
    .where(and(not(gateReservations.isOver), sql`${gateReservations.coveredByReading} <= ${number}`));
  const change = changeFrom(before?.balance, balance);
  if (isLow === wasLow) return { change };
  await announceCrossing(tx, { isLow, balance, threshold: low }, now);
  return { change, crossed: isLow ? 'low' : 'well' };
}

async function announceCrossing(
  tx: Executor,
  {
    isLow,
    balance,
    threshold,
  }: { readonly isLow: boolean; readonly balance: Money; readonly threshold: Money | undefined },
  now: Date,
): Promise<void> {
  const type = isLow ? 'wallet.balance_low' : 'wallet.balance_restored';
  const data = {
    balance: plainMoney(balance.amount, balance.currency),
    threshold: plainMoney(threshold?.amount ?? null, threshold?.currency ?? null),
  };
  await recordEvent(tx, { type, subject: { kind: 'wallet', id: 'wallet' }, apiKeyId: null, data }, now);
}

function changeFrom(before: Money | undefined, after: Money): StoredReading['change'] {
  if (before === undefined || before.currency !== after.currency) return 'first';
  return compareMoney(after, before) > 0 ? 'more' : 'same_or_less';
}
