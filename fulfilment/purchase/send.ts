import { requestBodyAad } from '#db/encryption-aads.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import { type AttemptRow, lockWork, WorkFinishedError } from '#db/work/rows.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import type { SendResult } from '#domain/purchase/results.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { AttemptReport } from '#fulfilment/attempts/report.ts';
import { recordSend, type RecordedSend } from '#fulfilment/purchase/answer.ts';
import { claimOnce } from '#fulfilment/purchase/claim.ts';
import { complete } from '#fulfilment/purchase/deliver.ts';
import { createGate, isFree, type SendReport } from '#fulfilment/purchase/gate.ts';
import {
  type WorkHandlers,
  startLease,
  type RunningLease,
  type Admitted,
  type Claimed,
  type Ended,
  type Request,
  type Sender,
  attemptSnapshot,
  type WorkDependencies,
} from '#fulfilment/purchase/handler.ts';
import { WalletReader } from '#fulfilment/purchase/wallet-reader.ts';
import type { WalletReadings } from '#fulfilment/purchase/wallet-readings.ts';
import { withAttributes } from '#telemetry/tracing.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';

/** Spends money. The returned function calls `begin` right before its request may leave. */
export function createSendPurchase(
  dependencies: WorkDependencies,
  handlers: WorkHandlers,
  readings: WalletReadings,
): (request: Request, begin: () => void) => Promise<SendResult> {
  const { database, service, gate: policy, now, onGate } = dependencies;
  const onCrossing = onGate?.balanceCrossed.bind(onGate);
  const sender: Sender = {
    ...dependencies,
    handlers,
    readings,
    purchaseGate: createGate(dependencies),
    wallet: new WalletReader({ database, service, policy, now, onCrossing }),
  };

  return async (request, begin) => {
    const admitted = await admit(sender, request);
    if (admitted.kind === 'ended') return admitted.result;

    const claimed = await claim(sender, request, admitted);
    if (claimed.kind === 'ended') return claimed.result;

    const answer = await send(sender, request, claimed, begin);
    const { result, attempt } = await record(sender, request, claimed, answer);
    if (request.delivers !== true || !isCompleted(result)) return result;

    const delivered = await deliverAtOnce(sender, request.work.kind, attempt, admitted.began);
    return delivered === undefined ? result : { ...result, delivered };
  };
}

async function admit(sender: Sender, { work, attemptId }: Request): Promise<Admitted> {
  const { handlers, purchaseGate, wallet, readings, gate: policy } = sender;
  const began = startLease(sender);
  const before = await purchaseGate.before(work, attemptId);
  if (before.kind === 'stopped') return unsent(sender, attemptId, gated(before.stop));

  const { row, priceNeeded, balance } = before;
  const [offer] = await Promise.all([
    handlers[work.kind].examine(row, { priceNeeded }),
    isFree(work) ? undefined : wallet.refreshIfOld(balance, policy.balanceAgeMs),
    isFree(work) ? undefined : readings.ensureFirst(policy.balanceTrustMs),
  ]);
  return { kind: 'admitted', began, offer, priceNeeded };
}

/** A claim that the wallet stops is tried once more when the wallet can be read again: money may have come since. */
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
    case 'cancelled':
      await purchaseGate.report(work, attemptId, { evidence: { kind: 'none' } });
      throw new WorkFinishedError(work, 'abandoned');
    case 'superseded':
      await purchaseGate.report(work, attemptId, { evidence: { kind: 'none' } });
      throw new Error('a later workflow task has decided newer steps');
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

/**
 * Sends once. Without the call of `begin`, right before the request leaves, the activity fails as one that sent
 * nothing.
 */
async function send(
  { keyRing, handlers }: Sender,
  { work }: Request,
  { row, attempt, lease }: Extract<Claimed, { kind: 'claimed' }>,
  begin: () => void,
): Promise<ServiceResult<AttemptReport>> {
  // Before `begin`: when the key is missing, nothing was sent.
  const body = keyRing.decrypt(attempt.encryptedRequestBody, requestBodyAad(attempt.id));
  begin();
  const { number, sends } = attempt;
  return withAttributes({ 'reseller.attempt': number, 'reseller.send': sends }, () =>
    handlers[work.kind].send(attempt, row, body, lease.leftMs),
  );
}

async function record(
  sender: Sender,
  { work, attemptId }: Request,
  { attempt, leaseToken, reserved }: Extract<Claimed, { kind: 'claimed' }>,
  answered: ServiceResult<AttemptReport>,
): Promise<RecordedSend> {
  const recorded = await sender.database.transaction(
    async (tx) => {
      // Locked even when it has ended: its workflow may have been terminated during the send, and replaced by another
      // run.
      const current = await lockWork(tx, work);
      return recordSend(tx, sender, { work, current, attempt, leaseToken, reserved }, answered);
    },
    // Without its answer the purchase would be unknown.
    { waitsForLocks: true },
  );
  // In a transaction of its own: the result must not be lost when this fails.
  if (answered.ok) sender.onPurchased?.(work.kind);
  if (recorded.concernsGate) await sender.purchaseGate.report(work, attemptId, reportOf(recorded.answer));
  return recorded;
}

function isCompleted({ outcome }: SendResult): boolean {
  return outcome.kind === 'accepted' && outcome.outcome === 'completed';
}

/** `attempt` is as it was read under its lock; undefined: it is read now. */
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

type Deliverer = Pick<Sender, 'handlers' | 'database' | 'gate' | 'now'>;

/**
 * Called after the facts of the send are committed, so nothing here can make its outcome unknown. All but a plain
 * success is left to `completePurchase`, which Temporal repeats where operators see it. `time` ends before the
 * activity does; a delivery that goes on after it has the effect of `completePurchase`.
 */
export async function deliverAtOnce(
  sender: Deliverer,
  kind: WorkKind,
  attempt: AttemptRow,
  time: RunningLease,
): Promise<SendResult['delivered']> {
  const leftMs = time.leftMs();
  if (leftMs <= 0) return undefined;
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => timeout.resolve(undefined), leftMs);
  try {
    return await Promise.race([deliver(sender, kind, attempt), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function deliver(sender: Deliverer, kind: WorkKind, attempt: AttemptRow): Promise<SendResult['delivered']> {
  try {
    // Reports that the workflow has not marked as handled come again, to be judged by the end of the work.
    const result = await complete(sender, sender.handlers[kind], attempt, []);
    if (result.kind !== 'completed') return undefined;
    return result.esimId === undefined ? {} : { esimId: result.esimId };
  } catch {
    return undefined;
  }
}
