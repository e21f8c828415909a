import { describe, expect, it } from 'vitest';
import {
  START_DECISIONS,
  startDecision,
  type StartDecision,
  type WorkflowRunState,
} from '#domain/relay/start-decision.ts';

const TABLE: readonly [WorkflowRunState, boolean, StartDecision][] = [
  ['none', false, 'start'],
  ['none', true, 'start'],
  ['running', false, 'leave'],
  ['running', true, 'leave'],
  ['completed', false, 'start_anew'],
  // A workflow that is just completing has ended its row before.
  ['completed', true, 'leave'],
  ['unclean', false, 'start'],
  ['unclean', true, 'start'],
];

describe('the start of a workflow', () => {
  it.each(TABLE)(
    'after one that is %s, with a row that has ended: %s, is decided as %s',
    (standing, isEnded, decision) => {
      expect(startDecision(standing, isEnded)).toBe(decision);
    },
  );

  it('has a decision for every standing', () => {
    expect(new Set(TABLE.map(([standing]) => standing))).toEqual(new Set(Object.keys(START_DECISIONS)));
  });
});
