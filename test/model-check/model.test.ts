import { describe, expect, it } from 'vitest';
import { BOUNDS, DIALECTS, type BoundName, type DialectName } from '#test/model-check/dialects.ts';
import { CAN_CONTINUE, explore, type Counterexample } from '#test/model-check/engine.ts';
import { INVARIANTS, machineOf } from '#test/model-check/machine.ts';
import { OLD_RULES, rulesWith, type OldRuleName } from '#test/model-check/old-rules.ts';
import { RULES } from '#test/model-check/rules.ts';

/** Whole searches, or their first states: together some 10^5 states in seconds. `npm run test:model` searches more. */
const SEARCHES: readonly (readonly [BoundName, DialectName, number])[] = [
  ['set_back', 'at_once', 30_000],
  ['one_fault', 'replays', 20_000],
  ['one_fault', 'concurrent_keys', 10_000],
  ['two_faults', 'forgets_keys', 20_000],
  ['set_back', 'reusable_references', 20_000],
  ['set_back_and_fault', 'ignores_keys', 20_000],
  ['emptied', 'bare', 20_000],
  ['one_fault', 'wallet_delays', 20_000],
  ['one_fault', 'wallet_omits', 10_000],
  ['one_fault', 'wallet_shifts', 10_000],
];

describe('the rules, for all sequences of actions', () => {
  it.each(SEARCHES)('hold in the first states of %s with a service that is %s', (bound, dialect, limit) => {
    const search = explore(machineOf(RULES, DIALECTS[dialect], BOUNDS[bound]), limit);
    expect(search.counterexample).toBeUndefined();
    expect(search.states).toBeGreaterThan(5_000);
  });
});

function detected(name: OldRuleName, limit = 100_000): Counterexample | undefined {
  const { dialect, budget } = OLD_RULES[name];
  return explore(machineOf(rulesWith(name), DIALECTS[dialect], budget), limit).counterexample;
}

const BEGINNING = [
  'the caller requests the order, and it is accepted',
  'the outbox starts the workflow',
  'the first task, in worker 1, reads the order and claims send 1 of attempt 1',
];

describe('the model detects the old rule, with the shortest trace:', () => {
  it('stale-judgement: the second of two relays with one row takes the report for known and sends no signal', () => {
    expect(detected('stale-judgement')).toEqual({
      invariant: INVARIANTS.no_report_lost,
      trace: [
        ...BEGINNING,
        'the request of worker 1 leaves',
        'the service executes the request of worker 1 and answers',
        'worker 1 stores the answer: processing',
        'the service completes the purchase of attempt 1',
        'the reconciler finds attempt 1 completed',
        'relay 1 takes the finding about attempt 1',
        'the lease of the finding about attempt 1 ends while a relay has the row',
        'relay 2 takes the finding about attempt 1',
        'relay 1 judges the finding about attempt 1',
        'relay 1 is killed',
        'relay 2 judges the finding about attempt 1',
      ],
    });
  });

  it('random-key-at-creation: an attempt whose row was lost gets another key, and is bought a second time', () => {
    expect(detected('random-key-at-creation')).toEqual({
      invariant: INVARIANTS.one_debit,
      trace: [
        ...BEGINNING.slice(0, 2),
        'PostgreSQL keeps a copy that it will be set back to',
        ...BEGINNING.slice(2),
        'the request of worker 1 leaves',
        'the service executes the request of worker 1 and answers',
        'PostgreSQL is set back to that copy',
        'worker 1 stores the answer: processing',
        'worker 1 claims send 1 of attempt 1',
        'the request of worker 1 leaves',
        'the service executes the request of worker 1 and answers',
      ],
    });
  });

  it('completed-not-restarted: an order set back after the end of its workflow is stuck without a case', () => {
    expect(detected('completed-not-restarted')).toEqual({
      invariant: CAN_CONTINUE,
      trace: [
        ...BEGINNING,
        'the request of worker 1 leaves',
        'the service executes the request of worker 1 and answers',
        'worker 1 stores the answer: completed',
        'PostgreSQL keeps a copy that it will be set back to',
        'the eSIM is stored and the order is completed',
        'PostgreSQL is set back to that copy',
      ],
    });
  });

  it.each([
    ['send-without-lease', INVARIANTS.one_send, 'the request of worker 1 leaves'],
    ['worker-clock', INVARIANTS.one_send, 'the request of worker 2 leaves'],
    ['refused-window', INVARIANTS.no_needless_case, 'the workflow looks the attempt up at the service'],
    ['endless-resend', INVARIANTS.one_debit, 'the service executes the request of worker 1 and answers'],
    ['witness-from-row', INVARIANTS.no_false_failure, 'an operator abandons the order'],
    ['claim-without-witness', INVARIANTS.one_send, 'the request of worker 2 leaves'],
    ['restored-without-lease', INVARIANTS.one_send, 'the request of worker 2 leaves'],
    ['no-epoch', INVARIANTS.one_send, 'the request of worker 2 leaves'],
    ['first-send-without-epoch', INVARIANTS.one_send, 'the request of worker 2 leaves'],
    ['late-answer', INVARIANTS.no_report_lost, 'relay 1 judges the webhook about attempt 1'],
    ['stale-answer', INVARIANTS.no_report_lost, 'relay 1 judges the webhook about attempt 1'],
    ['abandon-by-row', INVARIANTS.no_false_failure, 'an operator abandons the order'],
    ['sweeper-does-not-wake', CAN_CONTINUE, 'PostgreSQL is set back to that copy'],
    ['lost-task', INVARIANTS.no_report_lost, 'relay 1 judges the finding about attempt 1'],
    ['silence-is-evidence', INVARIANTS.one_debit, 'the service executes the request of worker 1 and answers'],
    ['seen-by-id', CAN_CONTINUE, 'relay 1 notes that the workflow was signalled'],
  ] as const)('%s: %s', (name, invariant, last) => {
    const found = detected(name);
    expect(found?.invariant).toBe(invariant);
    expect(found?.trace.at(-1)).toBe(last);
  });

  it('every old rule (this test counts them)', () => {
    expect(Object.keys(OLD_RULES)).toHaveLength(19);
  });
});
