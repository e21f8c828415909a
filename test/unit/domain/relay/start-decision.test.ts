import { describe, expect, it } from 'vitest';
import {
  HAND_OVER_DECISIONS,
  needsRow,
  START_DECISIONS,
  startDecision,
  type StartDecision,
  type WorkflowRunState,
} from '#domain/relay/relay-decision.ts';

const TABLE: readonly [WorkflowRunState, boolean, StartDecision][] = [
  ['none', false, 'start'],
  ['none', true, 'start'],
  ['running', false, 'leave'],
  ['running', true, 'leave'],
  ['completed', false, 'start_anew'],
  // A workflow that is completing has ended its row before.
  ['completed', true, 'leave'],
  ['unclean', false, 'start'],
  ['unclean', true, 'start'],
];

describe('the start of a workflow', () => {
  it.each(TABLE)(
    'after one in the state %s, with a row that has ended: %s, is decided as %s',
    (standing, isEnded, decision) => {
      expect(startDecision(standing, isEnded)).toBe(decision);
    },
  );

  it('has a decision for every workflow state', () => {
    expect(new Set(TABLE.map(([standing]) => standing))).toEqual(new Set(Object.keys(START_DECISIONS)));
  });
});

describe('a workflow that was started or woken', () => {
  it('needs nothing more when this call has reached it, with any row', () => {
    const done = { accepted: 'done', in_progress: 'done', ended: 'done' };
    expect(HAND_OVER_DECISIONS.started).toEqual(done);
    expect(HAND_OVER_DECISIONS.notified).toEqual(done);
  });

  it('is woken when it runs and its row has no step, because PostgreSQL has lost commits', () => {
    expect(HAND_OVER_DECISIONS.running).toEqual({ accepted: 'wake', in_progress: 'done', ended: 'done' });
  });

  it('is tried again when it has completed and its row has not ended', () => {
    expect(HAND_OVER_DECISIONS.finished).toEqual({ accepted: 'try_again', in_progress: 'try_again', ended: 'done' });
  });

  it('has its row read only when the row decides', () => {
    const outcomes = Object.keys(HAND_OVER_DECISIONS) as (keyof typeof HAND_OVER_DECISIONS)[];
    expect(outcomes.filter(needsRow)).toEqual(['running', 'finished']);
  });
});
