/**
 * The rules that the model is checked against, in one place. What the product has as a table is called from there; what it decides inside
 * a database transaction or a workflow is written down here as a pure function. Each old rule is the same set with one rule put back.
 */
import type { AttemptState } from '#domain/observation.ts';
import type { Decision, Run } from '#test/model-check/state.ts';

/** What a relay knows of an inbox row when it is about to act on it. */
export interface RelayedRow {
  /** The stored decision as it was read when the relay took the row, and as it stands now under the lock. */
  readonly remembered: Decision;
  readonly stored: Decision;
  /** False when another relay, or the workflow, has settled the row meanwhile. */
  readonly isPending: boolean;
  /** What `judgeObservation` makes of the row now. */
  readonly judged: Decision;
  readonly isWorkFinal: boolean;
}

/** An attempt as `claimSend` finds it. */
export interface ClaimedAttempt {
  readonly state: AttemptState;
  readonly anyUnknown: boolean;
  readonly isLeased: boolean;
  readonly windowStarted: boolean;
  readonly windowOver: boolean;
  /** The service knows it already, or its answer could not be read. */
  readonly isNeverResent: boolean;
  readonly resendAllowed: boolean;
}

/** What a workflow knows of its attempt, and what a row says of the same. */
export interface Witness {
  readonly sends: number;
  /** A send may have bought. */
  readonly maybe: boolean;
}
export interface WitnessedRow {
  readonly isThere: boolean;
  readonly sends: number;
}

/** The rules of the product that the model varies. */
export interface Rules {
  /** The idempotency key follows from the work and the number of the attempt. If not, each new row of an attempt gets a new key. */
  readonly keysAreDerived: boolean;
  /** What a relay does with a row: a decision to act upon, or `leave`. */
  inboxDecision(row: RelayedRow): Decision | 'leave';
  /** What becomes of the wish to send; but what the service has, which `isSettledByService` tells. */
  sendClaim(attempt: ClaimedAttempt): 'claim' | 'leased' | 'too_late';
  /** May a claimed request still leave? @param marginGone too little of the lease is left, by the worker's own monotonic clock. */
  mayLeave(marginGone: boolean): boolean;
  /** True when leases are judged by the clock of whoever asks, which may be ahead. */
  readonly leasesByWorkerClock: boolean;
  /** Does the row know less than the workflow? Then it is brought to `unknown` with what the workflow knows. */
  knowsLess(witness: Witness, row: WitnessedRow): boolean;
  /** A send is claimed only where the row knows no less than the workflow. */
  readonly claimChecksWitness: boolean;
  /** A row that was restored is leased as if its last send had just begun. */
  readonly restoredIsLeased: boolean;
  /** What a send stores that nobody waits for any more wakes the workflow. */
  readonly lateAnswerWakes: boolean;
  /** An answer that tells nothing new of its attempt closes no case. */
  readonly staleAnswerKeepsCase: boolean;
  /** What an operator gives up is given up only where the workflow knows of no send either. */
  readonly abandonAsksWorkflow: boolean;
  /** A workflow tells reports apart also when PostgreSQL, set back, gives an id out a second time. */
  readonly seenByLife: boolean;
  /** The workflow counts a send that came back, whatever the row says that came back with it. */
  readonly countsSendsItself: boolean;
  /** A send was lost, and the row says that it never began. @param samePostgres no other life of PostgreSQL began since it was scheduled. */
  provesNothingSent(samePostgres: boolean): boolean;
  /** Starting or telling a workflow that has run before. */
  startDecision(run: Run, isWorkFinal: boolean): 'start' | 'leave';
  /** The resend window counts from a send that was refused. */
  readonly refusalStartsWindow: boolean;
  /** The sweeper wakes running workflows of work that nothing was heard of, so that they read their row again. */
  readonly sweeperWakes: boolean;
}

/** The rules as they are meant to be. */
export const RULES: Rules = {
  keysAreDerived: true,
  inboxDecision({ stored, isPending, judged, isWorkFinal }) {
    if (!isPending) return 'leave';
    return isWorkFinal || stored === 'none' ? judged : stored;
  },
  sendClaim(attempt) {
    if (attempt.isLeased) return 'leased';
    return mayHaveBought(attempt) && !mayBeSentAgain(attempt) ? 'too_late' : 'claim';
  },
  mayLeave: (marginGone) => !marginGone,
  leasesByWorkerClock: false,
  // By the number of sends, not by the state: a row that calls the same send refused may have learnt so since.
  knowsLess: (witness, row) => witness.maybe && (!row.isThere || row.sends < witness.sends),
  claimChecksWitness: true,
  restoredIsLeased: true,
  lateAnswerWakes: true,
  staleAnswerKeepsCase: true,
  abandonAsksWorkflow: true,
  seenByLife: true,
  countsSendsItself: true,
  provesNothingSent: (samePostgres) => samePostgres,
  startDecision: (run, isWorkFinal) => (run === 'none' || run === 'failed' || (run === 'completed' && !isWorkFinal) ? 'start' : 'leave'),
  refusalStartsWindow: false,
  sweeperWakes: true,
};

function mayHaveBought({ anyUnknown, state }: ClaimedAttempt): boolean {
  return anyUnknown || state === 'sending' || state === 'unknown';
}

function mayBeSentAgain({ windowStarted, windowOver, isNeverResent, resendAllowed }: ClaimedAttempt): boolean {
  return resendAllowed && windowStarted && !windowOver && !isNeverResent;
}
