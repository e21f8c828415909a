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

/** A rule that the product once had. */
export interface OldRule {
  readonly meaning: string;
  readonly rules: Partial<Rules>;
}

/** By name, what is put back; the names of the findings where there are any. */
export const OLD_RULES = {
  a1: {
    meaning: 'A relay goes by the decision that it read when it took the row, and asks nobody whether the row is settled.',
    rules: {
      inboxDecision: ({ remembered, judged, isWorkFinal }) => (isWorkFinal || remembered === 'none' ? judged : remembered),
      sweeperWakes: false,
    },
  },
  b1: {
    meaning: 'Idempotency keys are random, and a run of the workflow believes its row whatever was sent before.',
    rules: { keysAreDerived: false, knowsLess: () => false, provesNothingSent: () => true },
  },
  b2: {
    meaning: 'A workflow that has completed is left alone, also when its work is unfinished.',
    rules: { startDecision: (run) => (run === 'none' || run === 'failed' ? 'start' : 'leave') },
  },
  a6: {
    meaning: 'Nobody looks at the lease again before the request leaves.',
    rules: { mayLeave: () => true },
  },
  'worker-clock': {
    meaning: 'Whether a lease is over is judged by the clock of the worker that asks.',
    rules: { leasesByWorkerClock: true },
  },
  'refused-window': {
    meaning: 'The resend window counts from the first send, also from one that was refused.',
    rules: { refusalStartsWindow: true },
  },
  'endless-resend': {
    meaning: 'What may have been bought is sent again also after its window.',
    rules: { sendClaim: (attempt) => (attempt.isLeased ? 'leased' : mayHaveBought(attempt) && !attempt.resendAllowed ? 'too_late' : 'claim') },
  },
  'witness-from-row': {
    meaning: 'The workflow takes what it remembers of a send from the row alone, also when the row was set back meanwhile.',
    rules: { countsSendsItself: false },
  },
  'claim-without-witness': {
    meaning: 'The workflow compares what it knows with the row when it reads it, and not when it sends.',
    rules: { claimChecksWitness: false },
  },
  'restored-without-lease': {
    meaning: 'A row that is restored may be sent at once, although a send of it may be under way.',
    rules: { restoredIsLeased: false },
  },
  'late-answer': {
    meaning: 'A send that the workflow has given up stores its answer and wakes nobody; the webhook is then known already.',
    rules: { lateAnswerWakes: false, sweeperWakes: false },
  },
  'stale-answer': {
    meaning: 'Every answer of the service that is stored closes the case of its order, also one that tells nothing new.',
    rules: { staleAnswerKeepsCase: false, sweeperWakes: false },
  },
  'abandon-by-row': {
    meaning: 'An operator gives an order up by what its row says, also when that was set back and the workflow knows more.',
    rules: { abandonAsksWorkflow: false },
  },
  'sweeper-does-not-wake': {
    meaning: 'The sweeper starts what does not run, and never wakes what does.',
    rules: { sweeperWakes: false },
  },
  'seen-by-id': {
    meaning: 'A workflow takes a report for one that it has seen because it has the same id, although PostgreSQL was set back meanwhile.',
    rules: { seenByLife: false },
  },
  'no-epoch': {
    meaning: 'After a lost send a row that knows of none is believed, also when PostgreSQL was set back meanwhile.',
    rules: { provesNothingSent: () => true },
  },
} as const satisfies Record<string, OldRule>;

export type OldRuleName = keyof typeof OLD_RULES;

/** The rules with an old one put back. */
export function rulesWith(old?: OldRuleName): Rules {
  return old === undefined ? RULES : { ...RULES, ...OLD_RULES[old].rules };
}
