/**
 * The money of the gate: the balance of the wallet, what purchases under way may still debit, and what was spent on a
 * day. The price is reserved in the transaction that claims the send.
 */
import { and, eq, isNotNull, isNull, not, sql } from 'drizzle-orm';
import { spendLimitOf } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import { recordEvent } from '#db/events/event-log.ts';
import {
  apiKeys,
  attempts,
  gateReservations,
  gateReserved,
  gateSpending,
  gateWallet,
  walletMovements,
} from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { judgeReservation, type GateStop } from '#domain/gate/purchase-gate.ts';
import { spendDay, spendProblem, untilNextDay } from '#domain/gate/spend-limit.ts';
import { compareMoney, plainMoney, type Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';

export const ALL_KEYS = '';

/** Only `reserved` was compared with a balance. `reserved_before`: an earlier send of the attempt reserved it. */
export type Reserved = 'reserved' | 'reserved_before' | 'price_unknown' | 'balance_unknown' | 'other_currency';

export type Reservation =
  | { readonly kind: 'passes'; readonly reservation: Reserved }
  | { readonly kind: 'stopped'; readonly stop: GateStop };

/** `attempt` is locked, and as it was before this claim: one that is `sending` has reserved already. */
interface ReservationRequest {
  readonly attempt: AttemptRow;
  readonly apiKeyId: string;
  readonly price: Money | undefined;
  readonly now: Date;
}

/** Serialises concurrent callers with the account lock. */
export async function reserve(
  tx: Executor,
  { attempt, apiKeyId, price, now }: ReservationRequest,
  policy: GatePolicy,
): Promise<Reservation> {
  // An attempt that may have bought is resent with the same key: its money is reserved already, or its price was not
  // known.
  if (attempt.anyUnknown || attempt.state === 'sending') return { kind: 'passes', reservation: 'reserved_before' };
  await lockAccount(tx);
  if (price === undefined) {
    await distrustBalance(tx);
    return { kind: 'passes', reservation: 'price_unknown' };
  }
  const { amount, currency } = price;
  const day = spendDay(now.getTime());
  const account = await readAccount(tx, { day, apiKeyId, currency });
  const detail = limitProblem(account, price, policy);
  if (detail !== undefined) {
    const recheckMs = untilNextDay(now.getTime());
    return { kind: 'stopped', stop: { barrier: 'spend_limit', failure: 'spend_limit_reached', detail, recheckMs } };
  }
  const reservation = judgeWallet(account, price, now, policy);
  if (typeof reservation !== 'string') {
    const { recheckMs } = policy;
    return { kind: 'stopped', stop: { barrier: 'wallet', failure: 'insufficient_balance', ...reservation, recheckMs } };
  }
  const values = { apiKeyId, day, amount, currency, madeAt: now };
  await tx
    .insert(gateReservations)
    .values({ attemptId: attempt.id, ...values })
    .onConflictDoUpdate({
      target: gateReservations.attemptId,
      set: { ...values, coveredByReading: null, isOver: false },
    });
  return { kind: 'passes', reservation };
}

/** `account` must be read for the currency of the price. */
export function judgeWallet(
  { wallet, reserved }: Account,
  price: Money,
  now: Date,
  policy: Pick<GatePolicy, 'balanceAgeMs'>,
): Reserved | { readonly detail: string } {
  if (wallet === undefined || now.getTime() - wallet.readAt.getTime() > policy.balanceAgeMs) return 'balance_unknown';
  const answer = judgeReservation(price, { balance: wallet.balance, reserved });
  if (answer.kind === 'short') return { detail: answer.detail };
  return answer.kind === 'enough' ? 'reserved' : answer.kind;
}

/** `account` must be read for the currency of the price. @returns undefined when no limit is exceeded. */
export function limitProblem(
  { spent, spentByKey, keyLimit }: Account,
  price: Money,
  { spendLimit }: Pick<GatePolicy, 'spendLimit'>,
): string | undefined {
  const ofAll = spendLimit && spendProblem(price, { limit: spendLimit, spent, whose: 'of all' });
  return ofAll ?? (keyLimit && spendProblem(price, { limit: keyLimit, spent: spentByKey, whose: 'of this API key' }));
}

export type Account = Awaited<ReturnType<typeof readAccount>>;

/**
 * For the currency of one price; `day` is in UTC, such as `2030-01-31`. One statement, because other claims wait for
 * it, and a fixed number of rows. `reserved`: what other attempts may still debit. `spent`: also possibly spent, on the
 * day.
 */
export async function readAccount(
  db: Executor,
  { day, apiKeyId, currency }: { readonly day: string; readonly apiKeyId: string; readonly currency: string },
) {
  const spentBy = (owner: string) => sql<string | null>`(select ${gateSpending.amount} from ${gateSpending}
    where ${gateSpending.day} = ${day} and ${gateSpending.currency} = ${currency}
      and ${gateSpending.apiKeyId} = ${owner})`;
  const [row] = await db
    .select({
      wallet: gateWallet,
      key: apiKeys,
      reserved: sql<string | null>`(select ${gateReserved.amount} from ${gateReserved}
        where ${gateReserved.currency} = ${currency})`,
      spent: spentBy(ALL_KEYS),
      spentByKey: spentBy(apiKeyId),
    })
    .from(sql`(values (1)) as one`)
    .leftJoin(gateWallet, isNotNull(gateWallet.reading))
    .leftJoin(apiKeys, eq(apiKeys.id, apiKeyId));
  const money = (amount: string | null | undefined): Money => ({ amount: amount ?? '0', currency });
  return {
    wallet: balanceOf(row?.wallet),
    reserved: money(row?.reserved),
    spent: money(row?.spent),
    spentByKey: money(row?.spentByKey),
    keyLimit: row?.key == null ? undefined : spendLimitOf(row.key),
  };
}

/** Or possibly spent. */
export async function spentOn(db: Executor, day: string, currency: string, apiKeyId = ALL_KEYS): Promise<string> {
  const { day: on, currency: kept, apiKeyId: by, amount } = gateSpending;
  const [row] = await db
    .select({ amount })
    .from(gateSpending)
    .where(and(eq(on, day), eq(kept, currency), eq(by, apiKeyId)));
  return row?.amount ?? '0';
}

/** Taken after the locks of work, attempts, eSIM and circuits, so that its holder never waits for those. */
export async function lockAccount(tx: Executor): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('purchase_gate.account', 0))`);
}

/**
 * Every debit known now will be missing from the balance that the read returns, so its reservation is marked as
 * covered. The number of the read counts, not the clock: a debit that becomes known later is not covered, however fast
 * the answer is. Debits known after `debitKnownBefore` may not show in the balance yet.
 */
export async function beginBalanceRead(
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
export async function storeBalance(
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
  const change = changeFrom(usableBalanceIn(known)?.balance, balance);
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

export interface GateBalance {
  readonly balance: Money;
  readonly readAt: Date;
  /** Since when it is below the threshold. */
  readonly lowSince: Date | null;
  /** False when it must be read again: a read failed, or a purchase without a reservation left. */
  readonly isCurrent: boolean;
}

/** @returns undefined before the first read. */
export async function lastBalance(db: Executor): Promise<GateBalance | undefined> {
  const [row] = await db.select().from(gateWallet);
  return balanceOf(row);
}

/** As {@link lastBalance}; undefined also when reservations cannot be compared with it. */
export async function usableBalance(db: Executor): Promise<GateBalance | undefined> {
  const [row] = await db.select().from(gateWallet);
  return usableBalanceIn(row);
}

type WalletRow = typeof gateWallet.$inferSelect;

/** As {@link usableBalance}. */
export function usableBalanceIn(row: WalletRow | null | undefined): GateBalance | undefined {
  const last = balanceOf(row);
  return last?.isCurrent === true ? last : undefined;
}

function balanceOf(row: WalletRow | null | undefined): GateBalance | undefined {
  const { balanceAmount: amount, balanceCurrency: currency, readAt, lowSince, reading } = row ?? {};
  if (amount == null || currency == null || readAt == null) return undefined;
  return { balance: { amount, currency }, readAt, lowSince: lowSince ?? null, isCurrent: reading != null };
}

export async function reservedIn(db: Executor, currency: string): Promise<Money> {
  const { amount } = gateReserved;
  const [row] = await db.select({ amount }).from(gateReserved).where(eq(gateReserved.currency, currency));
  return { amount: row?.amount ?? '0', currency };
}

/** A purchase without a reservation leaves, so the balance must be read again. */
export async function distrustBalance(tx: Executor): Promise<void> {
  await tx.update(gateWallet).set({ reading: null });
}
