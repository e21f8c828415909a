/** How long the debits of our purchases take to appear in the wallet. The rules are in `domain/money/absence.ts`. */
import { and, eq, gt, inArray, lt, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { purchasesNamedBy, type ReadMovement } from '#db/money/wallet-movements.ts';
import { attempts, debitDelays, walletReadings } from '#db/schema.ts';
import { DEBIT_DELAY_KEPT_MS, NO_DEBIT_SEEN, withDebit, type DebitDelay } from '#domain/money/absence.ts';
import { purchaseFinder } from '#domain/money/movements.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/**
 * Notes how long the first debits of our purchases took to appear.
 * @param reading the number of the reading with them.
 */
export async function noteDelays(tx: Executor, reading: number, debits: readonly ReadMovement[]): Promise<void> {
  const find = purchaseFinder(await purchasesNamedBy(tx, debits));
  const purchases = debits.map(({ names }) => find(names)).filter((found) => typeof found !== 'string');
  if (purchases.length === 0) return;
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
    .where(
      and(
        inArray(
          attempts.id,
          purchases.map(({ attemptId }) => attemptId),
        ),
        // Of several sends, it is not known which one bought.
        eq(attempts.sends, 1),
        eq(attempts.anyUnknown, false),
      ),
    );
  for (const [kind, seen] of Map.groupBy(sent, (each) => each.kind)) {
    const delay = seen.reduce<DebitDelay>(withDebit, await debitDelay(tx, kind));
    const row = { kind, longestMs: delay.longestMs, withinMs: delay.withinMs, seenAt: sql`clock_timestamp()` };
    await tx.insert(debitDelays).values(row).onConflictDoUpdate({ target: debitDelays.kind, set: row });
  }
}

/** How long the debits of a kind took to appear in the wallet. */
export async function debitDelay(db: Executor, kind: WorkKind): Promise<DebitDelay> {
  const kept = sql`clock_timestamp() - ${DEBIT_DELAY_KEPT_MS}::double precision * interval '1 ms'`;
  const [row] = await db
    .select()
    .from(debitDelays)
    .where(and(eq(debitDelays.kind, kind), gt(debitDelays.seenAt, kept)));
  return row ?? NO_DEBIT_SEEN;
}
