/** The last reading of the wallet, and the amounts that purchases in flight may still debit. */
import { eq } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { gateReserved, gateWallet } from '#db/schema.ts';
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
  return readingOf(row);
}

/** The reading in the row of the wallet, as {@link latestReading}. */
export function readingOf(row: typeof gateWallet.$inferSelect | null | undefined): WalletReading | undefined {
  if (row == null || row.reading === null || row.balanceAmount === null) return undefined;
  if (row.balanceCurrency === null || row.readAt === null) return undefined;
  const balance = { amount: row.balanceAmount, currency: row.balanceCurrency };
  return { number: row.reading, balance, readAt: row.readAt, lowSince: row.lowSince };
}

/** The amount that attempts may still debit from a balance in this currency. */
export async function reservedIn(db: Executor, currency: string): Promise<Money> {
  const [row] = await db
    .select({ amount: gateReserved.amount })
    .from(gateReserved)
    .where(eq(gateReserved.currency, currency));
  return { amount: row?.amount ?? '0', currency };
}

/** Makes the reading unusable: a purchase without a reservation leaves, so the balance must be read again. */
export async function distrustReading(tx: Executor): Promise<void> {
  await tx.update(gateWallet).set({ reading: null });
}
