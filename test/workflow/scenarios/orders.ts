/** Scenarios of orders: results, resends, look-ups, verdicts, and a killed worker. */
import { waitFor } from '#test/support/wait-for.ts';
import { PACKAGE } from '#test/support/work/order-desk.ts';
import type { Scenario } from '#test/workflow/scenarios/scenario.ts';
import { changeLimitUpdate } from '#workflows/messages.ts';

/** A package whose purchases the service accepts and then reports as failed. */
const FAILS_EACH_TIME = 9002;

export const ORDERS: Readonly<Record<string, Scenario>> = {
  'completed-at-once': async (desk) => (await desk.complete(PACKAGE.completedAtOnce)).textAt('id'),

  'processing-then-webhook': async (desk) => {
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
    await desk.simulator.completeOrder(sold!.id);
    await desk.reaches(id, 'completed');
    return id;
  },

  refused: async (desk) => {
    const id = await desk.placeRefused();
    await desk.reaches(id, 'failed');
    return id;
  },

  'unknown-then-resent': async (desk) => {
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', { kind: 'server_error', after_work: true }, { count: 2 });
    return (await desk.complete(PACKAGE.completedAtOnce)).textAt('id');
  },

  'unknown-then-looked-up': async (desk) => {
    await desk.simulator.dialect('conflicts');
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    return (await desk.complete(PACKAGE.completedAtOnce)).textAt('id');
  },

  'held-until-deadline': async (desk) => {
    const id = await desk.place(PACKAGE.unavailable, { deadline: new Date(Date.now() + 2_000).toISOString() });
    await desk.reaches(id, 'failed');
    return id;
  },

  'held-then-rescheduled': async (desk) => {
    const id = await desk.place(PACKAGE.completedAtOnce, { max_price: { amount: '0.01', currency: 'USD' } });
    await desk.reaches(id, 'held');
    const change = (body: object) =>
      desk.stack.api.patch(`/v1/orders/${id}/retry-policy`, { reason: 'The supplier says when.', ...body });
    await change({ first_wait_seconds: 120 });
    await waitFor(
      'it waits for two minutes',
      async () =>
        Date.parse(
          (await desk.stack.api.get(`/v1/orders/${id}?expand=operations`)).textAt('operations', 'next_step_at'),
        ) >
        Date.now() + 60_000,
    );
    await change({ first_wait_seconds: 1, deadline: new Date(Date.now() + 4_000).toISOString() });
    await desk.reaches(id, 'failed');
    return id;
  },

  'failed-then-new-attempt': async (desk) => {
    await desk.simulator.nextPurchases({ outcome: 'processing_then_failed', delay_ms: 300 });
    return (await desk.complete(PACKAGE.completedAtOnce)).textAt('id');
  },

  'attempts-used-up-then-abandoned': async (desk) => {
    const id = await desk.place(FAILS_EACH_TIME, { when_attempts_are_used_up: 'ask' });
    await desk.reaches(id, 'needs_attention');
    await desk.stack.api.post(`/v1/orders/${id}/abandon`, { reason: 'The customer no longer wants it.' });
    await desk.reaches(id, 'abandoned');
    return id;
  },

  'attempts-used-up-then-failed': async (desk) => {
    const id = await desk.place(FAILS_EACH_TIME);
    await desk.reaches(id, 'failed');
    return id;
  },

  'attempts-used-up-until-deadline': async (desk) => {
    const deadline = new Date(Date.now() + 40_000).toISOString();
    const id = await desk.place(FAILS_EACH_TIME, { when_attempts_are_used_up: 'ask', deadline });
    await desk.reaches(id, 'needs_attention');
    await desk.reaches(id, 'failed');
    return id;
  },

  'contradicted-then-resolved': async (desk) => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once' });
    await desk.simulator.onRequest('listWalletTransactions', { kind: 'server_error' }, { count: null });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await waitFor('the attempt has failed', async () => (await desk.attempts(id))[0]?.state === 'failed');
    const [attempt] = await desk.attempts(id);
    const data = {
      id: attempt!.serviceId,
      external_order_id: attempt!.reference,
      package_id: PACKAGE.completedAtOnce,
      status: 'completed',
    };
    for (const state of ['first', 'second']) {
      await desk.simulator.sendWebhook({ event: 'order.completed', data });
      await waitFor(
        `the ${state} report is applied`,
        async () =>
          (await desk.inbox(id)).filter((row) => row.event === 'order.completed' && row.state === 'applied').length ===
          (state === 'first' ? 1 : 2),
      );
    }
    await desk.simulator.calm();
    // The next comparison books the movements of the first attempt. The verdict needs no wallet evidence.
    desk.expectUnsettled(id);
    await desk.stack.api.post(`/v1/orders/${id}/resolve`, {
      reason: 'Their console says failed.',
      case: 'contradiction',
      verdict: 'not_bought',
    });
    await desk.reaches(id, 'completed');
    return id;
  },

  'limit-raised-in-temporal': async (desk, temporal) => {
    const id = await desk.place(PACKAGE.completedAtOnce, { max_price: { amount: '0.01', currency: 'USD' } });
    await desk.reaches(id, 'held');
    const change = { by: 'Ada', reason: 'Agreed with the customer.', max_price: { amount: '9.00', currency: 'USD' } };
    await temporal.of(id).executeUpdate(changeLimitUpdate, { args: [change] });
    await desk.reaches(id, 'completed');
    return id;
  },

  'worker-killed': async (desk) => {
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 60_000, at: 'answer' });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await desk.bought(id);
    await desk.stack.kill('worker');
    await desk.stack.start('worker');
    await desk.reaches(id, 'completed');
    return id;
  },

  'needs-attention-then-completed': async (desk) => {
    await desk.stack.process('worker').stop();
    await desk.stack.start('worker', {
      'purchase.resend_window': '1ms',
      SERVICE_MISSING_CAPABILITIES: 'order_read,order_list',
    });
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await desk.reaches(id, 'needs_attention');
    const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
    const [lost] = await desk.simulator.webhooks(sold!.id);
    await desk.simulator.replayDelivery(lost!.id);
    await desk.reaches(id, 'completed');
    return id;
  },
};
