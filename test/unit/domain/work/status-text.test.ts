import { describe, expect, it } from 'vitest';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { isFinal, statusesOf } from '#domain/work/lifecycle.ts';
import { adviceOf, describeStatus } from '#domain/work/status-text.ts';

const EVERY = WORK_KINDS.flatMap((kind) => statusesOf(kind).map((status) => [kind, status] as const));

describe('the description of a status', () => {
  it.each(EVERY)('of %s in the status %s has sentences, and ended work has no next step', (kind, status) => {
    const { now, reason, next } = describeStatus({ kind, status, isTimed: false });
    for (const sentence of [now, next]) expect(sentence).toMatch(/^[A-Z].*[.]$/);
    expect(reason).toBeUndefined();
    expect(next.startsWith('Nothing')).toBe(isFinal(status));
  });

  it('of held work contains the reason, the obstacle, the automatic retry and the end', () => {
    const detail = 'The price is 3.20 USD, above the limit of 2.00 USD.';
    const failure = { class: 'price_above_limit', detail } as const;
    const held = { kind: 'order', status: 'held', failure } as const;
    expect(describeStatus({ ...held, isTimed: true })).toEqual({
      now: 'The order is held until an obstacle passes.',
      reason: detail,
      next:
        'It is tried again automatically; at its deadline it fails without having bought. ' +
        FAILURE_CLASSES.price_above_limit.advice,
    });
    expect(describeStatus({ ...held, failure: { ...failure, detail: null }, isTimed: false })).toMatchObject({
      reason: FAILURE_CLASSES.price_above_limit.meaning,
      next: expect.stringContaining('when the obstacle has passed'),
    });
    const { next } = describeStatus({ ...held, kind: 'cancellation', isTimed: true });
    expect(next).toContain('is refused without having been sent');
  });

  it('of work with a case contains the reason and the possible actions', () => {
    const work = { kind: 'topup', status: 'needs_attention', attention: 'outcome_unknown' } as const;
    const { reason, next } = describeStatus({ ...work, isTimed: false });
    expect(ATTENTION_REASONS.outcome_unknown).toMatchObject({ meaning: reason, advice: next });
  });

  it('contains no old failure of continuing work', () => {
    const failure = { class: 'timeout', detail: 'No answer.' } as const;
    expect(describeStatus({ kind: 'order', status: 'processing', failure, isTimed: false }).reason).toBeUndefined();
    expect(describeStatus({ kind: 'order', status: 'submitting', failure, isTimed: true })).toMatchObject({
      reason: 'No answer.',
      next: expect.stringContaining('sent again'),
    });
  });

  const failure = { class: 'supplier_failed', detail: 'The supplier had none left.' } as const;

  it('of a purchase that waits for a new attempt does not announce the check of the wallet, which is over', () => {
    const { next } = describeStatus({ kind: 'order', status: 'held', failure, isTimed: true });
    expect(next).toMatch(/nothing was charged, and a new attempt follows\.$/);
    expect(adviceOf({ status: 'failed', failure: 'supplier_failed' })).toContain('submit it again');
    expect(adviceOf({ status: 'failed', failure: 'topup_not_offered' })).toBe(FAILURE_CLASSES.topup_not_offered.advice);
  });

  it('of a failed purchase contains the wallet check', () => {
    expect(describeStatus({ kind: 'order', status: 'processing', failure, isTimed: true })).toEqual({
      now: 'The service reports that the order failed; the wallet is read before anything follows.',
      reason: failure.detail,
      next: 'If it cost nothing, it is attempted again or fails; otherwise a case is opened.',
    });
  });

  it('of ended work with an open case about its cost is neither ended nor unpaid', () => {
    for (const [kind, status] of EVERY) {
      const { now, next } = describeStatus({ kind, status, isTimed: false, isInDoubt: true });
      expect(next, `${kind} ${status}`).not.toMatch(/ended|nothing was bought/);
      expect(now, `${kind} ${status}`).not.toContain('nothing was bought');
      expect(now.includes('a case about it is open')).toBe(isFinal(status));
    }
  });
});
