/** Reserves the price of a purchase, in the transaction that claims its send. */
import type { Executor } from '#db/connection/database.ts';
import { lockAccount } from '#db/gate/account-lock.ts';
import { readAccount, type Account } from '#db/gate/account.ts';
import { distrustReading } from '#db/gate/wallet.ts';
import { gateReservations } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { judgeReservation, spendDay, spendProblem, untilNextDay, type GateStop } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import type { FailureClass } from '#domain/work/failure.ts';

/** How a price was admitted. Only `reserved` was compared with a balance. */
export type Reserved =
  | 'reserved'
  /** An earlier send of the attempt reserved it; it is not reserved twice. */
  | 'reserved_before'
  | 'price_unknown'
  | 'balance_unknown'
  | 'other_currency';

export type Reservation =
  | { readonly kind: 'reserved'; readonly how: Reserved }
  | { readonly kind: 'stopped'; readonly stop: GateStop };

export interface ReservationRequest {
  /** Locked. */
  readonly attempt: AttemptRow;
  readonly apiKeyId: string;
  /** Undefined: not known. */
  readonly price: Money | undefined;
  readonly now: Date;
}

/**
 * Compares a price with the daily limits and the wallet, and reserves it. Serialises concurrent callers with the
 * account lock.
 */
export async function reserve(tx: Executor, request: ReservationRequest, policy: GatePolicy): Promise<Reservation> {
  const { attempt, price, now } = request;
  // An attempt that may have bought is resent with the same key: its money is reserved already, or its price was not
  // known.
  if (attempt.anyUnknown || attempt.state === 'sending') return { kind: 'reserved', how: 'reserved_before' };
  await lockAccount(tx);
  if (price === undefined) {
    await distrustReading(tx);
    return { kind: 'reserved', how: 'price_unknown' };
  }
  const day = spendDay(now.getTime());
  const account = await readAccount(tx, { day, apiKeyId: request.apiKeyId, currency: price.currency });
  const overLimit = limitProblem(account, price, policy);
  if (overLimit !== undefined) {
    return {
      kind: 'stopped',
      stop: stopped('spend_limit', 'spend_limit_reached', overLimit, untilNextDay(now.getTime())),
    };
  }
  const how = judgeWallet(account, price, now, policy);
  if (typeof how !== 'string')
    return { kind: 'stopped', stop: stopped('wallet', 'insufficient_balance', how.detail, policy.recheckMs) };
  const values = {
    apiKeyId: request.apiKeyId,
    day,
    amount: price.amount,
    currency: price.currency,
    madeAt: now,
  };
  await tx
    .insert(gateReservations)
    .values({ attemptId: attempt.id, ...values })
    .onConflictDoUpdate({
      target: gateReservations.attemptId,
      set: { ...values, coveredByReading: null, isOver: false },
    });
  return { kind: 'reserved', how };
}

function stopped(
  barrier: 'spend_limit' | 'wallet',
  failure: FailureClass,
  detail: string,
  recheckMs: number,
): GateStop {
  return { barrier, failure, detail, recheckMs };
}

/**
 * Compares a price with the wallet.
 *
 * @param account read for the currency of the price.
 * @returns how the money can be reserved, or why it is short, as a sentence.
 */
export function judgeWallet(
  { wallet, reserved }: Account,
  price: Money,
  now: Date,
  policy: Pick<GatePolicy, 'balanceAgeMs'>,
): Reserved | { readonly detail: string } {
  if (wallet === undefined || now.getTime() - wallet.readAt.getTime() > policy.balanceAgeMs) return 'balance_unknown';
  const answer = judgeReservation(price, { balance: wallet.balance, reserved });
  if (answer.kind === 'short') return answer;
  return answer.kind === 'enough' ? 'reserved' : answer.kind;
}

/**
 * Compares a price with the daily limits of all keys together and of one key.
 * @param account read for the currency of the price.
 * @returns the limit that it exceeds, as a sentence; undefined: none.
 */
export function limitProblem(
  { spent, spentByKey, keyLimit }: Account,
  price: Money,
  { spendLimit }: Pick<GatePolicy, 'spendLimit'>,
): string | undefined {
  const ofAll = spendLimit && spendProblem(price, { limit: spendLimit, spent, whose: 'of all' });
  return ofAll ?? (keyLimit && spendProblem(price, { limit: keyLimit, spent: spentByKey, whose: 'of this API key' }));
}
