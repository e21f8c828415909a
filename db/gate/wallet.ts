/** The last reading of the wallet, and the amounts that purchases in flight may still debit. */
import { and, eq, not, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts, gateReservations, gateWallet } from '#db/schema.ts';
import type { Money } from '#domain/money/money.ts';

/** A balance with the number of its read. */
export interface WalletReading {
  readonly number: number;
  readonly balance: Money;
  readonly readAt: Date;
  /** Time since when it is below the threshold. */
  readonly lowSince: Date | null;
}

/** @returns undefined before the first reading, and after a reading became unusable for reservations. */
export async function latestReading(db: Executor): Promise<WalletReading | undefined> {
  const [row] = await db.select().from(gateWallet);
  if (row === undefined || row.reading === null || row.balanceAmount === null) return undefined;
  if (row.balanceCurrency === null || row.readAt === null) return undefined;
  const balance = { amount: row.balanceAmount, currency: row.balanceCurrency };
  return { number: row.reading, balance, readAt: row.readAt, lowSince: row.lowSince };
}

/** The amount that an attempt may cost: its charge, once known. */
export const committed = sql<string>`case when ${attempts.chargedAmount} is not null
  and ${attempts.chargedCurrency} = ${gateReservations.currency}
  then ${attempts.chargedAmount} else ${gateReservations.amount} end`;

/** The attempt provably costs nothing: it was refused, failed without cost, or is not sent. */
const costsNothing = sql`(${attempts.state} in ('prepared', 'refused') or (${attempts.state} = 'failed'
  and ${attempts.settled}))`;

export const mayCost: SQL = not(costsNothing);

/** The amount that other attempts may still debit from the balance of a reading. */
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

/** Makes the reading unusable: a purchase without a reservation leaves, so the balance must be read again. */
export async function distrustReading(tx: Executor): Promise<void> {
  await tx.update(gateWallet).set({ reading: null });
}
