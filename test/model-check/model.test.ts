import { describe, expect, it } from 'vitest';
import { BOUNDS, DIALECTS, type BoundName, type DialectName } from '#test/model-check/dialects.ts';
import { explore } from '#test/model-check/engine.ts';
import { INVARIANTS, machineOf } from '#test/model-check/machine.ts';
import { exploreOldRule, OLD_RULES, type OldRuleName } from '#test/model-check/old-rules.ts';
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

describe('each old rule', () => {
  it.each(Object.keys(OLD_RULES) as OldRuleName[])('is detected by the guarantee that it breaks: %s', (name) => {
    const { breaks, last } = OLD_RULES[name];
    const { counterexample } = exploreOldRule(name, 100_000);
    expect(counterexample?.invariant).toBe(breaks);
    expect(counterexample?.trace.at(-1)).toBe(last);
  });

  it('is shown by the shortest trace: an attempt with a lost row gets another key, and is bought twice', () => {
    expect(exploreOldRule('random-key-at-creation', 100_000).counterexample).toEqual({
      invariant: INVARIANTS.one_debit,
      trace: [
        'the caller requests the order, and it is accepted',
        'the outbox starts the workflow',
        'PostgreSQL keeps a copy that it will be set back to',
        'the first task, in worker 1, reads the order and claims send 1 of attempt 1',
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
});
