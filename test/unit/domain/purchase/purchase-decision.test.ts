import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import {
  afterAcceptance,
  costNothing,
  decideAfterSend,
  decideSettlement,
  type AttemptHistory,
} from '#domain/purchase/purchase-decision.ts';
import {
  FAILURE_CLASSES,
  failureClasses,
  isDefinite,
  isDefiniteAnswer,
  type FailureClass,
} from '#domain/work/failure.ts';

const policy = DEFAULT_POLICY.purchase;
const NOW = Date.UTC(2030, 0, 31, 12);
const history = (more: Partial<AttemptHistory> = {}): AttemptHistory => ({
  firstSentAt: NOW - 1_000,
  firstUnrefusedSendAt: NOW - 1_000,
  sends: 1,
  holds: 0,
  anyUnknown: false,
  ...more,
});
const failed = (failure: FailureClass, retryAfterMs?: number) =>
  ({ kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) }) as const;
const gated = { kind: 'gated', failure: 'purchases_paused', detail: 'Buying is paused.', recheckMs: 60_000 } as const;
const atGate = (more: Partial<AttemptHistory>, resendAllowed = true) =>
  decideAfterSend(gated, history(more), { ...policy, resendAllowed }, NOW);

describe('after a send', () => {
  it('what the service accepted is awaited, delivered or settled, whatever was unknown before', () => {
    for (const anyUnknown of [false, true]) {
      const steps = (['processing', 'completed', 'failed'] as const).map((outcome) =>
        decideAfterSend({ kind: 'accepted', outcome }, history({ anyUnknown }), policy, NOW),
      );
      expect(steps).toEqual([
        { step: 'await_service' },
        { step: 'deliver' },
        { step: 'settle', failure: 'supplier_failed' },
      ]);
    }
  });

  it('a lease that another send holds is waited for', () => {
    expect(decideAfterSend({ kind: 'lease_held', retryAfterMs: 4_321 }, history(), policy, NOW)).toEqual({
      step: 'wait_for_lease',
      delayMs: 4_321,
    });
  });

  // The whole table, written out: a change of the catalogue must be a change here.
  const AFTER_FIRST_FAILURE = [
    ['invalid_request', 'fail'],
    ['package_unavailable', 'hold'],
    ['price_above_limit', 'hold'],
    ['topup_not_offered', 'fail'],
    ['margin_too_low', 'hold'],
    ['esim_busy', 'hold'],
    ['cancellation_refused', 'fail'],
    ['refund_not_expected', 'fail'],
    ['refund_uncertain', 'fail'],
    ['insufficient_balance', 'hold'],
    ['not_approved', 'hold'],
    ['unauthorized', 'hold'],
    ['rate_limited', 'hold'],
    ['not_sent', 'hold'],
    ['service_down', 'hold'],
    ['spend_limit_reached', 'hold'],
    ['purchases_paused', 'hold'],
    ['deadline_passed', 'fail'],
    ['key_or_reference_used', 'look_up'],
    ['supplier_failed', 'settle'],
    ['timeout', 'resend'],
    ['connection_lost', 'resend'],
    ['server_error', 'resend'],
    ['unreadable_answer', 'resend'],
    ['contract_drift', 'look_up'],
    ['worker_lost', 'resend'],
  ] as const;
  it.each(AFTER_FIRST_FAILURE)('a first failure %s leads to %s', (failure, step) => {
    expect(decideAfterSend(failed(failure), history(), policy, NOW).step).toBe(step);
  });

  it('every class of the catalogue is in the table above', () => {
    expect(AFTER_FIRST_FAILURE.map(([failure]) => failure).toSorted()).toEqual(failureClasses.toSorted());
  });

  it('a Retry-After goes before the doubling wait of a hold', () => {
    const asked = { step: 'hold', failure: 'rate_limited', delayMs: 7_000, delayIsNamed: true };
    expect(decideAfterSend(failed('rate_limited', 7_000), history({ holds: 4 }), policy, NOW)).toEqual(asked);
    expect(decideAfterSend(failed('rate_limited'), history({ holds: 0 }), policy, NOW)).toMatchObject({
      delayMs: policy.holdDelayMs,
    });
    expect(decideAfterSend(failed('rate_limited'), history({ holds: 2 }), policy, NOW)).toMatchObject({
      delayMs: 4 * policy.holdDelayMs,
    });
    expect(decideAfterSend(failed('rate_limited'), history({ holds: 500 }), policy, NOW)).toMatchObject({
      delayMs: policy.holdDelayMaxMs,
    });
  });

  it('a resend waits for the Retry-After when that is longer, never shorter than its own wait', () => {
    expect(decideAfterSend(failed('server_error', 60_000), history(), policy, NOW)).toMatchObject({ delayMs: 60_000 });
    expect(decideAfterSend(failed('server_error', 1), history(), policy, NOW)).toMatchObject({
      delayMs: policy.resendDelayMs,
    });
  });

  it('the last resend is the one that begins exactly at the end of the window', () => {
    const firstUnrefusedSendAt = NOW + policy.resendDelayMs - policy.resendWindowMs;
    expect(decideAfterSend(failed('timeout'), history({ firstUnrefusedSendAt }), policy, NOW).step).toBe('resend');
    expect(
      decideAfterSend(failed('timeout'), history({ firstUnrefusedSendAt: firstUnrefusedSendAt - 1 }), policy, NOW).step,
    ).toBe('look_up');
  });

  it('the window begins with the first send that was not refused, however long before it was sent and refused', () => {
    const held = { firstSentAt: NOW - 30 * policy.resendWindowMs, sends: 12 };
    expect(decideAfterSend(failed('timeout'), history(held), policy, NOW).step).toBe('resend');
    expect(atGate({ ...held, anyUnknown: true, firstUnrefusedSendAt: NOW }).step).toBe('resend');
  });
});

describe('at the purchase gate', () => {
  const lookUp = { step: 'look_up', failure: 'purchases_paused' };

  it('what was not sent, or bought nothing, is held until the gate is asked again', () => {
    const held = { step: 'hold', failure: 'purchases_paused', delayMs: 60_000, gated: 'Buying is paused.' };
    expect(atGate({ firstSentAt: undefined })).toEqual(held);
    expect(atGate({ holds: 7 })).toEqual(held);
  });

  it('what may have bought waits to be sent again, to the end of its window at the latest', () => {
    const resend = { step: 'resend', failure: 'purchases_paused', gated: 'Buying is paused.' };
    expect(atGate({ anyUnknown: true, firstUnrefusedSendAt: NOW })).toEqual({ ...resend, delayMs: 60_000 });
    expect(atGate({ anyUnknown: true, firstUnrefusedSendAt: undefined })).toEqual({ ...resend, delayMs: 60_000 });
    expect(atGate({ anyUnknown: true, firstUnrefusedSendAt: NOW + 5_000 - policy.resendWindowMs })).toEqual({
      ...resend,
      delayMs: 5_000,
    });
  });

  it('what may have bought is looked up once its window is over, or where nothing is sent again', () => {
    expect(atGate({ anyUnknown: true, firstUnrefusedSendAt: NOW - policy.resendWindowMs })).toEqual(lookUp);
    expect(atGate({ anyUnknown: true, firstUnrefusedSendAt: NOW - policy.resendWindowMs - 1 })).toEqual(lookUp);
    expect(atGate({ anyUnknown: true, firstUnrefusedSendAt: NOW }, false)).toEqual(lookUp);
  });
});

describe('the failure catalogue', () => {
  it('calls unknown whatever does not prove that nothing was bought', () => {
    const unknown = failureClasses.filter((failure) => !isDefinite(failure));
    expect(unknown.toSorted()).toEqual([
      'connection_lost',
      'contract_drift',
      'key_or_reference_used',
      'server_error',
      'timeout',
      'unreadable_answer',
      'worker_lost',
    ]);
  });

  it('calls every class one or the other, and says how each goes on', () => {
    for (const { certainty, disposition } of Object.values(FAILURE_CLASSES)) {
      expect(['definite', 'unknown']).toContain(certainty);
      expect(['fail', 'hold', 'look_up', 'new_attempt']).toContain(disposition);
    }
  });

  it('lets no unknown class fail, hold or buy anew by its own disposition', () => {
    const unknown = failureClasses.filter((failure) => !isDefinite(failure));
    expect(new Set(unknown.map((failure) => FAILURE_CLASSES[failure].disposition))).toEqual(new Set(['look_up']));
  });

  it('counts as a definite answer of the service unless we found it ourselves', () => {
    const withoutAnswer = failureClasses.filter((failure) => isDefinite(failure) && !isDefiniteAnswer(failure));
    expect(withoutAnswer).toEqual([
      'deadline_passed',
      'esim_busy',
      'not_sent',
      'service_down',
      'spend_limit_reached',
      'purchases_paused',
    ]);
    expect(failureClasses.filter((failure) => isDefiniteAnswer(failure) && !isDefinite(failure))).toEqual([]);
  });

  it('tells the reader of every class what happened and what to do', () => {
    for (const { meaning, advice } of Object.values(FAILURE_CLASSES)) {
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      expect(advice).toMatch(/^[A-Z].*\.$/);
    }
  });
});

describe('the settlement of a failed attempt', () => {
  it('reads the wallet a few times before a person is told', () => {
    for (let reads = 1; reads < policy.settleReads; reads += 1)
      expect(decideSettlement(reads, policy)).toBe('read_again');
    expect(decideSettlement(policy.settleReads, policy)).toBe('open_case');
  });

  it.each([
    ['no_debit', true],
    ['credited', true],
    ['debited', false],
    ['unavailable', false],
  ] as const)('on the evidence %s takes it that the attempt cost nothing: %s', (evidence, nothing) => {
    expect(costNothing(evidence)).toBe(nothing);
  });
});

describe('after acceptance', () => {
  it('a failure is settled against the wallet before anything else', () => {
    expect(afterAcceptance('failed')).toEqual({ step: 'settle', failure: 'supplier_failed' });
  });
});
