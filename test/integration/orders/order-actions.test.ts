import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { auditLog } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP, UNSOLD_STAYS_HELD } from '#test/support/servers/test-policies.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';
import { abandonUpdate } from '#workflows/messages.ts';

/** A service without look-ups and without resends, so operators decide many cases. */

const environment = {
  ...NORMAL_WAITS_POLICY,
  ...RARE_UPKEEP,
  'purchase.resend_window': '1ms',
  ...UNSOLD_STAYS_HELD,
  SERVICE_MISSING_CAPABILITIES: 'order_list',
  'retry.max_attempts': 2,
};
const stack = disposedAtEnd(await startStack({ environment }));
const desk = checkedDesk(stack);
const temporal = disposedAtEnd(await TemporalOperator.connect(stack));

const act = (id: string, action: string, body: Record<string, unknown> = {}) =>
  stack.api.call(action === 'limit' ? 'PATCH' : 'POST', `/v1/orders/${id}/${action}`, {
    body: { reason: 'a test', ...body },
  });
const refusal = async (id: string, action: string, body?: Record<string, unknown>) => {
  const answer = await act(id, action, body);
  return [answer.status, answer.at('code'), answer.at('refusal')];
};
/** An order held because its package is not for sale. */
async function held(packageId = 1007): Promise<string> {
  await desk.simulator.setPackage(packageId, { available: false });
  const id = await desk.place(packageId);
  await desk.reaches(id, 'held');
  return id;
}

describe('an action of an operator', () => {
  it('retries a held order at once, and the timeline records the reason', async () => {
    await desk.simulator.onRequest('createOrder', { kind: 'rate_limited', retry_after: 3_600 });
    const id = await desk.place(PACKAGE.completedAtOnce);
    const held = await desk.reaches(id, 'held');
    // The timeline shows the reason of the hold, the next step and its time.
    expect((await stack.api.get(`/v1/orders/${id}/timeline`)).at('current_state')).toEqual({
      now: 'The order is held until an obstacle passes.',
      reason: held.at('failure', 'detail'),
      next: expect.stringContaining('tried again automatically; at its deadline it fails without having bought'),
      next_at: held.textAt('operations', 'next_step_at'),
      resubmission: held.at('operations', 'resubmission'),
    });
    expect((await act(id, 'retry', { reason: 'The limit was raised.' })).status).toBe(200);
    await desk.reaches(id, 'completed');
    const timeline = await stack.api.get(`/v1/orders/${id}/timeline`);
    expect(timeline.text).toContain('An operator requested a retry. Reason given: The limit was raised.');
    const audited = await stack.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, id)));
    expect(audited).toMatchObject([
      { action: 'order.retry', actor: expect.stringMatching(/^key_/), reason: 'The limit was raised.' },
    ]);
  });

  it('abandons an order that bought nothing, once, and its workflow completes', async () => {
    const id = await held();
    expect((await act(id, 'abandon')).textAt('status')).toBe('abandoned');
    expect((await act(id, 'abandon')).textAt('status')).toBe('abandoned');
    expect((await desk.events(id)).filter((event) => event === 'operator.abandon')).toHaveLength(1);
    await temporal.runReaches(id, 'COMPLETED');
    expect(await temporal.order(id).result()).toMatchObject({ status: 'abandoned' });
    expect(await refusal(id, 'retry')).toEqual([409, 'action_not_possible', 'already_ended']);
    expect(await desk.movements(id)).toEqual([]);
  });
});

describe('a case that an operator resolves', () => {
  const unknownOutcome = async (fault: 'accepted_but_answer_lost' | 'server_error') => {
    await desk.simulator.onRequest('createOrder', { kind: fault });
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const id = await desk.place(1001);
    expect((await desk.reaches(id, 'needs_attention')).at('operations', 'attention', 'reason')).toBe('outcome_unknown');
    return id;
  };

  it('gets a new attempt with another key and reference after the verdict not_bought', async () => {
    const id = await unknownOutcome('server_error');
    expect(await refusal(id, 'abandon')).toEqual([409, 'action_not_possible', 'may_be_bought']);
    expect(await refusal(id, 'resolve', { case: 'contradiction', verdict: 'dismissed' })).toEqual([
      409,
      'action_not_possible',
      'case_not_open',
    ]);
    expect(await refusal(id, 'resolve', { case: 'outcome_unknown', verdict: 'dismissed' })).toEqual([
      409,
      'action_not_possible',
      'verdict_not_possible',
    ]);
    await act(id, 'resolve', { case: 'outcome_unknown', verdict: 'not_bought' });
    expect((await desk.reaches(id, 'completed')).at('operations', 'attempts')).toBe(2);
    expect(await desk.cases(id)).toEqual([{ reason: 'outcome_unknown', open: false }]);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('ends without a purchase after the verdict not_bought with `next: abandon`', async () => {
    const id = await unknownOutcome('server_error');
    const verdict = { case: 'outcome_unknown', verdict: 'not_bought', next: 'abandon' };
    const answer = await act(id, 'resolve', verdict);
    expect(answer.textAt('status')).toBe('abandoned');
    // Repeating the same verdict changes nothing. A different one is refused.
    expect((await act(id, 'resolve', verdict)).textAt('status')).toBe('abandoned');
    expect((await desk.events(id)).filter((event) => event === 'operator.resolve')).toHaveLength(1);
    expect(await refusal(id, 'resolve', { ...verdict, next: 'continue' })).toEqual([
      409,
      'action_not_possible',
      'case_not_open',
    ]);
    await temporal.runReaches(id, 'COMPLETED');
    expect((await desk.sends(id)).flat()).toHaveLength(1);
    expect(await desk.movements(id)).toEqual([]);
  });

  it('of a contradiction lets the order continue from the state of its attempt', async () => {
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const id = await desk.place(1001);
    await desk.reaches(id, 'processing');
    const [attempt] = await desk.attempts(id);
    const data = { id: attempt!.serviceId, external_order_id: attempt!.reference };
    await desk.simulator.sendWebhook({ event: 'order.failed', data: { ...data, status: 'failed' } });
    await desk.simulator.sendWebhook({
      event: 'order.completed',
      data: { ...data, status: 'completed', esim_id: 'esim-none' },
    });
    await expect.poll(() => desk.cases(id)).toContainEqual({ reason: 'contradiction', open: true });
    expect(await refusal(id, 'retry')).toEqual([409, 'action_not_possible', 'contradiction_open']);
    await desk.simulator.completeOrder(attempt!.serviceId!);
    await act(id, 'resolve', { case: 'contradiction', verdict: 'bought', service_order_id: attempt!.serviceId });
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});

describe('an action request', () => {
  it('from the Temporal UI is recorded as the same action, with the name of its sender', async () => {
    const id = await held(1008);
    await expect(
      temporal.order(id).executeUpdate(abandonUpdate, { args: [{ by: 'Ada', reason: ' ' }] }),
    ).rejects.toMatchObject({ name: 'WorkflowUpdateFailedError' });
    await temporal.order(id).executeUpdate(abandonUpdate, { args: [{ by: 'Ada', reason: 'Refunded by hand.' }] });
    await desk.reaches(id, 'abandoned');
    const audited = await stack.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, id)));
    expect(audited).toMatchObject([{ action: 'order.abandon', actor: 'temporal/Ada', reason: 'Refunded by hand.' }]);
  });
});
