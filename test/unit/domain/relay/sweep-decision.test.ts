import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { sweepDecision, wakeAgainAfterMs, type SweptWork, type WakeReason } from '#domain/relay/sweep-decision.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = 1_000 * 24 * HOUR;
const policy = DEFAULT_POLICY.sweep;

/** Running work that has waited for the service for an hour. */
const waiting: SweptWork = {
  status: 'processing',
  createdAt: NOW - HOUR,
  updatedAt: NOW - HOUR,
  attemptState: 'processing',
  lastReportAt: NOW - HOUR,
  hasOpenCase: false,
  isRunning: true,
};
const decide = (change: Partial<SweptWork>) => sweepDecision({ ...waiting, ...change }, policy, NOW);

describe('unfinished work', () => {
  const unanswered = { relayedSince: NOW - 16 * MINUTE };
  const withCase = { status: 'needs_attention', hasOpenCase: true } as const;
  const setBack = { updatedAt: NOW - 3 * MINUTE, mayBeSetBack: true };
  const failedEarly = { status: 'submitting', attemptState: 'failed' } as const;

  it.each<[string, Partial<SweptWork>, WakeReason]>([
    ['a report that its workflow was given and has not answered', unanswered, 'report_unanswered'],
    ['the same while it needs attention', { ...withCase, ...unanswered }, 'report_unanswered'],
    [
      'accepted, and PostgreSQL has started since, perhaps from a backup',
      { ...setBack, status: 'accepted', attemptState: 'prepared' },
      'no_report',
    ],
    [
      'a report that it was given before PostgreSQL was restored, and a wake before that',
      { status: 'held', relayedSince: NOW - MINUTE, sweptAt: NOW - MINUTE, mayBeSetBack: true },
      'report_unanswered',
    ],
    [
      'an attempt that has failed, and PostgreSQL has started since its wallet was to be read',
      { ...setBack, attemptState: 'failed', nextStepAt: NOW - MINUTE },
      'attempt_ended',
    ],
    [
      'an attempt that is completed, and PostgreSQL has started since',
      { ...setBack, attemptState: 'completed' },
      'attempt_ended',
    ],
    ['an attempt that is completed', { attemptState: 'completed' }, 'attempt_ended'],
    ['an attempt that failed, of work that was set back', failedEarly, 'attempt_ended'],
    ['needs_attention and no case', { status: 'needs_attention' }, 'case_missing'],
    ['a step long overdue', { status: 'held', nextStepAt: NOW - 16 * MINUTE }, 'step_overdue'],
    ['nothing to wait for', { status: 'submitting', attemptState: 'unknown' }, 'no_report'],
    ['a hold without an end', { status: 'held', attemptState: 'refused' }, 'no_report'],
    ['no sign of the service for hours', { updatedAt: NOW - 3 * HOUR, lastReportAt: NOW - 3 * HOUR }, 'no_report'],
  ])('with %s is woken', (_what, change, reason) => {
    expect(decide(change)).toEqual({ kind: 'wake', reason });
  });

  it.each<[string, Partial<SweptWork>]>([
    ['waits for the service for an hour', {}],
    ['was just given a report', { relayedSince: NOW - MINUTE }],
    ['is being delivered', { attemptState: 'completed', lastReportAt: NOW - MINUTE }],
    ['has just changed', { status: 'submitting', updatedAt: NOW - MINUTE }],
    ['is held until later', { status: 'held', nextStepAt: NOW + HOUR }],
    [
      'settles a failed attempt later, although PostgreSQL has started since',
      { attemptState: 'failed', nextStepAt: NOW + MINUTE, mayBeSetBack: true },
    ],
    ['waits for the service, although PostgreSQL has started since', { mayBeSetBack: true }],
    ['settles a failed attempt', { attemptState: 'failed', nextStepAt: NOW + MINUTE }],
    ['has needed attention for weeks', { ...withCase, createdAt: 0, updatedAt: 0 }],
    [
      'is a subscription that sleeps for a year',
      { status: 'active', attemptState: 'completed', createdAt: 0, updatedAt: 0, lastReportAt: 0 },
    ],
  ])('that %s is left unchanged', (_what, change) => {
    expect(decide(change)).toEqual({ kind: 'leave' });
  });

  it('without a running workflow is started, and not requested again at once', () => {
    expect(decide({ isRunning: false })).toEqual({ kind: 'start' });
    expect(decide({ isRunning: false, sweptAt: NOW - policy.idleAfterMs })).toEqual({ kind: 'start' });
    expect(decide({ isRunning: false, sweptAt: NOW - 1 })).toEqual({ kind: 'leave' });
  });

  it('is woken after growing intervals, and at most four times a day when it is old', () => {
    const after = (age: number) => wakeAgainAfterMs({ createdAt: NOW - age }, policy, NOW);
    const waits = [15 * MINUTE, 15 * MINUTE, 30 * MINUTE, 6 * HOUR];
    expect([0, 1, 10, 1_000].map((hours) => after(hours * HOUR))).toEqual(waits);
    const stuck = { status: 'needs_attention', createdAt: 0, updatedAt: 0 } as const;
    expect(decide({ ...stuck, sweptAt: NOW - 6 * HOUR + 1 })).toEqual({ kind: 'leave' });
    expect(decide({ ...stuck, sweptAt: NOW - 6 * HOUR })).toEqual({ kind: 'wake', reason: 'case_missing' });
  });
});
