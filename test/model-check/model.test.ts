import { describe, expect, it } from 'vitest';
import { BOUNDS, DIALECTS, type BoundName, type DialectName } from '#test/model-check/dialects.ts';
import { CAN_GO_ON, explore, type Counterexample } from '#test/model-check/engine.ts';
import { INVARIANTS, machineOf } from '#test/model-check/machine.ts';
import { OLD_RULES, rulesWith, type OldRuleName } from '#test/model-check/old-rules.ts';
import { RULES } from '#test/model-check/rules.ts';

/** All of one search, or the first states of it: together some 10^5 in seconds. `npm run test:model` looks at more. */
const SEARCHES: readonly (readonly [BoundName, DialectName, number])[] = [
  ['set_back', 'at_once', 30_000],
  ['one_fault', 'replays', 20_000],
  ['one_fault', 'concurrent_keys', 10_000],
  ['two_faults', 'forgets_keys', 20_000],
  ['set_back', 'reusable_references', 20_000],
  ['set_back_and_fault', 'ignores_keys', 20_000],
  ['emptied', 'bare', 20_000],
];

describe('the rules, in all orders in which things may happen', () => {
  it.each(SEARCHES)('hold in the first states of %s with a service that is %s', (bound, dialect, limit) => {
    const search = explore(machineOf(RULES, DIALECTS[dialect], BOUNDS[bound]), limit);
    expect(search.counterexample).toBeUndefined();
    expect(search.states).toBeGreaterThan(5_000);
  });
});

function caught(name: OldRuleName, limit = 100_000): Counterexample | undefined {
  const { dialect, budget } = OLD_RULES[name];
  return explore(machineOf(rulesWith(name), DIALECTS[dialect], budget), limit).counterexample;
}

const BEGINNING = [
  'the caller asks for the order, and it is accepted',
  'the outbox starts the workflow',
  'the workflow begins and reads where the order stands',
];

describe('an old rule that is put back is caught, by the shortest trace', () => {
  it('judging-from-memory: of two relays with one row the second takes the report for known, and the workflow is never told', () => {
    expect(caught('judging-from-memory')).toEqual({
      invariant: INVARIANTS.no_report_lost,
      trace: [
        ...BEGINNING,
        'worker 1 claims send 1 of attempt 1',
        'the request of worker 1 leaves',
        'the service carries the request of worker 1 out and answers',
        'worker 1 stores the answer: processing',
        'the service completes the purchase of attempt 1',
        'the reconciler finds attempt 1 completed',
        'relay 1 takes the finding about attempt 1',
        'the lease of the finding about attempt 1 ends while a relay still has it in hand',
        'relay 2 takes the finding about attempt 1',
        'relay 1 judges the finding about attempt 1',
        'relay 1 is killed',
        'relay 2 judges the finding about attempt 1',
      ],
    });
  });

  it('random-key-at-creation: an attempt whose row was lost gets another key, and is bought a second time', () => {
    expect(caught('random-key-at-creation')).toEqual({
      invariant: INVARIANTS.one_debit,
      trace: [
        ...BEGINNING.slice(0, 2),
        'PostgreSQL keeps a copy that it will be set back to',
        'the workflow begins and reads where the order stands',
        'worker 1 claims send 1 of attempt 1',
        'the request of worker 1 leaves',
        'the service carries the request of worker 1 out and answers',
        'PostgreSQL is set back to that copy',
        'worker 1 stores the answer: processing',
        'worker 1 claims send 1 of attempt 1',
        'the request of worker 1 leaves',
        'the service carries the request of worker 1 out and answers',
      ],
    });
  });

  it('completed-workflow-not-restarted: an order that was set back after its workflow had completed is stuck without a case', () => {
    expect(caught('completed-workflow-not-restarted')).toEqual({
      invariant: CAN_GO_ON,
      trace: [
        ...BEGINNING,
        'worker 1 claims send 1 of attempt 1',
        'the request of worker 1 leaves',
        'the service carries the request of worker 1 out and answers',
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
    ['refused-window', INVARIANTS.no_needless_case, 'the workflow asks the service what became of the attempt'],
    ['endless-resend', INVARIANTS.one_debit, 'the service carries the request of worker 1 out and answers'],
    ['witness-from-row', INVARIANTS.no_false_failure, 'an operator abandons the order'],
    ['claim-without-witness', INVARIANTS.one_send, 'the request of worker 2 leaves'],
    ['restored-without-lease', INVARIANTS.one_send, 'the request of worker 2 leaves'],
    ['no-epoch', INVARIANTS.one_send, 'the request of worker 2 leaves'],
    ['late-answer', INVARIANTS.no_report_lost, 'relay 1 judges the webhook about attempt 1'],
    ['stale-answer', INVARIANTS.no_report_lost, 'relay 1 judges the webhook about attempt 1'],
    ['abandon-by-row', INVARIANTS.no_false_failure, 'an operator abandons the order'],
    ['sweeper-does-not-wake', CAN_GO_ON, 'PostgreSQL is set back to that copy'],
    ['seen-by-id', CAN_GO_ON, 'relay 1 notes that the workflow was told'],
  ] as const)('%s: %s', (name, invariant, last) => {
    const found = caught(name);
    expect(found?.invariant).toBe(invariant);
    expect(found?.trace.at(-1)).toBe(last);
  });

  it('each old rule is put to the test', () => {
    expect(Object.keys(OLD_RULES)).toHaveLength(16);
  });
});
