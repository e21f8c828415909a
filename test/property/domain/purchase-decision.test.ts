import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import {
  costNothing,
  decideAfterSend,
  decideSettlement,
  type AttemptHistory,
  type SendOutcome,
} from '#domain/purchase/purchase-decision.ts';
import { failureClasses, isDefinite } from '#domain/work/failure.ts';
import { assertForAll, assertForMany } from '#test/support/for-all.ts';

const NOW = Date.UTC(2030, 0, 31, 12);
const milliseconds = fc.integer({ min: 1, max: 86_400_000 });

const policies: fc.Arbitrary<PurchasePolicy> = fc
  .record({
    resendAllowed: fc.boolean(),
    resendWindowMs: milliseconds,
    resendDelayMs: fc.integer({ min: 1, max: 60_000 }),
    holdDelayMs: fc.integer({ min: 1, max: 60_000 }),
    maxAttempts: fc.integer({ min: 1, max: 20 }),
    silentDeadlineMs: milliseconds,
  })
  .map((changes) => ({ ...DEFAULT_POLICY.purchase, ...changes }));

const histories: fc.Arbitrary<AttemptHistory> = fc.record({
  firstSentAt: fc.option(fc.integer({ min: NOW - 172_800_000, max: NOW }), { nil: undefined }),
  firstUnrefusedSendAt: fc.option(fc.integer({ min: NOW - 172_800_000, max: NOW }), { nil: undefined }),
  sends: fc.integer({ min: 1, max: 100 }),
  holds: fc.integer({ min: 0, max: 10_000 }),
  anyUnknown: fc.boolean(),
});

const failures = fc
  .record({ failure: fc.constantFrom(...failureClasses), retryAfterMs: fc.option(milliseconds, { nil: undefined }) })
  .map(({ failure, retryAfterMs }): Extract<SendOutcome, { kind: 'failure' }> => ({
    kind: 'failure',
    failure,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }));

describe('rule 2: an unknown outcome is never a failure', () => {
  it('after an unknown send the decision is never fail, hold or new attempt', () => {
    assertForMany(2_000, failures, histories, policies, (outcome, history, policy) => {
      fc.pre(history.anyUnknown || !isDefinite(outcome.failure));
      expect(['resend', 'look_up']).toContain(decideAfterSend(outcome, history, policy, NOW).step);
    });
  });

  it('a resend happens only when allowed, within the window of the first unrefused send', () => {
    assertForMany(2_000, failures, histories, policies, (outcome, history, policy) => {
      const step = decideAfterSend(outcome, history, policy, NOW);
      if (step.step !== 'resend') return;
      expect(policy.resendAllowed).toBe(true);
      expect(NOW + step.delayMs).toBeLessThanOrEqual((history.firstUnrefusedSendAt ?? NOW) + policy.resendWindowMs);
      expect(step.delayMs).toBeGreaterThan(0);
    });
  });

  it('a known key or reference, or an unreliable answer, is looked up and never sent again', () => {
    const lookedUp = fc.constantFrom('key_or_reference_used' as const, 'contract_drift' as const);
    assertForAll(lookedUp, histories, policies, (failure, history, policy) => {
      const decision = decideAfterSend({ kind: 'failure', failure }, history, policy, NOW);
      expect(decision).toEqual({ step: 'look_up', failure });
    });
  });
});

describe('rule 3: no new attempt without evidence', () => {
  it('only a wallet without the debit, or with its credit, proves that an attempt cost nothing', () => {
    const evidence = ['no_debit', 'credited', 'debited', 'awaited', 'unavailable'] as const;
    expect(evidence.filter(costNothing)).toEqual(['no_debit', 'credited']);
  });

  it('a wallet without a proof is read as often as configured before a case is opened', () => {
    const decisions = [1, 2, 3, 4].map((reads) => decideSettlement(reads, { settleReads: 3 }));
    expect(decisions).toEqual(['read_again', 'read_again', 'open_case', 'open_case']);
  });
});
