import type { Executor } from '#db/connection/database.ts';
import { findWait, enqueue, consumeOverride } from '#db/gate/waits.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import { type WorkRow, lockUnfinishedWork, lockWork } from '#db/work/rows.ts';
import type { SendEvidence } from '#domain/gate/circuit.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { GatePolicy } from '#domain/policy/gate-policy.ts';
import { mayHaveBought } from '#domain/purchase/send-claim.ts';
import { isSettledByService } from '#domain/work/attempt-lifecycle.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { reserve, type ReservationRequest, type Reserved, type GateBalance } from '#fulfilment/gate/account.ts';
import { hold, stopAtGate, takeTurn, readSendConditions } from '#fulfilment/gate/admission.ts';
import { noteSend } from '#fulfilment/gate/circuits.ts';
import { lockAttempt, type LockedAttempt } from '#fulfilment/purchase/attempt.ts';
import type { WorkDependencies } from '#fulfilment/purchase/handler.ts';
import { priceLimit } from '#fulfilment/purchase/offer.ts';

type Admission =
  | {
      readonly kind: 'admitted';
      /** The last statements of the transaction. @throws MoneyShortError when the gate stops it. */
      readonly reserve: () => Promise<Reserved | undefined>;
    }
  | { readonly kind: 'stopped'; readonly stop: GateStop };

/** The other changes of the claim are made already, so it is rolled back. */
export class MoneyShortError extends Error {
  constructor() {
    super('the wallet or a daily limit does not cover the price');
    this.name = 'MoneyShortError';
  }
}

/**
 * `last`: other claims wait for one commit, not for all statements of this one. `first`: the hold of a stopped
 * purchase is committed with the decision.
 */
export type ReservationOrder = 'first' | 'last';

export interface SendReport {
  readonly evidence: SendEvidence;
  readonly detail?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

type BeforeSend =
  | { readonly kind: 'stopped'; readonly stop: GateStop }
  | {
      readonly kind: 'passes';
      /** Not locked. */
      readonly row: WorkRow;
      /** For a daily limit, or for the caller's limit. */
      readonly priceNeeded: boolean;
      readonly balance: GateBalance | undefined;
    };

export interface Gate {
  /**
   * Before any call to the service. @throws WorkMissingError; WorkFinishedError when the gate is not clear and the
   * work has ended.
   */
  before(work: WorkRef, attemptId: string): Promise<BeforeSend>;
  /**
   * In the transaction that claims the send, with the work locked; `locked` and `isClear` are read in it. `price` is
   * undefined when not known, `'refused'` when nothing will be sent. `last` has an effect only while no barrier is in
   * force.
   */
  admit(
    tx: Executor,
    work: WorkRef,
    row: WorkRow,
    locked: LockedAttempt,
    isClear: boolean,
    price: Money | undefined | 'refused',
    order: ReservationOrder,
  ): Promise<Admission>;
  /** Never throws: the next send reports again. */
  report(work: WorkRef, attemptId: string, report: SendReport): Promise<void>;
}

export function createGate({ database, gate: policy, now, onGate }: WorkDependencies): Gate {
  return {
    async before(work, attemptId) {
      const { row, isGateClear, keyLimit, balance } = await database.run((db) => readSendConditions(db, work));
      if (isFree(work)) return { kind: 'passes', row, priceNeeded: false, balance };
      const stop = isGateClear
        ? undefined
        : await database.transaction(async (tx) => {
            const locked = await lockUnfinishedWork(tx, work);
            const { attempt } = await lockAttempt(tx, attemptId);
            return stopAtGate(tx, { work, row: locked, attempt, now: now(), isUnreserved: false }, policy);
          });
      if (stop !== undefined) return { kind: 'stopped', stop };
      const hasSpendLimit = policy.spendLimit !== undefined || keyLimit !== undefined;
      return { kind: 'passes', row, priceNeeded: priceLimit(row) !== null || hasSpendLimit, balance };
    },

    async admit(tx, work, row, locked, isClear, price, order) {
      const { attempt } = locked;
      if (isFree(work) || !mayBeSent(locked)) return NOTHING_TO_RESERVE;
      const asker = { work, row, attempt, now: now() };
      const stop = isClear ? undefined : await stopAtGate(tx, { ...asker, isUnreserved: false }, policy);
      if (stop !== undefined) return { kind: 'stopped', stop };
      if (price === 'refused') return NOTHING_TO_RESERVE;

      const request = { attempt, apiKeyId: row.apiKeyId, price, now: new Date(asker.now) };
      if (isClear && order === 'last') return { kind: 'admitted', reserve: () => reserveOrThrow(tx, request, policy) };
      const reservation = await reserve(tx, request, policy);
      if (reservation.kind === 'stopped') {
        await hold(tx, asker, reservation.stop, await findWait(tx, work), policy, price);
        // An override does not pass the wallet and the limits, so it is used up here.
        await consumeOverride(tx, work);
        return reservation;
      }
      const { how } = reservation;
      const isReserved = how === 'reserved' || how === 'reserved_before';
      const unreserved =
        isClear || isReserved ? undefined : await stopAtGate(tx, { ...asker, isUnreserved: true }, policy);
      const refused = unreserved ?? (isClear ? undefined : await takeTurn(tx, asker, policy));
      return refused === undefined
        ? { kind: 'admitted', reserve: () => Promise.resolve(how) }
        : { kind: 'stopped', stop: refused };
    },

    async report(work, attemptId, { evidence, detail, retryAfterMs }) {
      if (isFree(work)) return;
      try {
        const changes = await database.transaction(async (tx) => {
          const row = await lockWork(tx, work);
          const noted = await noteSend(tx, { work, evidence, detail, retryAfterMs, now: now() }, policy);
          const attempt = await findAttemptById(tx, attemptId);
          const opened = noted.failed.find(({ circuit: { state } }) => state === 'open' || state === 'probing');
          if (
            evidence.kind === 'failure' &&
            opened !== undefined &&
            !isFinal(row.status) &&
            !isSettledByService(attempt.state)
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
              mayHaveBought: mayHaveBought(attempt),
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
    },
  };
}

const NOTHING_TO_RESERVE: Admission = { kind: 'admitted', reserve: () => Promise.resolve(undefined) };

async function reserveOrThrow(tx: Executor, request: ReservationRequest, policy: GatePolicy): Promise<Reserved> {
  const reservation = await reserve(tx, request, policy);
  if (reservation.kind === 'stopped') throw new MoneyShortError();
  return reservation.how;
}

/** Cancellations spend nothing and pass no purchase gate. */
export function isFree({ kind }: WorkRef): boolean {
  return !KINDS[kind].isPurchase;
}

/** False when the service has the attempt, or another send may be under way. */
function mayBeSent({ attempt, leaseLeftMs }: LockedAttempt): boolean {
  return !isSettledByService(attempt.state) && (leaseLeftMs === null || leaseLeftMs <= 0);
}
