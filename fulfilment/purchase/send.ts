import { requestBodyAad } from '#db/encryption-aads.ts';
import { findAttemptById, snapshotOf } from '#db/work/attempts.ts';
import { type AttemptRow, lockWork, WorkFinishedError } from '#db/work/rows.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import type { CompletionResult, SendResult } from '#domain/purchase/results.ts';
import type { Report } from '#domain/relay/observation.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { readSendConditions } from '#fulfilment/gate/admission.ts';
import { recordSend, type RecordedSend } from '#fulfilment/purchase/answer.ts';
import {
  claim,
  startLease,
  type Claim,
  type ClaimedSend,
  type Examined,
  type RunningLease,
  type SendRequest,
} from '#fulfilment/purchase/claim.ts';
import { complete } from '#fulfilment/purchase/deliver.ts';
import type { PurchaseDependencies } from '#fulfilment/purchase/dependencies.ts';
import { isFree, stopBeforeCalls, tellGate, type SendConditions } from '#fulfilment/purchase/gate.ts';
import { SERVICE_CALLS } from '#fulfilment/purchase/kinds.ts';
import { priceLimit } from '#fulfilment/purchase/offer.ts';
import { withAttributes } from '#telemetry/tracing.ts';
import { within } from '#telemetry/waiting.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';

/** Spends money. `begin` is called right before the request may leave. */
export async function sendPurchase(
  dependencies: PurchaseDependencies,
  request: SendRequest,
  begin: () => void,
): Promise<SendResult> {
  const { work, attemptId } = request;
  const began = startLease(dependencies);
  const conditions = await dependencies.database.run((db) => readSendConditions(db, work));
  if (!conditions.isGateClear && !isFree(work)) {
    const stop = await stopBeforeCalls(dependencies, work, attemptId);
    if (stop !== undefined) return unsent(dependencies, attemptId, gated(stop));
  }
  const examined = await examine(dependencies, work, conditions);
  const claimed = await claimExamined(dependencies, request, examined, began);
  return sendClaimed(dependencies, request, claimed, began, begin);
}

/** Reads what the service offers now, where that is needed. */
export async function examine(
  dependencies: PurchaseDependencies,
  work: WorkRef,
  { row, keyLimit, balance }: SendConditions,
): Promise<Examined> {
  const { wallet, readings, gate: policy } = dependencies;
  const hasSpendLimit = policy.spendLimit !== undefined || keyLimit !== undefined;
  const isPriceFresh = !isFree(work) && (priceLimit(row) !== null || hasSpendLimit);
  const [offer] = await Promise.all([
    SERVICE_CALLS[work.kind].examine(dependencies, row, isPriceFresh),
    isFree(work) ? undefined : wallet.refreshIfOld(balance, policy.balanceAgeMs),
    isFree(work) ? undefined : readings.ensureFirst(policy.balanceTrustMs),
  ]);
  return { offer, isPriceFresh };
}

/** A claim that the wallet stops is tried once more when the wallet can be read again: money may have come since. */
async function claimExamined(
  dependencies: PurchaseDependencies,
  request: SendRequest,
  examined: Examined,
  began: RunningLease,
): Promise<Claim> {
  const { wallet, gate: policy, sendLeaseMs } = dependencies;
  const claimed = await claim(dependencies, request, examined);
  // The time of the activity is limited. When much of it has passed, the gate reads the wallet and wakes the work.
  const hasTime = began.elapsedMs() < sendLeaseMs / 6;
  if (claimed.kind !== 'gated' || claimed.stop.barrier !== 'wallet' || !hasTime) return claimed;
  const isRead = await wallet.refreshIfOlderThan(policy.balanceTrustMs);
  return isRead ? claim(dependencies, request, examined) : claimed;
}

/** Sends what was claimed, and stores the answer. `began`: when the activity began to send. */
export async function sendClaimed(
  dependencies: PurchaseDependencies,
  request: SendRequest,
  claimed: Claim,
  began: RunningLease,
  begin: () => void,
): Promise<SendResult> {
  if (claimed.kind !== 'claimed') return unclaimed(dependencies, request, claimed);
  const answer = await send(dependencies, request, claimed, begin);
  const { result, attempt } = await record(dependencies, request, claimed, answer);
  if (request.delivers !== true || !isCompleted(result)) return result;

  // Reports that the workflow has not marked as applied come again, to be judged by the end of the work.
  const delivered = await deliverAtOnce(() => complete(dependencies, attempt, []), began.leftMs());
  return delivered === undefined ? result : { ...result, delivered };
}

async function unclaimed(
  dependencies: PurchaseDependencies,
  { work, attemptId }: SendRequest,
  claimed: Exclude<Claim, ClaimedSend>,
): Promise<SendResult> {
  switch (claimed.kind) {
    case 'cancelled':
      await tellGate(dependencies, work, attemptId, undefined);
      throw new WorkFinishedError(work, 'abandoned');
    case 'superseded':
      await tellGate(dependencies, work, attemptId, undefined);
      throw new Error('a later workflow task has decided newer steps');
    case 'gated':
      return unsent(dependencies, attemptId, gated(claimed.stop));
    case 'objected':
      await tellGate(dependencies, work, attemptId, claimed.objection);
      return claimed.result;
    case 'unsent':
      await tellGate(dependencies, work, attemptId, undefined);
      return unsent(dependencies, attemptId, claimed.outcome, claimed.attempt);
  }
}

/**
 * Sends once. Without the call of `begin`, right before the request leaves, the activity fails as one that sent
 * nothing.
 */
async function send(
  dependencies: PurchaseDependencies,
  { work }: SendRequest,
  { row, attempt, lease }: ClaimedSend,
  begin: () => void,
): Promise<ServiceResult<Report>> {
  // Before `begin`: when the key is missing, nothing was sent.
  const body = dependencies.keyRing.decrypt(attempt.encryptedRequestBody, requestBodyAad(attempt.id));
  begin();
  const { number, sends } = attempt;
  return withAttributes({ 'reseller.attempt': number, 'reseller.send': sends }, () =>
    SERVICE_CALLS[work.kind].send(dependencies, attempt, row, body, lease.leftMs),
  );
}

async function record(
  dependencies: PurchaseDependencies,
  { work, attemptId, delivers }: SendRequest,
  claimed: ClaimedSend,
  answer: ServiceResult<Report>,
): Promise<RecordedSend> {
  const recorded = await dependencies.database.transaction(
    // Locked even when it has ended: its workflow may have been terminated during the send, and replaced by another
    // run.
    async (tx) => recordSend(tx, dependencies, work, await lockWork(tx, work), claimed, answer, delivers),
    // Without its answer the purchase would be unknown.
    { waitsForLocks: true },
  );
  // In a transaction of its own: the result must not be lost when this fails.
  if (answer.ok) dependencies.onPurchased?.(work.kind);
  await tellGate(dependencies, work, attemptId, recorded.answer);
  return recorded;
}

function isCompleted({ outcome }: SendResult): boolean {
  return outcome.kind === 'accepted' && outcome.outcome === 'completed';
}

async function unsent(
  { database }: PurchaseDependencies,
  attemptId: string,
  outcome: SendResult['outcome'],
  attempt?: AttemptRow,
): Promise<SendResult> {
  const current = attempt ?? (await database.run((db) => findAttemptById(db, attemptId)));
  return { outcome, attempt: snapshotOf(current) };
}

function gated({ failure, detail, recheckMs }: GateStop): SendResult['outcome'] {
  return { kind: 'gated', failure, detail, recheckMs };
}

/**
 * Called after the facts of the send are committed, so nothing here can make its outcome unknown. All but a plain
 * success is left to `completePurchase`, which Temporal repeats where operators see it. `leftMs` ends before the
 * activity does; a delivery that goes on after it has the effect of `completePurchase`.
 */
export async function deliverAtOnce(
  delivery: () => Promise<CompletionResult>,
  leftMs: number,
): Promise<SendResult['delivered']> {
  if (leftMs <= 0) return undefined;
  try {
    const result = await within(leftMs, delivery);
    if (result.kind !== 'completed') return undefined;
    return result.esimId === undefined ? {} : { esimId: result.esimId };
  } catch {
    return undefined;
  }
}
