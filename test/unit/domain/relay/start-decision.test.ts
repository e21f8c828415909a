import { describe, expect, it } from 'vitest';
import {
  afterHandOver,
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
  it('is woken when it runs and its row has no step, because PostgreSQL has lost commits', () => {
    expect(afterHandOver('running', 'accepted')).toBe('wake');
    for (const status of ['submitting', 'held', 'completed', 'failed'] as const)
      expect(afterHandOver('running', status), status).toBe('done');
  });

  it('is tried again when it has completed and its row has not ended', () => {
    for (const status of ['accepted', 'processing', 'needs_attention'] as const)
      expect(afterHandOver('finished', status), status).toBe('try_again');
    for (const status of ['completed', 'failed', 'cancelled'] as const)
      expect(afterHandOver('finished', status), status).toBe('done');
  });

  it('needs nothing more, and its row is not read, when this call has reached it', () => {
    expect((['started', 'notified', 'running', 'finished'] as const).filter(needsRow)).toEqual(['running', 'finished']);
  });
});
