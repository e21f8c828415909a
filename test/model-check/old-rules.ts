/**
 * Rules that the product once had, or has to this day: each put back alone, with the smallest service and bound in
 * which it shows.
 */
import { afterAnswer } from '#domain/purchase/late-answer.ts';
import { QUIET, type DialectName } from '#test/model-check/dialects.ts';
import { RULES, type ClaimedAttempt, type Rules } from '#test/model-check/rules.ts';
import type { Budget } from '#test/model-check/state.ts';

/** One rule that is put back. */
export interface OldRule {
  readonly meaning: string;
  readonly rules: Partial<Rules>;
  readonly dialect: DialectName;
  readonly budget: Budget;
}

const STEADY: Budget = { ...QUIET, failures: 0 };

/** By name, what is put back. Where the crash proof has a saboteur for the same rule, it has the same name. */
export const OLD_RULES = {
  'judging-from-memory': {
    meaning:
      'A relay goes by the decision that it read when it took the row, and asks nobody whether the row is settled.',
    rules: {
      inboxDecision: ({ remembered, judged, isWorkFinal }) =>
        isWorkFinal || remembered === 'none' ? judged : remembered,
      sweeperWakes: false,
    },
    dialect: 'replays',
    budget: { ...STEADY, faults: 2, sends: 1 },
  },
  'random-key-at-creation': {
    meaning: 'Idempotency keys are random, and a run of the workflow believes its row whatever was sent before.',
    rules: { keysAreDerived: false, knowsLess: () => false, provesNothingSent: () => true },
    dialect: 'reusable_references',
    budget: { ...STEADY, setBacks: 1 },
  },
  'completed-workflow-not-restarted': {
    meaning: 'A workflow that has completed is left alone, also when its work is unfinished.',
    rules: { startDecision: (run) => (run === 'none' || run === 'failed' ? 'start' : 'leave') },
    dialect: 'at_once',
    budget: { ...STEADY, setBacks: 1, sends: 1 },
  },
  'send-without-lease': {
    meaning: 'Nobody looks at the lease again before the request leaves.',
    rules: { mayLeave: () => true },
    dialect: 'concurrent_keys',
    budget: { ...STEADY, faults: 1 },
  },
  'worker-clock': {
    meaning: 'Whether a lease is over is judged by the clock of the worker that asks.',
    rules: { leasesByWorkerClock: true },
    dialect: 'concurrent_keys',
    budget: { ...STEADY, faults: 2 },
  },
  'refused-window': {
    meaning: 'The resend window counts from the first send, also from one that was refused.',
    rules: { refusalStartsWindow: true },
    dialect: 'replays',
    budget: { ...STEADY, faults: 1, refusals: 1 },
  },
  'endless-resend': {
    meaning: 'What may have been bought is sent again also after its window.',
    rules: { sendClaim: claimWithoutWindow },
    dialect: 'forgets_keys',
    budget: { ...STEADY, faults: 1 },
  },
  'witness-from-row': {
    meaning:
      'The workflow takes what it remembers of a send from the row alone, also when the row was set back meanwhile.',
    rules: { countsSendsItself: false },
    dialect: 'ignores_keys',
    budget: { ...STEADY, faults: 1, setBacks: 1, operator: 2 },
  },
  'claim-without-witness': {
    meaning: 'The workflow compares what it knows with the row when it reads it, and not when it sends.',
    rules: { claimChecksWitness: false },
    dialect: 'replays',
    budget: { ...STEADY, faults: 1, setBacks: 1, refusals: 1 },
  },
  'restored-without-lease': {
    meaning: 'A row that is restored may be sent at once, although a send of it may be under way.',
    rules: { restoredIsLeased: false },
    dialect: 'replays',
    budget: { ...STEADY, faults: 1, setBacks: 1 },
  },
  'late-answer': {
    meaning:
      'A send that the workflow has given up stores its answer and wakes nobody; the webhook is then known already.',
    rules: { afterAnswer: (answer) => ({ ...afterAnswer(answer), wakes: false }), sweeperWakes: false },
    dialect: 'at_once',
    budget: { ...STEADY, faults: 1, sends: 1 },
  },
  'stale-answer': {
    meaning:
      'Every answer of the service that is stored closes the case of its order, also one that tells nothing new.',
    rules: { afterAnswer: (answer) => ({ ...afterAnswer(answer), isInProgress: true }), sweeperWakes: false },
    dialect: 'ignores_keys',
    budget: { ...QUIET, faults: 1 },
  },
  'abandon-by-row': {
    meaning:
      'An operator gives an order up by what its row says, also when that was set back and the workflow knows more.',
    rules: { abandonAsksWorkflow: false },
    dialect: 'replays',
    budget: { ...STEADY, setBacks: 1, operator: 1 },
  },
  'sweeper-does-not-wake': {
    meaning: 'The sweeper starts what does not run, and never wakes what does.',
    rules: { sweeperWakes: false },
    dialect: 'no_wallet',
    budget: { ...QUIET, setBacks: 1, sends: 1 },
  },
  'seen-by-id': {
    meaning:
      'A workflow takes a report for one that it has seen because it has the same id, although PostgreSQL was set back meanwhile.',
    rules: { seenByLife: false },
    dialect: 'replays',
    budget: { ...STEADY, setBacks: 1, sends: 1 },
  },
  'no-epoch': {
    meaning: 'After a lost send a row that knows of none is believed, also when PostgreSQL was set back meanwhile.',
    rules: { provesNothingSent: () => true },
    dialect: 'ignores_keys',
    budget: { ...STEADY, faults: 1, setBacks: 1 },
  },
} as const satisfies Record<string, OldRule>;

/** A service that is known to replay keys is sent the same bytes for as long as it takes. */
function claimWithoutWindow({
  isLeased,
  state,
  anyUnknown,
  resendAllowed,
}: ClaimedAttempt): 'claim' | 'leased' | 'too_late' {
  if (isLeased) return 'leased';
  const mayHaveBought = anyUnknown || state === 'sending' || state === 'unknown';
  return mayHaveBought && !resendAllowed ? 'too_late' : 'claim';
}

export type OldRuleName = keyof typeof OLD_RULES;

/** The rules with an old one put back. */
export function rulesWith(old?: OldRuleName): Rules {
  return old === undefined ? RULES : { ...RULES, ...OLD_RULES[old].rules };
}
