import { createDebitEvidence } from '#activities/evidence/debit-evidence.ts';
import { findTakenServiceId, findMismatch } from '#activities/evidence/look-up.ts';
import { NotYetError } from '#activities/purchases/not-yet.ts';
import { priceLimit, priceObjection } from '#activities/purchases/price.ts';
import type { PurchaseKind } from '#activities/purchases/purchase-kind.ts';
import { createGate, isFree, type SendReport } from '#activities/sending/gate.ts';
import { startLease } from '#activities/sending/send-lease.ts';
import { tellingBeginning } from '#activities/sending/send-not-begun.ts';
import { WalletReader } from '#activities/upkeep/wallet-reader.ts';
import { attemptView, noteOf, type WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { PurchaseActivities, SendResult } from '#activities/work/work-types.ts';
import type { Executor } from '#db/connection/database.ts';
import { requestWake } from '#db/queues/outbox.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import type { WorkRow } from '#db/work/work-tables.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import { afterAnswer } from '#domain/purchase/late-answer.ts';
import type { SendOutcome } from '#domain/purchase/purchase-decision.ts';
import { knowsMore, type Witness } from '#domain/purchase/restored-records.ts';
import { mayHaveBought, resendWindowInForce } from '#domain/purchase/send-claim.ts';
import { isSettledByService } from '#domain/work/attempt-lifecycle.ts';
import { isDefinite } from '#domain/work/failure.ts';
import { mayFollow } from '#domain/work/lifecycle.ts';
import type { WorkKind, WorkRef } from '#domain/work/work.ts';
import { findAttemptById, recordFactsOver, requestBodyAad, type ServiceFacts } from '#fulfilment/attempts/attempts.ts';
import { buyingBarrier } from '#fulfilment/attempts/buying-barrier.ts';
import { doubtAttempt } from '#fulfilment/attempts/restored-attempts.ts';
import { claimSend, lockAttempt, recordSendFailure, type SendClaim } from '#fulfilment/attempts/send-claim.ts';
import type { Reserved } from '#fulfilment/gate/reservations.ts';
import { leaveGate } from '#fulfilment/gate/waits.ts';
import { lockUnfinishedWork, lockWork, markInProgress } from '#fulfilment/work/work.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

type Purchase = Pick<PurchaseActivities, 'sendPurchase' | 'lookUpPurchase' | 'readDebitEvidence' | 'completePurchase'>;

/** The activities that buy, those that find out what became of it, and the one that stores what was bought. */
export function createPurchase(
  dependencies: WorkDependencies,
  kinds: Readonly<Record<WorkKind, PurchaseKind>>,
): Purchase {
  const { database, keyRing, sendLeaseMs, service, gate: policy, now, onGate, purchaseInForce } = dependencies;
  const gate = createGate(dependencies);
  const onCrossing = onGate?.balanceCrossed.bind(onGate);
  const wallet = new WalletReader({ database, service, policy, now, onCrossing });

  return {
    sendPurchase: ({ work, attemptId, resendWindowMs, retryRule, witness }) =>
      tellingBeginning(async (begin): Promise<SendResult> => {
        const kind = kinds[work.kind];
        const began = startLease(dependencies);
        const unsent = async (outcome: SendResult['outcome']): Promise<SendResult> => {
          return { outcome, attempt: attemptView(await database.run((db) => findAttemptById(db, attemptId))) };
        };
        const stop = await gate.before(work, attemptId);
        if (stop !== undefined) return unsent(gated(stop));

        const priceNeeded = await gate.needsPrice(work);
        const [offer] = await Promise.all([
          kind.examine(work.id, { priceNeeded }),
          // The balance matters to what spends.
          isFree(work) ? undefined : wallet.refreshIfOlderThan(policy.balanceAgeMs),
        ]);

        /** Stores what a claimed send came to. @param current the work as it is now, locked. */
        const conclude = async (
          tx: Executor,
          current: WorkRow,
          { attempt, leaseToken }: Pick<Extract<SendClaim, { kind: 'claimed' }>, 'attempt' | 'leaseToken'>,
          how: Reserved | undefined,
          answered: ServiceResult<ServiceFacts>,
        ) => {
          const answer = await unlessNotOurs(tx, attempt, answered);
          const after = answer.ok
            ? await recordAnswer(
                tx,
                { work, current, attemptId: attempt.id, leaseToken },
                answer.value,
                new Date(now()),
              )
            : await unlessForgotten(
                tx,
                attempt,
                await recordSendFailure(tx, attempt.id, leaseToken, noteOf(answer)),
                answer,
                {
                  leaseMs: sendLeaseMs,
                  busyEsimId: current.esimId,
                },
              );
          await addTimelineEntry(tx, work, sentEntry(attempt, answer, how));
          const result: SendResult = {
            outcome: outcomeOf(after, answer),
            attempt: attemptView(after),
            ...(!answer.ok && { detail: answer.detail }),
          };
          return { result, answer };
        };
        // Measured from before the claim: the lease that the database grants in it ends later.
        let lease = began;
        const claimNow = () => {
          lease = startLease(dependencies);
          return database.transaction(async (tx) => {
            const row = await lockUnfinishedWork(tx, work);
            const by = await buyingBarrier(tx, work);
            if (by !== undefined) return { kind: 'barred', by } as const;
            const limit = priceLimit(row);
            const objection =
              offer.objection ?? (await offer.recheck?.(tx)) ?? priceObjection(limit, offer.price, priceNeeded);
            const locked = await lockAttempt(tx, attemptId);
            if (witness !== undefined && knowsMore(witness, locked.attempt)) return { kind: 'records_lost' } as const;
            const admission = await gate.admit(
              tx,
              work,
              row,
              locked,
              objection === undefined ? offer.price : 'refused',
            );
            if (admission.kind === 'stopped') return admission;
            const claimed = await claimSend(tx, locked, {
              leaseMs: sendLeaseMs,
              resendWindowMs: mayHaveBought(locked.attempt)
                ? resendWindowInForce(resendWindowMs, await purchaseInForce(tx))
                : resendWindowMs,
              esimId: row.esimId,
              limit: objection === undefined ? limit : undefined,
            });
            if (claimed.kind !== 'claimed') return claimed;
            await leaveGate(tx, work);
            await markInProgress(tx, work, 'submitting', new Date(now()), retryRule);
            const { how } = admission;
            // What is not going to be sent is never seen as under way: a worker that dies here leaves nothing unknown
            // behind.
            if (objection !== undefined)
              return { kind: 'objected', ...(await conclude(tx, row, claimed, how, objection)) } as const;
            return { ...claimed, how };
          });
        };
        let claim = await claimNow();
        // Money may have come since it was read. With much of the time of this activity gone, the gate looks a moment
        // later.
        const mayReadOnceMore =
          claim.kind === 'stopped' && claim.stop.barrier === 'wallet' && began.elapsedMs() < sendLeaseMs / 6;
        if (mayReadOnceMore && (await wallet.refreshIfOlderThan(policy.balanceTrustMs))) claim = await claimNow();

        if (claim.kind === 'stopped') return unsent(gated(claim.stop));
        if (claim.kind === 'objected') {
          await gate.report(work, attemptId, reportOf(claim.answer));
          return claim.result;
        }
        if (claim.kind !== 'claimed') await gate.report(work, attemptId, { evidence: { kind: 'none' } });
        if (claim.kind === 'records_lost') return unsent(claim);
        if (claim.kind === 'barred' || claim.kind === 'too_late' || claim.kind === 'resend_not_allowed')
          return unsent(claim);
        if (claim.kind === 'leased')
          return unsent({ kind: 'lease_held', retryAfterMs: Math.max(1, Math.ceil(claim.leaseLeftMs)) });
        if (claim.kind === 'esim_busy') return unsent({ kind: 'failure', failure: 'esim_busy' });
        if (claim.kind === 'settled') {
          return { outcome: { kind: 'accepted', outcome: claim.outcome }, attempt: attemptView(claim.attempt) };
        }

        const { attempt } = claim;
        const body = keyRing.decrypt(attempt.encryptedRequestBody, requestBodyAad(attempt.id));
        begin();
        const answered = await kind.send(attempt, body, lease.leftMs);
        // It may have ended while we waited: its workflow was terminated, and another run went on.
        const { result, answer } = await database.transaction(async (tx) =>
          conclude(tx, await lockWork(tx, work), claim, claim.how, answered),
        );
        // Apart from the result, which must not be lost because of it.
        await gate.report(work, attemptId, reportOf(answer));
        return result;
      }),

    async lookUpPurchase({ work, attemptId }) {
      const attempt = await database.run((db) => findAttemptById(db, attemptId));
      const lookedUp = await kinds[work.kind].lookUp(attempt);
      if (lookedUp.kind !== 'found') return lookedUp;
      const { facts } = lookedUp;
      return database.transaction(async (tx) => {
        const current = await lockUnfinishedWork(tx, work);
        const notOurs = await findMismatch(tx, attempt, facts);
        if (notOurs !== undefined)
          return { kind: 'unavailable', failure: { class: 'contract_drift', detail: notOurs.detail } };
        await recordAnswer(tx, { work, current, attemptId }, facts, new Date(now()));
        await addTimelineEntry(tx, work, {
          event: 'attempt.found',
          message: `The service was asked and has attempt ${attempt.number} as ${facts.outcome}.`,
          detail: { attempt: attempt.number, service_id: facts.serviceId ?? null },
          dedupKey: `attempt.found:${attempt.number}:${facts.outcome}`,
        });
        return { kind: 'found', outcome: facts.outcome };
      });
    },

    readDebitEvidence: createDebitEvidence(dependencies, kinds),

    async completePurchase({ work, attemptId, applied }) {
      const attempt = await database.run((db) => findAttemptById(db, attemptId));
      try {
        return await kinds[work.kind].complete(attempt, applied);
      } catch (error) {
        if (!(error instanceof NotYetError)) throw error;
        const { reason, message: detail, retryAfterMs } = error;
        return { kind: 'not_yet', reason, detail, ...(retryAfterMs !== undefined && { retryAfterMs }) };
      }
    },
  };
}

/** An answer about what cannot be this purchase tells nothing of it. */
async function unlessNotOurs(
  tx: Executor,
  attempt: AttemptRow,
  answer: ServiceResult<ServiceFacts>,
): Promise<ServiceResult<ServiceFacts>> {
  if (!answer.ok) return answer;
  const notOurs = await findTakenServiceId(tx, attempt, answer.value);
  if (notOurs === undefined) return answer;
  return { ok: false, kind: 'failure', failure: 'contract_drift', detail: notOurs.detail, status: answer.status };
}

/** Whose answer is stored. */
interface Answered {
  readonly work: WorkRef;
  /** The work as it is now, locked. */
  readonly current: WorkRow;
  readonly attemptId: string;
  /** Of the send that was answered; undefined: the service was asked. */
  readonly leaseToken?: string;
}

async function recordAnswer(
  tx: Executor,
  { work, current, attemptId, leaseToken }: Answered,
  facts: ServiceFacts,
  now: Date,
): Promise<AttemptRow> {
  const { before, after } = await recordFactsOver(tx, attemptId, facts, now);
  const holdsLease = leaseToken === undefined || before.leaseToken === leaseToken;
  const { isInProgress, wakes } = afterAnswer({
    before: before.state,
    after: after.state,
    work: current.status,
    holdsLease,
  });
  // A subscription that has become active meanwhile is past that.
  if (isInProgress && mayFollow(work.kind, current.status, 'processing'))
    await markInProgress(tx, work, 'processing', now);
  if (wakes) await requestWake(tx, work);
  return after;
}

/**
 * The send that was claimed may have bought. Where the row knows nothing of that any more, PostgreSQL has lost the
 * claim: the row is brought to what this worker knows.
 *
 * @param claimed the attempt as the send was claimed. @param after the same as it now is.
 */
async function unlessForgotten(
  tx: Executor,
  claimed: AttemptRow,
  after: AttemptRow,
  { failure }: ServiceFailure,
  tools: { readonly leaseMs: number; readonly busyEsimId: string | null },
): Promise<AttemptRow> {
  if (isDefinite(failure) && !claimed.anyUnknown) return after;
  if (isSettledByService(after.state) || (after.anyUnknown && after.sends >= claimed.sends)) return after;
  const { number, sends, firstSentAt, firstUnrefusedSendAt } = claimed;
  const witness: Witness = {
    number,
    state: 'unknown',
    sends,
    anyUnknown: true,
    ...(firstSentAt !== null && { firstSentAt: firstSentAt.getTime() }),
    ...(firstUnrefusedSendAt !== null && { firstUnrefusedSendAt: firstUnrefusedSendAt.getTime() }),
  };
  const busyEsimId = claimed.subjectKind === 'order' ? null : tools.busyEsimId;
  return doubtAttempt(tx, after, witness, { ...tools, busyEsimId });
}

function gated({ failure, detail, recheckMs }: GateStop): SendResult['outcome'] {
  return { kind: 'gated', failure, detail, recheckMs };
}

function reportOf(answer: ServiceResult<unknown>): SendReport {
  if (answer.ok) return { evidence: { kind: 'accepted' } };
  const { failure, detail, retryAfterMs } = answer;
  return { evidence: { kind: 'failure', failure }, detail, retryAfterMs };
}

/** @param how money was reserved for it; undefined when it was not to be sent. */
function sentEntry(attempt: AttemptRow, answer: ServiceResult<ServiceFacts>, how: Reserved | undefined) {
  const detail = { attempt: attempt.number, send: attempt.sends, ...(how !== undefined && { reservation: how }) };
  const dedupKey = `send:${attempt.number}:${attempt.sends}`;
  if (answer.ok) {
    const { outcome, serviceId } = answer.value;
    const message = `The service answered attempt ${attempt.number}: ${outcome}.`;
    return { event: 'attempt.accepted', message, detail: { ...detail, service_id: serviceId ?? null }, dedupKey };
  }
  const event = isDefinite(answer.failure) && !attempt.anyUnknown ? 'attempt.refused' : 'attempt.unknown';
  return { event, message: answer.detail, detail: { ...detail, failure_class: answer.failure }, dedupKey };
}

/** What the send came to, by what the attempt is now: an event may have settled it while we waited for the answer. */
function outcomeOf(attempt: AttemptRow, answer: ServiceResult<ServiceFacts>): SendOutcome {
  const { state } = attempt;
  if (state === 'processing' || state === 'completed' || state === 'failed')
    return { kind: 'accepted', outcome: state };
  if (answer.ok) throw new Error(`attempt ${attempt.id} was accepted, but is ${state}`);
  const { failure, retryAfterMs } = answer;
  return { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
