import { describe, expect, it } from 'vitest';
import type { ObservationDecision } from '#domain/relay/observation.ts';
import {
  afterNotifying,
  decideInboxRow,
  INBOX_STATES,
  type InboxAction,
  type StoredInboxRow,
} from '#domain/relay/relay-decision.ts';

const DECISIONS = ['advance', 'known', 'contradiction'] as const satisfies readonly ObservationDecision[];
const pending = (decision: ObservationDecision | null): StoredInboxRow => ({
  state: 'pending',
  decision,
  isOurs: true,
});

const SETTLED = ['relayed', 'applied', 'unmatched', 'quarantined', 'replayed', 'ignored'] as const;

describe('a row of the inbox', () => {
  it('is pending, or has a state that needs no relay', () => {
    expect(INBOX_STATES).toEqual(['pending', ...SETTLED]);
  });

  it.each(SETTLED)('in the state %s is left unchanged', (state) => {
    for (const judged of DECISIONS) {
      for (const ended of [false, true])
        expect(decideInboxRow({ state, decision: 'advance', isOurs: true }, judged, ended)).toEqual({ kind: 'leave' });
    }
  });

  it('of another relay is left unchanged', () => {
    for (const judged of DECISIONS)
      expect(decideInboxRow({ ...pending(null), isOurs: false }, judged, false)).toEqual({ kind: 'leave' });
  });

  it.each<[stored: ObservationDecision | null, judged: ObservationDecision, action: InboxAction]>([
    [null, 'known', { kind: 'apply', decision: 'known' }],
    [null, 'advance', { kind: 'notify', decision: 'advance' }],
    [null, 'contradiction', { kind: 'notify', decision: 'contradiction' }],
    ['known', 'known', { kind: 'apply', decision: 'known' }],
    ['known', 'advance', { kind: 'notify', decision: 'advance' }],
    ['advance', 'known', { kind: 'notify', decision: 'advance' }],
    ['advance', 'contradiction', { kind: 'notify', decision: 'advance' }],
    ['contradiction', 'known', { kind: 'notify', decision: 'contradiction' }],
    ['contradiction', 'advance', { kind: 'notify', decision: 'contradiction' }],
  ])('decided as %s before and %s now, of open work, causes $kind', (stored, judged, action) => {
    expect(decideInboxRow(pending(stored), judged, false)).toEqual(action);
  });

  it('of ended work is judged against the final state, for any earlier decision, without a signal', () => {
    for (const stored of [null, ...DECISIONS]) {
      for (const judged of DECISIONS)
        expect(decideInboxRow(pending(stored), judged, true)).toEqual({ kind: 'apply', decision: judged });
    }
  });

  it.each([
    ['notified', false, 'relayed'],
    ['finished', false, 'try_again'],
    ['notified', true, 'judge_again'],
    ['finished', true, 'judge_again'],
  ] as const)('after the result %s of its signal (work ended: %s) is %s', (outcome, ended, next) => {
    expect(afterNotifying(outcome, ended)).toBe(next);
  });
});
