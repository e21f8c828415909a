import { describe, expect, it } from 'vitest';
import {
  caseVerdicts,
  judgeResolve,
  needsWallet,
  VERDICTS_OF,
  type CaseVerdict,
  type JudgedCase,
} from '#domain/operator/operator-actions.ts';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { FINAL_STATUSES, WORK_STATUSES } from '#domain/work/lifecycle.ts';
import { withCase } from '#test/support/work/operated-work.ts';

const reasons = Object.keys(ATTENTION_REASONS) as AttentionReason[];

const about = (reason: AttentionReason, more: Partial<JudgedCase> = {}): JudgedCase => ({
  reason,
  attempt: undefined,
  laterAttempts: [],
  ...more,
});

describe('the verdicts on a case', () => {
  it('are those that can be true for its reason', () => {
    // Bought is possible when the purchase is unknown. Not bought is possible only then.
    const unproven = ['outcome_unknown', 'records_lost', 'service_not_answering', 'evidence_unavailable'];
    const doubtful = new Set([...unproven, 'failed_but_charged', 'contradiction', 'refund_missing']);
    const ofRefunds = new Set(['refund_failed', 'refund_missing']);
    const boughtButUnread = ['contract_drift', 'delivery_unavailable'];
    // The purchase is settled, or needs no verdict, and the work continues unchanged.
    const ofBooks = ['debited_twice', 'charge_not_refunded', 'amount_differs', 'movement_missing'];
    const others = ['iccid_unreadable', 'charged_above_limit', 'cancellation_refused', 'webhook_conflict'];
    const mayBeLeft = new Set(['contradiction', ...boughtButUnread, ...ofBooks, ...others]);
    for (const reason of reasons) {
      expect(VERDICTS_OF[reason], reason).toEqual([
        ...(doubtful.has(reason) || boughtButUnread.includes(reason) ? ['bought'] : []),
        ...(doubtful.has(reason) ? ['not_bought'] : []),
        ...(ofRefunds.has(reason) ? ['refunded'] : []),
        ...(mayBeLeft.has(reason) || ofRefunds.has(reason) ? ['dismissed'] : []),
      ]);
    }
  });

  it('that do not match its reason are refused as such, before any other check', () => {
    for (const reason of reasons) {
      for (const verdict of caseVerdicts) {
        const fits = (VERDICTS_OF[reason] as readonly string[]).includes(verdict);
        for (const status of WORK_STATUSES) {
          const judgement = judgeResolve({ status, observationsPending: true }, about(reason), verdict);
          expect(judgement === 'verdict_not_possible', `${reason} ${verdict}`).toBe(!fits);
        }
      }
    }
  });

  it('close a case of ended work only by dismissing it', () => {
    for (const status of FINAL_STATUSES) {
      const judge = (reason: AttentionReason, verdict: CaseVerdict) =>
        judgeResolve({ status, observationsPending: false }, about(reason, { isCancelled: true }), verdict);
      for (const reason of ['contradiction', 'refund_failed'] as const)
        expect(judge(reason, 'dismissed')).toBe('allowed');
      for (const verdict of ['bought', 'not_bought'] as const)
        expect(judge('contradiction', verdict)).toBe('already_ended');
      expect(judge('refund_failed', 'refunded')).toBe('already_ended');
    }
  });

  it('wait for a report of the service in processing, but not after a contradiction or when the money is back', () => {
    const judge = (reason: AttentionReason, verdict: CaseVerdict) =>
      judgeResolve({ ...withCase, observationsPending: true }, about(reason, { isCancelled: true }), verdict);
    for (const verdict of ['bought', 'not_bought'] as const) {
      expect(judge('outcome_unknown', verdict)).toBe('observations_pending');
      expect(judge('contradiction', verdict)).toBe('allowed');
    }
    expect(judge('refund_failed', 'refunded')).toBe('allowed');
  });

  it('of bought are refused while a later attempt may have cost something, and of not bought are not', () => {
    const earlier = { state: 'refused', settled: false } as const;
    for (const state of ATTEMPT_STATES) {
      for (const settled of [true, false]) {
        const later = about('contradiction', { laterAttempts: [earlier, { state, settled }] });
        const harmless = state === 'prepared' || state === 'refused' || (state === 'failed' && settled);
        expect(judgeResolve(withCase, later, 'bought'), `${state} ${settled}`).toBe(
          harmless ? 'allowed' : 'later_attempt_open',
        );
        expect(judgeResolve(withCase, later, 'not_bought')).toBe('allowed');
      }
    }
  });

  it('of not bought are refused when the service clearly reports a sale, unless it contradicted itself', () => {
    const notBought = (reason: AttentionReason, more: Partial<JudgedCase>) =>
      judgeResolve(withCase, about(reason, more), 'not_bought');
    for (const isCancelled of [undefined, false, true]) {
      for (const state of ATTEMPT_STATES) {
        const attempt = { state, settled: false };
        const saysBought = state === 'completed' || (state === 'processing' && isCancelled === true);
        const judged = notBought('outcome_unknown', { attempt, isCancelled });
        expect(judged, `${state} ${isCancelled}`).toBe(saysBought ? 'service_says_bought' : 'allowed');
        expect(notBought('contradiction', { attempt, isCancelled })).toBe('allowed');
      }
      expect(notBought('outcome_unknown', { isCancelled })).toBe('allowed');
    }
  });
});

describe('a verdict of not bought', () => {
  it('requires a wallet check while the service processes the purchase', () => {
    for (const state of ATTEMPT_STATES) {
      const attempt = { state, settled: false };
      expect(needsWallet(about('outcome_unknown', { attempt })), state).toBe(state === 'processing');
      expect(needsWallet(about('contradiction', { attempt }))).toBe(false);
      expect(needsWallet(about('outcome_unknown', { attempt, isCancelled: false }))).toBe(false);
    }
    expect(needsWallet(about('outcome_unknown'))).toBe(false);
  });
});

describe('the verdicts on the refund of a cancellation', () => {
  const judge = (reason: AttentionReason, verdict: CaseVerdict, more: Partial<JudgedCase> = {}) =>
    judgeResolve(withCase, about(reason, more), verdict);

  it.each(['refund_failed', 'refund_missing'] as const)(
    'of a case %s settle the refund only once the eSIM is known to be cancelled',
    (reason) => {
      for (const verdict of ['dismissed', 'refunded'] as const) {
        expect(judge(reason, verdict, { isCancelled: true })).toBe('allowed');
        expect(judge(reason, verdict, { isCancelled: false })).toBe('not_cancelled');
        expect(judge(reason, verdict)).toBe('not_cancelled');
      }
    },
  );

  it('can decide whether the eSIM is cancelled while that is unknown', () => {
    for (const verdict of ['bought', 'not_bought'] as const)
      expect(judge('refund_missing', verdict, { isCancelled: false })).toBe('allowed');
  });

  it('of other cases do not depend on the eSIM', () => {
    expect(judge('contradiction', 'dismissed')).toBe('allowed');
    expect(judge('cancellation_refused', 'dismissed', { isCancelled: false })).toBe('allowed');
  });
});
