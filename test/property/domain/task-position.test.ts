import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSuperseded, startOfRun, type TaskPosition } from '#domain/work/lifecycle.ts';
import { assertForAll } from '#test/support/for-all.ts';

const positions: fc.Arbitrary<TaskPosition> = fc.record({
  runId: fc.constantFrom('first', 'second'),
  historyLength: fc.integer({ min: 1, max: 4 }),
  at: fc.integer({ min: 1, max: 4 }),
});
const ofOneRun = positions.map((each) => ({ ...each, runId: 'first' }));

describe('the position of a workflow task', () => {
  it('does not refuse the same task again', () => {
    assertForAll(positions, (one) => !isSuperseded(one, one));
  });

  it('refuses exactly one of two different tasks of a run', () => {
    assertForAll(ofOneRun, ofOneRun, (one, other) => {
      const isSame = one.historyLength === other.historyLength && one.at === other.at;
      expect(isSuperseded(one, other) !== isSuperseded(other, one)).toBe(!isSame);
    });
  });

  it('refuses a task before one that is refused', () => {
    assertForAll(ofOneRun, ofOneRun, ofOneRun, (one, other, last) => {
      fc.pre(isSuperseded(one, other) && isSuperseded(other, last));
      expect(isSuperseded(one, last)).toBe(true);
    });
  });

  it('accepts every task of the run that has begun last, and none of another', () => {
    assertForAll(positions, fc.constantFrom('first', 'second'), (one, run) => {
      expect(isSuperseded(one, startOfRun(run))).toBe(one.runId !== run);
    });
  });
});
