import { priceLimit, priceObjection } from '#activities/purchases/price.ts';
import type { Offer, WorkHandlers } from '#activities/purchases/work-handler.ts';
import { deliverAtOnce } from '#activities/sending/deliver-at-once.ts';
import {
  createGate,
  isFree,
  MoneyShortError,
  type Gate,
  type ReservationOrder,
  type SendReport,
} from '#activities/sending/gate.ts';
import { recordSend, type RecordedSend } from '#activities/sending/record-send.ts';
import { startLease, type RunningLease } from '#activities/sending/send-lease.ts';
import { failAsNotBegun } from '#activities/sending/send-not-begun.ts';
import { WalletReader } from '#activities/upkeep/wallet-reader.ts';
import { attemptSnapshot, type WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { PurchaseActivities, SendResult } from '#activities/work/work-types.ts';
import { findAttemptById } from '#db/attempts/attempts.ts';
import { requestBodyAad } from '#db/encryption-aads.ts';
import { leaveGate } from '#db/gate/waits.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { lockUnfinishedWork, lockWork } from '#db/work/work-rows.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import { knowsMore } from '#domain/purchase/restored-records.ts';
import { mayHaveBought, resendWindowInForce } from '#domain/purchase/send-claim.ts';
import { buyingBarrier } from '#fulfilment/attempts/buying-barrier.ts';
import { claimSend, lockAttempt, type SendClaim } from '#fulfilment/attempts/claim-send.ts';
import type { AttemptReport } from '#fulfilment/attempts/record-report.ts';
import type { Reserved } from '#fulfilment/gate/reservations.ts';
import { markInProgress } from '#fulfilment/work/update-work.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';

type Request = Parameters<PurchaseActivities['sendPurchase']>[0];

/** Everything the steps of a send share. */
interface Sender extends WorkDependencies {
  readonly handlers: WorkHandlers;
  readonly purchaseGate: Gate;
  readonly wallet: WalletReader;
}

/** The activity ends here; nothing (more) is sent. */
interface Ended {
  readonly kind: 'ended';
  readonly result: SendResult;
}

/** The result of `admit`. */
type Admitted =
  | {
      readonly kind: 'admitted';
      /** Measures this activity from its beginning. */
      readonly began: RunningLease;
      readonly offer: Offer;
      /** True when the price of the offer was read for this send. */
      readonly priceNeeded: boolean;
    }
  | Ended;

/** The result of `claim`. */
type Claimed =
  | {
      readonly kind: 'claimed';
      readonly attempt: AttemptRow;
      readonly leaseToken: string;
      /** How money was reserved; undefined for work that costs nothing. */
      readonly reserved: Reserved | undefined;
      readonly lease: RunningLease;
    }
  | Ended;

/** Makes the activity that spends money: admit, claim, send, record, deliver. Each step can end it. */
export function createSendPurchase(
  dependencies: WorkDependencies,
  handlers: WorkHandlers,
): PurchaseActivities['sendPurchase'] {
  const { database, service, gate: policy, now, onGate } = dependencies;
  const onCrossing = onGate?.balanceCrossed.bind(onGate);
  const sender: Sender = {
    ...dependencies,
    handlers,
    purchaseGate: createGate(dependencies),
    wallet: new WalletReader({ database, service, policy, now, onCrossing }),
  };

  return (request) =>
    failAsNotBegun(async (begin) => {
      const admitted = await admit(sender, request);
      if (admitted.kind === 'ended') return admitted.result;

      const claimed = await claim(sender, request, admitted);
      if (claimed.kind === 'ended') return claimed.result;

      const answer = await send(sender, request, claimed, begin);
      const { result, attempt } = await record(sender, request, claimed, answer);
      if (request.delivers !== true || !isCompleted(result)) return result;

      const delivered = await deliverAtOnce(handlers, request.work.kind, attempt, admitted.began);
      return delivered === undefined ? result : { ...result, delivered };
    });
}

/**
 * Checks pauses and circuits before the service is called, then reads the offer and, where money is spent, the wallet.
 */
async function admit(sender: Sender, { work, attemptId }: Request): Promise<Admitted> {
  const { handlers, purchaseGate, wallet, gate: policy } = sender;
  const began = startLease(sender);
  const stop = await purchaseGate.before(work, attemptId);
  if (stop !== undefined) return unsent(sender, attemptId, gated(stop));

  const priceNeeded = await purchaseGate.needsPrice(work);
  const [offer] = await Promise.all([
    handlers[work.kind].examine(work.id, { priceNeeded }),
    isFree(work) ? undefined : wallet.refreshIfOlderThan(policy.balanceAgeMs),
  ]);
  return { kind: 'admitted', began, offer, priceNeeded };
}

/**
 * Takes the lease of the send and reserves its money. A claim that the wallet stops is tried once more when the wallet
 * can be read again: money may have come since.
 */
async function claim(
  sender: Sender,
  request: Request,
  admitted: Extract<Admitted, { kind: 'admitted' }>,
): Promise<Claimed> {
  const { purchaseGate, wallet, gate: policy, sendLeaseMs } = sender;
  const { work, attemptId } = request;

  let claimed = await claimOnce(sender, request, admitted);
  // The time of the activity is limited. When much of it has passed, the gate reads the wallet and wakes the work.
  const hasTime = admitted.began.elapsedMs() < sendLeaseMs / 6;
  if (claimed.kind === 'gated' && claimed.stop.barrier === 'wallet' && hasTime) {
    if (await wallet.refreshIfOlderThan(policy.balanceTrustMs)) claimed = await claimOnce(sender, request, admitted);
  }

  switch (claimed.kind) {
    case 'claimed':
      return claimed;
    case 'gated':
      return unsent(sender, attemptId, gated(claimed.stop));
    case 'objected':
      await purchaseGate.report(work, attemptId, reportOf(claimed.answer));
      return { kind: 'ended', result: claimed.result };
    case 'unsent':
      await purchaseGate.report(work, attemptId, { evidence: { kind: 'none' } });
      return unsent(sender, attemptId, claimed.outcome, claimed.attempt);
  }
}

/** The result of one transaction that tried to claim a send. */
type ClaimResult =
  | Extract<Claimed, { kind: 'claimed' }>
  | { readonly kind: 'gated'; readonly stop: GateStop }
  /** The offer forbids it. The refusal is stored already, as the result of a send. */
  | { readonly kind: 'objected'; readonly result: SendResult; readonly answer: ServiceResult<AttemptReport> }
  | { readonly kind: 'unsent'; readonly outcome: SendResult['outcome']; readonly attempt?: AttemptRow };

/** A claim that the wallet or a limit stops is rolled back, and runs again with the money first. */
async function claimOnce(
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
  { work, attemptId, resendWindowMs, retryRule, witness }: Request,
  { offer, priceNeeded }: Extract<Admitted, { kind: 'admitted' }>,
  order: ReservationOrder,
): Promise<ClaimResult> {
  const { database, purchaseGate, sendLeaseMs, purchaseInForce, now } = sender;
  // Measured from before the transaction: the lease that PostgreSQL grants in it ends later than this one.
  const lease = startLease(sender);
  return database.transaction(async (tx): Promise<ClaimResult> => {
    const row = await lockUnfinishedWork(tx, work);
    const by = await buyingBarrier(tx, work);
    if (by !== undefined) return { kind: 'unsent', outcome: { kind: 'barred', by } };

    const limit = priceLimit(row);
    const objection = offer.objection ?? (await offer.recheck?.(tx)) ?? priceObjection(limit, offer.price, priceNeeded);
    const locked = await lockAttempt(tx, attemptId);
    // PostgreSQL has lost commits: the row cannot say whether this may be sent.
    if (witness !== undefined && knowsMore(witness, locked.attempt))
      return { kind: 'unsent', outcome: { kind: 'records_lost' } };

    const price = objection === undefined ? offer.price : 'refused';
    const admission = await purchaseGate.admit(tx, work, row, locked, price, order);
    if (admission.kind === 'stopped') return { kind: 'gated', stop: admission.stop };

    const granted = await claimSend(tx, locked, {
      leaseMs: sendLeaseMs,
      // Read here, not from the workflow's input: an operator may have revoked resending since.
      resendWindowMs: mayHaveBought(locked.attempt)
        ? resendWindowInForce(resendWindowMs, await purchaseInForce(tx))
        : resendWindowMs,
      esimId: row.esimId,
      limit: objection === undefined ? limit : undefined,
    });
    if (granted.kind !== 'claimed') return notGranted(granted);
    await leaveGate(tx, work);
    await markInProgress(tx, work, 'submitting', new Date(now()), retryRule);

    const { attempt, leaseToken } = granted;
    const reserved = await admission.reserve();
    if (objection === undefined) return { kind: 'claimed', attempt, leaseToken, reserved, lease };
    // Recorded in this transaction: a worker that dies here must not leave a send behind whose outcome is unknown.
    const recorded = await recordSend(tx, sender, { work, current: row, attempt, leaseToken, reserved }, objection);
    return { kind: 'objected', ...recorded };
  });
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

/**
 * Sends the stored bytes once. The client reads the lease again right before the request leaves.
 *
 * @param begin called right before that: without this call the activity fails as one that sent nothing.
 */
async function send(
  { keyRing, handlers }: Sender,
  { work }: Request,
  { attempt, lease }: Extract<Claimed, { kind: 'claimed' }>,
  begin: () => void,
): Promise<ServiceResult<AttemptReport>> {
  // Before `begin`: when the key is missing, nothing was sent.
  const body = keyRing.decrypt(attempt.encryptedRequestBody, requestBodyAad(attempt.id));
  begin();
  return handlers[work.kind].send(attempt, body, lease.leftMs);
}

/** Stores the answer of a send, then reports it to the circuits of the gate if it may change one. */
async function record(
  sender: Sender,
  { work, attemptId }: Request,
  { attempt, leaseToken, reserved }: Extract<Claimed, { kind: 'claimed' }>,
  answered: ServiceResult<AttemptReport>,
): Promise<RecordedSend> {
  const recorded = await sender.database.transaction(async (tx) => {
    // Locked even when it has ended: its workflow may have been terminated during the send, and replaced by another
    // run.
    const current = await lockWork(tx, work);
    return recordSend(tx, sender, { work, current, attempt, leaseToken, reserved }, answered);
  });
  // In a transaction of its own: the result must not be lost when this fails.
  if (recorded.concernsGate) await sender.purchaseGate.report(work, attemptId, reportOf(recorded.answer));
  return recorded;
}

function isCompleted({ outcome }: SendResult): boolean {
  return outcome.kind === 'accepted' && outcome.outcome === 'completed';
}

/** @param attempt as it was read under its lock; undefined: it is read now. */
async function unsent(
  { database }: Sender,
  attemptId: string,
  outcome: SendResult['outcome'],
  attempt?: AttemptRow,
): Promise<Ended> {
  const current = attempt ?? (await database.run((db) => findAttemptById(db, attemptId)));
  return { kind: 'ended', result: { outcome, attempt: attemptSnapshot(current) } };
}

function gated({ failure, detail, recheckMs }: GateStop): SendResult['outcome'] {
  return { kind: 'gated', failure, detail, recheckMs };
}

function reportOf(answer: ServiceResult<unknown>): SendReport {
  if (answer.ok) return { evidence: { kind: 'accepted' } };
  const { failure, detail, retryAfterMs } = answer;
  return { evidence: { kind: 'failure', failure }, detail, retryAfterMs };
}
