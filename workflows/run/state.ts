import { reasonOf, type Witness } from '#domain/purchase/recovery.ts';
import type { AttemptSnapshot, AwaitedEvidence, WorkSnapshot } from '#domain/purchase/results.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { Step } from '#workflows/purchase/steps.ts';

/**
 * What a run knows and PostgreSQL does not. It is in the input of the next run, so a field keeps its name. Times are in
 * epoch milliseconds.
 */
export interface RunState {
  /** Holds in a row. */
  holds: number;
  /** An operator's action that no wait has handled: the next wait ends at once. */
  hasNewAction?: boolean;
  /** The next run begins with it, if the attempt is unchanged. */
  step?: Step;
  /** Tries in a row that failed on our side. */
  stall?: { readonly since: number; readonly tries: number } | undefined;
  /** Look-ups in a row without an answer. */
  unansweredReads: number;
  /** Since the service last answered a send of the attempt. */
  proofs: number;
  unread?: { readonly since: number; readonly reads: number } | undefined;
  awaited?:
    | (Pick<AwaitedEvidence, 'reason'> & {
        readonly attempt: number;
        readonly since: number;
        readonly readings: number;
      })
    | undefined;
  /** A read of the row does not restart the wait. */
  awaitedSince?: number | undefined;
  /** The attempt at which earlier attempts were judged again. */
  unsettledBefore?: number | undefined;
  silence?: Silence | undefined;
  activeAfterEndAt?: number | undefined;
  /** Requests to cancel, neither accepted nor refused, in a row. */
  unanswered?: { readonly since: number; readonly requests: number } | undefined;
  cancelChecks: number;
  /** Since the cancellation was accepted: the end of the paid period, and how often it has moved. */
  paidUntil?: { readonly at: number; readonly moves: number } | undefined;
  /** Reads in a row that found no row. */
  missing?: number | undefined;
  /** Of the newest attempt. Its row may know less, where PostgreSQL has lost commits. */
  witness?: Witness | undefined;
  pendingSend?: PendingSend | undefined;
}

/** A send without a result. */
interface PendingSend {
  /** Of the last read of the attempt; undefined: not known. */
  readonly epoch?: string;
  /** The request cannot have left before. */
  readonly since: number;
  readonly number: number;
  readonly sends: number;
}

/** Failed reads of a subscription, in a row. */
export interface Silence {
  readonly since: number;
  readonly reads: number;
  readonly failure: FailureDetail;
  readonly readAgainAt: number;
  readonly isEscalated: boolean;
}

/** Every following run must know it, even one that follows a terminated run. */
export type Remembered = Pick<RunState, 'witness' | 'pendingSend'>;

export const NOTHING_YET = { holds: 0, unansweredReads: 0, proofs: 0, cancelChecks: 0 } as const satisfies RunState;

export function witnessOf(attempt: AttemptSnapshot, isRestored = false): Witness {
  const { number, state, serviceId, history } = attempt;
  const { sends, firstSentAt, firstUnrefusedSendAt, anyUnknown } = history;
  return {
    number,
    state,
    sends,
    anyUnknown,
    ...(firstSentAt !== undefined && { firstSentAt }),
    ...(firstUnrefusedSendAt !== undefined && { firstUnrefusedSendAt }),
    ...(serviceId !== undefined && { serviceId }),
    ...(isRestored && { isRestored }),
  };
}

/**
 * A row without the pending send proves that no request has left only if PostgreSQL cannot have lost commits since.
 * @returns undefined unless it may have left; the row must then be read again, with this witness.
 */
export function assumedSend(pending: PendingSend, { attempt, epoch }: WorkSnapshot): Witness | undefined {
  if (pending.epoch === epoch) return undefined;
  const isOfSent = attempt.number === pending.number;
  const isSilent = isOfSent
    ? attempt.state === 'prepared' || attempt.state === 'refused'
    : attempt.number < pending.number;
  if (!isSilent) return undefined;
  const { firstSentAt = pending.since } = isOfSent ? attempt.history : {};
  return {
    number: pending.number,
    state: 'unknown',
    sends: Math.max(pending.sends, isOfSent ? attempt.history.sends : 0) + 1,
    firstSentAt,
    firstUnrefusedSendAt: pending.since,
    anyUnknown: true,
  };
}

/** Keeps the end of the work before a loss of commits, too: a person may not have judged it yet. */
export function handedOn({ witness, pendingSend }: RunState, before: Witness | undefined): Remembered {
  if (witness === undefined || before?.ended === undefined) return { witness, pendingSend };
  return { witness: { ...witness, ended: before.ended, ...reasonOf(before) }, pendingSend };
}
