/**
 * The rules that the model is checked against, in one place. What the product has as a table is called from there; what
 * it decides inside a database transaction or a workflow is written down here as a pure function. Each old rule is the
 * same set with one rule put back.
 */
import { afterAnswer, type AnswerEffect, type StoredAnswer } from '#domain/purchase/late-answer.ts';
import { knowsMore, restoration, type AttemptRecord, type Witness } from '#domain/purchase/restored-records.ts';
import { decideSendClaim } from '#domain/purchase/send-claim.ts';
import { decideInboxRow } from '#domain/relay/inbox-decision.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { startDecision } from '#domain/relay/start-decision.ts';
import type { Decision, Run } from '#test/model-check/state.ts';

/** What a relay knows of an inbox row when it is about to act on it. */
interface RelayedRow {
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

/** The rules of the product that the model varies. */
export interface Rules {
  /**
   * The idempotency key follows from the work and the number of the attempt. If not, each new row of an attempt gets a
   * new key.
   */
  readonly keysAreDerived: boolean;
  /** What a relay does with a row: a decision to act upon, or `leave`. */
  inboxDecision(row: RelayedRow): Decision | 'leave';
  /** What becomes of the wish to send; but what the service has, which `isSettledByService` tells. */
  sendClaim(attempt: ClaimedAttempt): 'claim' | 'leased' | 'too_late';
  /**
   * May a claimed request still leave? @param marginGone too little of the lease is left, by the worker's own monotonic
   * clock.
   */
  mayLeave(marginGone: boolean): boolean;
  /** True when a lease is judged by the clock of the asking process, which may be ahead. */
  readonly leasesByWorkerClock: boolean;
  /** Does the row know less than the workflow? Then it is brought to `unknown` with what the workflow knows. */
  knowsLess(witness: Witness, row: (AttemptRecord & { readonly number: number }) | undefined): boolean;
  /** A send is claimed only where the row knows no less than the workflow. */
  readonly claimChecksWitness: boolean;
  /** A row that was restored is leased as if its last send had just begun. */
  readonly restoredIsLeased: boolean;
  /** What an answer that was stored means for the work. */
  afterAnswer(answer: StoredAnswer): AnswerEffect;
  /** A workflow asks a person only where the attempt is in the state that it has read. */
  readonly parkNamesState: boolean;
  /**
   * What an operator gives up is given up only where the workflow has compared its row since PostgreSQL was set back.
   */
  readonly abandonAsksWorkflow: boolean;
  /** A workflow tells reports apart also when PostgreSQL, set back, gives an id out a second time. */
  readonly seenByLife: boolean;
  /** The workflow counts a send that came back, whatever the row says that came back with it. */
  readonly countsSendsItself: boolean;
  /**
   * A send was lost, and the row says that it never began. @param samePostgres no other life of PostgreSQL began since
   * it was scheduled.
   */
  provesNothingSent(samePostgres: boolean): boolean;
  /** Starting or telling a workflow that has run before. */
  startDecision(run: Run, isWorkFinal: boolean): 'start' | 'leave';
  /** The resend window counts from a send that was refused. */
  readonly refusalStartsWindow: boolean;
  /** The sweeper wakes running workflows of work that nothing was heard of, so that they read their row again. */
  readonly sweeperWakes: boolean;
}

/** Any length does: of time only whether the window is over is counted. */
const WINDOW_MS = 600_000;

/** The rules as they are meant to be. */
export const RULES: Rules = {
  keysAreDerived: true,
  inboxDecision({ stored, isPending, judged, isWorkFinal }) {
    const row = {
      state: isPending ? 'pending' : 'relayed',
      decision: stored === 'none' ? null : stored,
      isOurs: true,
    } as const;
    if (judged === 'none') throw new RangeError('nothing was judged');
    const action = decideInboxRow(row, judged, isWorkFinal);
    return action.kind === 'leave' ? 'leave' : action.decision;
  },
  sendClaim: ({ state, anyUnknown, isLeased, windowStarted, windowOver, isNeverResent, resendAllowed }) => {
    const decision = decideSendClaim(
      {
        state,
        anyUnknown,
        failureClass: isNeverResent ? 'key_or_reference_used' : null,
        leaseLeftMs: isLeased ? 1 : null,
        unrefusedForMs: windowStarted ? (windowOver ? WINDOW_MS + 1 : 0) : null,
      },
      resendAllowed ? WINDOW_MS : undefined,
    );
    if (decision === 'settled') throw new RangeError(`${state} is not to be claimed`);
    return decision === 'resend_not_allowed' ? 'too_late' : decision;
  },
  mayLeave: (marginGone) => !marginGone,
  leasesByWorkerClock: false,
  knowsLess: (witness, row) => (row === undefined ? restoration(witness, row) === 'doubt' : knowsMore(witness, row)),
  claimChecksWitness: true,
  restoredIsLeased: true,
  afterAnswer,
  parkNamesState: true,
  abandonAsksWorkflow: true,
  seenByLife: true,
  countsSendsItself: true,
  provesNothingSent: (samePostgres) => samePostgres,
  startDecision: (run, isWorkFinal) =>
    startDecision(run === 'failed' ? 'unclean' : run, isWorkFinal) === 'leave' ? 'leave' : 'start',
  refusalStartsWindow: false,
  sweeperWakes: true,
};
