import { priceLimit, priceObjection } from '#activities/purchases/price.ts';
import { MoneyShortError, type ReservationOrder } from '#activities/sending/gate.ts';
import { recordSend } from '#activities/sending/record-send.ts';
import { startLease } from '#activities/sending/send-lease.ts';
import type { Admitted, Claimed, Request, Sender } from '#activities/sending/send-steps.ts';
import type { SendResult } from '#activities/work/work-types.ts';
import type { WorkRow } from '#db/work/kinds.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { lockUnfinishedWork } from '#db/work/work-rows.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import { knowsMore } from '#domain/purchase/restored-records.ts';
import { mayHaveBought, resendWindowInForce } from '#domain/purchase/send-claim.ts';
import { isSettledByService } from '#domain/work/attempt-lifecycle.ts';
import { isSuperseded } from '#domain/work/task-position.ts';
import { readClaimConditions } from '#fulfilment/attempts/buying-barrier.ts';
import { claimSend, lockAttempt, type SendClaim } from '#fulfilment/attempts/claim-send.ts';
import type { AttemptReport } from '#fulfilment/attempts/record-report.ts';
import { abandonIfCancelled } from '#fulfilment/batches/cancel-batch.ts';
import { startingSend } from '#fulfilment/work/update-work.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';

/** The result of one transaction that tried to claim a send. */
type ClaimResult =
  | Extract<Claimed, { kind: 'claimed' }>
  | { readonly kind: 'gated'; readonly stop: GateStop }
  /** Its batch was cancelled, and it has bought nothing: it is abandoned now. */
  | { readonly kind: 'cancelled' }
  /** A later workflow task has decided newer steps: this worker was frozen, or cut off from Temporal. */
  | { readonly kind: 'superseded' }
  /** The offer forbids it. The refusal is stored already, as the result of a send. */
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

/**
 * One transaction: locks the work, then the attempt; checks barriers, the price limit, lost records and the gate; takes
 * the lease.
 */
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
      writes: startingSend(tx, work, new Date(now()), retryRule),
    });
    if (granted.kind !== 'claimed') return notGranted(granted);

    const { attempt, leaseToken } = granted;
    const reserved = await admission.reserve();
    if (objection === undefined) return { kind: 'claimed', row, attempt, leaseToken, reserved, lease };
    // Recorded in this transaction: a worker that dies here must not leave a send behind whose outcome is unknown.
    const recorded = await recordSend(tx, sender, { work, current: row, attempt, leaseToken, reserved }, objection);
    return { kind: 'objected', ...recorded };
  });
}

/** True when the deadline of the caller has passed, or the one that an operator has set instead. */
function isLate({ deadlineAt, retryOverrides }: WorkRow, now: number): boolean {
  return now >= (retryOverrides?.deadlineAt ?? deadlineAt?.getTime() ?? Infinity);
}

function cannotHaveBought(attempt: AttemptRow): boolean {
  return !isSettledByService(attempt.state) && !mayHaveBought(attempt);
}

/** Why `claimSend` granted no lease, as the outcome of the activity. */
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
