import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OperatedWork } from '#domain/operator/operator-actions.ts';
import { judgeableWithoutCase, possibleActions, possibleNow } from '#domain/operator/possible-actions.ts';
import { ATTEMPT_STATES } from '#domain/relay/observation.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { KINDS, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import { isFinal, statusesOf } from '#domain/work/lifecycle.ts';
import { assertForMany } from '#test/support/for-all.ts';

const reasons = Object.keys(ATTENTION_REASONS) as AttentionReason[];
const attempt = fc.record({ state: fc.constantFrom(...ATTEMPT_STATES), settled: fc.boolean() });
const costNothing = (made: OperatedWork['attempt']) =>
  made === undefined || ['prepared', 'refused'].includes(made.state) || (made.state === 'failed' && made.settled);

/** Work in any state without a running send or a pending report: with or without an open case. */
const atRest = fc.constantFrom(...WORK_KINDS).chain((kind) =>
  fc.record({
    kind: fc.constant<WorkKind>(kind),
    reason: fc.constantFrom(...reasons.filter((reason) => reason !== 'webhook_conflict')),
    state: fc.record({
      status: fc.constantFrom(...statusesOf(kind)),
      attempt: fc.option(attempt, { nil: undefined }),
      openContradiction: fc.boolean(),
      observationsPending: fc.constant(false),
    }),
  }),
);

/** Bought, with no obstacle. */
const ALIVE: ReadonlySet<string> = new Set(['active', 'cancelling']);

describe('open work', () => {
  it('has a next step for an operator in every resting state, and every refusal names it', () => {
    assertForMany(5_000, atRest, ({ kind, reason, state }) => {
      fc.pre(!isFinal(state.status) && !ALIVE.has(state.status) && state.attempt?.state !== 'sending');
      const open: AttentionReason[] = [
        ...(state.status === 'needs_attention' ? [reason] : []),
        ...(state.openContradiction ? (['contradiction'] as const) : []),
      ];
      const possible = possibleActions(state, kind, open);
      expect(possible).not.toEqual([]);
      for (const { action } of possible) expect(possibleNow(state, kind, open)).toContain(`\`${action}\``);
    });
  });

  it('that is too dear may get another limit, which every refusal names; other work may not', () => {
    assertForMany(2_000, atRest, fc.boolean(), ({ kind, state }, tooDear) => {
      const work = { ...state, ...(tooDear && { failure: 'price_above_limit' as const }) };
      const isOffered = possibleActions(work, kind, []).some(({ action }) => action === 'limit');
      expect(isOffered).toBe(tooDear && KINDS[kind].isPurchase && !isFinal(state.status));
      expect(possibleNow(work, kind, []).includes('`limit` (another price limit)')).toBe(isOffered);
    });
  });

  it('allows a verdict without a case only for a possible purchase without a contradiction', () => {
    assertForMany(2_000, atRest, ({ kind, state }) => {
      const reasonsNow = judgeableWithoutCase(state, kind);
      const mayBe = !isFinal(state.status) && !state.openContradiction && !costNothing(state.attempt);
      expect(reasonsNow.length === 0 || mayBe).toBe(true);
      expect(possibleNow(state, kind, []) === '').toBe(isFinal(state.status));
    });
  });
});
