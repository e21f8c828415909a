import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { decideAfterSend, type AttemptHistory } from '#domain/purchase/purchase-decision.ts';
import {
  failsEveryCall,
  FAILURE_CLASSES,
  FAILURE_ENDS,
  failureClasses,
  isAboutAccount,
  isDefinite,
  isDefiniteAnswer,
  isFailureClass,
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
const afterFailure = (failure: FailureClass, more: Partial<AttemptHistory> = {}, retryAfterMs?: number) =>
  decideAfterSend(failed(failure, retryAfterMs), history(more), policy, NOW);
const gated = { kind: 'gated', failure: 'purchases_paused', detail: 'Buying is paused.', recheckMs: 60_000 } as const;
const atGate = (more: Partial<AttemptHistory>, resendAllowed = true) =>
  decideAfterSend(gated, history(more), { ...policy, resendAllowed }, NOW);

describe('the decision after a send', () => {
  it('waits, delivers or settles after an acceptance, even after an unknown send', () => {
    for (const anyUnknown of [false, true]) {
      const accepted = (outcome: 'processing' | 'completed' | 'failed') =>
        decideAfterSend({ kind: 'accepted', outcome }, history({ anyUnknown }), policy, NOW);
      expect(accepted('processing')).toEqual({ step: 'await_service' });
      expect(accepted('completed')).toEqual({ step: 'deliver' });
      expect(accepted('failed')).toEqual({ step: 'settle', failure: 'supplier_failed' });
    }
  });

  it('waits for a lease of another send', () => {
    const decision = decideAfterSend({ kind: 'lease_held', retryAfterMs: 4_321 }, history(), policy, NOW);
    expect(decision).toEqual({ step: 'wait_for_lease', delayMs: 4_321 });
  });

  // The complete table: a change of the catalogue requires a change here.
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
  it.each(AFTER_FIRST_FAILURE)('for a first failure %s is %s', (failure, step) => {
    expect(afterFailure(failure).step).toBe(step);
  });

  it('covers every class of the catalogue in the table above', () => {
    expect(AFTER_FIRST_FAILURE.map(([failure]) => failure).toSorted()).toEqual(failureClasses.toSorted());
  });

  it('prefers Retry-After to the growing delay of a hold', () => {
    const asked = { step: 'hold', failure: 'rate_limited', delayMs: 7_000, delayIsNamed: true };
    expect(afterFailure('rate_limited', { holds: 4 }, 7_000)).toEqual(asked);
    expect(afterFailure('rate_limited', { holds: 0 })).toMatchObject({ delayMs: policy.holdDelayMs });
    expect(afterFailure('rate_limited', { holds: 2 })).toMatchObject({ delayMs: 4 * policy.holdDelayMs });
    expect(afterFailure('rate_limited', { holds: 500 })).toMatchObject({ delayMs: policy.holdDelayMaxMs });
  });

  it('uses the longer one of Retry-After and the resend delay', () => {
    expect(afterFailure('server_error', {}, 60_000)).toMatchObject({ delayMs: 60_000 });
    expect(afterFailure('server_error', {}, 1)).toMatchObject({ delayMs: policy.resendDelayMs });
  });

  it('allows the last resend exactly at the end of the window', () => {
    const firstUnrefusedSendAt = NOW + policy.resendDelayMs - policy.resendWindowMs;
    expect(afterFailure('timeout', { firstUnrefusedSendAt }).step).toBe('resend');
    expect(afterFailure('timeout', { firstUnrefusedSendAt: firstUnrefusedSendAt - 1 }).step).toBe('look_up');
  });

  it('starts the window at the first send without a refusal, after any earlier sends', () => {
    const held = { firstSentAt: NOW - 30 * policy.resendWindowMs, sends: 12 };
    expect(afterFailure('timeout', held).step).toBe('resend');
    expect(atGate({ ...held, anyUnknown: true, firstUnrefusedSendAt: NOW }).step).toBe('resend');
  });
});

describe('the decision at the purchase gate', () => {
  const lookUp = { step: 'look_up', failure: 'purchases_paused' };

  it('holds an unsent or refused attempt until the next gate check', () => {
    const held = { step: 'hold', failure: 'purchases_paused', delayMs: 60_000, gated: 'Buying is paused.' };
    expect(atGate({ firstSentAt: undefined })).toEqual(held);
    expect(atGate({ holds: 7 })).toEqual(held);
  });

  it('delays the resend of a possible purchase, until the end of its window at the latest', () => {
    const resend = { step: 'resend', failure: 'purchases_paused', gated: 'Buying is paused.' };
    for (const firstUnrefusedSendAt of [NOW, undefined])
      expect(atGate({ anyUnknown: true, firstUnrefusedSendAt })).toEqual({ ...resend, delayMs: 60_000 });
    const ending = { anyUnknown: true, firstUnrefusedSendAt: NOW + 5_000 - policy.resendWindowMs };
    expect(atGate(ending)).toEqual({ ...resend, delayMs: 5_000 });
  });

  it('looks up a possible purchase after its window, or without resends', () => {
    expect(atGate({ anyUnknown: true, firstUnrefusedSendAt: NOW - policy.resendWindowMs })).toEqual(lookUp);
    expect(atGate({ anyUnknown: true, firstUnrefusedSendAt: NOW - policy.resendWindowMs - 1 })).toEqual(lookUp);
    expect(atGate({ anyUnknown: true, firstUnrefusedSendAt: NOW }, false)).toEqual(lookUp);
  });
});

describe('the failure catalogue', () => {
  const unknown = failureClasses.filter((failure) => !isDefinite(failure));

  it('marks every class as unknown that does not prove a missing purchase', () => {
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

  it('never lets an unknown class fail, hold or start a new attempt directly', () => {
    expect(new Set(unknown.map((failure) => FAILURE_CLASSES[failure].disposition))).toEqual(new Set(['look_up']));
  });

  it('marks definite classes as answers of the service unless we found them ourselves', () => {
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

  it('explains every class, and every other end, with its meaning and advice', () => {
    for (const { meaning, advice } of [...Object.values(FAILURE_CLASSES), ...Object.values(FAILURE_ENDS)]) {
      expect(meaning).toMatch(/^[A-Z].*\.$/);
      expect(advice).toMatch(/^[A-Z].*\.$/);
    }
  });
});

it.each<[string, (failure: FailureClass) => boolean, FailureClass[]]>([
  [
    'a batch of calls stops for failures of the connection, of our access and of the rate limit',
    failsEveryCall,
    ['connection_lost', 'not_approved', 'not_sent', 'rate_limited', 'timeout', 'unauthorized'],
  ],
  [
    'a key that may see only its own work does not see details of the whole account',
    isAboutAccount,
    ['insufficient_balance', 'not_approved', 'purchases_paused', 'service_down', 'spend_limit_reached', 'unauthorized'],
  ],
])('%s', (_name, applies, expected) => {
  expect(failureClasses.filter(applies).toSorted()).toEqual(expected);
});

it('a name is a failure class only if the catalogue has it', () => {
  expect([...failureClasses, 'toString', ''].filter(isFailureClass)).toEqual(failureClasses);
});
