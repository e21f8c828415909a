/** Scenarios of orders: results, resends, look-ups, verdicts, and a killed worker. */
import { waitFor } from '#test/support/wait-for.ts';
import { PACKAGE } from '#test/support/work/order-desk.ts';
import { withWorker, type Scenario } from '#test/workflow/scenarios/scenario.ts';
import { changeLimitUpdate } from '#workflows/messages.ts';

/** A package whose purchases the service accepts and then reports as failed. */
const FAILS_EACH_TIME = 9002;

const NO_WAY_TO_ASK = {
  'purchase.resend_window': '1ms',
  SERVICE_MISSING_CAPABILITIES: 'order_read,order_list',
};

export const ORDERS: Readonly<Record<string, Scenario>> = {
  'completed-at-once': async (desk) => (await desk.complete(PACKAGE.completedAtOnce)).textAt('id'),

  'processing-then-webhook': async (desk) => {
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    await desk.simulator.completeOrder((await desk.soldFor(id)).id);
    await desk.reaches(id, 'completed');
    return id;
  },

  refused: async (desk) => {
    const id = await desk.placeRefused();
    await desk.reaches(id, 'failed');
    return id;
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

  'needs-attention-then-completed': withWorker(NO_WAY_TO_ASK, async (desk) => {
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await desk.reaches(id, 'needs_attention');
    const [lost] = await desk.simulator.webhooks((await desk.soldFor(id)).id);
    await desk.simulator.replayDelivery(lost!.id);
    await desk.reaches(id, 'completed');
    return id;
  }),
};
