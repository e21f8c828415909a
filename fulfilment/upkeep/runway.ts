import { and, asc, count, eq, gt, inArray, isNull, ne, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import { IS_HELD } from '#db/gate/waits.ts';
import { gateWaits, journal, walletRunway } from '#db/schema.ts';
import { isRunwayLow, runwayOf, thresholdDays, type Runway, type RunwayKnowledge } from '#domain/money/runway.ts';
import type { RunwayPolicy } from '#domain/policy/upkeep-policy.ts';
import { usableBalance, reservedIn } from '#fulfilment/gate/account.ts';

/** Sales, with the later periods of subscriptions. */
const SOLD = and(eq(journal.direction, 'debit'), inArray(journal.causeKind, ['attempt', 'subscription_period']));

const DAY_SECONDS = 86_400;

export interface RunwayCalculation {
  readonly runway: Runway;
  readonly known: RunwayKnowledge;
}

export async function readRunway(db: Executor, policy: RunwayPolicy, now: number): Promise<RunwayCalculation> {
  const known = await knowledge(db, policy, now);
  return { runway: runwayOf(known, policy), known };
}

async function knowledge(db: Executor, { windowDays }: RunwayPolicy, now: number): Promise<RunwayKnowledge> {
  const reading = await usableBalance(db);
  const currency = reading?.balance.currency ?? '';
  const [first] = await db
    .select({ at: journal.recordedAt })
    .from(journal)
    .where(SOLD)
    .orderBy(asc(journal.recordedAt))
    .limit(1);
  const from = new Date(now - windowDays * DAY_SECONDS * 1_000);
  const inWindow = and(SOLD, gt(journal.recordedAt, from));
  // A slow clock would put recent rows into the future.
  const age = sql<number>`greatest(0, floor(extract(epoch
    from (${new Date(now)}::timestamptz - ${journal.recordedAt})) / ${DAY_SECONDS}))::int`;
  const sales = await db
    .select({ age, amount: sql<string>`sum(${journal.amount})::text` })
    .from(journal)
    .where(
      and(
        inWindow,
        eq(journal.currency, currency),
        // A purchase that was credited is no sale.
        sql`not exists (select 1 from journal credit where credit.cause_kind = ${journal.causeKind}
          and credit.cause_id = ${journal.causeId} and credit.direction = 'credit')`,
      ),
    )
    // By position: PostgreSQL treats the same expression with its own parameters as a different one.
    .groupBy(sql`1`);
  const other = await db
    .select({ id: journal.id })
    .from(journal)
    .where(and(inWindow, ne(journal.currency, currency)))
    .limit(1);
  const [held] = await db
    .select({ amount: sql<string>`coalesce(sum(${gateWaits.priceAmount}), 0)::text` })
    .from(gateWaits)
    .where(and(eq(gateWaits.priceCurrency, currency), IS_HELD));
  const [unpriced] = await db
    .select({ rows: count() })
    .from(gateWaits)
    .where(and(isNull(gateWaits.priceAmount), IS_HELD));
  return {
    wallet: reading && { balance: reading.balance, readAt: reading.readAt.getTime() },
    reserved: reading === undefined ? { amount: '0', currency } : await reservedIn(db, reading.balance.currency),
    held: { amount: held?.amount ?? '0', currency },
    heldWithoutPrice: unpriced?.rows ?? 0,
    firstSaleAt: first?.at.getTime(),
    salesByAge: new Map(sales.map((each) => [each.age, each.amount])),
    soldInOtherCurrency: other.length > 0,
    now,
  };
}

export async function lastRunway(db: Executor): Promise<typeof walletRunway.$inferSelect | undefined> {
  const [row] = await db.select().from(walletRunway);
  return row;
}

/** Announces when the runway falls below the threshold and when it recovers. `now` in epoch milliseconds. */
export async function noteRunway(
  tx: Executor,
  policy: RunwayPolicy,
  now: number,
): Promise<{ readonly runway: Runway; readonly change: 'low' | 'restored' | undefined }> {
  const at = new Date(now);
  await tx.insert(walletRunway).values({ reckonedAt: at }).onConflictDoNothing();
  const [before] = await tx.select().from(walletRunway).for('update');
  const { runway } = await readRunway(tx, policy, now);
  const wasLow = before?.lowSince != null;
  const isLow = isRunwayLow(runway, wasLow, policy) ?? wasLow;
  await tx.update(walletRunway).set({
    reckonedAt: at,
    days: runway.kind === 'known' ? runway.days : null,
    lowSince: isLow ? (before?.lowSince ?? at) : null,
  });
  if (isLow === wasLow || runway.kind === 'unknown') return { runway, change: undefined };
  const data = {
    days: runway.days,
    earliest_days: runway.earliestDays,
    latest_days: runway.latestDays,
    threshold_days: thresholdDays(policy),
    available: runway.available,
    daily_sales: runway.sales.mean,
  };
  const type = isLow ? 'wallet.runway_low' : 'wallet.runway_restored';
  await recordEvent(tx, { type, subject: { kind: 'wallet', id: 'wallet' }, apiKeyId: null, data }, at);
  return { runway, change: isLow ? 'low' : 'restored' };
}
