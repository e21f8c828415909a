import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { inbox } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { frequentUpkeep } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';

/** A verdict applies when the service reports nothing, never against a clear report. */

const stack = disposedAtEnd(
  await startStack({
    environment: { ...RARE_UPKEEP, 'purchase.resend_window': '1ms', SERVICE_MISSING_CAPABILITIES: 'order_list' },
    simulator: { SIMULATOR_PROCESSING_DELAY: '300ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '200ms' },
  }),
);
const desk = checkedDesk(stack);

const resolve = (id: string, body: Record<string, unknown>) =>
  stack.api.post(`/v1/orders/${id}/resolve`, { reason: 'a test', ...body });
const outcome = async (answer: ReturnType<typeof resolve>) => {
  const { status, body } = await answer;
  return [status, (body as { refusal?: string }).refusal];
};
const UNKNOWN = { case: 'outcome_unknown' } as const;

/** Bought at the service, without any report to us. */
async function unknownOutcome() {
  await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
  await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
  const id = await desk.place(PACKAGE.completedAtOnce);
  expect((await desk.reaches(id, 'needs_attention')).at('operations', 'attention', 'reason')).toBe('outcome_unknown');
  const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
  return { id, sold: sold! };
}

describe('a verdict on a case', () => {
  it('of not_bought is refused after the service reported the sale, while the eSIM cannot be read', async () => {
    const { id, sold } = await unknownOutcome();
    await desk.simulator.onRequest('getEsim', { kind: 'server_error', status: 503 }, { count: null });
    const [lost] = await desk.simulator.webhooks(sold.id);
    await desk.simulator.replayDelivery(lost!.id);
    const going = await desk.reaches(id, 'processing');
    expect(going.body).toMatchObject({ service_order_id: sold.id, operations: { attention: null } });
    expect(await desk.cases(id)).toEqual([{ reason: 'outcome_unknown', open: false }]);
    expect(await outcome(resolve(id, { ...UNKNOWN, verdict: 'not_bought' }))).toEqual([409, 'case_not_open']);
    await desk.simulator.calm();
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('of not_bought is refused while a report of the service waits for processing', async () => {
    const { id, sold } = await unknownOutcome();
    await stack.kill('worker');
    const [lost] = await desk.simulator.webhooks(sold.id);
    await desk.simulator.replayDelivery(lost!.id);
    const reports = () => stack.database.run((db) => db.select().from(inbox).where(eq(inbox.serviceId, sold.id)));
    await waitFor('the report of the service is stored', async () => (await reports()).length > 0);
    const judged = await outcome(resolve(id, { ...UNKNOWN, verdict: 'not_bought' }));
    await stack.start('worker');
    expect(judged).toEqual([409, 'observations_pending']);
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('about an earlier attempt leaves the later attempt unchanged', async () => {
    // The rule that is added last applies first.
    await desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once' });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await expect
      .poll(async () => (await desk.attempts(id)).map(({ state }) => state))
      .toEqual(['failed', 'processing']);
    const [first, second] = await desk.attempts(id);
    const data = {
      id: first!.serviceId,
      external_order_id: first!.reference,
      status: 'completed',
      esim_id: 'esim-none',
    };
    await desk.simulator.sendWebhook({ event: 'order.completed', data });
    await expect.poll(() => desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);

    const bought = { case: 'contradiction', verdict: 'bought', service_order_id: first!.serviceId };
    expect(await outcome(resolve(id, bought))).toEqual([409, 'later_attempt_open']);
    expect((await resolve(id, { case: 'contradiction', verdict: 'not_bought' })).status).toBe(200);
    expect((await desk.attempts(id)).map(({ state }) => state)).toEqual(['failed', 'processing']);
    await desk.simulator.completeOrder(second!.serviceId!);
    expect((await desk.reaches(id, 'completed')).at('operations', 'attempts')).toBe(2);
    expect(await desk.movements(id)).toEqual(['debit 2.40', 'credit 2.40', 'debit 2.40']);
  });

  it('of bought with an id unknown to the service opens the case again, and the reconciler continues', async () => {
    await frequentUpkeep(stack);
    const { id, sold } = await unknownOutcome();
    expect((await resolve(id, { ...UNKNOWN, verdict: 'bought', service_order_id: 'so_TYPO' })).status).toBe(200);
    await expect
      .poll(() => desk.cases(id))
      .toEqual([
        { reason: 'outcome_unknown', open: false },
        { reason: 'outcome_unknown', open: true },
      ]);
    const innocent = await desk.place(PACKAGE.processingThenCompleted);
    await desk.reaches(innocent, 'completed');
    expect((await desk.inbox(innocent)).map(({ source }) => source)).toEqual(['read']);

    await desk.reaches(id, 'needs_attention');
    expect((await resolve(id, { ...UNKNOWN, verdict: 'bought', service_order_id: sold.id })).status).toBe(200);
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('with an id of another order is refused and changes nothing', async () => {
    const other = await desk.complete(PACKAGE.completedAtOnce);
    const { id, sold } = await unknownOutcome();
    const before = await desk.events(id);
    const taken = { ...UNKNOWN, verdict: 'bought', service_order_id: other.textAt('service_order_id') };
    expect(await outcome(resolve(id, taken))).toEqual([409, 'service_id_taken']);
    expect(await desk.events(id)).toEqual(before);
    await resolve(id, { ...UNKNOWN, verdict: 'bought', service_order_id: sold.id });
    await desk.reaches(id, 'completed');
  });

  it('that arrives during a look-up is not lost', async () => {
    const { id, sold } = await unknownOutcome();
    await stack.api.post(`/v1/orders/${id}/retry`, { reason: 'ask once more' });
    const verdict = { ...UNKNOWN, verdict: 'bought', service_order_id: sold.id, service_esim_id: sold.esim_id };
    expect((await resolve(id, verdict)).status).toBe(200);
    await desk.reaches(id, 'completed');
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});

describe('concurrent retries', () => {
  it('grant one attempt together', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', debited: false, count: 4 });
    const id = await desk.place(PACKAGE.completedAtOnce, { when_attempts_are_used_up: 'ask' });
    expect((await desk.reaches(id, 'needs_attention')).at('operations', 'attempts')).toBe(3);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => stack.api.post(`/v1/orders/${id}/retry`, { reason: 'again' })),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    await expect.poll(async () => (await desk.reaches(id, 'needs_attention')).at('operations', 'attempts')).toBe(4);
    expect((await stack.api.post(`/v1/orders/${id}/abandon`, { reason: 'enough' })).status).toBe(200);
  });
});
