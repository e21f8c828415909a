/** Rules with one step changed or removed, each tested alone with the smallest service and bound that detects it. */
import { afterAnswer } from '#domain/purchase/send-claim.ts';
import { DIALECTS, QUIET, type DialectName } from '#test/model-check/dialects.ts';
import { CAN_CONTINUE, explore, type Search } from '#test/model-check/engine.ts';
import { INVARIANTS, machineOf } from '#test/model-check/machine.ts';
import { RULES, type Rules } from '#test/model-check/rules.ts';
import type { Budget } from '#test/model-check/state.ts';

interface OldRule {
  readonly meaning: string;
  readonly rules: Partial<Rules>;
  readonly dialect: DialectName;
  readonly budget: Budget;
  readonly breaks: string;
  /** The last action of the shortest trace. */
  readonly last: string;
}

const STEADY: Budget = { ...QUIET, failures: 0 };

/** The old rules by name. A saboteur of the crash proof for the same rule has the same name. */
export const OLD_RULES = {
  'stale-judgement': {
    meaning: 'A relay uses the decision that it read when it took the row, also if the row is settled meanwhile.',
    rules: {
      inboxDecision: ({ remembered, judged, isWorkFinal }) =>
        isWorkFinal || remembered === 'none' ? judged : remembered,
      sweeperWakes: false,
    },
    dialect: 'replays',
    budget: { ...STEADY, faults: 2, sends: 1 },
    breaks: INVARIANTS.no_report_lost,
    last: 'relay 2 judges the finding about attempt 1',
  },
  'random-key-at-creation': {
    meaning: 'Idempotency keys are random, and a run trusts its row and ignores earlier sends.',
    rules: { keysAreDerived: false, knowsLess: () => false, provesNothingSent: () => true },
    dialect: 'reusable_references',
    budget: { ...STEADY, setBacks: 1 },
    breaks: INVARIANTS.one_debit,
    last: 'the service executes the request of worker 1 and answers',
  },
  'completed-not-restarted': {
    meaning: 'A completed workflow is not started again, also when its work is unfinished.',
    rules: { startDecision: (run) => (run === 'none' || run === 'failed' ? 'start' : 'leave') },
    dialect: 'at_once',
    budget: { ...STEADY, setBacks: 1, sends: 1 },
    breaks: CAN_CONTINUE,
    last: 'PostgreSQL is set back to that copy',
  },
  'send-without-lease': {
    meaning: 'The worker does not check the lease again before the request leaves.',
    rules: { mayLeave: () => true },
    dialect: 'concurrent_keys',
    budget: { ...STEADY, faults: 1 },
    breaks: INVARIANTS.one_send,
    last: 'the request of worker 1 leaves',
  },
  'worker-clock': {
    meaning: 'The clock of the claiming worker decides whether a lease is over.',
    rules: { leasesByWorkerClock: true },
    dialect: 'concurrent_keys',
    budget: { ...STEADY, faults: 2 },
    breaks: INVARIANTS.one_send,
    last: 'the request of worker 2 leaves',
  },
  'refused-window': {
    meaning: 'The resend window starts at the first send, also if it was refused.',
    rules: { refusalStartsWindow: true },
    dialect: 'replays',
    budget: { ...STEADY, faults: 1, refusals: 1 },
    breaks: INVARIANTS.no_needless_case,
    last: 'the workflow looks the attempt up at the service',
  },
  'endless-resend': {
    meaning: 'A purchase that may have been bought is sent again after its window.',
    rules: {
      // A service that replays keys gets the same bytes without end.
      sendClaim: ({ isLeased, state, anyUnknown, resendAllowed }) => {
        const mayHaveBought = anyUnknown || state === 'sending' || state === 'unknown';
        return isLeased ? 'leased' : mayHaveBought && !resendAllowed ? 'too_late' : 'claim';
      },
    },
    dialect: 'forgets_keys',
    budget: { ...STEADY, faults: 1 },
    breaks: INVARIANTS.one_debit,
    last: 'the service executes the request of worker 1 and answers',
  },
  'witness-from-row': {
    meaning: 'The workflow knows its sends only from the row, also when the row was set back meanwhile.',
    rules: { countsSendsItself: false },
    dialect: 'ignores_keys',
    budget: { ...STEADY, faults: 1, setBacks: 1, operator: 2 },
    breaks: INVARIANTS.no_false_failure,
    last: 'an operator abandons the order',
  },
  'claim-without-witness': {
    meaning: 'The workflow compares its knowledge with the row when it reads the row, and not when it sends.',
    rules: { claimChecksWitness: false },
    dialect: 'replays',
    budget: { ...STEADY, faults: 1, setBacks: 1, refusals: 1 },
    breaks: INVARIANTS.one_send,
    last: 'the request of worker 2 leaves',
  },
  'restored-without-lease': {
    meaning: 'A restored row may be sent at once, although another send of it may be in progress.',
    rules: { restoredIsLeased: false },
    dialect: 'replays',
    budget: { ...STEADY, faults: 1, setBacks: 1 },
    breaks: INVARIANTS.one_send,
    last: 'the request of worker 2 leaves',
  },
  'late-answer': {
    meaning: 'A send that the workflow has given up stores its answer without a wake-up; the webhook is then known.',
    rules: { afterAnswer: (answer) => ({ ...afterAnswer(answer), wakes: false }), sweeperWakes: false },
    dialect: 'at_once',
    budget: { ...STEADY, faults: 1, sends: 1 },
    breaks: INVARIANTS.no_report_lost,
    last: 'relay 1 judges the webhook about attempt 1',
  },
  'stale-answer': {
    meaning: 'Every stored answer of the service closes the case of its order, also one without new information.',
    rules: { afterAnswer: (answer) => ({ ...afterAnswer(answer), isInProgress: true }), sweeperWakes: false },
    dialect: 'ignores_keys',
    budget: { ...QUIET, faults: 1 },
    breaks: INVARIANTS.no_report_lost,
    last: 'relay 1 judges the webhook about attempt 1',
  },
  'abandon-by-row': {
    meaning: 'An operator abandons an order by its row, also when the row was set back and the workflow knows more.',
    rules: { abandonNeedsComparison: false },
    dialect: 'replays',
    budget: { ...STEADY, setBacks: 1, operator: 1 },
    breaks: INVARIANTS.no_false_failure,
    last: 'an operator abandons the order',
  },
  'lost-task': {
    meaning: 'A worker that has lost its workflow task records its step, also when a later task has recorded another.',
    rules: { refusesLostStep: () => false, sweeperWakes: false },
    dialect: 'no_wallet',
    budget: { ...QUIET, faults: 1, sends: 1 },
    breaks: INVARIANTS.no_report_lost,
    last: 'relay 1 judges the finding about attempt 1',
  },
  'sweeper-does-not-wake': {
    meaning: 'The sweeper starts missing workflows, and never wakes running ones.',
    rules: { sweeperWakes: false },
    dialect: 'no_wallet',
    budget: { ...QUIET, setBacks: 1, sends: 1 },
    breaks: CAN_CONTINUE,
    last: 'PostgreSQL is set back to that copy',
  },
  'seen-by-id': {
    meaning:
      'A workflow takes a report with a known id for a known report, although PostgreSQL was set back meanwhile.',
    rules: { seenByLife: false },
    dialect: 'replays',
    budget: { ...STEADY, setBacks: 1, sends: 1 },
    breaks: CAN_CONTINUE,
    last: 'relay 1 notes that the workflow was signalled',
  },
  'silence-is-evidence': {
    meaning: 'A list of the wallet without the debit proves that a failed attempt cost nothing.',
    rules: { judgeAbsence: () => ({ isProven: true, by: 'ledger', detail: 'The list shows no debit.' }) },
    dialect: 'wallet_shifts',
    budget: QUIET,
    breaks: INVARIANTS.one_debit,
    last: 'the service executes the request of worker 1 and answers',
  },
  'no-epoch': {
    meaning: 'After a lost send, a row without sends is trusted, also when PostgreSQL was set back meanwhile.',
    rules: { provesNothingSent: () => true },
    dialect: 'ignores_keys',
    budget: { ...STEADY, faults: 1, setBacks: 1 },
    breaks: INVARIANTS.one_send,
    last: 'the request of worker 2 leaves',
  },
  'first-send-without-epoch': {
    meaning: 'The first task sends by a row without sends, also when PostgreSQL was set back since its start.',
    rules: { firstSendComparesEpoch: false },
    dialect: 'ignores_keys',
    budget: { ...STEADY, faults: 1, setBacks: 1 },
    breaks: INVARIANTS.one_send,
    last: 'the request of worker 2 leaves',
  },
} as const satisfies Record<string, OldRule>;

export type OldRuleName = keyof typeof OLD_RULES;

/** Searches with one old rule in place of the present one. */
export function exploreOldRule(name: OldRuleName, limit: number): Search {
  const { rules, dialect, budget } = OLD_RULES[name];
  return explore(machineOf({ ...RULES, ...rules }, DIALECTS[dialect], budget), limit);
}
