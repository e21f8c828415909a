import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { isBadData } from '#db/connection/database.ts';
import { RELAY_POLICY } from '#domain/policy/relay-policy.ts';
import type { ObservationDecision } from '#domain/relay/observation.ts';
import {
  afterFailure,
  afterHandOver,
  afterNotifying,
  decideInboxRow,
  INBOX_STATES,
  needsRow,
  pollWaitMs,
  START_DECISIONS,
  startDecision,
  type InboxAction,
  type StartDecision,
  type StoredInboxRow,
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

describe('a failure of the relay', () => {
  const policy = { retryDelayMs: 1_000, retryDelayMaxMs: 60_000, lastingTries: 3 };
  // Lock timeout, cancelled, deadlock, shutdown, connection, disk full, and a table before its migration.
  const passing = ['55P03', '57014', '40P01', '57P01', '08006', '53100', '42P01'];

  it.each([['22P02', true], ['23505', true], ...passing.map((state): [string, boolean] => [state, false])])(
    'of PostgreSQL with the state %s is lasting: %s',
    (code, lasts) => {
      expect(isBadData(Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code }))).toBe(lasts);
    },
  );

  it('of a temporary kind never quarantines, after any number of tries', () => {
    for (let tries = 1; tries < 1_000; tries += 1)
      expect(afterFailure(false, { tries, lastingErrors: 2 }, policy)).not.toBe('quarantine');
  });

  it('of a lasting kind quarantines at the limit of such errors, despite other results in between', () => {
    const after = (lastingErrors: number) => afterFailure(true, { tries: 50, lastingErrors }, policy);
    expect([after(0), after(1), after(2)]).toEqual([60_000, 60_000, 'quarantine']);
  });

  it('delays the next try longer each time, up to a limit', () => {
    const waits = [1, 2, 3, 10].map((tries) => afterFailure(false, { tries, lastingErrors: 0 }, policy));
    expect(waits).toEqual([1_000, 2_000, 4_000, 60_000]);
  });
});

describe('the wait until the next poll', () => {
  const policy = { pollMs: 5, pollMaxMs: 30 };

  it('doubles up to its bound while notifications arrive and nothing is found', () => {
    const waits: number[] = [];
    for (let waitMs = 5; waits.length < 4;) {
      waitMs = pollWaitMs({ waitMs, foundRows: false, isHearing: true }, policy);
      waits.push(waitMs);
    }
    expect(waits).toEqual([10, 20, 30, 30]);
  });

  it('is short again when a notification was lost or none arrives', () => {
    expect(pollWaitMs({ waitMs: 30, foundRows: true, isHearing: true }, policy)).toBe(5);
    expect(pollWaitMs({ waitMs: 30, foundRows: false, isHearing: false }, policy)).toBe(5);
  });

  it('is never longer than a configured poll that is longer than the bound', () => {
    expect(pollWaitMs({ waitMs: 60, foundRows: false, isHearing: true }, { pollMs: 60, pollMaxMs: 30 })).toBe(60);
  });

  it('is not longer than a lease, so that a poll sees each lease before it ends', () => {
    expect(RELAY_POLICY.pollMaxMs).toBeLessThanOrEqual(RELAY_POLICY.leaseMs);
  });
});
