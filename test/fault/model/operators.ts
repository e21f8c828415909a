/** Commands of operators, for single pieces of work and for all purchases. */
import fc from 'fast-check';
import { expect } from 'vitest';
import * as z from 'zod';
import { REFUSALS, VERDICTS_OF, type CaseVerdict } from '#domain/operator/operator-actions.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import { KINDS } from '#domain/work/kinds.ts';
import { command, hasWork, onWork } from '#test/fault/model/command.ts';
import { truthOf } from '#test/fault/model/truth.ts';
import { postOnce } from '#test/support/api/keys.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

/** Expects success, or a refusal with a known code. */
function expectJudged(answer: HttpAnswer): void {
  if (answer.status === 200 || answer.status === 202) return;
  expect(answer.status, answer.text).toBe(409);
  expect(Object.keys(REFUSALS)).toContain(answer.textAt('refusal'));
}

export const retry = onWork('retry', async (model, world, index) => {
  expectJudged(await world.act(model, index, 'retry', { reason: 'again' }));
});

export const abandon = onWork('abandon', async (model, world, index) => {
  const answer = await world.act(model, index, 'abandon', { reason: 'no longer wanted' });
  expectJudged(answer);
  if (answer.status === 200 && (await world.show(model, index)).status === 'abandoned')
    model.work[index]!.ended = 'abandoned';
});

/** Overrides pauses: stopped work continues at once, during the pause. */
export const release = onWork(
  'release',
  async (model, world, index) => {
    const work = model.work[index]!;
    const mustBeHeld = work.stopped && work.ended === undefined;
    if (mustBeHeld) await world.isHeldByPause(model, index);
    const answer = await world.act(model, index, 'release', { reason: 'this customer waits at the counter' });
    if (mustBeHeld) expect(answer.status, answer.text).toBe(200);
    expectJudged(answer);
    if (answer.status !== 200) return;
    if (mustBeHeld) await world.overridesPause(model, index);
    work.stopped = false;
  },
  ({ kind }) => KINDS[kind].isPurchase,
);

export const pauseBuying = fc
  .constantFrom(null, 'order' as const, 'topup' as const, 'vpn_subscription' as const)
  .map((kind) =>
    command(`pause ${kind ?? 'all buying'}`, async (model, world) => {
      const body = { reason: 'the supplier changes its catalogue', ...(kind !== null && { kind }) };
      const answer = await postOnce(world.desk.stack.api, '/v1/purchase-gate/pauses', body);
      const same = model.pauses.find((pause) => pause.kind === kind);
      expect(answer.status, answer.text).toBe(same === undefined ? 201 : 200);
      if (same === undefined) model.pauses.push({ id: answer.textAt('id'), kind });
      else expect(answer.textAt('id')).toBe(same.id);
    }),
  );

export const resumeBuying = fc.nat().map((which) =>
  command(
    `resume ${which}`,
    (model, world) => world.resume(model, model.pauses[which % model.pauses.length]!),
    ({ pauses }) => pauses.length > 0,
  ),
);

export const changeLimit = fc.constantFrom(null, '0.02', '8.00').chain((amount) =>
  onWork(
    `limit to ${amount ?? 'nothing'} of`,
    async (model, world, index) => {
      const answer = await world.desk.stack.api.patch(`${world.path(model, index)}/limit`, {
        reason: 'agreed',
        max_price: amount === null ? null : { amount, currency: 'USD' },
      });
      expectJudged(answer);
      if (answer.status === 200) model.work[index]!.limit = amount;
    },
    ({ kind }) => kind === 'order' || kind === 'topup',
  ),
);

/** Changes the number of attempts and the waits. No change allows a forbidden purchase. */
export const changeRetryPolicy = fc
  .record({
    which: fc.nat(),
    attempts: fc.constantFrom(undefined, null, 1, 2, 4),
    first_wait_seconds: fc.constantFrom(null, 1, 2),
  })
  .map(({ which, ...change }) =>
    command(
      `retry policy ${which} to ${JSON.stringify(change)}`,
      async (model, world) => {
        const path = `${world.path(model, which % model.work.length)}/retry-policy`;
        expectJudged(await world.desk.stack.api.patch(path, { reason: 'agreed', ...change }));
      },
      hasWork,
    ),
  );

const reasons = z.enum(Object.keys(ATTENTION_REASONS) as [AttentionReason, ...AttentionReason[]]);

/** An operator gives the true verdict, from the service's console and wallet. */
export const resolve = onWork(
  'resolve',
  async (model, world, index) => {
    const { attention } = (await world.show(model, index)).operations;
    if (attention === null) return;
    const reason = reasons.parse(attention.reason);
    const possible: readonly CaseVerdict[] = VERDICTS_OF[reason];
    const { verdicts, names } = await truthOf(world, model, index);
    // The only verdict for a refused cancellation of a subscription.
    const verdict = reason === 'cancellation_refused' ? 'dismissed' : verdicts.find((each) => possible.includes(each));
    if (verdict === undefined) return;
    const named = verdict === 'bought' ? names : {};
    const body = { reason: 'seen in the console', case: reason, verdict, ...named };
    expectJudged(await world.act(model, index, 'resolve', body));
  },
  ({ waits }) => waits,
);

export const cancelVpn = onWork(
  'cancel',
  async (model, world, index) =>
    expectJudged(await world.act(model, index, 'cancel', { reason: 'the customer ended it' })),
  ({ kind }) => kind === 'vpn_subscription',
);
