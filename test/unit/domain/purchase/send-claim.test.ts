import { describe, expect, it } from 'vitest';
import {
  afterAnswer,
  decideSendClaim,
  isOutcomeUnknown,
  resendWindowInForce,
  type SendCandidate,
} from '#domain/purchase/send-claim.ts';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';

const WINDOW = 600_000;
const facts = (more: Partial<SendCandidate> = {}): SendCandidate => ({
  state: 'prepared',
  anyUnknown: false,
  failureClass: null,
  leaseLeftMs: null,
  unrefusedForMs: null,
  ...more,
});
/** Its send got no answer a minute ago. */
const unknown = (more: Partial<SendCandidate> = {}) =>
  facts({ state: 'unknown', anyUnknown: true, failureClass: 'timeout', unrefusedForMs: 60_000, ...more });

describe('the send decision', () => {
  const BY_STATE = [
    ['prepared', 'claim'],
    ['sending', 'claim'],
    ['unknown', 'claim'],
    ['refused', 'claim'],
    ['processing', 'known_to_service'],
    ['completed', 'known_to_service'],
    ['failed', 'known_to_service'],
  ] as const;
  it.each(BY_STATE)('for %s, without a lease and within its window, is %s', (state, decision) => {
    expect(decideSendClaim(facts({ state, unrefusedForMs: 1 }), WINDOW)).toBe(decision);
  });

  it('covers every state in the table above', () => {
    expect(BY_STATE.map(([state]) => state).toSorted()).toEqual(ATTEMPT_STATES.toSorted());
  });

  it('refuses a purchase that the service has, with any lease', () => {
    expect(decideSendClaim(facts({ state: 'processing', leaseLeftMs: 1 }), WINDOW)).toBe('known_to_service');
  });

  it.each([
    ['a millisecond before the end of the lease', 1, 'leased'],
    ['less than a millisecond before', 0.001, 'leased'],
    ['at its end', 0, 'claim'],
    ['long after it', -3_600_000, 'claim'],
  ] as const)('for an attempt in sending, %s', (_when, leaseLeftMs, decision) => {
    expect(decideSendClaim(facts({ state: 'sending', leaseLeftMs, unrefusedForMs: 30_000 }), WINDOW)).toBe(decision);
  });

  const sending = facts({ state: 'sending', unrefusedForMs: 60_000 });
  it.each([
    ['at the end of its window', unknown({ unrefusedForMs: WINDOW }), WINDOW, 'claim'],
    ['after it', unknown({ unrefusedForMs: WINDOW + 0.001 }), WINDOW, 'too_late'],
    ['where nothing may be sent again', unknown(), undefined, 'resend_not_allowed'],
    ['that was refused since', unknown({ failureClass: 'insufficient_balance' }), undefined, 'resend_not_allowed'],
    ['whose key the service knows', unknown({ failureClass: 'key_or_reference_used' }), WINDOW, 'too_late'],
    ['with an unreadable answer', unknown({ failureClass: 'contract_drift' }), WINDOW, 'too_late'],
    ['bought by a verdict, and never sent', unknown({ unrefusedForMs: null }), WINDOW, 'too_late'],
    ['without a result of its last send', sending, undefined, 'resend_not_allowed'],
  ] as const)('for a possible purchase, %s', (_what, attempt, window, decision) => {
    expect(isOutcomeUnknown(attempt)).toBe(true);
    expect(decideSendClaim(attempt, window)).toBe(decision);
  });

  it.each(['prepared', 'refused'] as const)('for %s, without a possible purchase, needs no window', (state) => {
    expect(decideSendClaim(facts({ state }), undefined)).toBe('claim');
    expect(isOutcomeUnknown({ state, anyUnknown: false })).toBe(false);
  });
});

describe('the resend window', () => {
  it.each([
    [WINDOW, { resendAllowed: true, resendWindowMs: WINDOW }, WINDOW],
    [WINDOW, { resendAllowed: true, resendWindowMs: 1_000 }, 1_000],
    [1_000, { resendAllowed: true, resendWindowMs: WINDOW }, 1_000],
    [WINDOW, { resendAllowed: false, resendWindowMs: WINDOW }, undefined],
    [undefined, { resendAllowed: true, resendWindowMs: WINDOW }, undefined],
  ] as const)('planned as %s, with %s in force, is %s', (planned, inForce, window) => {
    expect(resendWindowInForce(planned, inForce)).toBe(window);
  });
});

describe('an answer that is stored', () => {
  it.each([
    // before, after, work, whether the send holds its lease; is it in progress now, is the workflow woken
    ['sending', 'processing', 'submitting', true, true, false],
    ['sending', 'processing', 'submitting', false, true, true],
    ['unknown', 'processing', 'held', true, true, true],
    ['unknown', 'completed', 'needs_attention', false, true, true],
    ['processing', 'processing', 'processing', false, true, false],
    ['processing', 'processing', 'held', false, false, false],
    ['processing', 'processing', 'needs_attention', true, false, false],
    ['sending', 'completed', 'completed', false, false, false],
    ['sending', 'completed', 'abandoned', true, false, false],
  ] as const)('%s → %s for work that is %s (lease held: %s)', (before, after, work, holdsLease, isInProgress, wakes) =>
    expect(afterAnswer({ before, after, work, holdsLease })).toEqual({ isInProgress, wakes }),
  );
});
