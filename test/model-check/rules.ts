/**
 * The rules of the model. Tables of the product are called directly. Decisions that the product makes in database
 * transactions or workflows are pure functions here. An old rule replaces one of these rules.
 */
import { judgeAbsence } from '#domain/money/absence.ts';
import { hasLostRecords, type Witness } from '#domain/purchase/recovery.ts';
import { afterAnswer, decideSendClaim } from '#domain/purchase/send-claim.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { startDecision, decideInboxRow } from '#domain/relay/relay-decision.ts';
import { isSuperseded } from '#domain/work/lifecycle.ts';
import type { Decision, Run } from '#test/model-check/state.ts';

/** A relay's knowledge of an inbox row before its decision. */
interface RelayedRow {
  /** The stored decision when the relay took the row, and the stored decision now, under the lock. */
  readonly remembered: Decision;
  readonly stored: Decision;
  /** False if another relay, or the workflow, has settled the row meanwhile. */
  readonly isPending: boolean;
  /** The present result of `judgeObservation`. */
  readonly judged: Decision;
  readonly isWorkFinal: boolean;
}

/** An attempt as read by `claimSend`. */
interface ClaimedAttempt {
  readonly state: AttemptState;
  readonly anyUnknown: boolean;
  readonly isLeased: boolean;
  readonly windowStarted: boolean;
  readonly windowOver: boolean;
  /** The service knows the key or reference already. */
  readonly isNeverResent: boolean;
  readonly resendAllowed: boolean;
}

/** Any length is possible, because the model does not count time. */
const WINDOW_MS = 600_000;

/** The present rules of the product that the model varies. */
export const RULES = {
  /** The idempotency key is derived from the work and the attempt. Otherwise each new row gets a new key. */
  keysAreDerived: true,
  /** The decision of a relay, or `leave`. */
  inboxDecision({ stored, isPending, judged, isWorkFinal }: RelayedRow): Decision | 'leave' {
    const row = {
      state: isPending ? 'pending' : 'relayed',
      decision: stored === 'none' ? null : stored,
      isOurs: true,
    } as const;
    if (judged === 'none') throw new RangeError('no report was judged');
    const action = decideInboxRow(row, judged, isWorkFinal);
    return action.kind === 'leave' ? 'leave' : action.decision;
  },
  /** Whether an attempt may be sent. `isKnownToService` excludes attempts that the service has. */
  sendClaim(attempt: ClaimedAttempt): 'claim' | 'leased' | 'too_late' {
    const { state, anyUnknown, isLeased, windowStarted, windowOver, isNeverResent, resendAllowed } = attempt;
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
    if (decision === 'known_to_service') throw new RangeError(`${state} is not to be claimed`);
    return decision === 'resend_not_allowed' ? 'too_late' : decision;
  },
  /** @param marginGone too little of the lease is left for the request to leave, by the worker's monotonic clock. */
  mayLeave: (marginGone: boolean) => !marginGone,
  /** True if the claiming process decides by its own clock, which may be ahead, whether a lease is over. */
  leasesByWorkerClock: false,
  /** True if the row knows less than the workflow. The row is then restored as `unknown`. */
  knowsLess: hasLostRecords as (
    witness: Witness,
    row: Pick<Witness, 'number' | 'state' | 'sends'> | undefined,
  ) => boolean,
  /** A send is claimed only if the row knows as much as the workflow. */
  claimChecksWitness: true,
  /** A restored row has a lease as if its last send had just begun. */
  restoredIsLeased: true,
  /** Whether a reading of the wallet proves that an attempt cost nothing. */
  judgeAbsence,
  /** The effect of a stored answer on the work. */
  afterAnswer,
  /** A workflow opens a case only if the attempt is still in the state that was read. */
  caseNamesReadState: true,
  /** An operator can abandon an order only after the workflow has compared its row since the last set-back. */
  abandonNeedsComparison: true,
  /** A workflow distinguishes reports also when PostgreSQL, after a set-back, assigns an id a second time. */
  seenByLife: true,
  /** The workflow counts every finished send, also if the returned row does not contain it. */
  countsSendsItself: true,
  /** Whether a row without a send proves that a lost send never began. @param samePostgres no set-back since then. */
  provesNothingSent: (samePostgres: boolean) => samePostgres,
  /** The claim in a first task requires the epoch in which the workflow was started. */
  firstSendComparesEpoch: true,
  /** Whether to start a workflow that has run before. */
  startDecision: (run: Run, isWorkFinal: boolean): 'start' | 'leave' =>
    startDecision(run === 'failed' ? 'unclean' : run, isWorkFinal) === 'leave' ? 'leave' : 'start',
  /** A refused send starts the resend window. */
  refusalStartsWindow: false,
  /** Whether PostgreSQL refuses the step of a lost workflow task. @param isNewerRecorded a later task has recorded one. */
  refusesLostStep: (isNewerRecorded: boolean) =>
    isSuperseded(
      { runId: 'run', historyLength: 1, at: 0 },
      { runId: 'run', historyLength: isNewerRecorded ? 2 : 1, at: 0 },
    ),
  /** The sweeper wakes running workflows of silent work, so that they read their row again. */
  sweeperWakes: true,
};

export type Rules = Readonly<typeof RULES>;
