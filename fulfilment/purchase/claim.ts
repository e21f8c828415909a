import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { lockEsim } from '#db/esims/esim-queries.ts';
import { attempts, walletReadings } from '#db/schema.ts';
import { limitOf } from '#db/work/attempts.ts';
import { type WorkRow, type AttemptRow, lockUnfinishedWork } from '#db/work/rows.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import { knowsMore } from '#domain/purchase/recovery.ts';
import type { SendResult } from '#domain/purchase/results.ts';
import {
  mayHaveBought,
  resendWindowInForce,
  decideSendClaim,
  looserLimit,
  type PriceLimit,
} from '#domain/purchase/send-claim.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { isSettledByService, attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import { isSuperseded } from '#domain/work/lifecycle.ts';
import { abandonIfCancelled } from '#fulfilment/accept/batch.ts';
import type { AttemptReport } from '#fulfilment/attempts/report.ts';
import { recordSend } from '#fulfilment/purchase/answer.ts';
import { type LockedAttempt, lockAttempt } from '#fulfilment/purchase/attempt.ts';
import { MoneyShortError, type ReservationOrder } from '#fulfilment/purchase/gate.ts';
import { startLease, type Admitted, type Claimed, type Request, type Sender } from '#fulfilment/purchase/handler.ts';
import { priceLimit, priceObjection } from '#fulfilment/purchase/offer.ts';
import { readClaimConditions } from '#fulfilment/work/buying-barrier.ts';
import { startSend } from '#fulfilment/work/change.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';

type ClaimResult =
  | Extract<Claimed, { kind: 'claimed' }>
  | { readonly kind: 'gated'; readonly stop: GateStop }
  /** Its batch was cancelled, and it has bought nothing: it is abandoned now. */
  | { readonly kind: 'cancelled' }
  /** This worker was frozen, or cut off from Temporal: a later workflow task has decided newer steps. */
  | { readonly kind: 'superseded' }
  /** The refusal is stored already, as the result of a send. */
  | { readonly kind: 'objected'; readonly result: SendResult; readonly answer: ServiceResult<AttemptReport> }
  | { readonly kind: 'unsent'; readonly outcome: SendResult['outcome']; readonly attempt?: AttemptRow };

/** A claim that the wallet or a limit stops is rolled back, and runs again with the money first. */
export async function claimOnce(
  sender: Sender,
  request: Request,
  admitted: Extract<Admitted, { kind: 'admitted' }>,
): Promise<ClaimResult> {
  try {
    return await claimWith(sender, request, admitted, 'last');
  } catch (error) {
    if (!(error instanceof MoneyShortError)) throw error;
    return claimWith(sender, request, admitted, 'first');
  }
}

/** One transaction, which locks the work and then the attempt. */
async function claimWith(
  sender: Sender,
  { work, attemptId, resendWindowMs, retryRule, witness, task }: Request,
  { offer, priceNeeded }: Extract<Admitted, { kind: 'admitted' }>,
  order: ReservationOrder,
): Promise<ClaimResult> {
  const { database, purchaseGate, sendLeaseMs, purchaseInForce, now } = sender;
  // Measured from before the transaction: the lease that PostgreSQL grants in it ends later than this one.
  const lease = startLease(sender);
  return database.transaction(async (tx): Promise<ClaimResult> => {
    const row = await lockUnfinishedWork(tx, work);
    if (task !== undefined && row.recordedIn !== null && isSuperseded(task, row.recordedIn))
      return { kind: 'superseded' };
    if (await abandonIfCancelled(tx, work, row, new Date(now()))) return { kind: 'cancelled' };
    const { barrier, isGateClear } = await readClaimConditions(tx, work);
    if (barrier !== undefined) return { kind: 'unsent', outcome: { kind: 'barred', by: barrier } };

    const limit = priceLimit(row);
    const objection = offer.objection ?? (await offer.recheck?.(tx)) ?? priceObjection(limit, offer.price, priceNeeded);
    const locked = await lockAttempt(tx, attemptId);
    // PostgreSQL has lost commits: the row cannot say whether this may be sent.
    if (witness !== undefined && knowsMore(witness, locked.attempt))
      return { kind: 'unsent', outcome: { kind: 'records_lost' } };
    // The workflow has checked it, too. But the activity may have waited for a worker since.
    if (isLate(row, now()) && cannotHaveBought(locked.attempt))
      return { kind: 'unsent', outcome: { kind: 'failure', failure: 'deadline_passed' } };

    const price = objection === undefined ? offer.price : 'refused';
    const admission = await purchaseGate.admit(tx, work, row, locked, isGateClear, price, order);
    if (admission.kind === 'stopped') return { kind: 'gated', stop: admission.stop };

    const granted = await claimSend(tx, locked, {
      leaseMs: sendLeaseMs,
      // Read here, not from the workflow's input: an operator may have revoked resending since.
      resendWindowMs: mayHaveBought(locked.attempt)
        ? resendWindowInForce(resendWindowMs, await purchaseInForce(tx))
        : resendWindowMs,
      esimId: row.esimId,
      limit: objection === undefined ? limit : undefined,
      price: objection === undefined ? offer.price : undefined,
    });
    if (granted.kind !== 'claimed') return notGranted(granted);
    await startSend(tx, work, new Date(now()), retryRule);

    const { attempt, leaseToken } = granted;
    const reserved = await admission.reserve();
    if (objection === undefined) return { kind: 'claimed', row, attempt, leaseToken, reserved, lease };
    // Recorded in this transaction: a worker that dies here must not leave a send behind whose outcome is unknown.
    const recorded = await recordSend(tx, sender, { work, current: row, attempt, leaseToken, reserved }, objection);
    return { kind: 'objected', ...recorded };
  });
}

/** The deadline of an operator replaces that of the caller. */
function isLate({ deadlineAt, retryOverrides }: WorkRow, now: number): boolean {
  return now >= (retryOverrides?.deadlineAt ?? deadlineAt?.getTime() ?? Infinity);
}

function cannotHaveBought(attempt: AttemptRow): boolean {
  return !isSettledByService(attempt.state) && !mayHaveBought(attempt);
}

function notGranted(refused: Exclude<SendClaim, { kind: 'claimed' }>): Extract<ClaimResult, { kind: 'unsent' }> {
  switch (refused.kind) {
    case 'settled':
      return {
        kind: 'unsent',
        outcome: { kind: 'accepted', outcome: refused.outcome },
        attempt: refused.attempt,
      };
    case 'leased':
      return {
        kind: 'unsent',
        outcome: { kind: 'lease_held', retryAfterMs: Math.max(1, Math.ceil(refused.leaseLeftMs)) },
      };
    case 'esim_busy':
      return { kind: 'unsent', outcome: { kind: 'failure', failure: 'esim_busy' } };
    case 'resend_not_allowed':
    case 'too_late':
      return { kind: 'unsent', outcome: { kind: refused.kind } };
  }
}

export type SendClaim =
  | { readonly kind: 'claimed'; readonly leaseToken: string; readonly attempt: AttemptRow }
  | { readonly kind: 'leased'; readonly leaseLeftMs: number }
  /** Another attempt for the same eSIM is not settled. */
  | { readonly kind: 'esim_busy' }
  /** It may have been bought, and no attempt may be resent at this moment. */
  | { readonly kind: 'resend_not_allowed' }
  /** The resend window is over, or a resend would show nothing new. */
  | { readonly kind: 'too_late' }
  /** The service has it already: nothing is sent. */
  | { readonly kind: 'settled'; readonly outcome: ObservedOutcome; readonly attempt: AttemptRow };

/**
 * Takes the sole right to send an attempt (rule 1). A send whose lease ended without a result counts as unknown from
 * here on.
 * `locked` is read in this transaction. Without `resendWindowMs` an attempt that may have bought is not resent. No
 * other attempt is sent for `esimId` until this one is settled (rule 6). `limit` is stored because a charge is
 * compared with the limit at its send (null: no limit; undefined: nothing will be sent). After a send that may have
 * bought, the known `price` stays.
 */
export async function claimSend(
  tx: Executor,
  { attempt, leaseLeftMs, unrefusedForMs }: LockedAttempt,
  {
    leaseMs,
    resendWindowMs,
    esimId = null,
    limit,
    price,
  }: {
    readonly leaseMs: number;
    readonly resendWindowMs: number | undefined;
    readonly esimId?: string | null;
    readonly limit?: PriceLimit | undefined;
    readonly price?: Money | undefined;
  },
): Promise<SendClaim> {
  const { id, state } = attempt;
  if (isSettledByService(state)) return { kind: 'settled', outcome: state, attempt };
  const decision = decideSendClaim({ ...attempt, leaseLeftMs, unrefusedForMs }, resendWindowMs);
  if (decision === 'leased') return { kind: 'leased', leaseLeftMs: leaseLeftMs ?? 0 };
  if (decision === 'resend_not_allowed' || decision === 'too_late') return { kind: decision };
  if (decision === 'settled') throw new Error(`attempt ${id} is settled and ${state}`);

  if (esimId !== null && (await isBusy(tx, esimId, id))) return { kind: 'esim_busy' };

  const leaseToken = randomUUID();
  const [claimed] = await tx
    .update(attempts)
    .set({
      state: attemptStateAfter(state, 'claimed'),
      sends: attempt.sends + 1,
      anyUnknown: attempt.anyUnknown || state === 'sending',
      firstSentAt: sql`coalesce(${attempts.firstSentAt}, clock_timestamp())`,
      lastSentAt: sql`clock_timestamp()`,
      readingBefore: READING_BEFORE,
      firstUnrefusedSendAt: sql`coalesce(${attempts.firstUnrefusedSendAt}, clock_timestamp())`,
      busyEsimId: esimId,
      leaseToken,
      leaseUntil: sql`clock_timestamp() + ${leaseMs}::double precision * interval '1 ms'`,
      ...(limit !== undefined && limitColumns(mayHaveBought(attempt) ? looserLimit(limitOf(attempt), limit) : limit)),
      ...(price !== undefined &&
        !(mayHaveBought(attempt) && attempt.priceAmount !== null) && {
          priceAmount: price.amount,
          priceCurrency: price.currency,
        }),
    })
    .where(eq(attempts.id, id))
    .returning();
  if (claimed === undefined) throw new Error(`attempt ${id} vanished while it was locked`);
  return { kind: 'claimed', leaseToken, attempt: claimed };
}

/**
 * After the first send that may have bought, the reading stays. Where only a workflow knows of that send, no reading
 * is known to be from before it.
 */
const READING_BEFORE = sql`coalesce(${attempts.readingBefore}, case when ${attempts.firstUnrefusedSendAt} is null
  then coalesce((select max(${walletReadings.id}) from ${walletReadings}), 0) else 0 end)`;

function limitColumns(limit: PriceLimit): Pick<AttemptRow, 'limitAmount' | 'limitCurrency'> {
  return { limitAmount: limit?.amount ?? null, limitCurrency: limit?.currency ?? null };
}

/** The lock on the eSIM serialises concurrent claims. */
async function isBusy(tx: Executor, esimId: string, attemptId: string): Promise<boolean> {
  await lockEsim(tx, esimId);
  const [holder] = await tx.select({ id: attempts.id }).from(attempts).where(eq(attempts.busyEsimId, esimId));
  return holder !== undefined && holder.id !== attemptId;
}
