import type { Executor } from '#db/connection/database.ts';
import { findWait, enqueue, consumeOverride } from '#db/gate/waits.ts';
import { findAttemptById, lockAttempt, type LockedAttempt } from '#db/work/attempts.ts';
import { type WorkRow, lockUnfinishedWork, lockWork } from '#db/work/rows.ts';
import type { SendEvidence } from '#domain/gate/circuit.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import { isOutcomeUnknown } from '#domain/purchase/send-claim.ts';
import { isKnownToService } from '#domain/work/attempt-lifecycle.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { reserve, type GateBalance, type Reservation, type Reserved } from '#fulfilment/gate/account.ts';
import { hold, stopAtGate, takeTurn, readSendConditions } from '#fulfilment/gate/admission.ts';
import { changesNoCircuit, noteSend } from '#fulfilment/gate/circuits.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { priceLimit } from '#fulfilment/purchase/offer.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';

/** Cancellations spend nothing and pass no purchase gate. */
export function isFree({ kind }: WorkRef): boolean {
  return !KINDS[kind].isPurchase;
}

type GateLook =
  | { readonly kind: 'stopped'; readonly stop: GateStop }
  | {
      readonly kind: 'passes';
      /** Not locked. */
      readonly row: WorkRow;
      /** For a daily limit, or for the caller's limit. */
      readonly priceNeeded: boolean;
      readonly balance: GateBalance | undefined;
    };

/**
 * Before any call to the service. @throws WorkMissingError; WorkFinishedError when the gate is not clear and the work
 * has ended.
 */
export async function lookAtGate(
  { database, gate: policy, now }: WorkDependencies,
  work: WorkRef,
  attemptId: string,
): Promise<GateLook> {
  const { row, isGateClear, keyLimit, balance } = await database.run((db) => readSendConditions(db, work));
  if (isFree(work)) return { kind: 'passes', row, priceNeeded: false, balance };
  if (!isGateClear) {
    const stop = await database.transaction(async (tx) => {
      const locked = await lockUnfinishedWork(tx, work);
      const attempt = await lockAttempt(tx, attemptId);
      return stopAtGate(tx, { work, row: locked, attempt, now: now(), isUnreserved: false }, policy);
    });
    if (stop !== undefined) return { kind: 'stopped', stop };
  }
  const hasSpendLimit = policy.spendLimit !== undefined || keyLimit !== undefined;
  return { kind: 'passes', row, priceNeeded: priceLimit(row) !== null || hasSpendLimit, balance };
}

/**
 * In the transaction that claims the send, with work and attempt locked. `isClear` is read in it. `price` is undefined
 * when not known, `'refused'` when nothing will be sent and no money is reserved.
 */
export async function passGate(
  tx: Executor,
  { gate: policy, now }: WorkDependencies,
  work: WorkRef,
  row: WorkRow,
  attempt: LockedAttempt,
  isClear: boolean,
  price: Money | undefined | 'refused',
): Promise<Reservation | { readonly kind: 'passes'; readonly reservation: undefined }> {
  if (isFree(work)) return { kind: 'passes', reservation: undefined };
  const asker = { work, row, attempt, now: now() };
  const stop = isClear ? undefined : await stopAtGate(tx, { ...asker, isUnreserved: false }, policy);
  if (stop !== undefined) return { kind: 'stopped', stop };
  if (price === 'refused') return { kind: 'passes', reservation: undefined };

  const request = { attempt, apiKeyId: row.apiKeyId, price, now: new Date(asker.now) };
  const admission = await reserve(tx, request, policy);
  if (admission.kind === 'stopped') {
    await hold(tx, asker, admission.stop, await findWait(tx, work), policy, price);
    // An override does not pass the wallet and the limits, so it is used up here.
    await consumeOverride(tx, work);
    return admission;
  }
  if (isClear) return admission;
  const refused =
    (HAS_MONEY.has(admission.reservation)
      ? undefined
      : await stopAtGate(tx, { ...asker, isUnreserved: true }, policy)) ?? (await takeTurn(tx, asker, policy));
  return refused === undefined ? admission : { kind: 'stopped', stop: refused };
}

const HAS_MONEY: ReadonlySet<Reserved> = new Set(['reserved', 'reserved_before']);

/** Undefined when nothing was sent. Never throws: the next send tells the gate again. */
export async function tellGate(
  { database, gate: policy, now, onGate }: WorkDependencies,
  work: WorkRef,
  attemptId: string,
  answer: ServiceResult<unknown> | undefined,
): Promise<void> {
  if (isFree(work)) return;
  const evidence = evidenceOf(answer);
  const { detail, retryAfterMs } = answer?.ok === false ? answer : {};
  try {
    if (await database.run((db) => changesNoCircuit(db, { work, evidence }))) return;
    const changes = await database.transaction(async (tx) => {
      const row = await lockWork(tx, work);
      const noted = await noteSend(tx, { work, evidence, detail, retryAfterMs, now: now() }, policy);
      const attempt = await findAttemptById(tx, attemptId);
      const opened = noted.failed.find(({ circuit: { state } }) => state === 'open' || state === 'probing');
      if (
        evidence.kind === 'failure' &&
        opened !== undefined &&
        !isFinal(row.status) &&
        !isKnownToService(attempt.state)
      ) {
        // It may be the oldest that waits, and then becomes the next canary.
        const { createdAt: acceptedAt, apiKeyId } = row;
        const { circuit, wasCanary } = opened;
        const waiting = {
          work,
          barrier: `circuit:${circuit.name}`,
          failureClass: evidence.failure,
          acceptedAt,
          apiKeyId,
          mayHaveBought: isOutcomeUnknown(attempt),
          // After a failed canary, other work is the next canary.
          probes: wasCanary ? circuit.openings : 0,
        } as const;
        await enqueue(tx, waiting, new Date(now()));
      }
      return noted.changes;
    });
    for (const change of changes) onGate?.circuitChanged(change);
  } catch (error) {
    onGate?.failed(error);
  }
}

function evidenceOf(answer: ServiceResult<unknown> | undefined): SendEvidence {
  if (answer === undefined) return { kind: 'none' };
  return answer.ok ? { kind: 'accepted' } : { kind: 'failure', failure: answer.failure };
}
