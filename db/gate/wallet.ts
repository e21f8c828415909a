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
  if (row?.reading == null) return undefined;
  const known = balanceOf(row);
  return known && { number: row.reading, ...known };
}

/** A balance as last read, also when reservations cannot use it any more. */
export type LastKnownBalance = Omit<WalletReading, 'number'> & {
  /** False when it must be read again: a read failed, or a purchase without a reservation left. */
  readonly isCurrent: boolean;
};

/** @returns undefined before the first reading. */
export async function lastKnownBalance(db: Executor): Promise<LastKnownBalance | undefined> {
  const [row] = await db.select().from(gateWallet);
  if (row === undefined) return undefined;
  const known = balanceOf(row);
  return known && { ...known, isCurrent: row.reading !== null };
}

function balanceOf(row: typeof gateWallet.$inferSelect): Omit<WalletReading, 'number'> | undefined {
  const { balanceAmount: amount, balanceCurrency: currency, readAt, lowSince } = row;
  if (amount === null || currency === null || readAt === null) return undefined;
  return { balance: { amount, currency }, readAt, lowSince };
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
