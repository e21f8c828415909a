import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { auditLog } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { frequentUpkeep, TemporalOperator } from '#test/support/servers/stack-temporal.ts';
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
const simulator = { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' };
const stack = disposedAtEnd(await startStack({ environment, simulator }));
const desk = checkedDesk(stack);
const temporal = disposedAtEnd(await TemporalOperator.connect(stack));

const act = (id: string, action: string, body: Record<string, unknown> = {}) =>
  stack.api.post(`/v1/orders/${id}/${action}`, { reason: 'a test', ...body });
const refusal = async (id: string, action: string, body?: Record<string, unknown>) => {
  const answer = await act(id, action, body);
  expect([answer.status, answer.at('code')]).toEqual([409, 'action_not_possible']);
  return answer.at('refusal');
};
/** An order held because its package is not for sale. */
async function held(packageId = 1007): Promise<string> {
  await desk.simulator.setPackage(packageId, { available: false });
  const id = await desk.place(packageId);
  await desk.reaches(id, 'held');
  return id;
}

const UNKNOWN = { case: 'outcome_unknown' } as const;

/** Bought at the service, or not, without any report to us. */
async function unknownOutcome(fault: 'accepted_but_answer_lost' | 'server_error' = 'accepted_but_answer_lost') {
  await desk.simulator.onRequest('createOrder', { kind: fault });
  await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
  const id = await desk.place(PACKAGE.completedAtOnce);
  expect((await desk.reaches(id, 'needs_attention')).at('operations', 'attention', 'reason')).toBe('outcome_unknown');
  const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
  return { id, sold: sold! };
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
    expect(await refusal(id, 'retry')).toBe('already_ended');
    expect(await desk.movements(id)).toEqual([]);
  });
});

describe('a case that an operator resolves', () => {
  it('gets a new attempt with another key and reference after the verdict not_bought', async () => {
    const { id } = await unknownOutcome('server_error');
    expect(await refusal(id, 'abandon')).toBe('may_be_bought');
    expect(await refusal(id, 'resolve', { case: 'contradiction', verdict: 'dismissed' })).toBe('case_not_open');
    expect(await refusal(id, 'resolve', { ...UNKNOWN, verdict: 'dismissed' })).toBe('verdict_not_possible');
    await act(id, 'resolve', { ...UNKNOWN, verdict: 'not_bought' });
    expect((await desk.reaches(id, 'completed')).at('operations', 'attempts')).toBe(2);
    expect(await desk.cases(id)).toEqual([{ reason: 'outcome_unknown', open: false }]);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('ends without a purchase after the verdict not_bought with `next: abandon`', async () => {
    const { id } = await unknownOutcome('server_error');
    const verdict = { case: 'outcome_unknown', verdict: 'not_bought', next: 'abandon' };
    expect((await act(id, 'resolve', verdict)).textAt('status')).toBe('abandoned');
    // Repeating the same verdict changes nothing. A different one is refused.
    expect((await act(id, 'resolve', verdict)).textAt('status')).toBe('abandoned');
    expect((await desk.events(id)).filter((event) => event === 'operator.resolve')).toHaveLength(1);
    expect(await refusal(id, 'resolve', { ...verdict, next: 'continue' })).toBe('case_not_open');
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
    const completed = { ...data, status: 'completed', esim_id: 'esim-none' };
    await desk.simulator.sendWebhook({ event: 'order.completed', data: completed });
    await expect.poll(() => desk.cases(id)).toContainEqual({ reason: 'contradiction', open: true });
    expect(await refusal(id, 'retry')).toBe('contradiction_open');
    await desk.simulator.completeOrder(attempt!.serviceId!);
    await act(id, 'resolve', { case: 'contradiction', verdict: 'bought', service_order_id: attempt!.serviceId });
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});

it('an action request from the Temporal UI is recorded as the same action, with the name of its sender', async () => {
  const id = await held(1008);
  await expect(
    temporal.order(id).executeUpdate(abandonUpdate, { args: [{ by: 'Ada', reason: ' ' }] }),
  ).rejects.toMatchObject({ name: 'WorkflowUpdateFailedError' });
  await temporal.order(id).executeUpdate(abandonUpdate, { args: [{ by: 'Ada', reason: 'Refunded by hand.' }] });
  await desk.reaches(id, 'abandoned');
  const audited = await stack.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, id)));
  expect(audited).toMatchObject([{ action: 'order.abandon', actor: 'temporal/Ada', reason: 'Refunded by hand.' }]);
});

describe('a verdict on a case', () => {
  it('about an earlier attempt leaves the later attempt unchanged', async () => {
    // The rule that is added last applies first.
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once' });
    const id = await desk.place(PACKAGE.completedAtOnce);
    const states = async () => (await desk.attempts(id)).map(({ state }) => state);
    await expect.poll(states).toEqual(['failed', 'processing']);
    const [first, second] = await desk.attempts(id);
    const data = { id: first!.serviceId, external_order_id: first!.reference, esim_id: 'esim-none' };
    await desk.simulator.sendWebhook({ event: 'order.completed', data: { ...data, status: 'completed' } });
    await expect.poll(() => desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);

    const bought = { case: 'contradiction', verdict: 'bought', service_order_id: first!.serviceId };
    expect(await refusal(id, 'resolve', bought)).toBe('later_attempt_open');
    expect((await act(id, 'resolve', { case: 'contradiction', verdict: 'not_bought' })).status).toBe(200);
    expect(await states()).toEqual(['failed', 'processing']);
    await desk.simulator.completeOrder(second!.serviceId!);
    expect((await desk.reaches(id, 'completed')).at('operations', 'attempts')).toBe(2);
    expect(await desk.movements(id)).toEqual(['debit 2.40', 'credit 2.40', 'debit 2.40']);
  });

  it('of bought with an id unknown to the service opens the case again, and the reconciler continues', async () => {
    await frequentUpkeep(stack);
    const { id, sold } = await unknownOutcome();
    expect((await act(id, 'resolve', { ...UNKNOWN, verdict: 'bought', service_order_id: 'so_TYPO' })).status).toBe(200);
    await expect
      .poll(() => desk.cases(id))
      .toEqual([
        { reason: 'outcome_unknown', open: false },
        { reason: 'outcome_unknown', open: true },
      ]);
    const innocent = (await desk.complete(PACKAGE.processingThenCompleted)).textAt('id');
    expect((await desk.inbox(innocent)).map(({ source }) => source)).toEqual(['read']);

    await desk.reaches(id, 'needs_attention');
    expect((await act(id, 'resolve', { ...UNKNOWN, verdict: 'bought', service_order_id: sold.id })).status).toBe(200);
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('with an id of another order is refused and changes nothing', async () => {
    const other = await desk.complete(PACKAGE.completedAtOnce);
    const { id, sold } = await unknownOutcome();
    const before = await desk.events(id);
    const taken = { ...UNKNOWN, verdict: 'bought', service_order_id: other.textAt('service_order_id') };
    expect(await refusal(id, 'resolve', taken)).toBe('service_id_taken');
    expect(await desk.events(id)).toEqual(before);
    await act(id, 'resolve', { ...UNKNOWN, verdict: 'bought', service_order_id: sold.id });
    await desk.reaches(id, 'completed');
  });

  it('of not_bought on an order that the service never finishes buys nothing while the wallet shows its debit', async () => {
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    const notBought = { ...UNKNOWN, verdict: 'not_bought' };
    // While a report of the service is not judged yet, no action is possible.
    const refused = async () => (await act(id, 'resolve', { ...notBought, next: 'abandon' })).at('refusal');
    await expect.poll(refused).toBe('wallet_not_read');
    expect((await act(id, 'resolve', notBought)).status).toBe(200);
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.at('operations', 'attention', 'reason')).toBe('failed_but_charged');
    const [attempt, ...more] = await desk.attempts(id);
    expect([attempt, more]).toMatchObject([{ state: 'failed', settled: false }, []]);
    // The service completes it later. The two reports contradict each other, and an operator decides.
    await desk.simulator.completeOrder(attempt!.serviceId!);
    await expect.poll(() => desk.cases(id)).toContainEqual({ reason: 'contradiction', open: true });
    const bought = { case: 'contradiction', verdict: 'bought', service_order_id: attempt!.serviceId };
    expect((await act(id, 'resolve', bought)).status).toBe(200);
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 1.50']);
  });

  it('that arrives during a look-up is not lost', async () => {
    const { id, sold } = await unknownOutcome();
    await stack.api.post(`/v1/orders/${id}/retry`, { reason: 'ask once more' });
    const verdict = { ...UNKNOWN, verdict: 'bought', service_order_id: sold.id, service_esim_id: sold.esim_id };
    expect((await act(id, 'resolve', verdict)).status).toBe(200);
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});

it('concurrent retries grant one attempt together', async () => {
  await desk.simulator.nextPurchases({ outcome: 'failed_at_once', debited: false, count: 3 });
  const id = await desk.place(PACKAGE.completedAtOnce, { when_attempts_are_used_up: 'ask' });
  expect((await desk.reaches(id, 'needs_attention')).at('operations', 'attempts')).toBe(2);
  const answers = await Promise.all(Array.from({ length: 5 }, () => act(id, 'retry', { reason: 'again' })));
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  await expect.poll(async () => (await desk.reaches(id, 'needs_attention')).at('operations', 'attempts')).toBe(3);
  expect((await stack.api.post(`/v1/orders/${id}/abandon`, { reason: 'enough' })).status).toBe(200);
});
