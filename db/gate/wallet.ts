/** The last reading of the wallet, and what purchases in flight may still take from it. */
import { and, eq, not, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts, gateReservations, gateWallet } from '#db/schema.ts';
import type { Money } from '#domain/money/money.ts';

/** A balance of the service, with the number of the read that it is from. */
export interface WalletReading {
  readonly number: number;
  readonly balance: Money;
  readonly readAt: Date;
  /** Since when it is below the threshold. */
  readonly lowSince: Date | null;
}

/** @returns undefined before the first, and when one can no longer be reserved against. */
export async function latestReading(db: Executor): Promise<WalletReading | undefined> {
  const [row] = await db.select().from(gateWallet);
  if (row === undefined || row.reading === null || row.balanceAmount === null) return undefined;
  if (row.balanceCurrency === null || row.readAt === null) return undefined;
  const balance = { amount: row.balanceAmount, currency: row.balanceCurrency };
  return { number: row.reading, balance, readAt: row.readAt, lowSince: row.lowSince };
}

/** What was spent on an attempt, or may be: what it was charged, once that is known. */
export const committed = sql<string>`case when ${attempts.chargedAmount} is not null and ${attempts.chargedCurrency} = ${gateReservations.currency}
  then ${attempts.chargedAmount} else ${gateReservations.amount} end`;

/** The attempt provably costs nothing: it was refused, or failed and cost nothing, or is not sent. */
const costsNothing = sql`(${attempts.state} in ('prepared', 'refused') or (${attempts.state} = 'failed' and ${attempts.settled}))`;

export const mayCost: SQL = not(costsNothing);

/** What attempts other than this one may still take from the balance of a reading. */
export async function reservedAgainst(
  tx: Executor,
  reading: Pick<WalletReading, 'number' | 'balance'>,
  exceptAttemptId = '',
): Promise<Money> {
  const { currency } = reading.balance;
  const [row] = await tx
    .select({ total: sql<string>`coalesce(sum(${committed}), 0)::text` })
    .from(gateReservations)
    .innerJoin(attempts, eq(attempts.id, gateReservations.attemptId))
    .where(
      and(
        not(gateReservations.isOver),
        eq(gateReservations.currency, currency),
        mayCost,
        sql`coalesce(${gateReservations.coveredByReading} > ${reading.number}, true)`,
        sql`${gateReservations.attemptId} <> ${exceptAttemptId}`,
      ),
    );
  return { amount: row?.total ?? '0', currency };
}

/** A purchase goes out that nothing was reserved for: the balance is to be read before it is relied upon again. */
export async function distrustReading(tx: Executor): Promise<void> {
  await tx.update(gateWallet).set({ reading: null });
}
