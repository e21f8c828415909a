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
import { reserve, type Reservation, type Reserved } from '#fulfilment/gate/account.ts';
import { hold, stopAtGate, takeTurn, type readSendConditions } from '#fulfilment/gate/admission.ts';
import { changesNoCircuit, noteSend } from '#fulfilment/gate/circuits.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';

/** Cancellations spend nothing and pass no purchase gate. */
export function isFree({ kind }: WorkRef): boolean {
  return !KINDS[kind].isPurchase;
}

export type SendConditions = Awaited<ReturnType<typeof readSendConditions>>;

/**
 * When the gate is not clear. @returns why nothing may be sent, before any call to the service. @throws
 * WorkMissingError, WorkFinishedError
 */
export async function stopBeforeCalls(
  { database, gate: policy, now }: WorkDependencies,
  work: WorkRef,
  attemptId: string,
): Promise<GateStop | undefined> {
  return database.transaction(async (tx) => {
    const row = await lockUnfinishedWork(tx, work);
    const attempt = await lockAttempt(tx, attemptId);
    return stopAtGate(tx, { work, row, attempt, now: now(), isUnreserved: false }, policy);
  });
}

type Admission = Reservation | { readonly kind: 'passes'; readonly reservation: undefined };

/**
 * In the transaction that claims the send, with work and attempt locked. `isClear` is read in it. `attempt`: as it was
 * before this claim. `price` is undefined when not known, `'refused'` when nothing will be sent.
 */
export async function passGate(
  tx: Executor,
  dependencies: WorkDependencies,
  work: WorkRef,
  row: WorkRow,
  attempt: LockedAttempt,
  isClear: boolean,
  price: Money | undefined | 'refused',
): Promise<Admission> {
  const { gate: policy, now } = dependencies;
  if (isFree(work)) return { kind: 'passes', reservation: undefined };
  const asker = { work, row, attempt, now: now() };
  const stop = isClear ? undefined : await stopAtGate(tx, { ...asker, isUnreserved: false }, policy);
  if (stop !== undefined) return { kind: 'stopped', stop };
  const admission = await reservePrice(tx, dependencies, work, row, attempt, price);
  if (admission.kind === 'stopped') {
    await hold(tx, asker, admission.stop, await findWait(tx, work), policy, price === 'refused' ? undefined : price);
    // An override does not pass the wallet and the limits, so it is used up here.
    await consumeOverride(tx, work);
    return admission;
  }
  const { reservation } = admission;
  if (isClear || reservation === undefined) return admission;
  const refused =
    (HAS_MONEY.has(reservation) ? undefined : await stopAtGate(tx, { ...asker, isUnreserved: true }, policy)) ??
    (await takeTurn(tx, asker, policy));
  return refused === undefined ? admission : { kind: 'stopped', stop: refused };
}

/** The part of {@link passGate} that takes the lock of the account. Where it stops the send, nothing is held yet. */
export async function reservePrice(
  tx: Executor,
  { gate: policy, now }: WorkDependencies,
  work: WorkRef,
  { apiKeyId }: WorkRow,
  attempt: LockedAttempt,
  price: Money | undefined | 'refused',
): Promise<Admission> {
  if (isFree(work) || price === 'refused') return { kind: 'passes', reservation: undefined };
  return reserve(tx, { attempt, apiKeyId, price, now: new Date(now()) }, policy);
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
